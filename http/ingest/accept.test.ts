/** The bounds around token look-ups and Heartbeat signals, time moved by hand. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { IntegrationTokens } from '../../actors/integration/ports.ts';
import { SECOND } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import { createAccept, type Reception } from './accept.ts';
import { ACCEPT_QUEUE_REQUESTS, type AcceptQueue, createAcceptQueue } from './accept-queue.ts';
import { createHeartbeatSignal } from './heartbeat.ts';
import {
  createHandClock,
  freshMetrics,
  type HandClock,
  HeldWriter,
  isAway,
  oneToken,
  TOKEN,
} from './ingest.fixture.ts';

let clock: HandClock;
let queue: AcceptQueue;
let lookups: number;
let answers: string[];

beforeEach(() => {
  clock = createHandClock();
  queue = createAcceptQueue({
    writer: new HeldWriter(),
    clock,
    isUnavailable: isAway,
    committed: () => undefined,
    uncertain: () => undefined,
  });
  lookups = 0;
  answers = [];
});

const never = () => new Promise<never>(() => undefined);

/** Counts look-ups; hung ones never answer. */
function tokens(isHung: boolean): IntegrationTokens {
  const one = oneToken();
  return {
    ...one,
    find(hash) {
      lookups += 1;
      return isHung ? never() : one.find(hash);
    },
  };
}

const request = { token: TOKEN, pattern: '/p', address: () => '192.0.2.1' };

function webhook(isHung: boolean): Reception {
  const accept = createAccept({
    tokens: tokens(isHung),
    queue,
    clock,
    log: silentLog,
    metrics: freshMetrics(),
    isUnavailable: isAway,
    shardOf: () => null,
    isClosed: () => false,
    logsInfo: false,
  });
  return accept({ ...request, contentLength: null, contentType: '' }, (outcome) => answers.push(outcome));
}

function signal(isHung: boolean, record: () => Promise<void>): void {
  createHeartbeatSignal({
    tokens: tokens(isHung),
    signals: { record },
    queue,
    clock,
    log: silentLog,
    isUnavailable: isAway,
    isClosed: () => false,
  })(request, (outcome) => answers.push(outcome));
}

async function pass(seconds: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(seconds * SECOND);
  await new Promise((resolve) => setImmediate(resolve));
}

function fill(): void {
  for (let count = 0; count < ACCEPT_QUEUE_REQUESTS; count++) queue.enter();
}

describe('a webhook', () => {
  it('takes its place before its token is looked up, and is refused when that takes 5 s', async () => {
    webhook(true);
    expect(queue.size).toBe(1);
    await pass(4.9);
    expect(answers).toEqual([]);
    await pass(0.1);
    expect(answers).toEqual(['unavailable']);
    expect(queue.size).toBe(0);
  });

  it('is refused without a look-up while the queue is full', () => {
    fill();
    webhook(false);
    expect(answers).toEqual(['unavailable']);
    expect(lookups).toBe(0);
    expect(queue.size).toBe(ACCEPT_QUEUE_REQUESTS);
  });

  it('may take the last place', async () => {
    fill();
    queue.leave();
    const reception = webhook(false);
    await pass(0);
    reception.push(new ArrayBuffer(2), true);
    await pass(0);
    expect(answers).toEqual(['accepted']);
    expect(queue.size).toBe(ACCEPT_QUEUE_REQUESTS - 1);
  });

  it('keeps its place while its token is looked up, though the client went away', async () => {
    webhook(true).abort();
    expect(queue.size).toBe(1);
    await pass(5);
    expect(queue.size).toBe(0);
    expect(answers).toEqual([]);
  });
});

describe('a Heartbeat signal', () => {
  it('waits for its token for 5 s, in the queue', async () => {
    signal(true, never);
    expect(queue.size).toBe(1);
    await pass(5);
    expect(answers).toEqual(['unavailable']);
    expect(queue.size).toBe(0);
  });

  it('waits for its commit for 10 s', async () => {
    signal(false, never);
    await pass(9.9);
    expect(answers).toEqual([]);
    await pass(0.1);
    expect(answers).toEqual(['unavailable']);
    expect(queue.size).toBe(0);
  });

  it('is refused without a look-up while the queue is full', () => {
    fill();
    signal(false, never);
    expect(answers).toEqual(['unavailable']);
    expect(lookups).toBe(0);
  });
});
