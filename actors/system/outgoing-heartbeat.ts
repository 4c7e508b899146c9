/**
 * The outgoing heartbeat: a sign of life to somewhere else, where its absence is noticed when Tocsin and its monitoring
 * stop together (internal-alerts §5).
 */
import { type Clock, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { OutboundCaller } from '../../runtime/outbound/caller.ts';
import { DEFAULT_MAPPING } from '../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring, Sealed } from '../../runtime/secrets/keyring.ts';
import { createMask, cutToBytes, urlSecrets } from '../../runtime/secrets/masking.ts';
import type { HintBus } from '../effects.ts';
import { type ProxyFields, proxyRoute } from '../proxy-config.ts';

/** Between two attempts, whoever makes them. */
export const BEAT_EVERY: Micros = MINUTE;

const TIMEOUT: Micros = 10 * SECOND;
const ANSWER_LIMIT = 4_096;
const ERROR_BYTES = 1_024;

/** An attempt that nobody else makes. */
export interface Beat {
  readonly organizationId: PublicId;
  readonly url: Sealed;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
  /** Names the attempt; of a URL that is replaced meanwhile it counts no more. */
  readonly claimedAt: Micros;
  /** How the attempt before ended; null when there was none with this URL. */
  readonly wasOk: boolean | null;
}

export interface HeartbeatStore {
  /** Takes the next attempt when there is a URL and the last attempt is {@link BEAT_EVERY} old; null otherwise. */
  claim(now: Micros): Promise<Beat | null>;
  /** False when the URL was replaced since. */
  settle(
    beat: Beat,
    result: { readonly at: Micros; readonly ok: boolean; readonly error: string | null },
  ): Promise<boolean>;
}

export interface OutgoingHeartbeatDeps {
  readonly store: HeartbeatStore;
  readonly caller: OutboundCaller;
  readonly keyring: Pick<Keyring, 'open'>;
  readonly hints: Pick<HintBus, 'send'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Beats if it is time. What fails is tried again a minute later, by whoever leads then. */
export async function beat(deps: OutgoingHeartbeatDeps): Promise<void> {
  const { store, hints, clock, log } = deps;
  const claimed = await store.claim(clock.now());
  if (!claimed) return;
  const error = await send(deps, claimed);
  const ok = error === null;
  if (!(await store.settle(claimed, { at: claimed.claimedAt, ok, error }))) return;
  if (!ok) log('outgoing_heartbeat_failed', { error });
  else if (claimed.wasOk === false) log('outgoing_heartbeat_recovered');
  if (ok !== claimed.wasOk) hints.send({ type: 'system-status', id: null });
}

/** @returns what went wrong, for people; null when the other side answered with success */
async function send({ caller, keyring, log }: OutgoingHeartbeatDeps, claimed: Beat): Promise<string | null> {
  const { organizationId: owner, proxyPassword } = claimed;
  const open = (
    field: 'organization.heartbeat_url' | 'organization.heartbeat_proxy_password',
    sealed: Sealed,
  ) => {
    const opened = keyring.open(field, owner, sealed);
    if (opened.ok) return opened.value;
    log('secret_unreadable', { field, owner, key_id: opened.keyId });
    return null;
  };
  const text = open('organization.heartbeat_url', claimed.url);
  if (text === null) return 'The URL cannot be decrypted. Enter it again.';
  const password = proxyPassword && open('organization.heartbeat_proxy_password', proxyPassword);
  if (proxyPassword && password === null)
    return 'The password of the proxy cannot be decrypted. Enter it again.';
  const url = new URL(text);
  // Whoever knows what follows the host can beat in our place; the host itself helps people to find a mistake.
  const secrets = [url.href, ...urlSecrets(url), ...(password ? [password] : [])];
  const { verdict } = await caller.call({
    request: {
      owner: `organization/${owner}`,
      class: 'heartbeat',
      proxy: proxyRoute(claimed.proxy, password),
      method: 'GET',
      url,
      headers: [],
      body: null,
      timeout: TIMEOUT,
      answerLimit: ANSWER_LIMIT,
    },
    secrets,
    mapping: { ...DEFAULT_MAPPING, ignoresSize: true },
    about: null,
  });
  if (verdict.class === 'ok') return null;
  return cutToBytes(createMask(secrets)(verdict.error), ERROR_BYTES);
}
