/** What a database needs before Routes and Integrations can be managed in it, and rows that tests put there by hand. */
import { ORGANIZATION_DEFAULTS } from '../actors/access/organization.ts';
import type { AuditEntry, Hint, HintBus } from '../actors/effects.ts';
import { type GroupLinks, linksOfAlerts } from '../actors/links/evaluate.ts';
import type { GroupStatus } from '../actors/model.ts';
import type { Clock, Micros } from '../runtime/clock.ts';
import { silentLog } from '../runtime/log.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import { type MasterKey, sealedKeyId } from '../runtime/secrets/keyring.ts';
import type { Seeds } from '../storage/access/second-factors.ts';
import { createDirectory, type StoredDirectory } from '../storage/configuration/directory.ts';
import { ensureDefaults } from '../storage/configuration/first-rows.ts';
import { createInternalAlerts } from '../storage/integrations/internal-alerts.ts';
import { ensureKeyring } from '../storage/keys/keyring.ts';
import type { Sql } from '../storage/postgres/records.ts';
import { empty } from './emptied.ts';

export const NOW: Micros = 1_790_000_000_000_000;

/** Stands still. */
export const stoppedClock: Clock = {
  now: () => NOW,
  after: () => ({ cancel: () => undefined }),
};

/** With what goes with it, such as the Alert Groups that its Routes took. */
const CONFIGURATION = [
  ...['routes', 'route_order', 'integrations', 'integration_tokens', 'integration_counters'],
  ...['integration_counter_slots', 'organization', 'connections', 'connection_events', 'destinations'],
  ...[
    'destination_secrets',
    'users',
    'service_accounts',
    'sessions',
    'alert_groups',
    'group_alerts',
    'inbox',
  ],
  ...['account_link_bad_tokens', 'link_rules', 'lookup_tables', 'keyring'],
  ...['saved_views', 'default_views'],
];

/**
 * Empties the configuration and brings it to the state of a first start.
 * @param key the active one; without it nothing can be sealed
 */
export async function firstStart(sql: Sql, key?: MasterKey): Promise<void> {
  await empty(sql, ...CONFIGURATION);
  await sql`insert into route_order (version) values (1)`;
  await sql`
    insert into organization (id, version, settings)
    values (${newPublicId('RG')}, 1, ${JSON.stringify(ORGANIZATION_DEFAULTS)}::text::jsonb)`;
  await sql.begin((tx) => ensureDefaults(tx, NOW));
  if (key) await sql.begin((tx) => ensureKeyring(tx, [key]));
}

/** The configuration as it is stored now. */
export async function readDirectory(sql: Sql): Promise<StoredDirectory> {
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  return directory;
}

/** Internal alerts of a built-in Integration that no test looks at. */
export const internalAlerts = createInternalAlerts({
  integrationId: newPublicId('NT'),
  runbooks: { base: null, version: '0.0.0' },
  stored: () => undefined,
});

/** Links of an installation without Link rules. */
export const linksWithoutRules: GroupLinks = { of: async (groups) => groups.map(linksOfAlerts) };

/** Keeps the hints that were sent. */
export function recordedHints(): HintBus & { readonly sent: Hint[] } {
  const sent: Hint[] = [];
  return { sent, send: (hint) => sent.push(hint), listen: () => () => undefined };
}

/** Keeps the entries of committed and failed transactions alike. */
export function recordedAudit() {
  const entries: AuditEntry[] = [];
  const appendAudit = async (_: unknown, entry: AuditEntry) => {
    entries.push(entry);
  };
  return { entries, appendAudit, actions: () => entries.map((entry) => entry.action) };
}

/** Second factors of installations where nobody has one. */
export const noSeeds: Seeds = {
  keyring: { open: (_field, _owner, sealed) => ({ ok: false, keyId: sealedKeyId(sealed) }) },
  log: silentLog,
};

let nextNumber = 1;

/** An Alert Group as lists know it. */
export async function insertGroup(
  sql: Sql,
  group: {
    readonly routeId: string;
    readonly status?: GroupStatus;
    readonly integrationIds?: readonly string[];
  },
): Promise<PublicId> {
  const id = newPublicId('AG');
  const { routeId, status = 'firing', integrationIds = [] } = group;
  const resolved = status === 'resolved';
  await sql`
    insert into alert_groups (
      id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, owner_id, snoozed_by, started_at, resolved_at,
      last_changed_at, resolved_by, reopen_count, firing_alert_count, resolved_alert_count, unclaimed,
      delivery_problem, in_grace
    )
    values (
      ${id}, ${nextNumber++}, 'Disk full', ${status}, ${routeId}, ${routeId}, ${id}, '{}', '{}', '{}',
      ${[...integrationIds]}::text[], 'info', ${status === 'acknowledged' ? newPublicId('SR') : null},
      ${status === 'snoozed' ? '{}' : null}, ${NOW}, ${resolved ? NOW : null}, ${NOW},
      ${resolved ? 'system' : null}, 0, 1, 0, false, false, false
    )`;
  return id;
}

/** An Alert of a group. */
export async function insertAlert(
  sql: Sql,
  alert: {
    readonly groupId: string;
    readonly integrationId: string;
    readonly fingerprint: string;
    readonly state?: 'firing' | 'resolved';
  },
): Promise<void> {
  const { groupId, integrationId, fingerprint, state = 'firing' } = alert;
  await sql`
    insert into group_alerts (
      group_id, integration_id, fingerprint, position, state, route_id, labels, annotations, severity_level,
      label_conflicts, starts_at, last_seen_at, resolved_at, feeds, sender_groups
    )
    values (
      ${groupId}, ${integrationId}, ${fingerprint}, 0, ${state}, '', '{}', '{}', 'info', '{}', ${NOW}, ${NOW},
      ${state === 'resolved' ? NOW : null}, '{}', '{}'
    )`;
}

/** A webhook Destination without more than a name. */
export async function insertDestination(sql: Sql, name: string): Promise<PublicId> {
  const id = newPublicId('DS');
  await sql`
    insert into destinations (id, version, type, name, mode, limiter, mentions, secrets_version, created_at)
    values (${id}, 1, 'webhook', ${name}, 'events', '{"limit": 1, "per_seconds": 1}', '{}', 1, ${NOW})`;
  return id;
}
