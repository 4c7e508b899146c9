import { expect, test } from 'vitest';
import { readInfo } from '../actors/connection/bridge/info.ts';
import type { InfoRecorded } from '../actors/connection/effects.ts';
import { newPublicId } from '../runtime/public-id.ts';
import { NOW } from '../test/configuration.ts';
import { PLAIN_INFO } from '../test/fakes/scripted-bridge.ts';
import { useDatabase } from '../test/postgres.ts';
import { connectionWriter } from './connection-records.ts';
import { readConnection } from './connection-rows.ts';

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
  expect((await readConnection(sql, id))?.info?.bridge).toMatchObject({
    name: 'zero \ufffd',
    version: 'half \ufffd',
  });
});
