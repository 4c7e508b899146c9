import { beforeEach, describe, expect, test } from 'vitest';
import type { DestinationRecord, WebhookProgress } from '../../actors/destination/effects.ts';
import { newEventId } from '../../actors/destination/messages.ts';
import { CALL_LOST_AFTER } from '../../actors/destination/pacing.ts';
import { type DestinationRows, lineOf, MOST_OF_GROUP } from '../../actors/destination/rows.ts';
import type { WebhookEventRecorded } from '../../actors/effects.ts';
import type { GroupView } from '../../actors/model.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, insertDestination, insertGroup, NOW } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { readGroupDeliveries } from './group-deliveries.ts';
import {
  createWaitingEvents,
  destinationRowLoader,
  destinationsWithWork,
  pruneWebhookEvents,
  readWebhookBody,
} from './webhook-events.ts';
import { createWebhookBodies, createWebhookRecordWriter } from './webhook-records.ts';

const database = useDatabase();
const bodies = createWebhookBodies();
const writer = createWebhookRecordWriter({ publicUrl: 'https://oncall.example', bodies });

let relay: PublicId;
let group: PublicId;
let clock = NOW;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'webhook_events');
  relay = await insertDestination(sql, 'relay');
  const [route] = await sql<{ id: string }[]>`select id from routes`;
  group = await insertGroup(sql, { routeId: route?.id ?? '' });
});

function recorded(changes: { groupId?: PublicId; sequence?: number; urgent?: boolean; number?: null } = {}) {
  const { groupId = group, sequence = 1, urgent = false } = changes;
  clock += 1;
  const view: GroupView = {
    id: groupId,
    title: 'Disk "full" \u0001 Ж',
    summary: null,
    status: 'firing',
    owner: null,
    routeId: 'RT0' as PublicId,
    routeName: 'web',
    urgent,
    severityLevel: 'info',
    startedAt: NOW,
    resolvedAt: null,
    snoozeUntil: null,
    reopenCount: 0,
    alerts: [],
  };
  return {
    type: 'webhook.recorded',
    eventId: newEventId((size) => Buffer.from(newPublicId('DS').padEnd(size, 'x').slice(-size))),
    destinationId: relay,
    event: {
      name: 'created',
      loudness: 'loud',
      mentions: [],
      sequence,
      at: clock,
      actor: { kind: 'system', reason: 'alert' },
      ownerBefore: null,
    },
    group: view,
    number: changes.number === null ? null : 7,
    mentions: [],
  } satisfies WebhookEventRecorded;
}

function progress(eventId: string, changes: Partial<WebhookProgress> = {}): WebhookProgress {
  return {
    type: 'webhook.progress',
    eventId,
    state: 'sending',
    calls: 1,
    attempts: 0,
    firstFailedAt: null,
    nextAttemptAt: NOW + CALL_LOST_AFTER,
    exact: false,
    error: null,
    at: NOW,
    ...changes,
  };
}

async function write(...effects: readonly (WebhookEventRecorded | DestinationRecord)[]): Promise<void> {
  await database.sql().begin((tx) => writer.write(tx, effects, new Map([[group, 412]])));
}

async function row(eventId: string) {
  const [found] = await database.sql()`select * from webhook_events where id = ${eventId}`;
  return found;
}

async function loaded(): Promise<DestinationRows> {
  const rows = await destinationRowLoader.load(database.sql(), [relay]);
  return rows.get(relay) as DestinationRows;
}

