import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { SECOND } from '../../clock.ts';
import { newPublicId } from '../../public-id.ts';
import { createOutboundMetrics } from '../metrics.ts';
import type { RequestRecord } from './record.ts';
import { createRequestRecorder, type RequestLogStore } from './recorder.ts';

class Away extends Error {}

const MESSAGE = { headers: [], body: null, bodyBytes: 0, bodyTruncated: false };

function recordOf(parts: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: newPublicId('RQ'),
    at: 1,
    direction: 'outbound',
    operation: 'event',
    method: 'POST',
    url: 'https://relay.example/',
    status: 204,
    latency: 1,
    via: 'direct',
    attempt: 1,
    errorClass: null,
    errorCode: null,
    error: null,
    check: null,
    checkRun: null,
    connectionId: null,
    destinationId: newPublicId('DS'),
    alertGroupId: null,
    request: MESSAGE,
    response: MESSAGE,
    ...parts,
  };
}

/** A recorder over a store that does what each test says. */
function setUp(write: RequestLogStore['write']) {
  const clock = createManualClock();
  const registry = new Registry();
  const logged: unknown[] = [];
  const recorder = createRequestRecorder({
    store: { write },
    clock,
    log: (event, fields) => logged.push([event, fields]),
    metrics: createOutboundMetrics(registry),
    isUnavailable: (error) => error instanceof Away,
  });
  const counted = async (outcome: string) => {
    const metric = await registry.getSingleMetric('svc_request_records_total')?.get();
    return metric?.values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
  };
  return { clock, recorder, logged, counted };
}

/** Lets everything that is ready happen. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('polls that bring nothing', () => {
  const connectionId = newPublicId('CN');
  const poll = (parts: Partial<RequestRecord> = {}) =>
    recordOf({ connectionId, destinationId: null, operation: 'pollEvents', isEmptyPoll: true, ...parts });

  /** What a store that does as it is told has in the end. */
  async function kept(rounds: readonly (readonly RequestRecord[])[]): Promise<readonly RequestRecord[]> {
    let stored: RequestRecord[] = [];
    const { clock, recorder } = setUp(async (records, superseded) => {
      const gone = new Set(superseded.map(({ id }) => id));
      stored = [...stored, ...records].filter(({ id }) => !gone.has(id));
    });
    for (const records of rounds) {
      for (const record of records) recorder.record(() => record);
      await settled();
      clock.advance(SECOND);
      await settled();
    }
    return stored;
  }

  test('are one record, the newest, written together or one after the other', async () => {
    const [first, second, third] = [poll(), poll(), poll()];
    expect(await kept([[first, second], [third]])).toEqual([third]);
  });

  test('stay apart where one between them brought something', async () => {
    const { isEmptyPoll: _, ...full } = poll();
    const records = [poll(), full, poll()];
    expect(await kept([records])).toEqual(records);
  });

  test('of one Connection say nothing of another, and other requests change nothing', async () => {
    const [first, second] = [poll(), poll()];
    const other = poll({ connectionId: newPublicId('CN') });
    const posted = recordOf({ connectionId, operation: 'postMessage' });
    expect(await kept([[first, other, posted, second]])).toEqual([other, posted, second]);
  });
});

describe('records', () => {
  test('are written together within a moment, in order', async () => {
    const batches: (readonly RequestRecord[])[] = [];
    const { clock, recorder, counted } = setUp(async (records) => void batches.push(records));
    const records = [recordOf(), recordOf(), recordOf()];
    for (const record of records) recorder.record(() => record);
    await settled();
    expect(batches).toEqual([]);
    clock.advance(SECOND);
    await settled();
    expect(batches).toEqual([records]);
    expect(await counted('written')).toBe(3);
  });

  test('wait for a database that is away, and are written when it is back', async () => {
    let isAway = true;
    const written: RequestRecord[] = [];
    const { clock, recorder, counted } = setUp(async (records) => {
      if (isAway) throw new Away();
      written.push(...records);
    });
    recorder.record(recordOf);
    await settled();
    for (const _ of [1, 2, 3]) {
      clock.advance(SECOND);
      await settled();
    }
    expect(await counted('lost')).toBe(0);
    isAway = false;
    clock.advance(SECOND);
    await settled();
    expect(written).toHaveLength(1);
  });

  test('are lost and counted when too many wait, and nobody waits for them', async () => {
    const { clock, recorder, counted } = setUp(() => new Promise(() => undefined));
    for (let count = 0; count < 2_500; count++) {
      recorder.record(recordOf);
      if (count % 100 === 0) await settled();
    }
    clock.advance(SECOND);
    await settled();
    expect(await counted('lost')).toBeGreaterThanOrEqual(400);
  });

  test('are lost when their bodies are too much to keep', async () => {
    const { recorder, counted } = setUp(() => new Promise(() => undefined));
    const large = { ...MESSAGE, body: 'x'.repeat(8 * 1024 * 1024) };
    for (const _ of [1, 2, 3]) {
      recorder.record(() => recordOf({ request: large }));
      await settled();
    }
    expect(await counted('lost')).toBe(1);
  });

  test('that the database does not take are lost, and the next are written', async () => {
    const written: RequestRecord[] = [];
    const { clock, recorder, logged, counted } = setUp(async (records) => {
      if (records.some(({ operation }) => operation === 'bad')) throw new Error('no partition');
      written.push(...records);
    });
    recorder.record(() => recordOf({ operation: 'bad' }));
    await settled();
    clock.advance(SECOND);
    await settled();
    recorder.record(recordOf);
    await settled();
    clock.advance(SECOND);
    await settled();
    expect(written).toHaveLength(1);
    expect(await counted('lost')).toBe(1);
    expect(logged).toEqual([['request_records_lost', { count: 1, error: 'no partition' }]]);
  });

  test('that cannot be made are lost without a word to whoever made the request', async () => {
    const { recorder, counted } = setUp(async () => undefined);
    recorder.record(() => {
      throw new Error('unreadable');
    });
    await settled();
    expect(await counted('lost')).toBe(1);
  });

  test('of the last moment are written when the service stops, and none after', async () => {
    const written: RequestRecord[] = [];
    const { recorder, counted } = setUp(async (records) => void written.push(...records));
    recorder.record(recordOf);
    await recorder.stop();
    recorder.record(recordOf);
    await settled();
    expect(written).toHaveLength(1);
    expect(await counted('lost')).toBe(1);
  });

  test('are given up by a stopping service whose database is away', async () => {
    const { recorder, counted } = setUp(() => Promise.reject(new Away()));
    recorder.record(recordOf);
    await recorder.stop();
    expect(await counted('lost')).toBe(1);
  });
});
