import { beforeEach, describe, expect, test } from 'vitest';
import type { GroupRecord } from '../../actors/alert-group/effects.ts';
import type { SnapshotPart } from '../../actors/alert-group/messages.ts';
import { slotKey } from '../../actors/alert-group/ports.ts';
import { isLifecycle, type TimelineEntry } from '../../actors/alert-group/reading/timeline.ts';
import { alertKey } from '../../actors/model.ts';
import { ConflictError } from '../../runtime/actor/index.ts';
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, NOW, readDirectory } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { ensurePartitions } from '../postgres/partitions.ts';
import { PARTITIONED_TABLES, removeGroupDetails } from '../postgres/retention.ts';
import { createGroupReader, createRelatedGroups, createTemplateGroups } from './alert-groups.ts';
import { createGroupEngine, firingPart, resolvingPart, slotOf } from './engine.fixture.ts';

const database = useDatabase();
const SENDER = 'NT000000000001' as PublicId;
const ANN = {
  kind: 'user',
  id: 'SR000000000001' as PublicId,
  name: 'Ann',
  login: 'ann',
  tokenName: null,
  transport: 'ui',
} as const;

let engine: ReturnType<typeof createGroupEngine>;
let routeId: PublicId;
let now: Micros = NOW;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'notes', 'slots', 'feeds');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  now = NOW;
  const directory = await readDirectory(sql);
  const route = directory.current().routes.at(-1);
  if (!route) throw new Error('there is no Default route');
  routeId = route.id;
  engine = createGroupEngine({ sql, directory, now: () => now });
});

const X = { alertname: 'X', cluster: 'a' };
/** By the Default route's Group key. */
const KEY = { alertname: 'X', severity: '', cluster: 'a' };

async function created(part: SnapshotPart = partOf('X1')): Promise<PublicId> {
  const id = newPublicId('AG');
  const [first] = part.firing;
  if (first) {
    await database.sql()`
      insert into slots (route_id, key_hash, group_id) values (${first.slot.routeId}, ${first.slot.keyHash}, ${id})
      on conflict (route_id, key_hash) do update set group_id = excluded.group_id`;
  }
  await engine.deliver(id, part);
  return id;
}

function partOf(...fingerprints: string[]): SnapshotPart {
  const slot = slotOf(routeId, KEY);
  return firingPart(
    now,
    slot,
    SENDER,
    fingerprints.map((name) => [name, { ...X, n: name }]),
  );
}

const reader = () => createGroupReader(database.sql());

