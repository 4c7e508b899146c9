import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { Authorship } from '../../actors/audit.ts';
import type {
  DestinationChange,
  DestinationStore,
  FoundPlace,
  MessengerFields,
} from '../../actors/destination/ports.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { firstStart, internalAlerts, NOW, recordedAudit } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createChannelBotTargets } from './connection-rows.ts';
import { createDestinationStore } from './destinations.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const author: Authorship = { by: { kind: 'system', id: null, name: 'test' }, at: NOW, address: null };
const NOBODY = { everyone: 'none', user_ids: [], groups: [] } as const;
const FOUND: FoundPlace = { channelName: 'Alerts', teamName: 'Operations', teamPath: 'ops' };

let store: DestinationStore;
let audit: ReturnType<typeof recordedAudit>;
let connection: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  audit = recordedAudit();
  store = createDestinationStore({ sql, appendAudit: audit.appendAudit, keyring, internalAlerts });
  connection = newPublicId('CN');
  await sql`
    insert into connections (id, version, name, type, address, access, limiter, created_at)
    values (${connection}, 1, 'chat', 'chat_server', 'https://chat.example', 1, '{"limit": 5, "per_seconds": 1}', ${NOW})`;
});

function change(fields: Partial<MessengerFields> = {}, found: FoundPlace | null = FOUND): DestinationChange {
  const mentions = {
    ...{ new_alert_group: NOBODY, new_alerts: NOBODY, reopen: NOBODY },
    ...{ ack_timeout: NOBODY, snooze_ended: NOBODY, rise_to_urgent: NOBODY },
  };
  return {
    fields: {
      ...{ type: 'chat_server', name: 'ops', connection_id: connection, team_id: 't1', channel_id: 'c1' },
      ...{ mentions, limiter: { limit: 5, per_seconds: 1 }, ...fields },
    },
    ...{ proxyPassword: { kind: 'keep' }, found },
  };
}

async function created(): Promise<PublicId> {
  const made = await store.create(change(), author);
  if (typeof made === 'string') throw new Error(made);
  return made.destination.id;
}

test('a channel of a chat server keeps its type, its team and what the check found', async () => {
  const id = await created();
  expect(await store.read(id)).toMatchObject({ fields: change().fields, found: FOUND });
});

test('a channel of a bot keeps where its messages go, and another channel forgets it', async () => {
  const sql = database.sql();
  await sql`update connections set type = 'channel_bot' where id = ${connection}`;
  const channel = { channelId: '-1001', username: 'alerts', groupId: '-1002', groupName: 'Talk' };
  const found = { channelName: 'Alerts', teamName: null, teamPath: null, channel };
  const of = (channelId: string) => {
    const { fields, ...rest } = change({ type: 'channel_bot', channel_id: channelId }, found);
    const { team_id: _, ...own } = fields as MessengerFields;
    return { ...rest, fields: own };
  };
  const made = await store.create(of('@alerts'), author);
  if (typeof made === 'string') throw new Error(made);
  const { id } = made.destination;
  expect((await store.read(id))?.found).toEqual(found);
  const targets = createChannelBotTargets(sql, { now: () => 0 });
  const place = { channelId: '-1001', username: 'alerts', groupId: '-1002' };
  expect(await targets.read(id, null)).toMatchObject({ place, connection: { id: connection } });
  await store.update(id, () => ({ save: of('@other') }), author);
  targets.forget(id);
  expect(await targets.read(id, 1)).toMatchObject({ place: null, connection: { id: connection } });
});

test('a Connection of another type than the Destination is none', async () => {
  expect(await store.create(change({ type: 'bridge' }), author)).toBe('no_connection');
});

test('another team is a change, and is in the Audit log under its own name', async () => {
  const id = await created();
  await store.update(id, () => ({ save: change({ team_id: 't2' }) }), author);
  expect(await store.read(id)).toMatchObject({ version: 2, fields: { team_id: 't2', channel_id: 'c1' } });
  expect(audit.entries.at(-1)?.diff).toMatchObject([{ pointer: '/team_id' }]);
});

test('what a check finds later is news once, and no change of the settings', async () => {
  const id = await created();
  const renamed = { ...FOUND, teamName: 'On call' };
  const before = await store.read(id);
  if (!before) throw new Error('there is no such Destination');
  expect(await store.placeFound(before, renamed)).toBe(true);
  const after = await store.read(id);
  expect(after).toMatchObject({ version: 1, found: renamed });
  expect(after && (await store.placeFound(after, renamed))).toBe(false);
});

test('a save whose check found nothing new keeps what is known', async () => {
  const id = await created();
  await store.update(id, () => ({ save: change({ name: 'other' }, null) }), author);
  expect(await store.read(id)).toMatchObject({ fields: { name: 'other' }, found: FOUND });
});
