import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { masterKey } from '../../runtime/secrets/keyring.ts';
import { firstStart, insertGroup, NOW } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { readKeyUse } from '../keys/keyring.ts';
import { inSnapshot, inTransaction } from '../postgres/transaction.ts';
import { rerenderNaming, rerenderOldButtons } from './rerender.ts';

const database = useDatabase();
const [active, older] = [masterKey(randomBytes(32)), masterKey(randomBytes(32))];
let destination: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, active);
  await empty(sql, 'deliveries');
  destination = newPublicId('DS');
  await sql`
    insert into destinations (id, version, type, name, limiter, mentions, secrets_version, created_at)
    values (${destination}, 1, 'bridge', 'Ops', '{}', '{}', 1, ${NOW})`;
});

async function delivered(signedWith: string | null, isOpen = true): Promise<void> {
  await database.sql()`
    insert into deliveries (
      destination_id, subject, target, route_id, urgent, is_open, state, possible_duplicate, thread_not_attached,
      updated_at, wanted, kept, signed_with
    )
    values (
      ${destination}, ${newPublicId('AG')}, 1, 'RT0000000000AA', false, ${isOpen}, 'delivered', false, false, ${NOW},
      false, '{}', ${signedWith}
    )`;
}

async function told(): Promise<readonly object[]> {
  await inTransaction(database.sql(), (tx) => rerenderOldButtons(tx, NOW));
  return (await database.sql()`select receiver_key as to, message from inbox`).map((row) => ({ ...row }));
}

const signedWith = async () => (await inSnapshot(database.sql(), readKeyUse)).signedWith;

describe('buttons of another key than the active one', () => {
  test('are signed anew: their Destination is told once, however many there are', async () => {
    await delivered(older.id);
    await delivered(older.id);
    expect(await told()).toEqual([{ to: destination, message: { type: 'rerender', routeId: null } }]);
  });

  test('keep their key needed until they are', async () => {
    await delivered(older.id);
    await delivered(active.id);
    expect(await signedWith()).toEqual(
      new Map([
        [older.id, 1],
        [active.id, 1],
      ]),
    );
  });
});

describe('another name of somebody', () => {
  const ann = newPublicId('SR');

  /** Who is told when Ann has another name, by the Alert Group of a message. */
  async function concerned(status: 'firing' | 'acknowledged' | 'snoozed', by: PublicId, isOpen = true) {
    const sql = database.sql();
    const [route] = await sql<{ id: string }[]>`select id from routes where is_default`;
    const group = await insertGroup(sql, { routeId: String(route?.id), status });
    await sql`
      update alert_groups set
        owner_id = case when status = 'acknowledged' then ${by}::text end,
        snoozed_by = case when status = 'snoozed' then jsonb_build_object('kind', 'user', 'id', ${by}::text) end
      where id = ${group}`;
    await delivered(null, isOpen);
    await sql`update deliveries set group_id = ${group}`;
    await inTransaction(sql, (tx) => rerenderNaming(tx, ann, NOW));
    return (await sql`select receiver_key as to, message from inbox`).map((row) => ({ ...row }));
  }

  test.each(['acknowledged', 'snoozed'] as const)(
    'is told where Ann had something %s, for its Route alone',
    async (status) => {
      const message = { type: 'rerender', routeId: 'RT0000000000AA' };
      expect(await concerned(status, ann)).toEqual([{ to: destination, message }]);
    },
  );

  test.each<[string, Parameters<typeof concerned>]>([
    ['that names nobody', ['firing', ann]],
    ['that names somebody else', ['acknowledged', newPublicId('SR')]],
    ['of what is over', ['acknowledged', ann, false]],
  ])('concerns no message %s', async (_, about) => {
    expect(await concerned(...about)).toEqual([]);
  });
});

test.each<[string, string | null, boolean]>([
  ['of the active key', active.id, true],
  ['under a message of what is over', older.id, false],
  ['where there are none', null, true],
])('buttons %s concern nobody', async (_, key, isOpen) => {
  await delivered(key, isOpen);
  expect(await told()).toEqual([]);
  expect((await signedWith()).has(older.id)).toBe(false);
});