describe('writing', () => {
  test('a new Alert Group is stored whole, with its number', async () => {
    const id = await created(partOf('X1', 'X2'));
    expect(await reader().read(id)).toMatchObject({
      number: 1,
      title: 'X',
      summary: 'about X1',
      status: 'firing',
      groupLabels: KEY,
      commonLabels: X,
      integrationIds: [SENDER],
      firingAlertCount: 2,
      runbookUrl: 'https://wiki.example/rb',
      newer: null,
    });
  });

  test('owned rows come back as they were', async () => {
    const id = await created(partOf('X1', 'X2'));
    const rows = await engine.loadRows(id);
    expect([...rows.keys()]).toEqual([alertKey(SENDER, 'X1'), alertKey(SENDER, 'X2')]);
    expect(rows.get(alertKey(SENDER, 'X1'))).toMatchObject({
      state: 'firing',
      startsAt: NOW,
      lastSeenAt: NOW,
      feeds: { [`${SENDER}.feed`]: { state: 'listed', since: NOW, groupKey: '{}:{alertname="X"}' } },
      senderGroups: ['{}:{alertname="X"}'],
    });
  });

  test('groups of several messages are read at once, each with its own Alerts and as a page reads it', async () => {
    const one = await created(partOf('X1', 'X2'));
    const other = await created(
      firingPart(now + MINUTE, slotOf(routeId, { alertname: 'other' }), SENDER, [
        ['Y1', { ...X, n: '"Y,1"' }],
      ]),
    );
    const groups = createTemplateGroups(database.sql());
    const ids = [one, other, newPublicId('AG'), one];
    const [read, alerts] = await Promise.all([
      Promise.all(ids.map(groups.read)),
      Promise.all(ids.map(groups.of)),
    ]);
    const paged = await Promise.all(ids.map((id) => reader().read(id)));
    expect(read).toEqual(paged);
    expect(alerts.map((each) => each.map(({ fingerprint }) => fingerprint))).toEqual([
      ['X1', 'X2'],
      ['Y1'],
      [],
      ['X1', 'X2'],
    ]);
    expect(alerts[1]).toEqual([
      {
        ...{
          fingerprint: 'Y1',
          status: 'firing',
          labels: { ...X, n: '"Y,1"' },
          annotations: expect.anything(),
        },
        ...{ startsAt: expect.any(Number), endsAt: null, generatorUrl: expect.toSatisfy(() => true) },
      },
    ]);
    expect(alerts[1]).toEqual(await groups.named(other, ['Y1']));
  });

  test('a group with its Alerts is read once, and eight groups by one statement', async () => {
    const sql = database.sql();
    const groups = createTemplateGroups(sql);
    const ids = [await created(), ...Array.from({ length: 8 }, () => newPublicId('AG'))];
    const { debug } = sql.options;
    let statements = 0;
    sql.options.debug = () => {
      statements++;
    };
    await Promise.all(ids.slice(0, 8).flatMap((id) => [groups.read(id), groups.of(id), groups.read(id)]));
    expect(statements).toBe(1);
    await Promise.all(ids.flatMap((id) => [groups.read(id), groups.of(id)]));
    sql.options.debug = debug;
    expect(statements).toBe(3);
  });

  test('listed once more moves only the time', async () => {
    const part = partOf('X1');
    const id = await created(part);
    await engine.deliver(id, { ...part, receivedAt: NOW + MINUTE });
    const { items } = await reader().alerts({ groupId: id, state: null, after: null, limit: 10 });
    expect(items[0]?.lastSeenAt).toBe(NOW + MINUTE);
    expect((await reader().read(id))?.lastChangedAt).toBe(NOW);
  });

  test('the last row of a batch counts', async () => {
    const id = await created();
    const before = await reader().read(id);
    if (!before) throw new Error('it was just created');
    const saved = (title: string): GroupRecord => ({
      type: 'group.saved',
      opened: false,
      row: { ...before, title },
    });
    await engine.write([saved('one'), saved('two')]);
    expect((await reader().read(id))?.title).toBe('two');
  });

  test('who acknowledged first stays, even when an older version writes that does not know it', async () => {
    const id = await created();
    const before = await reader().read(id);
    if (!before) throw new Error('it was just created');
    const saved = (firstAcknowledgedBy: PublicId | null): GroupRecord => ({
      type: 'group.saved',
      opened: false,
      row: { ...before, firstAcknowledgedBy },
    });
    await engine.write([saved(ANN.id)]);
    await engine.write([saved(null)]);
    expect((await reader().read(id))?.firstAcknowledgedBy).toBe(ANN.id);
  });

  test('nothing starts on a deleted Route', async () => {
    const sql = database.sql();
    await sql`update routes set deleted_at = ${NOW}`;
    await expect(created()).rejects.toThrow(ConflictError);
    expect(await sql`select 1 from alert_groups`).toHaveLength(0);
  });

  test('a Reopen after the details were removed shows what fires now', async () => {
    const part = partOf('X1');
    const id = await created(part);
    now += MINUTE;
    await engine.deliver(id, resolvingPart(now, part, ['X1']));
    // The Reopen window may be longer than details are kept.
    expect(await removeGroupDetails(database.sql(), now + 1, 10)).toBe(1);
    now += MINUTE;
    await engine.deliver(id, partOf('X2'));
    expect(await reader().read(id)).toMatchObject({ status: 'firing', detailsRemoved: false });
    const alerts = await reader().alerts({ groupId: id, state: null, after: null, limit: 10 });
    expect(alerts.items.map(({ report }) => report.fingerprint)).toEqual(['X2']);
  });

  test('nothing opens again on a Route that was deleted meanwhile', async () => {
    const part = partOf('X1');
    const id = await created(part);
    now += MINUTE;
    await engine.deliver(id, resolvingPart(now, part, ['X1']));
    // Its turn is decided before the deletion is known here.
    await database.sql()`update routes set deleted_at = ${now} where id = ${routeId}`;
    now += MINUTE;
    await expect(engine.deliver(id, partOf('X2'))).rejects.toThrow(ConflictError);
  });

  test('the second open Alert Group of a Slot is refused and the Slot marked', async () => {
    const part = partOf('X1');
    await created(part);
    const slot = part.firing[0]?.slot;
    await expect(engine.deliver(newPublicId('AG'), partOf('X2'))).rejects.toThrow(ConflictError);
    expect(slot && engine.contested.has(slotKey(slot))).toBe(true);
  });

  test('an Alert fires in one Alert Group; the second claim is refused and marked', async () => {
    await created();
    const other = firingPart(now, slotOf(routeId, { alertname: 'other' }), SENDER, [['X1', X]]);
    await expect(created(other)).rejects.toThrow(ConflictError);
    expect(engine.contested.has(alertKey(SENDER, 'X1'))).toBe(true);
  });

  test('after the refusal the Alert goes to the group in which it fires', async () => {
    const id = await created();
    const other = firingPart(now + MINUTE, slotOf(routeId, { alertname: 'other' }), SENDER, [['X1', X]]);
    const elsewhere = newPublicId('AG');
    await expect(engine.deliver(elsewhere, other)).rejects.toThrow(ConflictError);
    await engine.deliver(elsewhere, other);
    expect(await reader().read(elsewhere)).toBeNull();
    expect((await reader().read(id))?.firingAlertCount).toBe(1);
  });

  test('one open Alert Group a Route and key', async () => {
    const id = await created();
    const first = await reader().read(id);
    if (!first) throw new Error('it was just created');
    const second = { ...first, id: newPublicId('AG'), number: 2 };
    const record: GroupRecord = { type: 'group.saved', opened: true, row: second };
    await expect(engine.write([record])).rejects.toThrow(ConflictError);
    const moved = { ...second, originalRouteId: routeId, routeId: newPublicId('RT') };
    await engine.write([{ ...record, opened: false, row: moved } as GroupRecord]);
  });

  test('a Slot moves away only from the group that it names', async () => {
    const sql = database.sql();
    const [one, two, three] = [newPublicId('AG'), newPublicId('AG'), newPublicId('AG')];
    const move = (fromGroupId: PublicId | null, groupId: PublicId): GroupRecord => ({
      type: 'slot.moved',
      routeId,
      keyHash: 'k',
      groupId,
      fromGroupId,
    });
    await engine.write([move(null, one)]);
    await expect(engine.write([move(null, two)])).rejects.toThrow(ConflictError);
    await engine.write([move(one, two), move(two, three)]);
    expect(await sql`select group_id from slots where key_hash = 'k'`).toEqual([{ group_id: three }]);
  });

  test('tails move within one transaction, and say where to', async () => {
    const sql = database.sql();
    const id = await created();
    await engine.deliver(id, {
      type: 'command',
      command: { name: 'resolve', note: 'noise' },
      by: ANN,
    });
    now = NOW + HOUR;
    await engine.deliver(id, { type: 'wake' });
    const { items } = await reader().alerts({ groupId: id, state: null, after: null, limit: 10 });
    expect(items).toMatchObject([{ state: 'resolved', resolvedBy: 'moved', movedToNumber: 2 }]);
    const [slot] = await sql<{ group_id: PublicId }[]>`select group_id from slots`;
    expect(await reader().read(slot?.group_id as PublicId)).toMatchObject({
      number: 2,
      firesAgainAfter: 1,
      firingAlertCount: 1,
    });
    expect((await reader().read(id))?.newer).toMatchObject({ number: 2 });
    const related = createRelatedGroups(sql);
    const { keyHash } = slotOf(routeId, KEY);
    expect(await related.newerOpen({ routeId, keyHash, except: id })).toMatchObject({ number: 2 });
  });
});

