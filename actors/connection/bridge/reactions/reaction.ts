/** What an event came to, and what everything that reacts to events works with (bridge §7.1). */
import type { ActorSystem } from '../../../../runtime/actor/index.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { Log } from '../../../../runtime/log.ts';
import type { PublicId } from '../../../../runtime/public-id.ts';
import type { Keyring } from '../../../../runtime/secrets/keyring.ts';
import type { MessengerAccount } from '../../../account-links/link.ts';
import type { LinkRequestStore } from '../../../account-links/ports.ts';
import type { CommandName } from '../../../alert-group/messages.ts';
import type { AlertGroupMetrics } from '../../../alert-group/metrics.ts';
import type { DirectorySource } from '../../../directory.ts';
import type { HintBus } from '../../../effects.ts';
import type { UserActor } from '../../../model.ts';
import type { EventFacts, LinkedPerson } from '../../event-ports.ts';
import type { DeletedMessage } from '../../messages.ts';
import type { Person } from '../parts.ts';

export type Reaction =
  /** Nothing is stored yet: the Connection notes the event, with what follows. */
  | { readonly is: 'noted'; readonly say: string | null; readonly deleted?: DeletedMessage }
  /** The event is stored as handled, together with what it led to. `answered`: called once the person was told. */
  | { readonly is: 'stored'; readonly say: string | null; answered?(): void }
  /** Nobody knows yet whether it will be. */
  | { readonly is: 'unsure'; readonly say: string };

export interface ReactionDeps {
  readonly system: Pick<ActorSystem, 'ask' | 'tell'>;
  readonly facts: EventFacts;
  readonly links: Pick<LinkRequestStore, 'useToken'>;
  readonly keyring: Keyring;
  readonly directory: DirectorySource;
  /** Whether a Role grants a Command. */
  readonly may: (role: LinkedPerson['role'], command: CommandName) => boolean;
  readonly hints: Pick<HintBus, 'send'>;
  readonly metrics?: Pick<AlertGroupMetrics, 'command'> | undefined;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Not ours, or nothing to us. */
export const IGNORED: Reaction = { is: 'noted', say: null };

export function accountOf({ external_id, username, display_name }: Person): MessengerAccount {
  return { externalId: external_id, username, displayName: display_name };
}

export function actorOf({ id, name, login }: LinkedPerson): UserActor {
  return { kind: 'user', id, name, login, tokenName: null, transport: 'bridge' };
}

export function connectionRef({ directory }: Pick<ReactionDeps, 'directory'>, id: PublicId) {
  return { id, name: directory.current().connectionsById.get(id)?.name ?? id };
}
