import { describe, expect, test } from 'vitest';
import type { Turn } from '../../runtime/actor/index.ts';
import { DAY, HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { PLAIN_INFO } from '../../test/fakes/scripted-bridge.ts';
import { readInfo } from '../channels/bridge/info.ts';
import { createConnectionActor } from './actor.ts';
import type { ConnectionPerformed, ConnectionRecord, PollBegun } from './effects.ts';
import type { ConnectionMessage, EventArrived, PollOutcome } from './messages.ts';
import type { ConnectionRows, ConnectionState } from './turn.ts';

const ID = 'CN5Q8V2K7WXM3D' as PublicId;
const DESTINATION = 'DSK7M3QX9P2RTA';
const CONFIGURED = {
  type: 'configured',
  version: 1,
  access: 1,
  polls: true,
  limiter: { limit: 2, per_seconds: 1 },
} as const;

/** A Connection alone, with what it asked for since the last look. */
function connection() {
  const definition = createConnectionActor();
  let now: Micros = 1_791_020_467_000_000;
  let state: ConnectionState = definition.start(ID);
  let rows: ConnectionRows = definition.emptyRows(ID);
  let turn: Turn<ConnectionState>;
  const performed: ConnectionPerformed[] = [];
  const records: ConnectionRecord[] = [];
  const hints: object[] = [];
  let poll = 0;

  const give = (message: ConnectionMessage, from: string | null = null) => {
    turn = definition.receive({ self: { kind: 'connection', key: ID }, state, rows }, message, {
      now,
      from: from === null ? null : { kind: 'destination', key: from },
      prepared: undefined,
      random: () => new Uint8Array(),
    });
    state = turn.state;
    for (const effect of turn.performs) {
      if (effect.type === 'hint') hints.push(effect);
      else performed.push(effect as ConnectionPerformed);
      if ('poll' in effect) poll = Number(effect.poll);
    }
    records.push(...(turn.records as readonly ConnectionRecord[]));
    return turn;
  };

  const polls = () => performed.filter((effect): effect is PollBegun => effect.type === 'connection.poll');
  return {
    give,
    now: () => now,
    pass(by: Micros) {
      now += by;
      return give({ type: 'wake' });
    },
    /** The poll under way comes to this. */
    finish(outcome: PollOutcome) {
      return give({ type: 'poll_finished', poll, outcome, at: now });
    },
    hear: (event: Omit<EventArrived, 'type'>) => give({ type: 'event', ...event }).reply,
    restart() {
      state = definition.restore(JSON.parse(JSON.stringify(definition.persist(state))));
      rows = new Map(rows);
    },
    /** As a version wrote it that knew less. */
    restartFrom(earlier: (stored: string) => string) {
      const stored = JSON.stringify(definition.persist(state));
      const before = earlier(stored);
      expect(before).not.toBe(stored);
      state = definition.restore(JSON.parse(before));
    },
    persisted: () => JSON.stringify(definition.persist(state)),
    polls,
    lastPoll: () => polls().at(-1),
    performed: () => performed.splice(0).map(({ type }) => type),
    records: () => records.splice(0),
    hints: () => hints.splice(0).length,
    wakeAt: () => turn.wakeAt,
  };
}

const link = (eventId: string) => ({ eventId, say: 'Nothing waits for this token.' });
const ignored = (eventId: string) => ({ eventId, say: null });

describe('polling', () => {
  test('begins with the configuration', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    expect(actor.lastPoll()).toMatchObject({ poll: 1, access: 1, cursor: null });
    actor.finish({ is: 'passed', cursor: 'c-1', brought: true, isFull: false });
    expect(actor.lastPoll()).toMatchObject({ poll: 2, cursor: 'c-1' });
  });

  test('an empty page is followed by a poll a second after it began', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.finish({ is: 'passed', cursor: 'c-1', brought: false, isFull: false });
    expect(actor.wakeAt()).toBe(actor.now() + SECOND);
    actor.pass(SECOND);
    expect(actor.lastPoll()).toMatchObject({ poll: 2 });
  });

  test('a poll says for how long nothing could be received, until a page is not full', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.finish({ is: 'passed', cursor: 'c-1', brought: true, isFull: false });
    actor.finish({ is: 'failed', error: 'answered 503', retryAt: actor.now() + 61 * MINUTE });
    actor.restart();
    actor.pass(61 * MINUTE);
    expect(actor.lastPoll()).toMatchObject({ gap: 61 * MINUTE });
    actor.finish({ is: 'passed', cursor: 'c-2', brought: true, isFull: true });
    expect(actor.lastPoll()).toMatchObject({ gap: 61 * MINUTE });
    actor.finish({ is: 'passed', cursor: 'c-3', brought: true, isFull: false });
    expect(actor.lastPoll()).toMatchObject({ gap: null });
  });

  test('another poller of the same bot is no trouble: polls pause 5 s, doubling, and the log is told', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.records();
    actor.hints();
    actor.finish({ is: 'conflict' });
    expect(actor.wakeAt()).toBe(actor.now() + 5 * SECOND);
    expect(actor.performed()).toContain('connection.poll_conflict');
    actor.pass(5 * SECOND);
    actor.finish({ is: 'conflict' });
    expect(actor.wakeAt()).toBe(actor.now() + 10 * SECOND);
    expect(actor.records()).toEqual([]);
    expect(actor.hints()).toBe(0);
  });

  test('a state that an earlier version stored is as one without a gap', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.restartFrom((stored) => stored.replace(/,"heardAt":null,"gap":null,"conflicts":0/, ''));
    actor.finish({ is: 'conflict' });
    expect(actor.wakeAt()).toBe(actor.now() + 5 * SECOND);
    actor.pass(5 * SECOND);
    expect(actor.lastPoll()).toMatchObject({ gap: null });
  });

  test('the log is told at the first failure and every 10 minutes, people at each other error', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.performed();
    actor.finish({ is: 'failed', error: 'answered 503', retryAt: null });
    expect(actor.performed()).toEqual(['connection.poll_failed']);
    expect(actor.hints()).toBe(1);
    actor.pass(SECOND);
    actor.finish({ is: 'failed', error: 'answered 503', retryAt: null });
    expect(actor.hints()).toBe(0);
    actor.pass(10 * MINUTE);
    actor.performed();
    actor.give({
      type: 'poll_finished',
      poll: 3,
      outcome: { is: 'failed', error: 'answered 502', retryAt: null },
      at: actor.now(),
    });
    expect(actor.performed()).toEqual(['connection.poll_failed']);
    expect(actor.hints()).toBe(1);
    expect(actor.records().at(-1)).toMatchObject({ type: 'connection.inbound', error: 'answered 502' });
  });

  test('another token or address is not held by what the bot before was asked to wait for', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.give({ type: 'hold', until: actor.now() + HOUR });
    actor.give({ type: 'token_wanted', urgent: false, count: 1 }, DESTINATION);
    expect(actor.give({ ...CONFIGURED, version: 2 }).sends).toEqual([]);
    expect(actor.give({ ...CONFIGURED, version: 3, access: 2 }).sends).toMatchObject([
      { message: { type: 'token_granted' } },
    ]);
  });

  test('the outcome of an older poll says nothing', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.give({ ...CONFIGURED, version: 2, access: 2 });
    expect(actor.polls().map(({ poll, access }) => [poll, access])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    actor.give({
      type: 'poll_finished',
      poll: 1,
      outcome: { is: 'passed', cursor: 'old', brought: true, isFull: false },
      at: 0,
    });
    actor.finish({ is: 'passed', cursor: 'c-1', brought: false, isFull: false });
    expect(actor.wakeAt()).toBe(actor.now() + SECOND);
  });

  test('after a restart, and without a sign for long, a poll under way is repeated', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.restart();
    actor.give({ type: 'resume' });
    expect(actor.lastPoll()).toMatchObject({ poll: 2 });
    actor.pass(5 * MINUTE);
    expect(actor.lastPoll()).toMatchObject({ poll: 3 });
  });

  test('ends with push mode, and goes on where it ended', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.finish({ is: 'passed', cursor: 'c-1', brought: false, isFull: false });
    actor.give({ ...CONFIGURED, version: 2, polls: false });
    expect(actor.wakeAt()).toBeNull();
    actor.give({ ...CONFIGURED, version: 3 });
    expect(actor.lastPoll()).toMatchObject({ cursor: 'c-1' });
  });

  test('an older configuration changes nothing', () => {
    const actor = connection();
    actor.give({ ...CONFIGURED, version: 5 });
    actor.give({ ...CONFIGURED, version: 4, polls: false });
    expect(actor.wakeAt()).not.toBeNull();
  });
});

