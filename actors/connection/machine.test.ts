import { describe, expect, test } from 'vitest';
import { begin, step } from '../../runtime/actor/index.ts';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import {
  type ConnectionEvent,
  connectionMachine,
  givenUp,
  LONG_PAUSE,
  postponed,
  UNOFFERED_PAUSE,
} from './machine.ts';

const T = 1_791_020_467_000_000;
const WANTED: ConnectionEvent = { type: 'polling_wanted', at: T };
const started = (at = T): ConnectionEvent => ({ type: 'poll_started', at, lostAt: at + 5 * MINUTE });
const CALLING = [WANTED, started()];
const failed = (at = T + SECOND, retryAt: number | null = null): ConnectionEvent => ({
  type: 'poll_failed',
  error: 'answered 503',
  at,
  retryAt,
});
const TROUBLED = [...CALLING, failed(), started(T + 2 * SECOND)];
const page = (at: number, brought: boolean): ConnectionEvent => ({
  type: 'page_passed',
  cursor: 'c-2',
  brought,
  isFull: false,
  at,
});
const refused = (at: number): ConnectionEvent => ({ type: 'cursor_refused', error: 'answered 400', at });
const CHANGED: ConnectionEvent = { type: 'access_changed', at: T + 3 * SECOND };

/** Where events lead from the start, and what the last one told. */
function follow(events: readonly ConnectionEvent[]) {
  let snapshot = begin(connectionMachine);
  let told: string[] = [];
  for (const event of events) {
    const next = step(connectionMachine, snapshot, event);
    snapshot = next.snapshot;
    told = next.emitted.map((one) => one.type);
  }
  return { state: snapshot.value, told, ...snapshot.context };
}

describe('every transition', () => {
  const waiting = { polling: 'waiting' };
  const calling = { polling: 'calling' };
  test.each<[string, readonly ConnectionEvent[], object]>([
    ['starts without polling', [], { state: 'not_polling', nextAt: null }],
    ['polls at once where it is wanted', [WANTED], { state: waiting, nextAt: T, cursor: null }],
    ['a poll is under way', CALLING, { state: calling, poll: 1, nextAt: null, lostAt: T + 5 * MINUTE }],
    [
      'a page with events is followed by the next poll at once',
      [...CALLING, page(T + SECOND / 10, true)],
      { state: waiting, told: [], cursor: 'c-2', nextAt: T + SECOND / 10, lostAt: null },
    ],
    [
      'an empty one by a poll not sooner than a second after the one before',
      [...CALLING, page(T + SECOND / 10, false)],
      { state: waiting, cursor: 'c-2', nextAt: T + SECOND },
    ],
    [
      'so is one that leaves the cursor where it was',
      [...CALLING, page(T, true), started(), page(T + SECOND / 10, true)],
      { state: waiting, cursor: 'c-2', nextAt: T + SECOND },
    ],
    [
      'the first failure is told, and tried again after a second',
      [...CALLING, failed()],
      {
        state: waiting,
        told: ['trouble_began'],
        nextAt: T + 2 * SECOND,
        trouble: { error: 'answered 503', since: T + SECOND },
      },
    ],
    [
      'the second after two, since the first',
      [...TROUBLED, failed(T + 3 * SECOND)],
      { told: ['trouble_went_on'], nextAt: T + 5 * SECOND, trouble: { since: T + SECOND } },
    ],
    [
      'at last every minute',
      [...CALLING, ...Array.from({ length: 12 }, () => [failed(), started()]).flat(), failed(T)],
      { nextAt: T + MINUTE },
    ],
    [
      'or exactly when the bridge asked for it',
      [...CALLING, failed(T + SECOND, T + 7 * SECOND)],
      { nextAt: T + 7 * SECOND },
    ],
    [
      'but never at once, however soon it asks for it',
      [...CALLING, failed(T + SECOND, T + SECOND)],
      { nextAt: T + 2 * SECOND },
    ],
    [
      'a page ends the trouble',
      [...TROUBLED, page(T + 3 * SECOND, true)],
      { told: ['trouble_ended'], trouble: null, failures: 0 },
    ],
    [
      'a refused cursor is dropped, and the poll repeated without it',
      [...CALLING, page(T, true), started(), refused(T + SECOND)],
      { state: waiting, told: [], cursor: null, nextAt: T + SECOND, trouble: null },
    ],
    [
      'twice within a minute is trouble, and a pause',
      [...CALLING, refused(T), started(), refused(T + MINUTE - 1)],
      { state: waiting, told: ['trouble_went_on'], nextAt: T + MINUTE - 1 + LONG_PAUSE },
    ],
    [
      'twice within more than a minute is not',
      [...CALLING, refused(T), started(), refused(T + MINUTE)],
      { state: waiting, nextAt: T + MINUTE, trouble: null },
    ],
    [
      'events that failed keep the cursor; the page is polled again a second after the last poll began',
      [
        ...CALLING,
        page(T, true),
        started(),
        { type: 'events_failed', ids: ['e1'], postponed: [], at: T + SECOND },
      ],
      { cursor: 'c-2', nextAt: T + SECOND, failing: [{ id: 'e1', times: 1, since: T + SECOND }] },
    ],
    [
      'a page that arrives ends the trouble, even if its events fail',
      [...TROUBLED, { type: 'events_failed', ids: ['e1'], postponed: [], at: T + 3 * SECOND }],
      { told: ['trouble_ended'], trouble: null },
    ],
    [
      'a bridge that does not offer polling is asked again later',
      [...CALLING, { type: 'poll_unoffered', at: T + SECOND }],
      { state: waiting, told: [], nextAt: T + SECOND + UNOFFERED_PAUSE },
    ],
    [
      'which ends the trouble, too',
      [...TROUBLED, { type: 'poll_unoffered', at: T + 3 * SECOND }],
      { told: ['trouble_ended'], trouble: null },
    ],
    [
      'another poller of the bot is no trouble: the next poll comes 5 s later',
      [...CALLING, { type: 'poll_conflict', at: T + SECOND }],
      { state: waiting, told: ['conflict_met'], nextAt: T + 6 * SECOND, trouble: null, lostAt: null },
    ],
    [
      'which ends the trouble as well; it pauses for a minute at most',
      [
        ...([...TROUBLED, { type: 'poll_conflict', at: T }, started()] as const),
        ...Array.from({ length: 4 }, () => [{ type: 'poll_conflict', at: T } as const, started()]).flat(),
        { type: 'poll_conflict', at: T },
      ],
      { state: waiting, told: ['conflict_met'], nextAt: T + MINUTE, trouble: null, conflicts: 6 },
    ],
    [
      'tells that the trouble ended',
      [...TROUBLED, { type: 'poll_conflict', at: T }],
      { told: ['trouble_ended', 'conflict_met'] },
    ],
    [
      'a page ends the conflict',
      [...CALLING, { type: 'poll_conflict', at: T }, started(), page(T, true)],
      { conflicts: 0 },
    ],
    [
      'an hour between two pages is no gap',
      [...CALLING, page(T, false), started(T + 60 * MINUTE)],
      { gap: null },
    ],
    [
      'more than an hour is one, also while its events fail',
      [
        ...[...CALLING, page(T, false), started(T + 60 * MINUTE + 1)],
        { type: 'events_failed', ids: ['e1'], postponed: [], at: T + 61 * MINUTE },
        started(T + 62 * MINUTE),
      ],
      { gap: 60 * MINUTE + 1 },
    ],
    [
      'and none for who did not poll on purpose',
      [...CALLING, page(T, true), { type: 'polling_ended' }, WANTED, started(T + 62 * MINUTE)],
      { gap: null },
    ],
    [
      'a lost poll is repeated',
      [...CALLING, { type: 'poll_lost', at: T + SECOND }],
      { state: waiting, nextAt: T + SECOND, lostAt: null },
    ],
    [
      'polling that ends keeps its cursor for a way back',
      [...CALLING, page(T, true), { type: 'polling_ended' }],
      { state: 'not_polling', cursor: 'c-2', nextAt: null, trouble: null },
    ],
    [
      'another address or token forgets everything and polls at once',
      [...CALLING, page(T, true), started(), CHANGED],
      { state: waiting, cursor: null, nextAt: T + 3 * SECOND, poll: 2, lostAt: null },
    ],
    [
      'also where nothing is polled',
      [...CALLING, page(T, true), { type: 'polling_ended' }, CHANGED],
      { state: 'not_polling', cursor: null, nextAt: null },
    ],
    ['is deleted without polling', [{ type: 'deleted' }], { state: 'deleted' }],
    ['is deleted while it polls', [...CALLING, { type: 'deleted' }], { state: 'deleted' }],
    ['stays deleted', [{ type: 'deleted' }, WANTED, CHANGED], { state: 'deleted', told: [] }],
  ])('%s', (_name, events, expected) => {
    expect(follow(events)).toMatchObject(expected);
  });
});

