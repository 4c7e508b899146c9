import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import type { MessageContent, MessageSend, SendFinished, SendOutcome } from '../../channels/calls.ts';
import type { Channel } from '../../channels/channel.ts';
import type { DestinationConfig, Directory } from '../../directory.ts';
import { createDeliveryMetrics } from '../metrics.ts';
import { createMessageSender } from './sender.ts';

const ONE = 'DS1' as PublicId;
const TWO = 'DS2' as PublicId;
const OK: SendOutcome = {
  ...{ class: 'ok', messageId: 'm', threadRef: null, messageUrl: null, hash: null },
  ...{ replayed: false, values: {}, editableUntil: null, signedWith: null },
};
const AWAY = new Error('connection terminated');
const BACK = { class: 'not_sent', because: 'put_back' };

type Sent = Pick<Channel, 'send' | 'probe'>;

function sending({ bridge: channel, unread }: { readonly bridge?: Sent; readonly unread?: Error } = {}) {
  const clock = createManualClock();
  const answers = new Map<string, (outcome: SendOutcome) => void>();
  const begun: string[] = [];
  const logged: string[] = [];
  const told: (readonly [subject: string, outcome: SendOutcome])[] = [];
  const subjects = new Map<number, string>();
  const reads: string[] = [];
  const unreadable = new Set<string>();
  const ownership = { isMine: true, isAway: false, onRead: () => {} };
  const bridge = { type: 'bridge' } as DestinationConfig;
  const loaded = (ids = [ONE, TWO] as readonly string[]) =>
    ({ destinationsById: new Map(ids.map((id) => [id, bridge])) }) as unknown as Directory;
  let directory = loaded();
  const sender = createMessageSender({
    system: {
      stillOwns: async () => {
        if (ownership.isAway) throw AWAY;
        return ownership.isMine;
      },
      tell: (_to, message) => {
        const { call, outcome } = message as SendFinished;
        told.push([subjects.get(call) ?? '', outcome]);
      },
    },
    channels: {
      bridge: channel ?? {
        send: ({ asked }) => {
          const subject = subjects.get(asked.call) ?? '';
          begun.push(subject);
          return new Promise((resolve) => {
            answers.set(subject, (outcome) => resolve({ outcome, failure: null }));
          });
        },
        probe: async () => OK,
      },
    },
    contents: {
      async read({ call }) {
        const subject = subjects.get(call) ?? '';
        reads.push(subject);
        ownership.onRead();
        if (unread) throw unread;
        if (unreadable.delete(subject)) throw AWAY;
        return { is: 'content', content: {} as MessageContent };
      },
    },
    directory: { current: () => directory },
    typeOf: async () => null,
    reports: { rendered: () => undefined },
    isUnavailable: (error) => error === AWAY,
    pauses: { begin: () => ({ hasPaused: () => false, end: () => undefined }) },
    clock,
    log: (event) => logged.push(event),
    deliveryMetrics: createDeliveryMetrics(new Registry()),
  });
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    begun,
    ownership,
    reads,
    unreadable,
    configure: (ids?: readonly string[]) => {
      directory = loaded(ids);
    },
    told,
    logged,
    clock,
    probe: async () => {
      sender.send({ type: 'message.probe', destinationId: ONE, call: 99, connectionId: null });
      await settled();
    },
    async send(subject: string, { destinationId = ONE, urgent = false } = {}) {
      subjects.set(subjects.size + 1, subject);
      sender.send(asked(subjects.size, destinationId, urgent));
      await settled();
    },
    async answer(subject: string, outcome: SendOutcome) {
      answers.get(subject)?.(outcome);
      await settled();
    },
    finish: () => sender.finish(),
  };
}

function asked(call: number, destinationId: PublicId, urgent: boolean): MessageSend {
  return {
    ...{ type: 'message.send', destinationId, call, target: 1, connectionId: 'CN1' as PublicId },
    subject: { kind: 'group', groupId: `AG${call}` as PublicId },
    operation: { kind: 'publish', publication: 1, loudness: 'quiet', mentions: [], owner: null },
    notes: { late: false, deletedAt: null, continued: false },
    ...{ key: `key ${call}`, attempt: 1, unsureSince: null, urgent, values: {}, dueAt: 0, isProbe: false },
  };
}

