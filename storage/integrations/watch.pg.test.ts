import { beforeEach, describe, expect, it } from 'vitest';
import { olderEndDigest } from '../../actors/feed/rows.ts';
import type { SilenceQuery } from '../../actors/integration/ports.ts';
import { DAY, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, insertAlert, insertGroup } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import { FIRST_DAY } from '../snapshots/snapshots.fixture.ts';
import { createIntegrationWatch } from './watch.ts';

const database = useDatabase();
const T = FIRST_DAY * DAY;
const LAB = newPublicId('NT');
const OTHER = newPublicId('NT');

beforeEach(async () => {
  await database.sql()`truncate feeds, presences, truncated_feeds, snapshot_queue, alive_mark`;
});

interface Given {
  readonly integrationId?: PublicId;
  readonly path?: string | null;
  /** Seconds after T. */
  readonly heard: number;
  readonly listed?: number;
  /** When missed ones were listed last, in seconds after T. */
  readonly missed?: readonly number[];
  readonly isCut?: true;
  /** How many of those that are listed ended with an older start. */
  readonly olderEnds?: number;
}

async function feed(key: string, given: Given): Promise<void> {
  const sql = database.sql();
  const { integrationId = LAB, path = 'db', heard, listed = 0, missed = [], olderEnds = 0 } = given;
  await sql`
    insert into feeds (key, integration_id, group_key, route_path, last_received_at)
    values (${key}, ${integrationId}, ${`${path}:{}`}, ${path}, ${T + heard * SECOND})`;
  await sql`
    insert into presences (feed, fingerprint, group_id, state, since, starts_at, digest)
    select
      ${key}, 'l' || n, 'AG', 'listed', ${T}, ${T}, case when n <= ${olderEnds} then ${olderEndDigest(T)} else '' end
    from generate_series(1, ${listed}) as n`;
  for (const at of missed) {
    await sql`
      insert into presences (feed, fingerprint, group_id, state, since, listed_at, starts_at, digest)
      values (${key}, ${`m${at}`}, 'AG', 'missed', ${T + heard * SECOND}, ${T + at * SECOND}, ${T}, '')`;
  }
  if (given.isCut) {
    await sql`insert into truncated_feeds values (${integrationId}, ${key}, ${path}, ${T})`;
  }
}

const query = (given: { readonly [path: string]: number } & { readonly else: number }): SilenceQuery => {
  const { else: unlearned, ...paths } = given;
  const cutoffs = Object.entries(paths).map(([path, cutoff]) => [path, T + cutoff * SECOND] as const);
  return {
    cutoffs: new Map(cutoffs),
    unlearnedCutoff: T + unlearned * SECOND,
    among: 'all',
    limit: 10,
  };
};

async function look(asked: SilenceQuery) {
  const { silent, next } = await createIntegrationWatch(database.sql()).silentFeeds(LAB, asked);
  return {
    silent: silent.map(({ feed: key, presences }) => `${key} ${presences}`),
    next: next.map(({ routePath, listedAt }) => `${routePath} ${(listedAt - T) / SECOND}`).sort(),
  };
}

describe('feeds that are silent', () => {
  it('are those whose Alerts were listed before the cutoff of their route path, the longest silent first', async () => {
    await feed('a', { heard: 50, listed: 3 });
    await feed('b', { heard: 20, listed: 1, missed: [10] });
    await feed('c', { heard: 150, listed: 1 });
    await feed('d', { heard: 120, listed: 2, missed: [80, 110] });
    await feed('e', { path: 'web', heard: 50, listed: 1 });
    await feed('f', { path: null, heard: 5, listed: 1 });
    await feed('g', { heard: 5 });
    await feed('h', { integrationId: OTHER, heard: 5, listed: 1 });
    expect(await look(query({ db: 100, else: 6 }))).toEqual({
      silent: ['f 1', 'b 2', 'a 3', 'd 1'],
      next: ['db 150', 'web 50'],
    });
  });

  it('have cut lists, whatever they list, and count from their last Snapshot then', async () => {
    await feed('a', { heard: 50, isCut: true });
    await feed('b', { heard: 150, missed: [10], isCut: true });
    expect(await look(query({ db: 100, else: 0 }))).toMatchObject({ silent: ['a 0'], next: ['db 150'] });
    await feed('c', { heard: 10, listed: 1 });
    const onlyTruncated = { ...query({ else: 100 }), among: 'older_ends_and_truncated' as const };
    expect(await look(onlyTruncated)).toMatchObject({ silent: ['a 0'], next: ['db 150'] });
  });

  it('hold ends with an older start, which alone are asked for without a live Heartbeat', async () => {
    await feed('a', { heard: 50, listed: 3, olderEnds: 2 });
    await feed('b', { heard: 20, listed: 3, missed: [10] });
    await feed('c', { heard: 150, listed: 1, olderEnds: 1, missed: [10] });
    await feed('d', { heard: 30, listed: 1, olderEnds: 1, isCut: true });
    const among = (kind: SilenceQuery['among']) => look({ ...query({ else: 100 }), among: kind });
    expect(await among('older_ends')).toEqual({ silent: ['a 2'], next: ['db 150'] });
    expect(await among('older_ends_and_truncated')).toEqual({ silent: ['d 1', 'a 2'], next: ['db 150'] });
  });

  it('are given no more of than asked for', async () => {
    for (let index = 0; index < 12; index++) await feed(`f${index}`, { heard: index, listed: 1 });
    expect((await look(query({ else: 100 }))).silent).toHaveLength(10);
  });

  it('are found by the index of the Integration, one look into the presences of each', async () => {
    const sql = database.sql();
    await sql`
      insert into feeds (key, integration_id, group_key, route_path, last_received_at)
      select i || '.' || n, i, 'k', 'db', ${T}::bigint + n
      from generate_series(1, 4000) as n, unnest(array[${LAB}, ${OTHER}, 'NT1', 'NT2', 'NT3']::text[]) as i`;
    await sql`
      insert into presences (feed, fingerprint, group_id, state, since, starts_at, digest)
      select key, 'f' || n, 'AG', 'listed', ${T}, ${T}, ''
      from feeds, generate_series(1, 5) as n`;
    await sql`analyze feeds, presences`;
    let asked = '';
    let values: readonly unknown[] = [];
    const { options } = sql;
    const watched = { debug: options.debug };
    options.debug = (_, text, parameters) => {
      if (text.includes('judged')) {
        asked = text;
        values = parameters;
      }
    };
    await look(query({ db: 1, else: 0 }));
    options.debug = watched.debug as typeof options.debug;
    expect(asked).not.toBe('');
    const plan = await sql.unsafe(`explain ${asked}`, values as string[]);
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('feeds_of');
    expect(text).toContain('presences_pkey');
    expect(text).not.toContain('Seq Scan on presences');
    expect(text).not.toContain('Seq Scan on feeds');
    expect(text).toContain('feeds_pkey');
  });
});

