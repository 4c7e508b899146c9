import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { insertGroup, NOW } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import { markAlive, readPulse, tellDowntime } from './signs-of-life.ts';

const database = useDatabase();
const me = { id: 'a', boot: '2' };
const mark = (now: Micros) => markAlive(database.sql(), me, now);

beforeEach(async () => {
  await database.sql()`
    truncate alive_mark, downtimes, replicas, alert_groups, actors, inbox, learned_repeats`;
});

async function insertReplica(member: { id: string; boot: string }, startedAt: Micros, refreshedAt: Micros) {
  await database.sql()`
    insert into replicas (id, boot, version, revision, key_ids, is_leader, has_redis, started_at, refreshed_at)
    values (${member.id}, ${member.boot}, '1', '', '{}', false, true, ${startedAt}, ${refreshedAt})`;
}

test('before the first sign of life nothing is known, and the first one ends no downtime', async () => {
  expect(await readPulse(database.sql())).toEqual({ markedAt: null, downtime: null });
  expect(await mark(NOW)).toBeNull();
  expect(await readPulse(database.sql())).toEqual({ markedAt: NOW, downtime: null });
});

test('signs of life go forward only, and say whose they are', async () => {
  await mark(NOW);
  expect(await mark(NOW - SECOND)).toBeNull();
  expect(await database.sql()`select at, replica from alive_mark`).toEqual([{ at: NOW, replica: 'a/2' }]);
});

describe('a time without signs of life', () => {
  const outages = async () =>
    (await database.sql()<{ outages: unknown }[]>`select outages from alive_mark`)[0]?.outages;

  test('is an outage when it is longer than a Leader of any release takes between two, however many lead then', async () => {
    await mark(NOW);
    await mark(NOW + 35 * SECOND);
    expect(await outages()).toEqual([]);
    const later = NOW + 70 * SECOND + 1;
    await Promise.all([mark(later), mark(later), mark(later)]);
    expect(await outages()).toEqual([{ from: NOW + 35 * SECOND, to: later }]);
  });

  test('is one beside a downtime, and the newest 64 are kept', async () => {
    await mark(NOW);
    for (let minute = 1; minute <= 67; minute++) await mark(NOW + 3 * minute * MINUTE);
    const kept = (await outages()) as { from: Micros; to: Micros }[];
    expect(kept).toHaveLength(64);
    expect(kept[0]).toEqual({ from: NOW + 9 * MINUTE, to: NOW + 12 * MINUTE });
    expect(kept.at(-1)?.to).toBe(NOW + 201 * MINUTE);
  });
});

describe('after ten minutes without a Leader', () => {
  const later = NOW + 10 * MINUTE;
  beforeEach(() => mark(NOW));

  test('the downtime is kept with its window, once however many lead', async () => {
    const found = await Promise.all([mark(later), mark(later), mark(later)]);
    const downtime = { startedAt: NOW, endedAt: later, recoversUntil: later + 15 * MINUTE };
    expect(found.filter((one) => one !== null)).toEqual([downtime]);
    expect(await readPulse(database.sql())).toEqual({ markedAt: later, downtime });
    expect(await database.sql()`select 1 from downtimes`).toHaveLength(1);
  });

  test('a second downtime replaces the window of the first', async () => {
    await mark(later);
    const again = later + 5 * MINUTE;
    await mark(again);
    const { downtime } = await readPulse(database.sql());
    expect(downtime).toEqual({ startedAt: later, endedAt: again, recoversUntil: again + 15 * MINUTE });
  });

  test.each<[string, Micros, Micros, Micros | null]>([
    ['lived all along', NOW - MINUTE, later - 20 * SECOND, null],
    ['died five minutes ago', NOW - MINUTE, later - 5 * MINUTE, later - 5 * MINUTE],
    ['died before', NOW - 5 * MINUTE, NOW - MINUTE, NOW],
    ['started when it was over', later - SECOND, later - SECOND, NOW],
  ])('another replica that %s counts as such', async (_, startedAt, refreshedAt, expected) => {
    await insertReplica({ id: 'b', boot: '1' }, startedAt, refreshedAt);
    const downtime = await mark(later);
    expect(downtime?.startedAt ?? null).toBe(expected);
  });

  test('the new Leader itself does not count', async () => {
    await insertReplica(me, NOW - MINUTE, later);
    expect((await mark(later))?.startedAt).toBe(NOW);
  });
});

