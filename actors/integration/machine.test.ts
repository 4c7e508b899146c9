/** Every transition of the Integration's statechart, as a table; the rows are those of ingestion §12 and §8. */
import { describe, expect, it } from 'vitest';
import { begin, step } from '../../runtime/actor/index.ts';
import { type IntegrationEvent, type IntegrationSnapshot, integrationMachine } from './machine.ts';

const TIMEOUT = 300;
const on = { type: 'heartbeat_on', timeout: TIMEOUT } as const;
const off = { type: 'heartbeat_off' } as const;
const signal = (at: number) => ({ type: 'signal', at }) as const;
const silence = { type: 'silence' } as const;
const deleted = { type: 'deleted' } as const;
const emptied = { type: 'emptied' } as const;
const found = { type: 'leftovers_found' } as const;
const ended = { type: 'ended' } as const;
const excused = { type: 'excused', awaitedAt: 1_200, until: 1_100 } as const;

const having = (...events: IntegrationEvent[]): IntegrationSnapshot =>
  events.reduce((state, event) => step(integrationMachine, state, event).snapshot, begin(integrationMachine));

const STATES = {
  not_configured: () => having(),
  waiting: () => having(on),
  live: () => having(on, signal(1_000)),
  lost: () => having(on, signal(1_000), silence),
  deleting: () => having(on, signal(1_000), deleted),
  settling: () => having(deleted, emptied),
  deleted: () => having(deleted, emptied, ended),
} as const;
type Name = keyof typeof STATES;
const names = Object.keys(STATES) as Name[];

/** What each event leads to, where it leads anywhere. */
const TABLE: readonly (readonly [string, IntegrationEvent, Partial<Record<Name, Name>>])[] = [
  ['the Heartbeat is switched on', on, { not_configured: 'waiting' }],
  ['it is switched off', off, { waiting: 'not_configured', live: 'not_configured', lost: 'not_configured' }],
  ['a signal comes', signal(1_060), { waiting: 'live', lost: 'live' }],
  ['an old signal comes', signal(1_000), { waiting: 'live' }],
  ['it is silent for too long', silence, { live: 'lost' }],
  ['the silence is excused', excused, {}],
  ['another timeout is saved', { type: 'timeout_changed', timeout: 5 }, {}],
  ['a look is planned', { type: 'check_planned', at: 7 }, {}],
  [
    'the Integration is deleted',
    deleted,
    { not_configured: 'deleting', waiting: 'deleting', live: 'deleting', lost: 'deleting' },
  ],
  ['nothing is left of it', emptied, { deleting: 'settling' }],
  ['something is left after all', found, { settling: 'deleting' }],
  ['the last look found nothing', ended, { settling: 'deleted' }],
];

describe('the Integration', () => {
  it.each(names)('is %s', (name) => {
    expect(STATES[name]().value).toBe(name);
  });

  it.each(TABLE)('when %s', (_, event, expected) => {
    const next = Object.fromEntries(
      names.map((name) => [name, step(integrationMachine, STATES[name](), event).snapshot.value]),
    );
    expect(next).toEqual({ ...Object.fromEntries(names.map((name) => [name, name])), ...expected });
  });
});

describe('live time', () => {
  const gaps = (...events: IntegrationEvent[]) =>
    having(on, ...events).context.gaps.map(({ from, to }) => [from, to]);

  it('begins with the first signal', () => {
    expect(gaps(signal(1_000))).toEqual([[0, 1_000]]);
  });

  it('counts gaps up to the timeout in full and longer ones not at all', () => {
    const events = [signal(1_000), signal(1_300), signal(1_601), signal(1_700)];
    expect(gaps(...events)).toEqual([
      [0, 1_000],
      [1_300, 1_601],
    ]);
  });

  it('stands still while the Heartbeat is lost, and the gap adds nothing', () => {
    expect(gaps(signal(1_000), silence, signal(1_250))).toEqual([
      [0, 1_000],
      [1_000, 1_250],
    ]);
  });

  it('stands still while the Heartbeat is off or waits, and keeps what it counted', () => {
    expect(gaps(signal(1_000), signal(1_200), off, on, signal(1_210))).toEqual([
      [0, 1_000],
      [1_200, 1_210],
    ]);
    expect(gaps(signal(1_000), silence, off, on, signal(5_000))).toEqual([
      [0, 1_000],
      [1_000, 5_000],
    ]);
  });
});

it('forgets its times when it is switched off, and its excuses with the next signal', () => {
  const nothing = { lastSignalAt: null, awaitedAt: null, excusedUntil: null };
  expect(having(on, signal(1_000), excused, off).context).toMatchObject(nothing);
  expect(having(on, signal(1_000), excused, signal(1_201)).context).toMatchObject({
    ...nothing,
    lastSignalAt: 1_201,
  });
});

it('stays lost when another timeout is saved', () => {
  const { value, context } = having(on, signal(1_000), silence, { type: 'timeout_changed', timeout: 86_400 });
  expect([value, context.timeout]).toEqual(['lost', 86_400]);
});
