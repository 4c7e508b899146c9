import { expect, test } from 'vitest';
import { readInfo } from '../../actors/channels/bridge/info.ts';
import type { EventClaimed, InfoRecorded } from '../../actors/connection/effects.ts';
import { ConflictError } from '../../runtime/actor/index.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { NOW } from '../../test/configuration.ts';
import { PLAIN_INFO } from '../../test/fakes/scripted-bridge.ts';
import { useDatabase } from '../../test/postgres.ts';
import { readConnection } from '../configuration/connection-rows.ts';
import { connectionWriter, createEventFacts, eventClaims } from './connection-events.ts';

const database = useDatabase();

test('the Info of a bridge is kept whatever its texts hold, even what the database cannot', async () => {
  const sql = database.sql();
  const id = newPublicId('CN');
  await sql`
    insert into connections (id, version, name, type, address, access, event_mode, limiter, created_at)
    values (${id}, 1, ${id}, 'bridge', 'https://bridge.example.org', 1, 'poll', '{}', ${NOW})`;
  const read = readInfo({ ...PLAIN_INFO, bridge: { name: 'zero \0', version: 'half \ud83d' } });
  if (!read.ok) throw new Error('the Info of this test is invalid');
  const effect: InfoRecorded = {
    type: 'connection.info',
    connectionId: id,
    ...{ access: 1, info: read.info, readAt: NOW, failedAt: null, wrong: null, tokenless: false },
  };
  await sql.begin((tx) => connectionWriter.write(tx, [effect], new Map()));
  expect((await readConnection(sql, id))?.info).toMatchObject({
    bridge: { name: 'zero \ufffd', version: 'half \ufffd' },
  });
});

test('an event is claimed by one commit; another that claims it is refused as a whole, and knows it then', async () => {
  const sql = database.sql();
  const connectionId = newPublicId('CN');
  const claim: EventClaimed = {
    type: 'connection.event_claimed',
    ...{ connectionId, eventId: 'e1', say: 'Done: Ack', at: NOW },
  };
  const commit = (...claims: readonly EventClaimed[]) =>
    sql.begin((tx) => eventClaims.write(tx, claims, new Map()));
  await commit(claim);
  const other = { ...claim, eventId: 'e2' };
  await expect(commit(other, { ...claim, say: 'Done: Resolve' })).rejects.toThrow(ConflictError);
  const facts = createEventFacts(sql, () => undefined);
  expect(await facts.handled(connectionId, 'e1')).toEqual({ say: 'Done: Ack' });
  expect(await facts.handled(connectionId, 'e2')).toBeNull();
});
