import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Delivery,
  type Flight,
  NO_TRIES,
  newDelivery,
  type PostedMessage,
  type QueuedReply,
} from '../../actors/destination/delivery/delivery.ts';
import type { OpenGroup } from '../../actors/destination/delivery/ports.ts';
import type { DeliveryRecord, DeliverySaved, MessagePosted } from '../../actors/destination/effects.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, insertDestination, insertGroup, NOW } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createEventFacts } from './connection-events.ts';
import {
  createDeliveryReads,
  deliveryRecords,
  pruneLooseMessages,
  pruneStormDeliveries,
} from './deliveries.ts';
import { readGroupDeliveries } from './group-deliveries.ts';
import { destinationsWithWork } from './webhook-events.ts';

const database = useDatabase();
const CONNECTION = 'CN5Q8V2K7WXM3D' as PublicId;

let destination: PublicId;
let routeId: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(
    sql,
    'deliveries',
    'delivered_messages',
    'storm_alert_groups',
    'route_storms',
    'webhook_events',
  );
  destination = await insertDestination(sql, 'prod');
  const [route] = await sql<{ id: PublicId }[]>`select id from routes where is_default`;
  routeId = route?.id as PublicId;
});

const reads = () => createDeliveryReads(database.sql());
const write = (records: readonly DeliveryRecord[], numbers: ReadonlyMap<string, number> = new Map()) =>
  database.sql().begin((tx) => deliveryRecords.write(tx, records, numbers));

function delivery(groupId: PublicId, changes: Partial<Delivery> = {}): Delivery {
  const known = {
    routeId,
    number: 1,
    urgent: false,
    status: 'firing',
    changedAt: NOW,
    renewedAt: 0,
  } as const;
  const subject = { kind: 'group', groupId } as const;
  return { ...newDelivery({ subject, target: 1, connectionId: CONNECTION, ...known }), ...changes };
}

function saved(of: Delivery, changes: Partial<DeliverySaved> = {}): DeliverySaved {
  return {
    ...{ type: 'delivery.saved', destinationId: destination, delivery: of, state: 'pending' },
    ...{ isOpen: true, error: null, wanted: true, at: NOW },
    ...changes,
  };
}

const groups = (deliveries: readonly Delivery[]) =>
  deliveries.map(({ subject }) => (subject.kind === 'group' ? subject.groupId : 'storm'));

describe('deliveries', () => {
  test('come back as they were saved, the last of a batch, Urgent first and then by #N', async () => {
    const [first, second, urgent] = [newPublicId('AG'), newPublicId('AG'), newPublicId('AG')];
    const late = delivery(first, { number: 9, root: 'not_delivered', failed: 'no \u0001 "way"' });
    await write([
      saved(delivery(first, { number: 9 })),
      saved(delivery(second, { number: 4 })),
      saved(delivery(urgent, { number: 12, urgent: true })),
      saved(late),
    ]);
    const page = await reads().page(destination, [], 10);
    expect(groups(page.deliveries)).toEqual([urgent, second, first]);
    expect(page.deliveries[2]).toEqual(late);
    expect(await reads().read(destination, [first])).toEqual([late]);
    expect(await destinationsWithWork(database.sql())).toEqual([destination]);
  });

  test('of the version before get their state from what that version stored', async () => {
    const [held, resolved] = [newPublicId('AG'), newPublicId('AG')];
    await write([saved(delivery(held)), saved(delivery(resolved))]);
    const sql = database.sql();
    await sql`update deliveries set kept = kept - 'root' - 'thread' || ${sql.json({ hold: 'storm' })}
      where group_id = ${held}`;
    const ended = { as: 'withheld', because: 'broken' };
    await sql`update deliveries set kept = kept || ${sql.json({ hold: null, ended, root: 'current' })}
      where group_id = ${resolved}`;
    const states = await Promise.all(
      [held, resolved].map(async (id) => (await reads().read(destination, [id]))[0]?.root),
    );
    expect(states).toEqual(['held.storm', 'withheld.broken']);
  });

  test('are paged without those that are known, and are not wanted once nothing is to be done', async () => {
    const ids = Array.from({ length: 4 }, () => newPublicId('AG'));
    await write(ids.map((id, number) => saved(delivery(id, { number: number + 1 }))));
    const page = await reads().page(destination, [`${ids[0]}/1`], 2);
    expect([groups(page.deliveries), page.more]).toEqual([[ids[1], ids[2]], true]);
    await write(ids.map((id) => saved(delivery(id), { wanted: false, state: 'delivered' })));
    expect(await reads().page(destination, [], 10)).toEqual({ deliveries: [], more: false });
    expect(await destinationsWithWork(database.sql())).toEqual([]);
  });

  test('get the #N that their commit draws, and keep it', async () => {
    const id = newPublicId('AG');
    await write([saved(delivery(id, { number: null }))], new Map([[id, 77]]));
    await write([saved(delivery(id, { number: null }))]);
    const [row] = await database.sql()`select number from deliveries where group_id = ${id}`;
    expect(row?.number).toBe(77);
  });

  test('that are open are read in order, of one Route or of all', async () => {
    const ids = Array.from({ length: 3 }, () => newPublicId('AG')).sort();
    const other = newPublicId('RT');
    await write([
      saved(delivery(ids[0] as PublicId)),
      saved(delivery(ids[1] as PublicId, { routeId: other })),
      saved(delivery(ids[2] as PublicId), { isOpen: false }),
    ]);
    const open = (of: PublicId | null, after: { subject: string; target: number } | null = null) =>
      reads().open({ destinationId: destination, routeId: of, after, limit: 10 });
    expect(groups(await open(null))).toEqual([ids[0], ids[1]]);
    expect(groups(await open(other))).toEqual([ids[1]]);
    expect(groups(await open(null, { subject: ids[0] ?? '', target: 1 }))).toEqual([ids[1]]);
  });
});

