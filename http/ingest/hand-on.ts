/** The last step of a Snapshot's way in: to its feed, or among the failed ones. */
import { feedKey } from '../../actors/feed/feed-key.ts';
import { feedAddress, type SnapshotReceived } from '../../actors/feed/messages.ts';
import type { ParsedBody } from '../../actors/feed/snapshot.ts';
import { type ActorSystem, UnavailableError } from '../../runtime/actor/index.ts';
import { createFailures, type FailuresDeps } from './failures.ts';
import type { Arrived } from './intake.ts';

/** How many messages may wait for a turn before Snapshots stay in the database (operations §5.6). */
const BACKLOG_LIMIT = 4_000;

export interface HandOnDeps extends FailuresDeps {
  readonly system: Pick<ActorSystem, 'deliver' | 'backlog'>;
}

export type HandedOn =
  | { readonly kind: 'settled' }
  /** The feed is in the care of nobody here. The Snapshot stays stored. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** A defect that could not even be recorded. The Snapshot stays stored. */
  | { readonly kind: 'broken'; readonly error: unknown };

export interface HandOn {
  /** Resolves when the Snapshot is settled, or will not be by this. */
  handOn(arrived: Arrived, parsed: ParsedBody): Promise<HandedOn>;
  /** Whether so much waits for a turn that Snapshots are better left in the database. */
  isBehind(): boolean;
}

export function createHandOn(deps: HandOnDeps): HandOn {
  const { system, clock } = deps;
  const failures = createFailures(deps);

  return {
    handOn: (arrived, parsed) => settle(arrived, parsed).then(() => ({ kind: 'settled' }), unsettled),
    isBehind: () => system.backlog() + failures.waiting() >= BACKLOG_LIMIT,
  };

  function settle(arrived: Arrived, parsed: ParsedBody): Promise<void> {
    const { seq, id, integrationId, receivedAt } = arrived;
    if (!parsed.ok) return failures.settle({ seq, at: clock.now(), error: parsed.error }, integrationId, id);
    const { snapshot } = parsed;
    const to = feedAddress(feedKey(integrationId, snapshot.groupKeyHash));
    const message: SnapshotReceived = {
      type: 'snapshot',
      seq,
      snapshotId: id,
      receivedAt,
      snapshot,
      replayed: arrived.replayed === true,
    };
    return system.deliver(to, message, { kind: 'snapshot', seq, receivedAt });
  }
}

function unsettled(error: unknown): HandedOn {
  return error instanceof UnavailableError ? { kind: 'refused', error } : { kind: 'broken', error };
}