describe('records', () => {
  test('an event and what became of it in the same batch is one row', async () => {
    const event = recorded();
    await write(event, progress(event.eventId));
    expect(await row(event.eventId)).toMatchObject({ state: 'sending', attempts: 0, finished_at: null });
  });

  test('the body is made with the number drawn by the commit, and kept for the request', async () => {
    const event = recorded({ number: null });
    await write(event);
    const body = await readWebhookBody(database.sql(), event.eventId);
    expect(JSON.parse(body ?? '').alert_group).toMatchObject({ number: 412, title: 'Disk "full" \u0001 Ж' });
    expect(bodies.get(event.eventId)).toBe(body);
  });

  test('what waits when a Destination takes no events any more ends, also of the same batch', async () => {
    const [waiting, delivered, same] = [recorded(), recorded(), recorded()];
    await write(waiting, delivered);
    await write(progress(delivered.eventId, { state: 'delivered', nextAttemptAt: null }));
    const error = 'the Destination left events mode';
    await write(same, { type: 'webhook.events_ended', destinationId: relay, error, at: NOW });
    const over = { state: 'not_delivered', error, next_attempt_at: null, finished_at: NOW };
    expect(await row(waiting.eventId)).toMatchObject(over);
    expect(await row(same.eventId)).toMatchObject(over);
    expect(await row(delivered.eventId)).toMatchObject({ state: 'delivered', error: null });
  });

  test('the last word of a batch on an event counts', async () => {
    const event = recorded();
    await write(event);
    const failed = {
      state: 'waiting',
      attempts: 1,
      firstFailedAt: NOW,
      error: 'a "quoted" \\ error',
    } as const;
    await write(progress(event.eventId), progress(event.eventId, failed));
    expect(await row(event.eventId)).toMatchObject({ state: 'waiting', attempts: 1, error: failed.error });
    await write(progress(event.eventId, { state: 'delivered', nextAttemptAt: null }));
    expect(await row(event.eventId)).toMatchObject({ state: 'delivered', finished_at: NOW });
    expect(bodies.get(event.eventId)).toBeUndefined();
  });

  test('a finished event stays as it is', async () => {
    const event = recorded();
    await write(event, progress(event.eventId, { state: 'not_delivered', error: 'no' }));
    await write(progress(event.eventId, { state: 'delivered' }));
    expect(await row(event.eventId)).toMatchObject({ state: 'not_delivered', error: 'no' });
  });

  test('a recovery gives everything that waits a fresh budget, exact waits stay', async () => {
    const [plain, exact] = [recorded(), recorded({ groupId: 'AGB' as PublicId })];
    const waiting = { state: 'waiting', attempts: 9, firstFailedAt: NOW, nextAttemptAt: NOW + 5 } as const;
    await write(
      plain,
      exact,
      progress(plain.eventId, waiting),
      progress(exact.eventId, { ...waiting, exact: true }),
    );
    await write({ type: 'webhook.budgets_renewed', destinationId: relay, at: NOW });
    expect(await row(plain.eventId)).toMatchObject({
      attempts: 0,
      first_failed_at: null,
      next_attempt_at: null,
    });
    expect(await row(exact.eventId)).toMatchObject({ attempts: 0, next_attempt_at: NOW + 5 });
  });

  test('health is shown as recorded', async () => {
    const health = { state: 'broken', since: NOW, reason: 'answered 401' } as const;
    await write({
      type: 'destination.health',
      destinationId: relay,
      health,
      failing: null,
      templateError: null,
    });
    const [shown] =
      await database.sql()`select broken_since, broken_reason from destinations where id = ${relay}`;
    expect(shown).toEqual({ broken_since: NOW, broken_reason: 'answered 401' });
  });

  test('since when every call has failed is stored, and cleared by the success', async () => {
    const told = { type: 'destination.health', destinationId: relay, templateError: null } as const;
    const health = { state: 'healthy' } as const;
    const shown = () =>
      database.sql()`select failing_since, failing_error from destinations where id = ${relay}`;
    await write({ ...told, health, failing: { since: NOW, error: 'answered 503' } });
    expect([...(await shown())]).toEqual([{ failing_since: NOW, failing_error: 'answered 503' }]);
    await write({ ...told, health, failing: null });
    expect([...(await shown())]).toEqual([{ failing_since: null, failing_error: null }]);
  });
});

