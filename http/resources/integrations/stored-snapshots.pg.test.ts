import { beforeEach, describe, expect, test } from 'vitest';
import type { SnapshotSettled } from '../../../actors/feed/effects.ts';
import type { NewSnapshot } from '../../../actors/feed/ports.ts';
import { DAY, formatInstant, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createSnapshotQueue, settledSnapshots, snapshotReceipts } from '../../../storage/snapshots/queue.ts';
import { newSnapshot } from '../../../storage/snapshots/snapshots.fixture.ts';
import { createStoredSnapshotReader } from '../../../storage/snapshots/stored-snapshots.ts';
import { createSnapshotWriter } from '../../../storage/snapshots/writer.ts';
import { firstStart, NOW, readDirectory, stoppedClock } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { makeSnapshotPartitions } from '../../../test/snapshot-partitions.ts';
import { storedSnapshotOperations } from './stored-snapshots.ts';

const database = useDatabase();
const SENDER = 'NT000000000001' as PublicId;
const OTHER = 'NT000000000002' as PublicId;
/** Setting retention.stored_snapshots_days of a new installation. */
const KEPT = 14 * DAY;

let api: OperationClient;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await makeSnapshotPartitions(sql, NOW - KEPT - DAY, NOW);
  await empty(sql, 'snapshot_queue', 'snapshot_bodies', 'stored_snapshots');
  const directory = await readDirectory(sql);
  const operations = storedSnapshotOperations({ reader: createStoredSnapshotReader(sql) });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

/** Stores a Snapshot and leaves it waiting. */
async function waiting(given: Partial<NewSnapshot> = {}): Promise<{ id: PublicId; seq: number }> {
  const snapshot = newSnapshot({ integrationId: SENDER, receivedAt: NOW, ...given });
  const [seq = 0] = await createSnapshotWriter(database.sql()).write([snapshot]);
  return { id: snapshot.id, seq };
}

async function processed(given: Partial<NewSnapshot> = {}): Promise<PublicId> {
  const { id, seq } = await waiting(given);
  const settled: SnapshotSettled = {
    type: 'snapshot.settled',
    seq,
    processedAt: NOW + SECOND,
    groupKey: '{}:{alertname="Disk"}',
    alertCount: 3,
    truncatedAlerts: 1,
    error: null,
  };
  await database.sql().begin(async (tx) => {
    await settledSnapshots.write(tx, [settled], new Map());
    await snapshotReceipts.consume(tx, [{ kind: 'snapshot', seq, receivedAt: NOW }]);
  });
  return id;
}

async function failed(given: Partial<NewSnapshot> = {}): Promise<PublicId> {
  const { id, seq } = await waiting(given);
  await createSnapshotQueue(database.sql()).fail([{ seq, at: NOW + SECOND, error: 'body: not JSON' }]);
  return id;
}

const ago = (seconds: number): Micros => NOW - seconds * SECOND;

const list = (query = '') => api.get(`/stored-snapshots?integration=${SENDER}${query}`);
const ids = ({ body }: Answered) => body.items.map((item: { id: string }) => item.id);