describe('an event', () => {
  test('is handled once, by whichever way it comes; its answer is repeated until it was given', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    const say = expect.stringMatching(/^Nothing waits for this token/);
    expect(actor.hear(link('evt-1'))).toEqual({ say });
    actor.restart();
    expect(actor.hear(link('evt-1'))).toEqual({ say });
    actor.give({ type: 'event_settled', eventId: 'evt-1' });
    expect(actor.hear(link('evt-1'))).toEqual({ say: null });
  });

  test('of which nothing is said is noted all the same', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.records();
    expect(actor.hear(ignored('evt-1'))).toEqual({ say: null });
    expect(actor.records()[0]).toMatchObject({
      type: 'connection.event_handled',
      eventId: 'evt-1',
      say: null,
    });
  });

  test('that was handled elsewhere is noted once its answer was given', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.give({ type: 'event_settled', eventId: 'evt-1' });
    expect(actor.hear(link('evt-1'))).toEqual({ say: null });
  });

  describe('of a message that was deleted', () => {
    const deleted = {
      messageId: '9001',
      destinationId: DESTINATION as PublicId,
      groupId: 'AGK7M3QX9P2RTA' as PublicId,
      kind: 'root',
    } as const;

    test('tells its Destination when it is the present one, once', () => {
      const actor = connection();
      actor.give(CONFIGURED);
      const hear = () =>
        actor.give({ type: 'event', ...ignored('evt-1'), deleted: { ...deleted, isPresent: true } });
      const [send] = hear().sends;
      const { messageId, groupId } = deleted;
      expect(send).toEqual({
        to: { kind: 'destination', key: DESTINATION },
        message: { type: 'message_gone', connectionId: ID, messageId, groupId, at: actor.now() },
      });
      expect(hear().sends).toEqual([]);
    });

    test('forgets any other one', () => {
      const actor = connection();
      actor.give(CONFIGURED);
      actor.records();
      const event = { ...ignored('evt-1'), deleted: { ...deleted, isPresent: false } };
      expect(actor.give({ type: 'event', ...event }).sends).toEqual([]);
      expect(actor.records()).toContainEqual({
        type: 'connection.message_forgotten',
        connectionId: ID,
        messageId: '9001',
      });
    });
  });

  test('is stored with its id in the same turn, and remembered for a day', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.records();
    actor.hear(link('evt-1'));
    expect(actor.records().map(({ type }) => type)).toEqual([
      'connection.event_handled',
      'connection.inbound',
    ]);
    actor.pass(2 * DAY);
    actor.give({ type: 'event_settled', eventId: 'evt-1' });
    expect(actor.hear(link('evt-1'))).toMatchObject({ say: expect.any(String) });
  });

  test('that always fails is given up, so that later ones are handled', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    for (let time = 0; time < 5; time++) {
      actor.finish({ is: 'events_failed', ids: ['poison'], postponed: [] });
      actor.pass(time === 3 ? 5 * MINUTE : MINUTE);
      if (actor.lastPoll() === undefined) throw new Error('no poll');
    }
    expect(actor.performed()).toContain('connection.event_given_up');
    expect(actor.hear(link('poison'))).toEqual({ say: null });
  });

  test('of another address or token is forgotten', () => {
    const actor = connection();
    actor.give(CONFIGURED);
    actor.hear(link('evt-1'));
    actor.give({ type: 'event_settled', eventId: 'evt-1' });
    actor.give({ ...CONFIGURED, version: 2, access: 2 });
    expect(actor.records().map(({ type }) => type)).toContain('connection.events_forgotten');
    expect(actor.hear(link('evt-1'))).toMatchObject({ say: expect.any(String) });
  });
});