test('open groups of a Route come Urgent first and then by #N, with what a Storm holds', async () => {
  const sql = database.sql();
  const calm = await insertGroup(sql, { routeId });
  const later = await insertGroup(sql, { routeId });
  const urgent = await insertGroup(sql, { routeId });
  await sql`update alert_groups set severity_level = 'critical' where id = ${urgent}`;
  await sql`update alert_groups set severity_level = 'info' where id in (${calm}, ${later})`;
  await sql`
    insert into storm_alert_groups (alert_group_id, route_id, since, number) values (${later}, ${routeId}, ${NOW}, 6)`;
  await sql`
    insert into route_storms (route_id, since, alert_group_count, urgent_count) values (${routeId}, ${NOW}, 1, 0)`;
  const { groups: found, stormSince } = await reads().openGroups({ routeId, after: null, limit: 10 });
  expect(found.map(({ groupId, held }) => [groupId, held])).toEqual([
    [urgent, false],
    [calm, false],
    [later, true],
  ]);
  expect(stormSince).toBe(NOW);
  const rest = await reads().openGroups({
    routeId,
    after: { urgent: true, number: found[0]?.number ?? 0 },
    limit: 1,
  });
  expect(rest.groups.map(({ groupId }) => groupId)).toEqual([calm]);
});

test('open groups of a Route are walked page by page, each once', async () => {
  const sql = database.sql();
  const ids: PublicId[] = [];
  for (let number = 1; number <= 7; number++) ids.push(await insertGroup(sql, { routeId }));
  await insertGroup(sql, { routeId, status: 'resolved' });
  await sql`update alert_groups set severity_level = 'critical' where id in (${ids[2] ?? ''}, ${ids[5] ?? ''})`;
  const found: PublicId[] = [];
  for (let after: { urgent: boolean; number: number } | null = null; ; ) {
    const page: readonly OpenGroup[] = (await reads().openGroups({ routeId, after, limit: 2 })).groups;
    const last = page.at(-1);
    if (!last) break;
    found.push(...page.map(({ groupId }) => groupId));
    after = { urgent: last.urgent, number: last.number };
  }
  expect(found).toEqual([2, 5, 0, 1, 3, 4, 6].map((index) => ids[index]));
});

test('those that wait are walked page by page, whatever became of the others', async () => {
  const ids = Array.from({ length: 5 }, () => newPublicId('AG')).sort();
  await write(ids.map((id) => saved(delivery(id), { wanted: false })));
  await write([saved(delivery(ids[2] as PublicId), { state: 'delivered', wanted: false })]);
  const found: string[] = [];
  for (let after: { subject: string; target: number } | null = null; ; ) {
    const page = await reads().waiting({ destinationId: destination, after, limit: 3 });
    found.push(...groups(page));
    const last = page.at(-1);
    if (last?.subject.kind !== 'group') break;
    after = { subject: last.subject.groupId, target: last.target };
  }
  expect(found).toEqual([0, 1, 3, 4].map((index) => ids[index]));
});

test('the summary of a Storm is found by its message, and nothing else is', async () => {
  const message = { id: 'm/7' } as NonNullable<Delivery['message']>;
  const subject = { kind: 'storm', routeId, since: NOW } as const;
  const summary = { ...delivery(newPublicId('AG')), subject, message };
  await write([saved(summary, { wanted: false }), saved(delivery(newPublicId('AG'), { message }))]);
  expect(await reads().summary(destination, 'm/7')).toEqual([summary]);
  expect(await reads().summary(destination, 'm/8')).toEqual([]);
});

