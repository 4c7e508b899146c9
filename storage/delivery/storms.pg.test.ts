import { beforeEach, expect, test } from 'vitest';
import type { RouteRecord } from '../../actors/route/effects.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, insertGroup, internalAlerts, NOW, recordedAudit } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { readRoutes } from '../configuration/route-rows.ts';
import { createRouteStore } from '../configuration/routes.ts';
import { createSystemStatusReader, readGauges } from '../engine/system-status.ts';
import { createHeldGroups, createStormReader, readActiveStorms, stormRecords } from './storms.ts';

const database = useDatabase();
let routeId: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'route_storms', 'storm_alert_groups');
  routeId = (await readRoutes(sql))[0]?.id as PublicId;
});

const write = (records: readonly RouteRecord[], numbers: ReadonlyMap<string, number> = new Map()) =>
  database.sql().begin((tx) => stormRecords.write(tx, records, numbers));
const saved = (groupCount: number, endedAt: number | null = null, since = NOW): RouteRecord => ({
  type: 'storm.saved',
  routeId,
  since,
  groupCount,
  urgentCount: 0,
  endedAt,
});
const held = (groupId: PublicId, since = NOW): RouteRecord => ({
  type: 'storm.held',
  routeId,
  since,
  groupId,
});
const page = (after = 0, limit = 10, since = NOW) =>
  createHeldGroups(database.sql()).page({ routeId, since, after, limit });

test('a Storm that lasts is shown with its Route, in the System status and in a gauge', async () => {
  const sql = database.sql();
  await write([saved(1), saved(5)]);
  const storm = { since: NOW, alertGroupCount: 5 };
  expect((await readRoutes(sql))[0]?.storm).toEqual(storm);
  expect((await createSystemStatusReader(sql).status(NOW)).activeStorms).toEqual([
    { route: { id: routeId, name: 'Default' }, ...storm },
  ]);
  expect((await readGauges(sql)).storms).toEqual([routeId]);

  await write([saved(7, NOW + 1)]);
  expect((await readRoutes(sql))[0]?.storm).toBeNull();
  expect(await readActiveStorms(sql)).toEqual([]);
  // What the last one was remains until the next begins.
  expect(await sql`select alert_group_count, ended_at from route_storms`).toMatchObject([
    { alert_group_count: 7, ended_at: NOW + 1 },
  ]);
  await write([saved(1, null, NOW + 2)]);
  expect((await readRoutes(sql))[0]?.storm).toEqual({ since: NOW + 2, alertGroupCount: 1 });
});

test('held groups are read in order of #N, whether their number was just drawn or long stored', async () => {
  const sql = database.sql();
  const [one, two] = [await insertGroup(sql, { routeId }), await insertGroup(sql, { routeId })];
  const stored = await sql<
    { id: PublicId; number: number }[]
  >`select id, number from alert_groups order by number`;
  const fresh = newPublicId('AG');
  await write([held(fresh), held(two), held(one)], new Map([[fresh, 999_999]]));
  const all = [...stored, { id: fresh, number: 999_999 }];
  expect(await page()).toEqual(all);
  expect(await page(0, 2)).toEqual(all.slice(0, 2));
  expect(await page(all[1]?.number)).toEqual(all.slice(2));
  expect(await page(0, 10, NOW + 1)).toEqual([]);
});

test('a hold ends for one group, or for all of its Storm up to #N', async () => {
  const groups = Array.from({ length: 4 }, () => newPublicId('AG'));
  const [one, two, three, later] = groups as [PublicId, PublicId, PublicId, PublicId];
  const numbers = new Map(groups.map((id, index) => [id as string, index + 1]));
  await write([held(one), held(two), held(three), held(later, NOW + 1)], numbers);
  await write([{ type: 'storm.let_go', groupId: two }]);
  expect((await page()).map(({ number }) => number)).toEqual([1, 3]);
  await write([{ type: 'storm.hold_ended', routeId, since: NOW, through: 1 }]);
  expect((await page()).map(({ number }) => number)).toEqual([3]);
  await write([{ type: 'storm.hold_ended', routeId, since: NOW, through: 3 }]);
  expect([await page(), (await page(0, 10, NOW + 1)).length]).toEqual([[], 1]);
  // Held and let go within one commit.
  await write([held(one), { type: 'storm.let_go', groupId: one }], numbers);
  expect(await page()).toEqual([]);
});

test('the actor of a Route is told of its deletion, and of an edit that makes its groups Urgent', async () => {
  const sql = database.sql();
  const { appendAudit } = recordedAudit();
  const store = createRouteStore({ sql, appendAudit, internalAlerts });
  const author = { by: { kind: 'system' as const, id: null, name: 'test' }, at: NOW, address: null };
  const [fallback] = await readRoutes(sql);
  if (!fallback) throw new Error('there is no Default route');
  const route = await store.create({ ...fallback.fields, name: 'Web' }, author);
  if (route === 'name_taken') throw new Error('the name is taken');
  const told = () => sql`
    select receiver_kind, receiver_key, message ->> 'type' as type from inbox order by seq`;
  const update = (urgent: boolean) =>
    store.update(route.id, () => ({ save: { ...route.fields, urgent } }), author);
  const to = { receiver_kind: 'route', receiver_key: route.id };
  await update(true);
  await update(false);
  expect(await told()).toEqual([{ ...to, type: 'urgency_edited' }]);
  await store.remove(route.id, null, author);
  expect(await told()).toEqual([
    { ...to, type: 'urgency_edited' },
    { ...to, type: 'deleted' },
  ]);
});

test('a Storm of a deleted Route is shown nowhere', async () => {
  const sql = database.sql();
  await write([saved(3)]);
  await sql`update routes set deleted_at = ${NOW} where id = ${routeId}`;
  expect(await readActiveStorms(sql)).toEqual([]);
});

test('a Storm that ended is read after the next one took its row', async () => {
  const sql = database.sql();
  const past = [{ since: NOW, groupCount: 7, urgentCount: 2, endedAt: NOW + 10 }];
  await sql`
    insert into actors (kind, key, shard, version, snapshot, schema, updated_at)
    values ('route', ${routeId}, 0, 1, ${JSON.stringify({ past })}::text::jsonb, 2, 0)`;
  // One commit, as after a start: the end of the first Storm and the beginning of the second.
  await write([saved(7, NOW + 10), saved(1, null, NOW + 20)]);
  expect(await createStormReader(sql).read(routeId, NOW)).toEqual({
    newGroups: 7,
    urgentGroups: 2,
    stillOpen: 0,
  });
});
