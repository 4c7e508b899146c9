/** First rows: Default route, built-in Integration, Explore (operations §2.2), and what a first start may add. */
import { connectionAddress } from '../../actors/connection/messages.ts';
import { tokenHash } from '../../actors/integration/snippets.ts';
import { EXPLORE, EXPLORE_TABLE } from '../../actors/links/configuration.ts';
import { ON_CALL_POLICY, PROFILE_GROUP_KEY } from '../../actors/route/policy.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Keyring } from '../../runtime/secrets/keyring.ts';
import { appendAudit } from '../access/audit.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import { createIntegration } from '../integrations/integrations.ts';
import { addToken } from '../integrations/tokens.ts';
import { readActiveKeyId } from '../keys/keyring.ts';
import { LOCKS } from '../postgres/locks.ts';
import type { Transaction } from '../postgres/records.ts';
import { insertRule } from './link-rules.ts';

/** Idempotent; runs inside the start-up lock. What exists is left as people made it. */
export async function ensureDefaults(tx: Transaction, now: Micros): Promise<void> {
  await ensureDefaultRoute(tx, now);
  await ensureBuiltinIntegration(tx, now);
  await ensureExplore(tx, now);
}

async function ensureDefaultRoute(tx: Transaction, now: Micros): Promise<void> {
  await tx`
    insert into routes (
      id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids, policy,
      created_at
    )
    select
      ${newPublicId('RT')}, 1, 0, true, 'Default', '', '[]', false,
      ${JSON.stringify(PROFILE_GROUP_KEY)}::text::jsonb, '[]', ${JSON.stringify(ON_CALL_POLICY)}::text::jsonb, ${now}
    where not exists (select 1 from routes where is_default)`;
}

/** The source of Internal alerts. */
async function ensureBuiltinIntegration(tx: Transaction, now: Micros): Promise<void> {
  await tx`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    select ${newPublicId('NT')}, 1, true, 'Tocsin', '', '{}', 45, false, 300, ${now}
    where not exists (select 1 from integrations where builtin)`;
}

async function ensureExplore(tx: Transaction, now: Micros): Promise<void> {
  const found = await tx`select 1 from link_rules where builtin`;
  if (found.length > 0) return;
  await insertRule(tx, { fields: EXPLORE, reads: [EXPLORE_TABLE], builtin: true, at: now });
}

/** The Integration that a first start makes, so that a sender can post right away. */
export interface FirstIntegration {
  readonly id: PublicId;
  readonly name: string;
  /** Null when the token that was asked for is none of this Integration: of others only their hashes are known. */
  readonly token: string | null;
}

/**
 * Makes an Integration with the token when people never had one. Runs inside the start-up lock.
 * @returns null when people had Integrations and deleted all of them
 */
export async function ensureFirstIntegration(
  tx: Transaction,
  { token, heartbeat, now }: { readonly token: string; readonly heartbeat: boolean; readonly now: Micros },
): Promise<FirstIntegration | null> {
  const [known] = await tx`select 1 from integrations where not builtin limit 1`;
  if (known) return findFirstIntegration(tx, token);

  const author = { by: { kind: 'bootstrap', id: null, name: 'bootstrap' }, at: now, address: null } as const;
  const change = { tx, appendAudit, author };
  const { id } = await createIntegration(change, {
    ...{ name: 'Alertmanager', description: '', static_labels: {}, duplicate_window_seconds: 45 },
    heartbeat: { enabled: heartbeat, timeout_seconds: 300 },
  });
  await addToken(change, id, { name: null, hash: tokenHash(token) });
  return findFirstIntegration(tx, token);
}

/** The Integration of a valid token, else the oldest that people have; null when there is none. */
export async function findFirstIntegration(
  tx: Transaction,
  token: string | null,
): Promise<FirstIntegration | null> {
  const hash = token === null ? null : tokenHash(token);
  const [live] = await tx<{ id: PublicId; name: string; has_token: boolean }[]>`
    select i.id, i.name, t.id is not null as has_token
    from integrations i
    left join integration_tokens t on t.integration_id = i.id and t.hash = ${hash} and t.revoked_at is null
    where not i.builtin and i.deleted_at is null
    order by has_token desc, i.created_at, i.id limit 1`;
  return live ? { id: live.id, name: live.name, token: live.has_token ? token : null } : null;
}