describe('messages that were posted', () => {
  const posted = (
    messageId: string,
    groupId: PublicId | null,
    kind: MessagePosted['kind'],
    replaces = false,
  ): MessagePosted => ({
    ...{ type: 'delivery.message_posted', destinationId: destination, connectionId: CONNECTION },
    ...{ messageId, kind, groupId, replaces, at: NOW },
  });

  test('stay known when another Root message takes their place', async () => {
    const id = newPublicId('AG');
    await write([posted('m/1', id, 'root'), posted('m/2', id, 'reply')]);
    await write([posted('m/3', id, 'root', true)]);
    const rows = await database.sql()`
      select message_id, is_present from delivered_messages where group_id = ${id} order by message_id`;
    expect(rows.map((row) => [row.message_id, row.is_present])).toEqual([
      ['m/1', false],
      ['m/2', false],
      ['m/3', true],
    ]);
  });

  test('go with time when they are about no Alert Group, as summaries of Storms that are over do', async () => {
    const storm = {
      ...delivery(newPublicId('AG')),
      subject: { kind: 'storm', routeId, since: NOW },
    } as const;
    await write([saved(storm, { isOpen: false, wanted: false }), posted('m/1', null, 'storm_summary')]);
    expect(await pruneStormDeliveries(database.sql(), NOW, 10)).toBe(0);
    expect(await pruneStormDeliveries(database.sql(), NOW + 1, 10)).toBe(1);
    expect(await pruneLooseMessages(database.sql(), NOW + 1, 10)).toBe(1);
  });
});

test('an Alert Group shows where it stands at the present target, and that a Broken Destination holds it', async () => {
  const sql = database.sql();
  const group = await insertGroup(sql, { routeId });
  const stands = async () =>
    (await readGroupDeliveries(sql, group))?.map(({ state, error }) => [state, error]);
  await write([saved(delivery(group), { state: 'retired', wanted: false })]);
  await write([saved(delivery(group, { target: 2 }), { error: 'answered 503' })]);
  expect(await stands()).toEqual([['pending', 'answered 503']]);
  await sql`update destinations set broken_since = ${NOW}, broken_reason = 'no' where id = ${destination}`;
  expect(await stands()).toEqual([['waiting_for_broken_destination', 'answered 503']]);
});

test('an Alert Group says when its message was posted and edited, and what is due next', async () => {
  const sql = database.sql();
  const group = await insertGroup(sql, { routeId });
  const shows = async () =>
    (await readGroupDeliveries(sql, group))?.map(({ postedAt, editedAt, next }) => [
      postedAt,
      editedAt,
      next,
    ]);
  await write([saved(delivery(group))]);
  expect(await shows()).toEqual([[null, null, null]]);
  const message: PostedMessage = {
    ...{ id: 'm/1', threadRef: null, url: null, hash: null, postedAt: NOW - 2, publication: 1 },
    ...{ status: 'firing', editableUntil: null, signedWith: null },
  };
  const reply: QueuedReply = {
    ...{ sequence: 2, facts: { event: 'alerts_added', fingerprints: [] }, loudness: 'quiet', mentions: [] },
    ...{ owner: null, due: NOW + 5, tries: NO_TRIES },
  };
  const current = { root: 'current', thread: 'collecting', replies: [reply] } as const;
  await write([saved(delivery(group, { ...current, message: { ...message, editedAt: NOW - 1 } }))]);
  const due = { kind: 'reply', at: NOW + 5 };
  expect(await shows()).toEqual([[NOW - 2, NOW - 1, due]]);
  await write([saved(delivery(group, { ...current, root: 'stale', editSince: NOW, message }))]);
  expect(await shows()).toEqual([[NOW - 2, null, { kind: 'edit', at: NOW }]]);
  await sql`update destinations set broken_since = ${NOW}, broken_reason = 'no' where id = ${destination}`;
  expect(await shows()).toEqual([[NOW - 2, null, null]]);
});

describe('whether a message of an Alert Group may stand there unrecorded', () => {
  const flight = (kind: Flight['kind']): Flight => ({
    ...{ call: 1, kind, messageId: null, sequence: null, status: 'firing', isFinal: false, isProbe: false },
    ...{ tookToken: false, loudness: 'loud', startedAt: NOW, lostAt: NOW + 1 },
  });
  const reply: QueuedReply = {
    ...{ sequence: 2, facts: { event: 'alerts_added', fingerprints: [] }, loudness: 'quiet', mentions: [] },
    ...{ owner: null, due: NOW, tries: { ...NO_TRIES, unsureSince: NOW } },
  };
  const cases: readonly (readonly [string, Partial<Delivery>, boolean])[] = [
    ['nothing is called', {}, false],
    ['it is being published', { call: flight('publish') }, true],
    ['a reply is being posted', { call: flight('reply') }, true],
    ['it is being edited', { call: flight('edit') }, false],
    ['nobody knows how the Publication ended', { tries: { ...NO_TRIES, unsureSince: NOW } }, true],
    ['nobody knows how a reply ended', { replies: [reply] }, true],
    ['through another Connection', { connectionId: newPublicId('CN'), call: flight('publish') }, false],
  ];
  test.each(cases)('%s', async (_name, changes, expected) => {
    const id = await insertGroup(database.sql(), { routeId });
    await write([saved(delivery(id, changes))]);
    const facts = createEventFacts(database.sql(), () => undefined);
    expect(await facts.isPosting(CONNECTION, id)).toBe(expected);
  });
});
