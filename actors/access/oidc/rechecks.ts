/** Asks the provider about people who signed in through it, while they are away (access §6.6). */
import { Counter, type Registry } from 'prom-client';
import { type Clock, type Micros, SECOND, type Timer } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { type Opener, openSecret } from '../../../runtime/secrets/keyring.ts';
import { groupsOf } from './claims.ts';
import type { OfflineCheck, OidcStores } from './ports.ts';
import type { Provider, Refreshed } from './provider.ts';
import { openProvider, type ProviderAccess } from './provider-access.ts';
import { type OidcFields, roleOf } from './settings.ts';

/** Due ones are looked for this often. */
const ROUND_EVERY: Micros = 2 * SECOND;
const AT_ONCE = 8;
const CHECK_WITHIN: Micros = 10 * SECOND;

export interface RecheckDeps {
  readonly stores: Pick<OidcStores, 'settings' | 'checks'>;
  readonly provider: Pick<Provider, 'refresh'>;
  readonly opener: Opener;
  readonly clock: Clock;
  readonly log: Log;
  readonly counted: (outcome: CheckOutcome) => void;
}

export interface Rechecks {
  start(): void;
  /** Begins no further check; those under way are called off, and count for nothing. */
  stop(): void;
  /** One look for due ones; resolves once all of them are done. */
  round(): Promise<void>;
}

export function createRechecks(deps: RecheckDeps): Rechecks {
  const { stores, clock, log, counted } = deps;
  const stopping = new AbortController();
  let timer: Timer | null = null;

  const round = async () => {
    const due = await stores.checks.claim(clock.now(), AT_ONCE);
    if (due.length === 0) return;
    const { fields, ...settings } = await stores.settings.read();
    const access = fields.enabled ? openProvider(deps.opener, { fields, ...settings }) : null;
    await Promise.all(
      due.map(async (check) => counted(await checkOne(deps, check, fields, access, stopping.signal))),
    );
  };

  const rounds = () => {
    timer = clock.after(ROUND_EVERY, () => {
      round()
        // The database is away; what was due is found by a later round.
        .catch((error: unknown) => log('oidc_check_failed', { reason: String(error) }))
        .finally(() => stopping.signal.aborted || rounds());
    });
  };

  return {
    round,
    start: rounds,
    stop() {
      stopping.abort();
      timer?.cancel();
    },
  };
}

async function checkOne(
  deps: RecheckDeps,
  check: OfflineCheck,
  fields: OidcFields,
  access: ProviderAccess | null,
  stopping: AbortSignal,
): Promise<CheckOutcome> {
  if (!fields.enabled) return 'skipped';
  const token = openSecret(deps.opener, 'user.offline_token', check.userId, check.offlineToken);
  if (access === null || token === null) return unavailable(deps, check, 'secret_unreadable');
  const answer = await within(deps.clock, stopping, (signal) =>
    deps.provider.refresh(access, token, check.identity, signal),
  );
  const { checks } = deps.stores;
  const now = deps.clock.now();
  if (answer === 'other_issuer') {
    await checks.forgotten(check, now);
    return 'skipped';
  }
  if (answer.ok) return vouched(deps, check, fields, answer.value);
  if (answer.failure === 'unavailable') return unavailable(deps, check, answer.error);
  return refused(deps, check, answer.error);
}

async function vouched(
  { stores, clock, ...deps }: RecheckDeps,
  check: OfflineCheck,
  fields: OidcFields,
  { claims, offlineToken }: Refreshed,
): Promise<CheckOutcome> {
  const groups = fields.sync_role && claims ? groupsOf(claims, fields.groups_claim) : null;
  const role = groups && roleOf(fields, groups);
  if (groups !== null && role === null) {
    return refused({ stores, clock, ...deps }, check, 'its groups give no Role');
  }
  await stores.checks.vouched(check, { offlineToken, role }, clock.now());
  return 'ok';
}

async function refused(
  { stores, clock, log }: RecheckDeps,
  check: OfflineCheck,
  reason: string,
): Promise<CheckOutcome> {
  log('oidc_check_failed', { user: check.userId, reason });
  await stores.checks.refused(check, reason, clock.now());
  return 'refused';
}

function unavailable({ log }: RecheckDeps, { userId }: OfflineCheck, reason: string): CheckOutcome {
  log('oidc_check_failed', { user: userId, reason });
  return 'unavailable';
}

/** Calls `run` off when it takes too long, or when the service stops. */
async function within<Result>(
  clock: Clock,
  stopping: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const over = new AbortController();
  const abort = () => over.abort();
  const timer = clock.after(CHECK_WITHIN, abort);
  // AbortSignal.any would leave an entry for each call in memory for as long as `stopping` exists.
  stopping.addEventListener('abort', abort);
  if (stopping.aborted) abort();
  try {
    return await run(over.signal);
  } finally {
    timer.cancel();
    stopping.removeEventListener('abort', abort);
  }
}

const OUTCOMES = ['ok', 'refused', 'unavailable', 'skipped'] as const;
type CheckOutcome = (typeof OUTCOMES)[number];

export interface OidcMetrics {
  checked(outcome: CheckOutcome): void;
}

export function createOidcMetrics(registry: Registry): OidcMetrics {
  const checks = new Counter({
    name: 'svc_oidc_checks_total',
    help: 'People about whom the identity provider was asked while they were away.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of OUTCOMES) checks.inc({ outcome }, 0);
  return { checked: (outcome) => checks.inc({ outcome }) };
}
