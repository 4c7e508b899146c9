import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { masterKey } from '../../../runtime/secrets/keyring.ts';
import { createReplicaRecordStore } from '../../../storage/engine/replica-records.ts';
import { readKeys } from '../../../storage/keys/keyring.ts';
import { firstStart, NOW, readDirectory, stoppedClock } from '../../../test/configuration.ts';
import { operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { keyringOperations } from './organization.ts';

const database = useDatabase();
const [active, added] = [masterKey(randomBytes(32)), masterKey(randomBytes(32))];

test('the keyring: the active key first, who holds which, and what may go', async () => {
  const sql = database.sql();
  await firstStart(sql, active);
  const run = { boot: '1', version: '1.0.0', revision: '', isLeader: false, hasRedis: true, startedAt: NOW };
  const records = createReplicaRecordStore(sql);
  await records.write({ ...run, id: 'a', keyIds: [active.id, added.id] }, NOW);
  await records.write({ ...run, id: 'b', keyIds: [active.id] }, NOW);
  const operations = keyringOperations({ keys: (now) => readKeys(sql, now) });
  const directory = await readDirectory(sql);
  const api = operationClient({ operations, directory, clock: stoppedClock });
  expect(await api.get('/organization/keyring')).toMatchObject({
    status: 200,
    body: {
      keys: [
        {
          ...{ id: active.id, active: true, held_by: ['a', 'b'], missing_on: [] },
          ...{ needed: true, removable: false },
        },
        {
          ...{ id: added.id, active: false, held_by: ['a'], missing_on: ['b'] },
          ...{ needed: false, removable: true },
        },
      ],
    },
  });
});