async function sendAll(to: ReturnType<typeof sending>, subjects: string, destinationId = ONE): Promise<void> {
  for (const subject of subjects) await to.send(subject, { destinationId });
}

test('a Destination is called four times at once; the next call begins when one ends, Urgent first', async () => {
  const sender = sending();
  await sendAll(sender, 'ABCDEF');
  await sender.send('urgent', { urgent: true });
  await sender.send('other', { destinationId: TWO });
  expect(sender.begun).toEqual(['A', 'B', 'C', 'D', 'other']);
  await sender.answer('C', OK);
  await sender.answer('A', OK);
  expect(sender.begun.slice(5)).toEqual(['urgent', 'E']);
});

test('a Destination that is lost while content is read is neither called nor told', async () => {
  const sender = sending();
  sender.ownership.onRead = () => {
    sender.ownership.isMine = false;
  };
  await sender.send('A');
  expect(sender.reads).toEqual(['A']);
  expect(sender.begun).toEqual([]);
  expect(sender.told).toEqual([]);
});

test('a call that did not begin because the Destination was lost is not told of: the new owner may make it', async () => {
  const sender = sending();
  await sendAll(sender, 'ABCDEF');
  sender.ownership.isMine = false;
  await sender.answer('A', { class: 'not_sent', because: 'unreadable' });
  sender.unreadable.add('G');
  await sender.send('G', { destinationId: TWO });
  sender.clock.advance(2 * SECOND);
  await sender.answer('B', { class: 'not_sent', because: 'unreadable' });
  expect(sender.reads).toContain('G');
  expect(sender.told).toEqual([]);
});

test('what could not be read is told when the ownership cannot be read either', async () => {
  const sender = sending();
  sender.unreadable.add('A');
  sender.ownership.onRead = () => {
    sender.ownership.isAway = true;
  };
  await sender.send('A');
  expect(sender.told).toEqual([['A', { class: 'not_sent', because: 'unreadable' }]]);
});

test.each<readonly [string, SendOutcome, readonly string[]]>([
  [
    'asks to wait',
    { class: 'retry_after', until: 9, scope: 'destination', error: 'answered 429' },
    ['E', 'F'],
  ],
  [
    'asks its whole bot to wait',
    { class: 'retry_after', until: 9, scope: 'connection', error: 'answered 429' },
    ['E', 'F', 'e'],
  ],
  ['fails', { class: 'transient', error: 'answered 503', unsure: false }, ['E', 'F']],
  ['refuses', { class: 'fatal', error: 'answered 401' }, ['E', 'F']],
  ['dislikes one message', { class: 'unknown', error: 'answered 400' }, []],
])('what has not begun goes back in line when the messenger %s', async (_says, outcome, back) => {
  const sender = sending();
  await sendAll(sender, 'ABCDEF');
  await sendAll(sender, 'abcde', TWO);
  await sender.answer('A', outcome);
  expect(sender.told).toEqual([['A', outcome], ...back.map((subject) => [subject, BACK])]);
});

test('what waited long for its turn is decided anew', async () => {
  const sender = sending();
  await sendAll(sender, 'ABCDE');
  sender.clock.advance(2 * SECOND);
  await sender.answer('A', OK);
  expect(sender.told).toEqual([
    ['A', OK],
    ['E', BACK],
  ]);
  expect(sender.begun).toEqual(['A', 'B', 'C', 'D']);
});

test('what the next calls say is read with what the one that begins says', async () => {
  const sender = sending();
  await sendAll(sender, 'ABCDEFGHIJKLMN');
  expect(sender.reads.join('')).toBe('ABCD');
  await sender.answer('A', OK);
  expect(sender.reads.join('')).toBe('ABCDEFGHIJKL');
  for (const subject of 'BCDEFGH') await sender.answer(subject, OK);
  expect(sender.begun.join('')).toBe('ABCDEFGHIJKL');
  expect(sender.reads.join('')).toBe('ABCDEFGHIJKL');
  await sender.answer('I', OK);
  expect(sender.reads.slice(12).join('')).toBe('MN');
});