describe('pages of one Alert Group', () => {
  test('Alerts: firing first, then by newest start, in pages', async () => {
    const part = partOf('X1', 'X2', 'X3');
    const id = await created(part);
    now = NOW + MINUTE;
    await engine.deliver(id, resolvingPart(now, part, ['X2']));
    await engine.deliver(id, partOf('X4'));
    const names: string[] = [];
    let after: readonly (string | number)[] | null = null;
    do {
      const page = await reader().alerts({ groupId: id, state: null, after, limit: 1 });
      names.push(...page.items.map(({ report }) => report.fingerprint));
      after = page.next;
    } while (after);
    expect(names).toEqual(['X4', 'X1', 'X3', 'X2']);
    const resolved = await reader().alerts({ groupId: id, state: 'resolved', after: null, limit: 10 });
    expect(resolved.items).toHaveLength(1);
  });

  test('a silent repeat of the feed shows as last seen', async () => {
    const id = await created();
    await database.sql()`
      insert into feeds (key, integration_id, group_key, last_received_at)
      values (${`${SENDER}.feed`}, ${SENDER}, 'g', ${NOW + 9 * SECOND})`;
    const { items } = await reader().alerts({ groupId: id, state: null, after: null, limit: 10 });
    expect(items[0]?.lastSeenAt).toBe(NOW + 9 * SECOND);
  });

  test('a resolve of another feed that is older than a silent repeat ends nothing', async () => {
    const part = partOf('X1');
    const id = await created(part);
    await database.sql()`
      insert into feeds (key, integration_id, group_key, last_received_at)
      values (${part.feed}, ${SENDER}, 'g', ${NOW + 10 * MINUTE})`;
    const related = createRelatedGroups(database.sql());
    expect([...(await related.feedsHeardAt([part.feed, 'never heard']))]).toEqual([
      [part.feed, NOW + 10 * MINUTE],
    ]);
    const other = { ...resolvingPart(NOW + 5 * MINUTE, part, ['X1']), feed: `${SENDER}.other` };
    await engine.deliver(id, other);
    expect(await reader().read(id)).toMatchObject({ status: 'firing' });
    await engine.deliver(id, { ...other, receivedAt: NOW + 10 * MINUTE });
    expect(await reader().read(id)).toMatchObject({ status: 'resolved' });
  });

  test('Timeline: entries and Notes in one order, by kind, either way, in pages', async () => {
    const id = await created();
    const command = (body: string) => ({
      type: 'command' as const,
      command: { name: 'add_note' as const, body },
      by: ANN,
    });
    await engine.deliver(id, command('first'));
    await engine.deliver(id, command('second'));
    await engine.deliver(id, {
      type: 'delivery_noted',
      destinationId: newPublicId('DS'),
      destinationName: 'hook',
      event: 'not_delivered',
      error: 'HTTP 400',
      problem: true,
      at: NOW,
    });
    const texts: string[] = [];
    let after: readonly (string | number)[] | null = null;
    do {
      const page = await reader().timeline({ groupId: id, kinds: [], descending: false, after, limit: 1 });
      texts.push(...page.items.map(eventOf));
      after = page.next;
    } while (after);
    expect(texts).toEqual(['created', 'note_added', 'note_added', 'not_delivered']);
    const newest = await reader().timeline({
      groupId: id,
      kinds: ['notes', 'status'],
      descending: true,
      after: null,
      limit: 2,
    });
    expect(newest.items).toMatchObject([{ body: 'second' }, { body: 'first' }]);
    const notes = await reader().notes({ groupId: id, after: null, limit: 10 });
    expect(notes.items.map(({ body }) => body)).toEqual(['second', 'first']);
    expect((await reader().read(id))?.deliveryProblem).toBe(true);
  });

  test('related: the same Route and key before it, newest first', async () => {
    for (let round = 0; round < 3; round++) {
      now = NOW + round * HOUR;
      const part = partOf('X1');
      const id = await created(part);
      if (round < 2) await engine.deliver(id, resolvingPart(now + MINUTE, part, ['X1']));
      else {
        const page = await reader().related({ groupId: id, after: null, limit: 1 });
        expect(page.items.map(({ number }) => number)).toEqual([2]);
        const rest = await reader().related({ groupId: id, after: page.next, limit: 1 });
        expect([rest.items.map(({ number }) => number), rest.next]).toEqual([[1], null]);
      }
    }
  });
});

function eventOf(entry: TimelineEntry): string {
  if (isLifecycle(entry)) return entry.event;
  return entry.kind === 'delivery' ? entry.deliveryEvent : entry.systemEvent;
}
