import { beforeEach, describe, expect, test } from 'vitest';
import { DAY, HOUR, type Micros } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import {
  createRequestLogReader,
  createRequestLogStore,
  pruneRequestRecords,
  requestsStatement,
} from '../../../storage/delivery/request-log.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import {
  firstStart,
  insertDestination,
  insertGroup,
  NOW,
  stoppedClock,
} from '../../../test/configuration.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import type { Permission } from '../../permissions.ts';
import { requestRecordOperations } from './request-records.ts';

const database = useDatabase();
let api: OperationClient;
let webhook: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await sql`truncate request_records`;
  for (let day = NOW - 9 * DAY; day <= NOW; day += DAY) await ensurePartitions(sql, day, PARTITIONED_TABLES);
  webhook = await insertDestination(sql, 'phone relay');
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  const operations = requestRecordOperations({ reader: createRequestLogReader(sql) });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

const REQUEST = { headers: [['X-One', 'a']], body: '{"a":1}', bodyBytes: 7, bodyTruncated: false } as const;
const ANSWER = {
  headers: [['Retry-After', '30']],
  body: 'busy',
  bodyBytes: 4,
  bodyTruncated: false,
} as const;

function recordOf(parts: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: newPublicId('RQ'),
    at: NOW,
    direction: 'outbound',
    operation: 'event',
    method: 'POST',
    url: 'https://relay.example.org/in',
    status: 204,
    latency: 212_345,
    via: 'direct',
    attempt: 1,
    errorClass: null,
    errorCode: null,
    error: null,
    check: null,
    checkRun: null,
    connectionId: null,
    destinationId: webhook,
    alertGroupId: null,
    request: REQUEST,
    response: ANSWER,
    ...parts,
  };
}

async function write(...parts: Partial<RequestRecord>[]): Promise<RequestRecord[]> {
  const records = parts.map(recordOf);
  await createRequestLogStore(database.sql()).write(records, []);
  return records;
}