test.each<readonly [string, (sender: ReturnType<typeof sending>) => void]>([
  ['a quarter of a second ago', ({ clock }) => clock.advance(0.26 * SECOND)],
  ['with another configuration', ({ configure }) => configure()],
])('what was read %s is read again', async (_says, change) => {
  const sender = sending();
  await sendAll(sender, 'ABCDEF');
  await sender.answer('A', OK);
  expect(sender.reads.join('')).toBe('ABCDEF');
  change(sender);
  await sender.answer('B', OK);
  expect(sender.reads.join('')).toBe('ABCDEFF');
});

test('what could not be read ahead is read when its call begins', async () => {
  const sender = sending();
  await sendAll(sender, 'ABCDEF');
  sender.unreadable.add('F');
  await sender.answer('A', OK);
  await sender.answer('B', OK);
  expect(sender.reads.join('')).toBe('ABCDEFF');
  expect(sender.begun.at(-1)).toBe('F');
});

test('no more than 56 contents wait in memory; those of calls that went back in line leave it', async () => {
  const sender = sending();
  const begin = async (id: string) => {
    const destinationId = id as PublicId;
    for (let n = 0; n < 12; n++) await sender.send(`${id} ${n}`, { destinationId });
    await sender.answer(`${id} 0`, OK);
  };
  const ids = Array.from({ length: 9 }, (_, n) => `DS${n + 1}`);
  sender.configure(ids);
  for (const id of ids) await begin(id);
  expect(sender.reads).toHaveLength(9 * 5 + 56);
  await sender.answer('DS1 1', { class: 'transient', error: 'answered 503', unsure: false });
  await sender.answer('DS9 1', OK);
  expect(sender.reads).toHaveLength(9 * 5 + 56 + 1 + 6);
});

test('a process that ends begins nothing that waits for its turn', async () => {
  const sender = sending();
  await sendAll(sender, 'ABCDE');
  const finished = sender.finish();
  for (const subject of 'ABCD') await sender.answer(subject, OK);
  await finished;
  expect(sender.begun).toEqual(['A', 'B', 'C', 'D']);
  expect(sender.told.map(([subject]) => subject)).toEqual(['A', 'B', 'C', 'D']);
});

describe('what a channel throws', () => {
  const early: Sent = { send: () => Promise.reject(new Error('a defect')), probe: null };
  const late: Sent = {
    async send({ mayBegin }) {
      if (mayBegin()) throw new Error('a defect');
      throw new Error('it may begin');
    },
    async probe() {
      throw new Error('a defect');
    },
  };
  const away: Sent = { send: () => Promise.reject(AWAY), probe: null };
  const error = expect.stringContaining('delivery_defect');

  test.each<readonly [string, Parameters<typeof sending>[0], object, string]>([
    [
      'before the call: tried again',
      { bridge: early },
      { class: 'not_sent', because: 'defect', error },
      'delivery_defect',
    ],
    [
      'in the call: never sent twice',
      { bridge: late },
      { class: 'unknown', error, unsure: true },
      'delivery_defect',
    ],
    [
      'while the database is away',
      { bridge: away },
      { class: 'not_sent', because: 'unreadable' },
      'delivery_work_failed',
    ],
  ])('%s', async (_says, options, outcome, event) => {
    const sender = sending(options);
    await sender.send('A');
    expect(sender.told).toEqual([['A', outcome]]);
    expect(sender.logged.filter((name) => name !== 'delivery_attempt')).toEqual([event]);
  });

  test('a content that cannot be read is read again', async () => {
    const sender = sending({ unread: AWAY });
    await sender.send('A');
    expect(sender.told).toEqual([['A', { class: 'not_sent', because: 'unreadable' }]]);
  });

  test('in a probe: it failed', async () => {
    const sender = sending({ bridge: late });
    await sender.probe();
    expect(sender.told).toEqual([['', { class: 'unknown', error }]]);
  });
});