describe('the copy of Info', () => {
  const read = readInfo(PLAIN_INFO);
  if (!read.ok) throw new Error('the Info of the tests is invalid');
  const { info } = read;
  const answered = (at: Micros) =>
    ({ type: 'info_read', access: 1, read: { ok: true, info, wrong: null, tokenless: null }, at }) as const;
  const failed = (at: Micros, pointer: string | null = null) =>
    ({ type: 'info_read', access: 1, read: { ok: false, pointer }, at }) as const;

  function polledAfter(...messages: readonly ((now: Micros) => ConnectionMessage)[]) {
    const actor = connection();
    actor.give(CONFIGURED);
    for (const message of messages) actor.give(message(actor.now()));
    return actor;
  }

  test('is told to browsers when it says something else', () => {
    const actor = polledAfter(answered);
    expect(actor.hints()).toBe(1);
    actor.give(answered(actor.now()));
    expect(actor.hints()).toBe(0);
    actor.give(failed(actor.now(), '/limits'));
    expect(actor.hints()).toBe(1);
    expect(actor.records().at(-1)).toMatchObject({ info, wrong: '/limits', failedAt: actor.now() });
  });

  test('that was asked before the stored one does not take its place, nor does its failure', () => {
    const actor = polledAfter((now) => answered(now + 2));
    const { at, ...late } = answered(actor.now() + 1);
    actor.give({
      ...late,
      at,
      read: { ...late.read, info: { ...info, bridge: { ...info.bridge, name: 'old' } } },
    });
    actor.give(failed(actor.now() + 1, '/limits'));
    expect(actor.persisted()).not.toContain('"old"');
    expect(actor.persisted()).not.toContain('/limits');
  });

  test('of another address or token does not count', () => {
    const actor = connection();
    actor.give({ ...CONFIGURED, access: 2 });
    actor.records();
    actor.give(answered(actor.now()));
    expect(actor.records()).toEqual([]);
  });
});