test('an event is given up after 5 failures over at least 5 minutes, and only while it goes on failing', () => {
  const fails = (at: number, ids: readonly string[]): ConnectionEvent[] => [
    started(at),
    { type: 'events_failed', ids, postponed: [], at },
  ];
  const four = [0, 1, 2, 3].flatMap((minutes) => fails(T + minutes * MINUTE, ['e1', 'e2']));
  const fifth = follow([WANTED, ...four, ...fails(T + 4 * MINUTE, ['e1'])]);
  expect(givenUp(fifth, T + 4 * MINUTE)).toEqual([]);
  const sixth = follow([
    WANTED,
    ...four,
    ...fails(T + 4 * MINUTE, ['e1']),
    ...fails(T + 5 * MINUTE, ['e1', 'e2']),
  ]);
  expect(givenUp(sixth, T + 5 * MINUTE)).toEqual(['e1']);
});

test('an event that fails waits 1, 2, 4 … 60 s by itself; the page is polled again after a second', () => {
  const failed = (ids: readonly string[], waiting: readonly string[], at: number): ConnectionEvent[] => [
    started(at),
    { type: 'events_failed', ids, postponed: waiting, at },
  ];
  const twice = follow([WANTED, ...failed(['e1'], [], T), ...failed(['e1'], [], T + SECOND)]);
  expect(twice.nextAt).toBe(T + 2 * SECOND);
  expect(postponed(twice, T + 3 * SECOND - 1)).toEqual(['e1']);
  expect(postponed(twice, T + 3 * SECOND)).toEqual([]);
  const beside = follow([
    WANTED,
    ...failed(['e1'], [], T),
    ...failed(['e1'], [], T + SECOND),
    ...failed(['e2'], ['e1'], T + 2 * SECOND),
  ]);
  expect(beside).toMatchObject({
    nextAt: T + 3 * SECOND,
    failing: [
      { id: 'e2', times: 1 },
      { id: 'e1', times: 2 },
    ],
  });
});