describe('what waits to be processed', () => {
  const since = () => createIntegrationWatch(database.sql()).waitingSince(LAB);
  const wait = (integrationId: string, seq: number, receivedAt: number, isReplay = false) => database.sql()`
    insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes, replay_of_processed)
    values (${seq}, 'SS', ${integrationId}, ${receivedAt}, '', 1, ${isReplay})`;

  it('is told by the receipt of the oldest Snapshot of the Integration', async () => {
    await wait(OTHER, 1, T);
    expect(await since()).toBeNull();
    await wait(LAB, 2, T + 2);
    await wait(LAB, 3, T + 1);
    await wait(LAB, 4, T - DAY, true);
    expect(await since()).toBe(T + 1);
  });

  it('is sought among so many, and behind them nothing was received before', async () => {
    await database.sql()`
      insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes)
      select n, 'SS', ${OTHER}, ${T}::bigint + n, '', 1 from generate_series(1, 9999) as n`;
    expect(await since()).toBeNull();
    await wait(OTHER, 10_000, T + 10_000);
    await wait(LAB, 10_001, T + 10_001);
    expect(await since()).toBe(T + 10_000 - 10 * SECOND);
  });
});

describe('what is known of a Heartbeat', () => {
  it('is its stored signal, who led last, and the outages', async () => {
    const sql = database.sql();
    await firstStart(sql);
    const watch = createIntegrationWatch(sql);
    const [integration] = await sql<{ id: PublicId }[]>`
      update integrations set last_signal_at = ${T} returning id`;
    const id = integration?.id ?? LAB;
    expect(await watch.heartbeat(id)).toEqual({ storedSignalAt: T, markedAt: null, outages: [] });
    await sql`insert into alive_mark (at, replica, outages) values (${T + 1}, 'a/b', '[{"from": 1, "to": 2}]')`;
    expect(await watch.heartbeat(id)).toEqual({
      storedSignalAt: T,
      markedAt: T + 1,
      outages: [{ from: 1, to: 2 }],
    });
  });
});

describe('what is left of a deleted Integration', () => {
  it('is what fires, in open Alert Groups and in those that a person resolved', async () => {
    const sql = database.sql();
    await firstStart(sql);
    const open = await insertGroup(sql, { routeId: 'RT' });
    const resolved = await insertGroup(sql, { routeId: 'RT', status: 'resolved' });
    await insertAlert(sql, { groupId: open, integrationId: LAB, fingerprint: 'a' });
    await insertAlert(sql, { groupId: open, integrationId: LAB, fingerprint: 'b' });
    await insertAlert(sql, { groupId: resolved, integrationId: LAB, fingerprint: 'c' });
    await insertAlert(sql, { groupId: resolved, integrationId: OTHER, fingerprint: 'd' });
    const { groups, isPending } = await createIntegrationWatch(sql).leftovers(LAB);
    expect([isPending, [...groups].sort()]).toEqual([false, [open, resolved].sort()]);
    expect(await createIntegrationWatch(sql).leftovers(newPublicId('NT'))).toEqual({
      isPending: false,
      groups: [],
    });
  });
});