describe('tokens', () => {
  test('a person gets one, or is told when', () => {
    const actor = connection();
    actor.give({ ...CONFIGURED, polls: false });
    expect(actor.give({ type: 'take_token' }).reply).toEqual({ granted: true });
    actor.give({ type: 'take_token' });
    expect(actor.give({ type: 'take_token' }).reply).toEqual({
      granted: false,
      dueAt: actor.now() + SECOND / 2,
    });
  });

  test('a wider limiter counts at once for those that wait', () => {
    const actor = connection();
    actor.give({ ...CONFIGURED, polls: false, limiter: { limit: 1, per_seconds: 3600 } });
    actor.give({ type: 'take_token' });
    expect(actor.give({ type: 'token_wanted', urgent: false, count: 1 }, DESTINATION).sends).toEqual([]);
    actor.give({ ...CONFIGURED, version: 2, polls: false, limiter: { limit: 1000, per_seconds: 1 } });
    expect(actor.pass(SECOND).sends).toMatchObject([{ message: { type: 'token_granted' } }]);
  });

  test('a Destination is sent one when it is due', () => {
    const actor = connection();
    actor.give({ ...CONFIGURED, polls: false });
    const to = { kind: 'destination', key: DESTINATION };
    expect(actor.give({ type: 'token_wanted', urgent: false, count: 1 }, DESTINATION).sends).toEqual([
      { to, message: { type: 'token_granted', count: 1 } },
    ]);
    actor.give({ type: 'take_token' });
    expect(actor.give({ type: 'token_wanted', urgent: false, count: 1 }, DESTINATION).sends).toEqual([]);
    actor.give({ type: 'hold', until: actor.now() + 7 * SECOND });
    actor.give({ type: 'token_wanted', urgent: false, count: 1 }, DESTINATION);
    expect(actor.pass(7 * SECOND - 1).sends).toEqual([]);
    expect(actor.pass(SECOND).sends).toHaveLength(1);
  });
});

test('deleted, it keeps nothing of what the bridge said', () => {
  const actor = connection();
  const read = readInfo(PLAIN_INFO);
  if (!read.ok) throw new Error('the Info of this test is invalid');
  const told = { ok: true, info: read.info, wrong: null, tokenless: null } as const;
  const info: ConnectionMessage = { type: 'info_read', access: 1, read: told, at: actor.now() };
  actor.give(CONFIGURED);
  actor.give(info);
  actor.finish({ is: 'passed', cursor: 'a-cursor', brought: true, isFull: false });
  expect(actor.persisted()).toContain('a-cursor');
  expect(actor.persisted()).toContain(read.info.bridge.name);
  actor.give({ type: 'deleted', version: 2 });
  actor.give(info);
  expect(actor.persisted()).not.toContain('a-cursor');
  expect(actor.persisted()).not.toContain(read.info.bridge.name);
});

test('deleted, it does nothing any more and forgets its events', () => {
  const actor = connection();
  actor.give(CONFIGURED);
  actor.hear(link('evt-1'));
  actor.give({ type: 'deleted', version: 2 });
  expect(actor.wakeAt()).toBeNull();
  expect(actor.records().map(({ type }) => type)).toContain('connection.events_forgotten');
  actor.give({ ...CONFIGURED, version: 3 });
  expect(actor.wakeAt()).toBeNull();
  actor.records();
  expect(actor.hear(link('evt-2'))).toEqual({ say: null });
  expect(actor.records()).toEqual([]);
});
