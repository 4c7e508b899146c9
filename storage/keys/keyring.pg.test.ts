import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { masterKey } from '../../runtime/secrets/keyring.ts';
import { SEALED_FIELDS } from '../../runtime/secrets/sealed-fields.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { ensureKeyring } from './keyring.ts';

const database = useDatabase();
const [first, second] = [masterKey(randomBytes(32)), masterKey(randomBytes(32))];
const ensure = (keys: Parameters<typeof ensureKeyring>[1]) =>
  database.sql().begin((tx) => ensureKeyring(tx, keys));

beforeEach(async () => {
  await empty(database.sql(), 'keyring');
});

describe('the keyring of a database', () => {
  test('takes the first key of a new database, whatever the order later', async () => {
    expect((await ensure([first, second])).activeKeyId).toBe(first.id);
    expect((await ensure([second, first])).activeKeyId).toBe(first.id);
  });

  test('refuses to start without the active key', async () => {
    await ensure([first]);
    await expect(ensure([second])).rejects.toThrow(first.id);
  });

  test('refuses a database whose canary does not open', async () => {
    await ensure([first]);
    await database.sql()`update keyring set canary = active_key_id || ':AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'`;
    await expect(ensure([first])).rejects.toThrow('does not match the database');
  });
});

test('every sealed column is in the one list of sealed fields', async () => {
  const columns = await database.sql()<{ place: string }[]>`
    select table_name || '.' || column_name as place from information_schema.columns
    where domain_name = 'sealed' order by place`;
  const listed: string[] = SEALED_FIELDS.map(({ table, column }) => `${table}.${column}`);
  expect(columns.map(({ place }) => place)).toEqual(listed.sort());
});