describe('open Alert Groups', () => {
  const ended = NOW + 10 * MINUTE;
  const downtime = { type: 'downtime', from: NOW, to: ended };

  /** One that started at `startedAt`; all actors of these tests live in shard 7. */
  async function group(startedAt: Micros, status: 'firing' | 'snoozed' | 'resolved' = 'firing') {
    const sql = database.sql();
    const id = await insertGroup(sql, { routeId: newPublicId('RT'), status });
    await sql`update alert_groups set started_at = ${startedAt} where id = ${id}`;
    await sql`
      insert into actors (kind, key, shard, version, schema, snapshot, wake_at, updated_at)
      values ('alert_group', ${id}, 7, 1, 1, '{}', null, ${startedAt})`;
    return id;
  }

  const told = () =>
    database.sql()<{ to: string; shard: number; message: unknown; sender: string | null }[]>`
      select receiver_kind || '/' || receiver_key as "to", shard, message, sender from inbox order by seq`;

  async function tellAll(limit: number): Promise<void> {
    while (await tellDowntime(database.sql(), ended, limit));
  }

  beforeEach(() => mark(NOW));

  test('are told once of the period, the newest first and a page at a time', async () => {
    const ids = [];
    for (let place = 0; place < 5; place++) ids.push(await group(NOW - place * SECOND));
    await group(NOW - MINUTE, 'resolved');
    const snoozed = await group(NOW - 2 * MINUTE, 'snoozed');
    await mark(ended);
    expect(await tellDowntime(database.sql(), ended, 2)).toBe(true);
    expect(await told()).toHaveLength(2);
    await tellAll(2);
    await tellAll(2);
    expect([...(await told())]).toEqual(
      [...ids, snoozed].map((id) => ({
        to: `alert_group/${id}`,
        shard: 7,
        message: downtime,
        sender: null,
      })),
    );
  });

  test('are told by whoever leads next when the first Leader dies between two pages', async () => {
    for (let place = 0; place < 5; place++) await group(NOW - place * SECOND);
    await mark(ended);
    await tellDowntime(database.sql(), ended, 2);
    // The page of a Leader that dies before its commit is as if it had never been.
    const lost = database.sql().begin(async (tx) => {
      await tellDowntime(tx as unknown as ReturnType<typeof database.sql>, ended, 2);
      throw new Error('killed');
    });
    await expect(lost).rejects.toThrow('killed');
    await mark(ended + 30 * SECOND);
    await Promise.all([tellAll(2), tellAll(2), tellAll(2)]);
    const receivers = (await told()).map(({ to }) => to);
    expect(receivers).toHaveLength(5);
    expect(new Set(receivers).size).toBe(5);
  });

  test('that started after the end are told nothing, and the older ones are told of each downtime', async () => {
    const old = await group(NOW);
    await mark(ended);
    const fresh = await group(ended + SECOND);
    await tellAll(10);
    const again = ended + 10 * MINUTE;
    await mark(again);
    await tellAll(10);
    expect((await told()).map(({ to, message }) => [to, message])).toEqual([
      [`alert_group/${old}`, downtime],
      [`alert_group/${fresh}`, { type: 'downtime', from: ended, to: again }],
      [`alert_group/${old}`, { type: 'downtime', from: ended, to: again }],
    ]);
  });

  test('hear nothing of a handover', async () => {
    await group(NOW);
    await mark(NOW + MINUTE);
    expect(await tellDowntime(database.sql(), NOW + MINUTE)).toBe(false);
    expect(await told()).toHaveLength(0);
  });

  test('are found by their index', async () => {
    const sql = database.sql();
    await mark(ended);
    const plan = await sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`;
      await tx`set local enable_bitmapscan = off`;
      return tx<{ 'QUERY PLAN': string }[]>`
        explain select id, started_at, number from alert_groups
        where status <> 'resolved' and (started_at, number) < (${NOW}::bigint, 1)
        order by started_at desc, number desc limit 10`;
    });
    expect(plan.map((line) => line['QUERY PLAN']).join()).toContain('Index Scan using alert_groups_open');
  });
});

test('the window of recovery is as long as the slowest sender repeats', async () => {
  const sql = database.sql();
  const [live, deleted] = [newPublicId('NT'), newPublicId('NT')];
  for (const [id, deletedAt, repeat] of [
    [live, null, 20 * MINUTE],
    [deleted, NOW, 50 * MINUTE],
  ] as const) {
    await sql`
      insert into integrations (
        id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
        heartbeat_timeout_seconds, created_at, deleted_at
      )
      values (${id}, 1, false, ${id}, '', '{}', 45, false, 300, ${NOW}, ${deletedAt})`;
    await sql`
      insert into learned_repeats (integration_id, path_hash, route_path, samples, repeat_interval, heard_at)
      values (${id}, 'h', '{}', '{}', ${repeat}, ${NOW})`;
  }
  await mark(NOW);
  const later = NOW + 10 * MINUTE;
  expect((await mark(later))?.recoversUntil).toBe(later + 20 * MINUTE);
});
