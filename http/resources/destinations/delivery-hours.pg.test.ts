import { beforeEach, expect, test } from 'vitest';
import { DAY, HOUR, type Micros } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import {
  createDeliveryHoursReader,
  deliveryHoursStatement,
  pruneDeliveryHours,
} from '../../../storage/delivery/delivery-hours.ts';
import { createRequestLogStore } from '../../../storage/delivery/request-log.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import { firstStart, insertDestination, NOW, stoppedClock } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import type { Json } from '../../../test/harness/api.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { deliveryHoursOperations } from './delivery-hours.ts';

const database = useDatabase();
let api: OperationClient;
let relay: PublicId;
let quiet: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'request_records', 'delivery_hours');
  for (const day of [NOW - 2 * DAY, NOW - DAY, NOW]) await ensurePartitions(sql, day, PARTITIONED_TABLES);
  relay = await insertDestination(sql, 'relay');
  quiet = await insertDestination(sql, 'quiet');
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  const operations = deliveryHoursOperations({ hours: createDeliveryHoursReader(sql) });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

const NOTHING_SENT = { headers: [], body: null, bodyBytes: 0, bodyTruncated: false } as const;
const FAILED = {
  status: 503,
  errorClass: 'transient',
  errorCode: 'http_status',
  error: 'answered 503',
} as const;

function recordOf(parts: Partial<RequestRecord>): RequestRecord {
  return {
    ...{ id: newPublicId('RQ'), at: NOW, direction: 'outbound', operation: 'event', method: 'POST' },
    ...{ url: 'https://relay.example.org/in', status: 204, latency: 1_000, via: 'direct', attempt: 1 },
    ...{ errorClass: null, errorCode: null, error: null, check: null, checkRun: null },
    ...{ connectionId: null, destinationId: relay, alertGroupId: null },
    ...{ request: NOTHING_SENT, response: NOTHING_SENT },
    ...parts,
  };
}

const log = () => createRequestLogStore(database.sql());
const write = (...parts: Partial<RequestRecord>[]) => log().write(parts.map(recordOf), []);
const hourOf = (at: Micros) => at - (at % HOUR);
const THIS_HOUR = hourOf(NOW);

async function itemOf(name: string): Promise<Json> {
  const { status, body } = await api.get('/delivery-hours');
  expect(status).toBe(200);
  return body.items.find(({ destination }: Json) => destination.name === name);
}
const totals = async (name: string) => {
  const { delivered, failed } = await itemOf(name);
  return [delivered, failed];
};

test('requests of each Destination are counted in the hour in which they began', async () => {
  await write({}, {}, FAILED, { at: THIS_HOUR - 1 }, { ...FAILED, at: THIS_HOUR - 23 * HOUR });
  const { body } = await api.get('/delivery-hours');
  expect(body.hours).toHaveLength(24);
  expect(body.hours.at(-1)).toBe(new Date(THIS_HOUR / 1_000).toISOString().replace('.000Z', 'Z'));
  expect(body.items.map(({ destination }: Json) => destination.name)).toEqual(['quiet', 'relay']);
  const zeros = Array.from({ length: 24 }, () => 0);
  expect(body.items).toEqual([
    {
      destination: { id: quiet, name: 'quiet' },
      ...{ delivered: 0, failed: 0, delivered_per_hour: zeros, failed_per_hour: zeros },
    },
    {
      destination: { id: relay, name: 'relay' },
      ...{ delivered: 3, failed: 2 },
      delivered_per_hour: zeros.with(23, 2).with(22, 1),
      failed_per_hour: zeros.with(23, 1).with(0, 1),
    },
  ]);
});

test('what is older than the first hour is left out, and removed after two days', async () => {
  await write({ at: THIS_HOUR - 23 * HOUR - 1 }, { at: NOW - 2 * DAY - HOUR }, {});
  expect(await totals('relay')).toEqual([1, 0]);
  expect(await pruneDeliveryHours(database.sql(), NOW)).toBe(1);
  expect((await database.sql()`select 1 from delivery_hours`).count).toBe(2);
});

test('checks, tests and probes, what came in, and reading from a messenger are no deliveries', async () => {
  const connectionId = newPublicId('CN');
  await write(
    ...(['connection_check', 'destination_check', 'destination_test', 'probe'] as const).map((check) => ({
      check,
    })),
    { direction: 'inbound' },
    { connectionId, method: 'GET' },
    { destinationId: null, connectionId },
  );
  expect(await totals('relay')).toEqual([0, 0]);
  // A template may call a webhook with any method.
  await write({ method: 'GET' }, { connectionId, method: 'PUT' });
  expect(await totals('relay')).toEqual([2, 0]);
});

test('records that are written again count once; several replicas add up', async () => {
  const batch = [recordOf({}), recordOf({ destinationId: quiet }), recordOf(FAILED)];
  await log().write(batch, []);
  await log().write(batch, []);
  expect(await totals('relay')).toEqual([1, 1]);
  const replicas = Array.from({ length: 8 }, (_, index) => {
    const both = [recordOf({}), recordOf({ destinationId: quiet })];
    return log().write(index % 2 === 0 ? both : both.toReversed(), []);
  });
  await Promise.all(replicas);
  expect([await totals('relay'), await totals('quiet')]).toEqual([
    [9, 1],
    [9, 0],
  ]);
});

test('of more than the Request log keeps every request is counted', async () => {
  for (let batch = 0; batch < 7; batch++) await write(...Array.from({ length: 200 }, () => ({})));
  const [kept] = await database.sql()<{ count: number }[]>`
    select count(*)::integer as count from request_records`;
  expect(kept?.count).toBeLessThan(1_400);
  expect(await totals('relay')).toEqual([1_400, 0]);
});

test('a deleted Destination is not listed', async () => {
  await write({});
  await database.sql()`update destinations set deleted_at = ${NOW} where id = ${relay}`;
  const directory = createDirectory({ sql: database.sql(), clock: stoppedClock, log: silentLog });
  await directory.reload();
  const operations = deliveryHoursOperations({ hours: createDeliveryHoursReader(database.sql()) });
  const { body } = await operationClient({ operations, directory, clock: stoppedClock }).get(
    '/delivery-hours',
  );
  expect(body.items.map(({ destination }: Json) => destination.name)).toEqual(['quiet']);
});

test('of 100,000 hours only those of the last day are read, as one range of the index', async () => {
  const sql = database.sql();
  await sql`
    insert into delivery_hours (hour, destination_id, delivered, failed)
    select ${THIS_HOUR}::bigint - (n / 100) * ${HOUR}::bigint, 'DS' || n % 100, 3, 1 from generate_series(0, 99999) n`;
  await sql`analyze delivery_hours`;
  const rows = await sql<
    { 'QUERY PLAN': string }[]
  >`explain (analyze, timing off) ${deliveryHoursStatement(sql, THIS_HOUR - 23 * HOUR, NOW)}`;
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/delivery_hours_pkey/);
  expect(plan).not.toMatch(/Seq Scan|Rows Removed/);
  expect(plan).toMatch(/actual rows=2400/);
});
