/** The messenger to try out that `quickstart` makes: a Connection, a channel behind it, and the Default route told there. */
import { connectionAddress } from '../actors/connection/messages.ts';
import type { Micros } from '../runtime/clock.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import type { Keyring } from '../runtime/secrets/keyring.ts';
import { enqueueInbox } from './inbox.ts';
import { readActiveKeyId } from './keyring.ts';
import { LOCKS } from './locks.ts';
import type { Transaction } from './records.ts';

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