/** Ids of a list, page by page when there are more. */
async function ids(query: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = '';
  do {
    const { status, body } = await api.get(`/request-records?${query}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    found.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor ?? '';
  } while (cursor !== '');
  return found;
}

async function insertConnection(name: string): Promise<PublicId> {
  const id = newPublicId('CN');
  await database.sql()`
    insert into connections (id, version, name, type, address, access, limiter, created_at)
    values (${id}, 1, ${name}, 'bridge', 'https://bridge.example', 1, '{"limit": 1, "per_seconds": 1}', ${NOW})`;
  return id;
}

describe('a record', () => {
  test('is read with everything that it says, and listed without headers and bodies', async () => {
    const group = await insertGroup(database.sql(), { routeId: 'RT' });
    const [{ number } = { number: 0 }] = await database.sql()<
      { number: number }[]
    >`select number from alert_groups`;
    const [record] = await write({
      alertGroupId: group,
      status: 503,
      errorClass: 'retry_after',
      errorCode: 'http_status',
      error: 'answered 503, asked to wait 30 s',
      check: 'probe',
    });
    const listed = {
      id: record?.id,
      at: '2026-09-21T14:13:20Z',
      direction: 'outbound',
      operation: 'event',
      method: 'POST',
      url: 'https://relay.example.org/in',
      status: 503,
      latency_ms: 212,
      via: 'direct',
      attempt: 1,
      error_class: 'retry_after',
      error_code: 'http_status',
      error: 'answered 503, asked to wait 30 s',
      check: 'probe',
      check_run: null,
      connection_id: null,
      destination: { id: webhook, name: 'phone relay' },
      alert_group: { id: group, number },
      request_body_bytes: 7,
      request_body_truncated: false,
      response_body_bytes: 4,
      response_body_truncated: false,
    };
    expect((await api.get(`/request-records?destination=${webhook}`)).body).toEqual({
      items: [listed],
      next_cursor: null,
    });
    expect((await api.get(`/request-records/${record?.id}`)).body).toEqual({
      ...listed,
      request_headers: [{ name: 'X-One', value: 'a' }],
      request_body: '{"a":1}',
      response_headers: [{ name: 'Retry-After', value: '30' }],
      response_body: 'busy',
    });
  });

  test('without an answer says nothing of one', async () => {
    const [record] = await write({
      status: null,
      response: null,
      errorClass: 'blocked',
      errorCode: 'policy_blocked',
    });
    expect((await api.get(`/request-records/${record?.id}`)).body).toMatchObject({
      status: null,
      response_headers: null,
      response_body: null,
      response_body_bytes: null,
    });
  });

  test('holds whatever people send, even what the database cannot', async () => {
    const body = 'zero \0, half \ud83d, quotes " \\ and я🔥';
    const [record] = await write({ request: { ...REQUEST, body } });
    const read = await api.get(`/request-records/${record?.id}`);
    expect(read.body.request_body).toBe('zero \ufffd, half \ufffd, quotes " \\ and я🔥');
  });
});

test('a batch that is written again adds nothing, and a superseded record goes', async () => {
  const store = createRequestLogStore(database.sql());
  const [first, second] = [recordOf(), recordOf()];
  await store.write([first, second], []);
  await store.write([first, second], [first]);
  expect(await ids(`destination=${webhook}`)).toEqual([second.id]);
});

test('is written by a replica of the release before, whose schema had fewer columns', async () => {
  const sql = database.sql();
  await sql`alter table request_records add column from_later text not null default 'later'`;
  try {
    const record = recordOf();
    await createRequestLogStore(sql).write([record], []);
    expect(await ids(`destination=${webhook}`)).toEqual([record.id]);
  } finally {
    await sql`alter table request_records drop column from_later`;
  }
});

describe('the list', () => {
  test('is newest first, then by id, in pages that belong to their filters', async () => {
    const records = await write(
      ...Array.from({ length: 7 }, (_, index) => ({ at: NOW - Math.floor(index / 2) * HOUR })),
    );
    const expected = records.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
    expect(await ids(`destination=${webhook}&limit=3`)).toEqual(expected);
    const first = await api.get(`/request-records?destination=${webhook}&limit=3`);
    const stray = `/request-records?destination=${webhook}&direction=outbound&cursor=${first.body.next_cursor}`;
    expect((await api.get(stray)).body.errors).toMatchObject([{ code: 'invalid_cursor' }]);
  });

  test.each<[string, Partial<RequestRecord>, Partial<RequestRecord>]>([
    ['direction=inbound', { direction: 'inbound', via: null }, {}],
    ['status_class=2xx', { status: 299 }, { status: 300 }],
    ['status_class=5xx', { status: 500 }, { status: 499 }],
    ['status_class=none', { status: null, response: null }, { status: 200 }],
    ['operation=create', { operation: 'create' }, { operation: 'Create' }],
    ['alert_group=AGK7M3QX9P2RTA', { alertGroupId: 'AGK7M3QX9P2RTA' as PublicId }, {}],
    ['run=RN3V8K2M5N7QXT', { checkRun: 'RN3V8K2M5N7QXT' as PublicId }, {}],
  ])('%s', async (filter, matching, other) => {
    const [record] = await write(matching, other);
    expect(await ids(`destination=${webhook}&${filter}`)).toEqual([record?.id]);
  });

  test('of a Connection has the records of its Destinations, which have their own, too', async () => {
    const connection = await insertConnection('bridge');
    const channel = await insertDestination(database.sql(), 'channel');
    const [own, posted] = await write(
      { connectionId: connection, destinationId: null, at: NOW - HOUR },
      { connectionId: connection, destinationId: channel },
      {},
    );
    expect(await ids(`connection=${connection}`)).toEqual([posted?.id, own?.id]);
    expect(await ids(`destination=${channel}`)).toEqual([posted?.id]);
  });

  test('of a run alone finds what was not saved', async () => {
    const run = 'RN3V8K2M5N7QXT' as PublicId;
    const [draft] = await write({ destinationId: null, checkRun: run }, {});
    expect(await ids(`run=${run}`)).toEqual([draft?.id]);
    expect(await ids('run=RN0000000000ZZ')).toEqual([]);
  });

  test.each([
    ['', [422, 'one_of_required /query/connection']],
    ['connection=CN5Q8V2K7WXM3D&destination=DSK7M3QX9P2RTA', [422, 'one_of_required /query/connection']],
    [
      'connection=CN5Q8V2K7WXM3D&destination=DSK7M3QX9P2RTA&run=RN3V8K2M5N7QXT',
      [422, 'one_of_required /query/connection'],
    ],
    ['destination=DSK7M3QX9P2RTA', [404]],
    ['connection=CN5Q8V2K7WXM3D', [404]],
    ['run=RN3V8K2M5N7QXT&operation=', [400, 'too_short /query/operation']],
    [`run=RN3V8K2M5N7QXT&operation=${'x'.repeat(65)}`, [400, 'too_long /query/operation']],
    ['run=RN3V8K2M5N7QXT&status_class=1xx', [400, 'invalid_format /query/status_class']],
    ['run=nothing', [400, 'invalid_format /query/run']],
  ])('%s is refused', async (query, expected) => {
    const { status, body } = await api.get(`/request-records?${query}`);
    const errors: { pointer: string; code: string }[] = body.errors ?? [];
    expect([status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)]).toEqual(expected);
  });

  test.each<[string, Permission[], number]>([
    ['destination=DSK7M3QX9P2RTA', [], 403],
    ['destination=DSK7M3QX9P2RTA', ['connections:read'], 403],
    ['destination=DSK7M3QX9P2RTA', ['destinations:read'], 404],
    ['connection=CN5Q8V2K7WXM3D', ['destinations:read'], 403],
    ['connection=CN5Q8V2K7WXM3D', ['connections:read'], 404],
    ['run=RN3V8K2M5N7QXT', ['destinations:read'], 403],
    ['run=RN3V8K2M5N7QXT', ['connections:read'], 200],
  ])('%s with the Permissions %j is %i', async (query, permissions, status) => {
    expect(await statusWith(permissions, 'listRequestRecords', {}, query)).toBe(status);
  });

  test('a record needs the Permission of its owner', async () => {
    const connection = await insertConnection('bridge');
    const [ofWebhook, ofConnection] = await write({}, { connectionId: connection, destinationId: webhook });
    const read = (record: RequestRecord | undefined, permission: Permission) =>
      statusWith([permission], 'getRequestRecord', { request_record_id: record?.id ?? '' });
    expect(await read(ofWebhook, 'destinations:read')).toBe(200);
    expect(await read(ofWebhook, 'connections:read')).toBe(403);
    expect(await read(ofConnection, 'connections:read')).toBe(200);
    expect(await read(ofConnection, 'destinations:read')).toBe(403);
    expect(await read(ofWebhook, 'routes:read')).toBe(403);
  });
});

/** What somebody with only these Permissions is answered; no Role has one without the other. */
async function statusWith(
  permissions: readonly Permission[],
  id: string,
  params: Readonly<Record<string, string>>,
  query = '',
): Promise<number> {
  const operations = requestRecordOperations({ reader: createRequestLogReader(database.sql()) });
  const operation = operations.find((one) => one.id === id);
  const answer = await operation?.handle({
    identity: { permissions: new Set(permissions) },
    params,
    query: Object.fromEntries(new URLSearchParams(query)),
    now: NOW,
  } as never);
  if (!answer) throw new Error(`there is no operation ${id}`);
  return 'problem' in answer ? answer.problem.status : answer.status;
}

describe('bounds', () => {
  const later = (count: number, from: Micros = NOW) =>
    Array.from({ length: count }, (_, index) => ({ at: from - index }));

  test('after seven days, or one for what was never saved, a record is gone before it is removed', async () => {
    const [kept, old, draft, oldDraft] = await write(
      { at: NOW - 7 * DAY },
      { at: NOW - 7 * DAY - 1 },
      { at: NOW - DAY, destinationId: null },
      { at: NOW - DAY - 1, destinationId: null },
    );
    const statuses = [kept, old, draft, oldDraft].map(
      async (record) => (await api.get(`/request-records/${record?.id}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 404, 200, 404]);
    expect(await ids(`destination=${webhook}`)).toEqual([kept?.id]);
  });

  test('past the newest thousand of its owner a record is gone, and those of others are not', async () => {
    const connection = await insertConnection('bridge');
    const [other] = await write({ at: NOW - HOUR, connectionId: connection, destinationId: null });
    await write({ at: NOW - HOUR });
    const [oldest] = await database.sql()<
      { id: string }[]
    >`select id from request_records where owner_id = ${webhook}`;
    for (let batch = 0; batch < 5; batch++) await write(...later(199, NOW - batch * 1_000));
    await write(...later(4, NOW - 10_000));
    expect((await api.get(`/request-records/${oldest?.id}`)).status).toBe(200);
    await write({ at: NOW - 20_000 });
    expect((await api.get(`/request-records/${oldest?.id}`)).status).toBe(404);
    expect(await ids(`destination=${webhook}&limit=400`)).toHaveLength(1_000);
    expect((await api.get(`/request-records/${other?.id}`)).status).toBe(200);
  });

  test('a busy owner is trimmed as its records are written', async () => {
    const store = createRequestLogStore(database.sql());
    for (let batch = 0; batch < 8; batch++) {
      await store.write(later(200, NOW - batch * 1_000).map(recordOf), []);
    }
    const [row] = await database.sql()<
      { count: number }[]
    >`select count(*)::integer as count from request_records`;
    expect(row?.count).toBeLessThanOrEqual(1_200);
  });

  test('what is past them is removed in batches', async () => {
    await write({ at: NOW - DAY - 1, destinationId: null }, { at: NOW - 7 * DAY - 1 }, {});
    for (let batch = 0; batch < 6; batch++) await write(...later(180, NOW - batch * 1_000));
    const sql = database.sql();
    expect(await pruneRequestRecords(sql, NOW, 50)).toBe(50);
    while ((await pruneRequestRecords(sql, NOW, 50)) === 50);
    const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from request_records`;
    expect(row?.count).toBe(1_000);
  });

  test('of a deleted owner nothing is read, and nothing is written any more', async () => {
    const [record] = await write({});
    await database.sql()`update destinations set deleted_at = ${NOW} where id = ${webhook}`;
    expect((await api.get(`/request-records/${record?.id}`)).status).toBe(404);
    expect((await api.get(`/request-records?destination=${webhook}`)).status).toBe(404);
    await write({});
    expect((await database.sql()`select 1 from request_records`).count).toBe(1);
  });
});

test('lists read an index in their order, and no more of a large log than they show', async () => {
  const sql = database.sql();
  await sql`
    insert into request_records (
      at, id, owner_id, destination_id, direction, operation, method, url, latency_ms, attempt, request_headers,
      request_body_truncated, response_body_truncated
    )
    select
      ${NOW}::bigint - n::bigint * 12000000, 'RQ' || n, 'DS' || n % 500, 'DS' || n % 500, 'outbound', 'event', 'POST', 'u', 1, 1,
      '[]', false, false
    from generate_series(1, 50000) n`;
  await sql`analyze request_records`;
  const destinationId = 'DS7' as PublicId;
  const query = {
    ...{ connectionId: null, destinationId, run: null, direction: null, statusClass: null },
    ...{ operation: null, alertGroupId: null, after: null, limit: 50 },
  };
  const rows = await sql<{ 'QUERY PLAN': string }[]>`explain ${requestsStatement(sql, query, NOW)}`;
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/owner_id_at_id_idx/);
  // Days ahead have a partition already, and nothing in it.
  expect(plan).not.toMatch(/Seq Scan on request_records.* rows=(?!1 )/);
});