const TOKEN_IGNORED =
  'SVC_BOOTSTRAP_INTEGRATION_TOKEN is no valid token, and an Integration is made with it only while there never was ' +
  'one: senders with it are refused. Make a token in the Integration and give it to them and to this setting, or ' +
  'remove the setting.';

/** The Integration of SVC_BOOTSTRAP_INTEGRATION_TOKEN (operations §2.2 rule 7). Runs inside the start-up lock. */
export async function ensureBootstrapIntegration(
  tx: Transaction,
  { token, now, log }: { readonly token: string; readonly now: Micros; readonly log: Log },
): Promise<void> {
  const first = await ensureFirstIntegration(tx, { token, heartbeat: true, now });
  if (!first?.token) log('bootstrap_integration_token_ignored', { message: TOKEN_IGNORED });
}

/** The messenger to try out that `quickstart` makes: a Connection, a channel behind it, and the Default route told there. */
export interface FirstMessenger {
  /** Of its bridge, on this machine. */
  readonly url: string;
  readonly token: string;
  readonly channel: string;
  readonly name: string;
  readonly now: Micros;
}

const LIMITER = { limit: 5, per_seconds: 1 } as const;
const NOBODY = { everyone: 'none', user_ids: [], groups: [] } as const;
const MENTIONS = {
  new_alert_group: NOBODY,
  new_alerts: NOBODY,
  reopen: NOBODY,
  ack_timeout: NOBODY,
  snooze_ended: NOBODY,
  rise_to_urgent: NOBODY,
};

/** When people never had a Connection. Runs inside the start-up lock. */
export async function ensureFirstMessenger(
  tx: Transaction,
  keyring: Pick<Keyring, 'sealer'>,
  messenger: FirstMessenger,
): Promise<void> {
  const [known] = await tx`select 1 from connections limit 1`;
  if (known) return;
  await tx`select pg_advisory_xact_lock_shared(${LOCKS.sealing})`;
  const connectionId = await insertConnection(tx, keyring, messenger);
  const destinationId = await insertChannel(tx, connectionId, messenger);
  await tx`
    update routes set destination_ids = ${JSON.stringify([destinationId])}::text::jsonb
    where is_default and destination_ids = '[]'`;
  await allowThisMachine(tx, new URL(messenger.url).hostname);
}

/** Whether its Connection is still there, at this address. */
export async function hasMessenger(tx: Transaction, url: string): Promise<boolean> {
  const found = await tx`select 1 from connections where address = ${url} and deleted_at is null`;
  return found.length > 0;
}

async function insertConnection(
  tx: Transaction,
  keyring: Pick<Keyring, 'sealer'>,
  { url, token, name, now }: FirstMessenger,
): Promise<PublicId> {
  const active = await readActiveKeyId(tx);
  if (active === null) throw new Error('the keyring is missing: the ensure steps have not run');
  const id = newPublicId('CN');
  const sealed = keyring.sealer(active).seal('connection.bridge_token', id, token);
  await tx`
    insert into connections (
      id, version, name, type, address, access, event_mode, limiter, created_at, bridge_token, bridge_token_at
    )
    values (
      ${id}, 1, ${name}, 'bridge', ${url}, 1, 'poll', ${JSON.stringify(LIMITER)}::text::jsonb, ${now}, ${sealed}, ${now}
    )`;
  const message = { type: 'configured', version: 1, access: 1, polls: true, limiter: LIMITER };
  await enqueueInbox(tx, [{ to: connectionAddress(id), message }], now);
  return id;
}

async function insertChannel(
  tx: Transaction,
  connectionId: PublicId,
  { channel, name, now }: FirstMessenger,
): Promise<PublicId> {
  const id = newPublicId('DS');
  await tx`
    insert into destinations (
      id, version, name, type, connection_id, channel_id, channel_name, mentions, limiter, secrets_version, created_at
    )
    values (
      ${id}, 1, ${name}, 'bridge', ${connectionId}, ${channel}, ${channel},
      ${JSON.stringify(MENTIONS)}::text::jsonb, ${JSON.stringify(LIMITER)}::text::jsonb, 1, ${now}
    )`;
  return id;
}

/** No policy lets requests out to the machine itself unless somebody allows it. */
async function allowThisMachine(tx: Transaction, address: string): Promise<void> {
  await tx`
    update organization_outbound_policy set
      version = version + 1,
      allowed = allowed || ${JSON.stringify([address])}::text::jsonb
    where not allowed ? ${address}`;
}
