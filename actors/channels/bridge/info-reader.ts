/** Keeps the copy of a bridge's Info young enough for whoever is about to call it (bridge §5.1). */
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import { type Clock, MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { connectionAddress, type InfoRead } from '../../connection/messages.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { WaitingTokens } from '../../connection/tokens.ts';
import type { BridgeOutcome } from './answer.ts';
import type { BridgeAccess, BridgeClient } from './client.ts';
import type { BridgeInfo } from './info.ts';
import { bridgeCalls, type InfoAnswer } from './operations.ts';

export type KnownInfo =
  | { readonly class: 'ok'; readonly info: BridgeInfo | null }
  | Exclude<BridgeOutcome<never>, { readonly class: 'ok' }>
  | { readonly class: 'no_token' };

export interface InfoReader {
  /**
   * The Info, read first where the copy is old. A failure counts only where there is no copy, and then until the next
   * read is due. What is read in the background takes no token.
   */
  upToDate(
    settings: BridgeSettings,
    access: BridgeAccess,
    by: 'interactive' | 'delivery' | 'background',
  ): Promise<KnownInfo>;
}

export interface InfoReaderDeps {
  readonly bridge: BridgeClient;
  readonly tokens: WaitingTokens;
  readonly system: Pick<ActorSystem, 'tell'>;
  readonly clock: Clock;
}

export function createInfoReader({ bridge, tokens, system, clock }: InfoReaderDeps): InfoReader {
  /** One at a time of each Connection; whoever comes meanwhile gets the same. */
  const underWay = new Map<PublicId, Promise<KnownInfo>>();
  /** Of Connections without a copy: how the last read ended, and with which address and token. */
  const failures = new Map<PublicId, { readonly access: number; readonly outcome: KnownInfo }>();

  const read: InfoReader['upToDate'] = async (settings, access, by) => {
    if (by !== 'background' && (await tokens.take(settings.id)) !== 'granted') {
      return settings.info ? { class: 'ok', info: settings.info } : { class: 'no_token' };
    }
    const askedAt = clock.now();
    const outcome = await bridge.call(access, bridgeCalls.getInfo(), { class: by });
    if (outcome.class === 'not_sent') return outcome;
    system.tell(connectionAddress(settings.id), infoRead(settings.access, outcome, null, askedAt));
    failures.delete(settings.id);
    if (outcome.class === 'ok') return { class: 'ok', info: outcome.value.info };
    if (settings.info) return { class: 'ok', info: settings.info };
    failures.set(settings.id, { access: settings.access, outcome });
    return outcome;
  };

  const known = ({ id, access, info }: BridgeSettings): KnownInfo => {
    const failure = info === null ? failures.get(id) : undefined;
    return failure?.access === access ? failure.outcome : { class: 'ok', info };
  };

  return {
    async upToDate(settings, access, by) {
      const { id, infoReadAt: readAt, infoFailedAt: failedAt } = settings;
      if (!isInfoDue({ readAt, failedAt }, clock.now())) return known(settings);
      const running = underWay.get(id);
      if (running) return running;
      const reading = read(settings, access, by).finally(() => underWay.delete(id));
      underWay.set(id, reading);
      return reading;
    },
  };
}

/** What the Connection is told of an answer to getInfo. */
export function infoRead(
  access: number,
  outcome: Exclude<BridgeOutcome<InfoAnswer>, { readonly class: 'not_sent' }>,
  tokenless: boolean | null,
  at: number,
): InfoRead {
  if (outcome.class === 'ok') {
    const { info, wrong } = outcome.value;
    return { type: 'info_read', access, read: { ok: true, info, wrong, tokenless }, at };
  }
  const pointer = /^invalid info: (\/.*)$/.exec(outcome.error)?.[1] ?? null;
  return { type: 'info_read', access, read: { ok: false, pointer }, at };
}

/** The copy of a bridge's Info: how old it may be, and when reading it is tried again (bridge §5.1). Pure. */
const FRESH_FOR: Micros = 5 * MINUTE;
const RETRY_AFTER: Micros = 30 * SECOND;

export interface InfoAge {
  /** Null: there is no copy. */
  readonly readAt: Micros | null;
  /** When reading it failed last, since it was read. */
  readonly failedAt: Micros | null;
}

/** Whether it is to be read before it is used. */
export function isInfoDue({ readAt, failedAt }: InfoAge, now: Micros): boolean {
  if (failedAt !== null && now - failedAt < RETRY_AFTER) return false;
  return readAt === null || now - readAt >= FRESH_FOR;
}