describe('what an activation loads', () => {
  test('waiting events per group in order, calls under way as such', async () => {
    const [first, second] = [recorded(), recorded({ sequence: 2 })];
    await write(first, second, progress(first.eventId));
    const rows = await loaded();
    expect([rows.events, rows.messages.flights.size, rows.overflow]).toEqual([2, 1, false]);
    const line = lineOf(rows, group);
    expect(line).toMatchObject({ root: 'publishing', call: { call: 1 } });
    expect(line?.events?.map(({ id }) => id)).toEqual([first.eventId, second.eventId]);
  });

  test('groups that an event ended badly for are remembered', async () => {
    const event = recorded();
    await write(event, progress(event.eventId, { state: 'not_delivered', error: 'no' }));
    expect((await loaded()).troubled.has(group)).toBe(true);
  });

  test('pages hold groups, Urgent and oldest first, and leave out those named', async () => {
    const ids = ['AGA', 'AGB', 'AGC', 'AGD'] as PublicId[];
    for (const groupId of ids) {
      const urgent = groupId === 'AGC';
      await write(recorded({ groupId, urgent }), recorded({ groupId, urgent, sequence: 2 }));
    }
    const page = await createWaitingEvents(database.sql()).page(relay, ['AGA' as PublicId], 3);
    expect(page.more).toBe(true);
    expect(page.events.map((event) => `${event.groupId} ${event.sequence}`)).toEqual([
      'AGC 1',
      'AGC 2',
      'AGB 1',
      'AGB 2',
    ]);
    expect(await createWaitingEvents(database.sql()).page(relay, ids, 3)).toEqual({
      events: [],
      more: false,
      cut: [],
    });
  });

  test('of a group with very many events a page gives the first ones, and says so', async () => {
    const long = Array.from({ length: MOST_OF_GROUP + 5 }, (_, index) => recorded({ sequence: index + 1 }));
    await write(...long, recorded({ groupId: 'AGB' as PublicId }));
    const page = await createWaitingEvents(database.sql()).page(relay, [], 1000);
    expect(page.cut).toEqual([group]);
    expect(page.more).toBe(false);
    expect(page.events.map((event) => event.sequence)).toEqual([
      ...Array.from({ length: MOST_OF_GROUP }, (_, index) => index + 1),
      1,
    ]);
    const rest = await createWaitingEvents(database.sql()).page(relay, [], 20);
    expect(rest).toMatchObject({ more: true, cut: [group] });
    expect(rest.events).toHaveLength(MOST_OF_GROUP);
  });

  test('paging through 12,000 groups gives each once', async () => {
    const sql = database.sql();
    await sql`
      insert into webhook_events (
        id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state, attempts, exact, updated_at
      )
      select 'msg_' || n, ${relay}, 'AG' || n, 1, 'created', false, ${NOW}::bigint + n, '{}', 'waiting', 0, false, ${NOW}
      from generate_series(1, 12000) n`;
    await sql`analyze webhook_events`;
    const pages = createWaitingEvents(sql);
    const seen = new Set<string>();
    for (let page = await pages.page(relay, [], 5000); ; page = await pages.page(relay, [], 5000)) {
      for (const event of page.events) {
        expect(seen.has(event.id)).toBe(false);
        seen.add(event.id);
      }
      if (!page.more) break;
      const ids = page.events.map((event) => event.id);
      await sql`update webhook_events set state = 'delivered', finished_at = ${NOW} where id = any(${ids}::text[])`;
    }
    expect(seen.size).toBe(12_000);
  });

  test('Destinations with work are those with waiting events', async () => {
    await insertDestination(database.sql(), 'idle');
    expect(await destinationsWithWork(database.sql())).toEqual([]);
    await write(recorded());
    expect(await destinationsWithWork(database.sql())).toEqual([relay]);
  });
});

describe('delivery state of an Alert Group', () => {
  const states = async () =>
    (await readGroupDeliveries(database.sql(), group))?.map(({ state, error }) => [state, error]);

  test('follows the events', async () => {
    expect(await states()).toEqual([]);
    const event = recorded();
    await write(event, progress(event.eventId, { state: 'waiting', error: 'answered 503' }));
    expect(await states()).toEqual([['pending', 'answered 503']]);
    const health = { state: 'broken', since: NOW, reason: 'x' } as const;
    await write({
      type: 'destination.health',
      destinationId: relay,
      health,
      failing: null,
      templateError: null,
    });
    expect(await states()).toEqual([['waiting_for_broken_destination', 'answered 503']]);
    await write(progress(event.eventId, { state: 'not_delivered', error: 'answered 400' }));
    expect(await states()).toEqual([['not_delivered', 'answered 400']]);
    const next = recorded({ sequence: 2 });
    await write(next, progress(next.eventId, { state: 'delivered' }));
    expect(await states()).toEqual([['delivered', null]]);
  });

  test('of an unknown group there is none', async () => {
    expect(await readGroupDeliveries(database.sql(), newPublicId('AG'))).toBeNull();
  });
});

test('retention removes finished events only', async () => {
  const [done, waiting] = [recorded(), recorded({ sequence: 2 })];
  await write(done, waiting, progress(done.eventId, { state: 'delivered' }));
  expect(await pruneWebhookEvents(database.sql(), clock + 1, 100)).toBe(1);
  expect(await row(waiting.eventId)).toBeDefined();
});