function errorsOf({ status, body }: Answered) {
  const errors: readonly { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

describe('the list', () => {
  test('tells what is known of each, newest first, those that wait included', async () => {
    const first = await processed({ receivedAt: ago(30), body: Buffer.from('one') });
    const second = await failed({ receivedAt: ago(20) });
    const { id: third } = await waiting({ receivedAt: ago(10) });
    await processed({ integrationId: OTHER });
    const answer = await list();
    expect(ids(answer)).toEqual([third, second, first]);
    expect(answer.body.next_cursor).toBeNull();
    expect(answer.body.items).toMatchObject([
      { state: 'pending', processed_at: null, group_key: null, alert_count: null, truncated_alerts: null },
      { state: 'failed', processing_error: 'body: not JSON', group_key: null, alert_count: null },
      {
        integration: { id: SENDER, name: SENDER },
        received_at: formatInstant(ago(30)),
        processed_at: formatInstant(NOW + SECOND),
        size_bytes: 3,
        group_key: '{}:{alertname="Disk"}',
        alert_count: 3,
        truncated_alerts: 1,
        state: 'processed',
        processing_error: null,
      },
    ]);
  });

  test('filters by states and by the time of receipt, its end not included', async () => {
    const old = await processed({ receivedAt: ago(30) });
    const broken = await failed({ receivedAt: ago(20) });
    const { id: fresh } = await waiting({ receivedAt: ago(10) });
    expect(ids(await list('&state=pending'))).toEqual([fresh]);
    expect(ids(await list('&state=failed'))).toEqual([broken]);
    expect(ids(await list('&state=processed'))).toEqual([old]);
    expect(ids(await list('&state=failed&state=pending'))).toEqual([fresh, broken]);
    const [from, to] = [ago(20), ago(10)].map((at) => encodeURIComponent(formatInstant(at)));
    expect(ids(await list(`&from=${from}`))).toEqual([fresh, broken]);
    expect(ids(await list(`&to=${to}`))).toEqual([broken, old]);
    expect(ids(await list(`&from=${from}&to=${to}`))).toEqual([broken]);
  });

  test('continues after the last item, whatever arrives or is processed meanwhile', async () => {
    const stored: string[] = [];
    for (let index = 0; index < 3; index++) stored.unshift(await processed({ receivedAt: ago(60) }));
    const { id, seq } = await waiting({ receivedAt: ago(70) });
    const first = await list('&limit=2');
    expect(ids(first)).toEqual(stored.slice(0, 2));
    await processed({ receivedAt: ago(5) });
    await createSnapshotQueue(database.sql()).fail([{ seq, at: NOW, error: 'body: not JSON' }]);
    const second = await list(`&limit=2&cursor=${first.body.next_cursor}`);
    expect(ids(second)).toEqual([stored[2], id]);
    expect(second.body.next_cursor).toBeNull();
  });

  test('an unknown Integration has none', async () => {
    await processed();
    const { status, body } = await api.get('/stored-snapshots?integration=NT00000000ZZZZ');
    expect([status, body]).toEqual([200, { items: [], next_cursor: null }]);
  });

  test('nothing older than retention is read, removed or not', async () => {
    const kept = await processed({ receivedAt: NOW - KEPT });
    const past = await processed({ receivedAt: NOW - KEPT - 1 });
    const { id: pastWaiting } = await waiting({ receivedAt: NOW - KEPT - 1 });
    const earlier = encodeURIComponent(formatInstant(NOW - 2 * KEPT));
    expect(ids(await list())).toEqual([kept]);
    expect(ids(await list(`&from=${earlier}`))).toEqual([kept]);
    const statuses = [];
    for (const id of [kept, past, pastWaiting]) {
      statuses.push((await api.get(`/stored-snapshots/${id}`)).status);
    }
    expect(statuses).toEqual([200, 404, 404]);
  });

  test.each([
    ['', [400, 'required /query/integration']],
    ['?integration=x', [400, 'invalid_format /query/integration']],
    [`?integration=${SENDER}&state=new`, [400, 'invalid_format /query/state/0']],
    [
      `?integration=${SENDER}&from=today&to=1`,
      [400, 'invalid_format /query/from', 'invalid_format /query/to'],
    ],
    [`?integration=${SENDER}&limit=0`, [400, 'out_of_range /query/limit']],
    [`?integration=${SENDER}&cursor=abc`, [400, 'invalid_cursor /query/cursor']],
    [
      `?integration=${SENDER}&from=2026-10-01T00:00:00Z&to=2026-10-01T00:00:00Z`,
      [422, 'out_of_range /query/to'],
    ],
  ])('refuses "%s"', async (query, expected) => {
    expect(errorsOf(await api.get(`/stored-snapshots${query}`))).toEqual(expected);
  });

  test('a cursor belongs to its Integration and filters', async () => {
    for (let index = 0; index < 2; index++) await processed();
    const { body } = await list('&limit=1');
    const elsewhere = `&limit=1&cursor=${body.next_cursor}`;
    expect(errorsOf(await list(`&state=failed${elsewhere}`))).toEqual([400, 'invalid_cursor /query/cursor']);
  });
});

describe('the body', () => {
  test.each([
    ['text', Buffer.from('{"status": "firing", "Grüße": "\\u0000"}'), 'utf8'],
    ['text that begins with a mark and holds NUL', Buffer.from('\uFEFFa\0b'), 'utf8'],
    ['nothing', Buffer.alloc(0), 'utf8'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]), 'base64'],
    ['a surrogate written as three bytes', Buffer.from([0xed, 0xa0, 0x80]), 'base64'],
  ] as const)('of %s is given back byte for byte', async (_, body, encoding) => {
    const { id } = await waiting({ body, contentType: 'text/x; charset=none' });
    const { status, body: read } = await api.get(`/stored-snapshots/${id}`);
    expect(status).toBe(200);
    expect(Buffer.from(read.body, encoding)).toEqual(body);
    expect(read).toMatchObject({ id, body_encoding: encoding, content_type: 'text/x; charset=none' });
  });

  test('is there for those that wait, were processed and failed alike', async () => {
    const body = Buffer.from('the same');
    const all = [
      await processed({ body, contentType: null }),
      await failed({ body, contentType: null }),
      (await waiting({ body, contentType: null })).id,
    ];
    const read = await Promise.all(all.map((id) => api.get(`/stored-snapshots/${id}`)));
    expect(read.map(({ body: answer }) => [answer.state, answer.body, answer.content_type])).toEqual([
      ['processed', 'the same', null],
      ['failed', 'the same', null],
      ['pending', 'the same', null],
    ]);
  });

  test('may be as large as ingestion takes', async () => {
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    const { id } = await waiting({ body });
    const { body: read } = await api.get(`/stored-snapshots/${id}`);
    expect(read.size_bytes).toBe(body.length);
    expect(Buffer.from(read.body).equals(body)).toBe(true);
  });

  test('of an unknown one, or of another type of id, is 404', async () => {
    expect((await api.get('/stored-snapshots/SS00000000ZZZZ')).status).toBe(404);
    expect((await api.get(`/stored-snapshots/${SENDER}`)).status).toBe(404);
    expect((await api.get('/stored-snapshots/x')).status).toBe(400);
  });
});

test('only Admins read Stored Snapshots', async () => {
  const { id } = await waiting();
  for (const role of ['responder', 'viewer'] as const) {
    const client = api.as(role);
    expect((await client.get(`/stored-snapshots?integration=${SENDER}`)).status).toBe(403);
    expect((await client.get(`/stored-snapshots/${id}`)).status).toBe(403);
  }
});
