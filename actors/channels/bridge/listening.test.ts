/** Polling, handling and answering together: the actor with everything around it, on a clock that tests move. */
import { expect, test } from 'vitest';
import type { ActorMessage, Turn } from '../../../runtime/actor/index.ts';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { createConnectionPerformer } from '../../../runtime/compose/performer.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Sealed } from '../../../runtime/secrets/keyring.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { PLAIN_INFO } from '../../../test/fakes/scripted-bridge.ts';
import { until } from '../../../test/harness/until.ts';
import { createConnectionActor } from '../../connection/actor.ts';
import type { ConnectionPerformed } from '../../connection/effects.ts';
import type { ConnectionMessage } from '../../connection/messages.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import { createWaitingTokens } from '../../connection/tokens.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import { createEventIntake } from '../intake.ts';
import { createPoller } from '../polling.ts';
import type { BridgeOutcome } from './answer.ts';
import { createAnswers } from './answers.ts';
import type { BridgeClient } from './client.ts';
import { lanesOf } from './events.ts';
import { readInfo } from './info.ts';
import { createInfoReader } from './info-reader.ts';
import type { OperationName } from './operations.ts';
import { bridgePoll } from './poll.ts';
import type { React } from './reactions.ts';

const ID = 'CN5Q8V2K7WXM3D' as PublicId;
const read = readInfo(PLAIN_INFO);
if (!read.ok) throw new Error('the Info of the tests is invalid');
const INFO: BridgeOutcome<unknown> = { class: 'ok', value: { info: read.info, wrong: null } };
const OK: BridgeOutcome<unknown> = { class: 'ok', value: { shown_as: 'direct', replayed: false } };
const FAILED = { code: 'http_status', status: 503, error: 'answered 503', detail: null } as const;
const INVALID: BridgeOutcome<unknown> = { class: 'unknown', ...FAILED, status: 400, error: 'answered 400' };
const page = (events: readonly object[], next: string): BridgeOutcome<unknown> => ({
  class: 'ok',
  value: { events, next_cursor: next },
});
const USER = { external_id: '18', username: 'bob' };
const link = (id: string) => ({
  ...{ id, type: 'account_link', occurred_at: '2026-10-03T09:41:07Z' },
  ...{ user: USER, token: 'unknown' },
});
/** What events lead to is not looked at here: a token nobody waits for is answered, nothing else is. */
const react: React = async (_, { type }) => ({
  is: 'noted',
  say: type === 'account_link' ? 'Nothing waits for this token.' : null,
});
const press = (id: string) => ({ ...link(id), type: 'press', message_id: '9001', data: 'AQFB' });
/** Of another person and message than every other event. */
const apart = (id: string) => ({
  ...press(id),
  user: { external_id: `of-${id}` },
  message_id: `about-${id}`,
});

/** A Connection in poll mode that listens; polls wait until a test answers them. */
function listening(
  answer: (text: string, attempt: number) => BridgeOutcome<unknown> | Promise<BridgeOutcome<unknown>> = () =>
    OK,
) {
  const clock = createManualClock();
  const definition = createConnectionActor();
  let state = definition.start(ID);
  let rows = definition.emptyRows(ID);
  let wakes = 0;
  const calls: (readonly [OperationName, string | null])[] = [];
  const polls: ((outcome: BridgeOutcome<unknown>) => void)[] = [];
  const logged: string[] = [];
  /** Events whose handling fails. */
  const poison = new Set<string>();
  let attempts = 0;

  const give = (message: ActorMessage): unknown => {
    const turn: Turn<typeof state> = definition.receive(
      { self: { kind: 'connection', key: ID }, state, rows },
      message as ConnectionMessage,
      { now: clock.now(), from: null, prepared: undefined, random: () => new Uint8Array() },
    );
    state = turn.state;
    for (const effect of turn.performs) {
      if (effect.type !== 'hint') perform(effect as ConnectionPerformed);
    }
    const wake = ++wakes;
    if (turn.wakeAt !== null) {
      clock.after(turn.wakeAt - clock.now(), () => wake === wakes && give({ type: 'wake' }));
    }
    return turn.reply;
  };
  const system = {
    async ask(_to: unknown, message: ActorMessage) {
      const { eventId } = message as { eventId?: string };
      if (eventId !== undefined && poison.has(eventId)) throw new Error('the commit was refused');
      return give(message);
    },
    tell: (_to: unknown, message: ActorMessage) => void give(message),
    stillOwns: async () => true,
  };
  const bridge: BridgeClient = {
    async call(_access, request) {
      calls.push([request.operation, request.path]);
      const outcome = await outcomeOf(request.operation, request.body);
      return outcome as Awaited<ReturnType<typeof this.call<never>>>;
    },
  };
  const outcomeOf = (operation: OperationName, body: unknown): Promise<BridgeOutcome<unknown>> => {
    if (operation === 'getInfo') return Promise.resolve(INFO);
    if (operation === 'pollEvents') return new Promise((resolve) => polls.push(resolve));
    return Promise.resolve(answer((body as { text: string }).text, ++attempts));
  };
  const settings = async (): Promise<BridgeSettings> => ({
    ...{ id: ID, access: 1, baseUrl: 'https://bridge.example.org', eventMode: 'poll', proxy: NO_PROXY },
    token: 'sealed' as Sealed,
    ...{ pushSecret: null, proxyPassword: null, info: state.info.info as BridgeSettings['info'] },
    infoReadAt: state.info.readAt,
    infoFailedAt: state.info.failedAt,
  });
  const log: Log = (event) => void logged.push(event);
  const opener = { keyring: { open: () => ({ ok: true, value: 't0ken' }) as const }, log };
  const tokens = createWaitingTokens({ system, clock });
  const infos = createInfoReader({ bridge, tokens, system, clock });
  const lookedUp: string[] = [];
  const reactAndCount: React = (id, event) => {
    lookedUp.push(event.id);
    return react(id, event);
  };
  const answers = createAnswers({ bridge, infos, tokens, opener, clock, log, settings });
  const { say } = answers;
  const intake = createEventIntake({ react: reactAndCount, lanesOf, say, system, clock, log });
  const poller = createPoller({
    ...bridgePoll({ bridge, infos, opener, clock, settings }),
    ...{ intake, system, clock, log },
  });
  const perform = createConnectionPerformer({ poll: poller.poll, log });

  give({
    type: 'configured',
    version: 1,
    access: 1,
    polls: true,
    limiter: { limit: 5, per_seconds: 1 },
  } as never);
  return {
    clock,
    poison,
    logged: () => logged.splice(0),
    /** Ids of the events that were looked up since this was read last. */
    lookedUp: () => lookedUp.splice(0),
    /** Lets everything happen that waits for no time and no answer. */
    async settle() {
      for (let turns = 0; turns < 50; turns++) await Promise.resolve();
    },
    async poll(outcome: BridgeOutcome<unknown>) {
      await this.settle();
      const answerPoll = polls.shift();
      if (!answerPoll) throw new Error('no poll is under way');
      answerPoll(outcome);
      await this.settle();
    },
    isPolling: () => polls.length > 0,
    calls: () => calls.splice(0).map(([operation, path]) => (operation === 'pollEvents' ? path : operation)),
    answered: () => calls.filter(([operation]) => operation === 'answerEvent').length,
    restart() {
      state = definition.restore(JSON.parse(JSON.stringify(definition.persist(state))));
      rows = new Map(rows);
      give({ type: 'resume' });
    },
    trouble: () => state.snapshot.context.trouble?.error ?? null,
  };
}

test('reads the Info, polls from the oldest event, answers, and goes on behind the page', async () => {
  const it = listening();
  await it.poll(page([link('e1')], 'c-1'));
  expect(it.calls()).toEqual([
    'getInfo',
    '/v1/events?wait=25',
    'answerEvent',
    '/v1/events?cursor=c-1&wait=25',
  ]);
});

test('an event that comes twice is answered once; one about a message of others never', async () => {
  const it = listening();
  await it.poll(page([link('e1'), press('e2')], 'c-1'));
  await it.poll(page([link('e1'), press('e2')], 'c-2'));
  expect(it.answered()).toBe(1);
});

test('one that could not be answered any more comes again: it has no second effect, and is answered then', async () => {
  const it = listening((_text, attempt) => (attempt === 1 ? { class: 'not_sent' } : OK));
  await it.poll(page([link('e1')], 'c-1'));
  it.restart();
  it.clock.advance(SECOND);
  await it.poll(page([link('e1')], 'c-1'));
  expect(it.calls()).toEqual([
    'getInfo',
    '/v1/events?wait=25',
    'answerEvent',
    '/v1/events?wait=25',
    'answerEvent',
    '/v1/events?cursor=c-1&wait=25',
  ]);
});

test('what is no event is dropped, and a type of a later version is passed over', async () => {
  const it = listening();
  await it.poll(
    page([{ id: 'e 1' }, { id: 'e2', type: 'poke', occurred_at: '2026-10-03T09:41:07Z' }], 'c-1'),
  );
  expect(it.logged()).toEqual(['update_dropped']);
  expect(it.calls().at(-1)).toBe('/v1/events?cursor=c-1&wait=25');
});

test('a page of thousands that are no events is one line in the log, and those behind them are handled', async () => {
  const it = listening();
  const heard = page([...Array.from({ length: 1_000 }, () => ({ id: 'e 1' })), link('e1')], 'c-1');
  await it.poll(heard);
  await until('the next poll', async () => it.isPolling());
  expect(it.answered()).toBe(1);
  expect(it.logged().filter((event) => event === 'update_dropped')).toHaveLength(1);
});

test('a cursor that the bridge does not know is dropped, and nothing is handled twice', async () => {
  const it = listening();
  await it.poll(page([link('e1')], 'c-1'));
  await it.poll(INVALID);
  it.clock.advance(1);
  await it.poll(page([link('e1'), link('e2')], 'c-2'));
  expect(it.answered()).toBe(2);
  expect(it.trouble()).toBeNull();
});

test('a press that cannot be handled yet delays no press that comes after it', async () => {
  const it = listening();
  it.poison.add('e1');
  await it.poll(page([link('e1')], 'c-1'));
  for (let second = 0; second < 8; second++) {
    it.clock.advance(SECOND);
    const other = { ...link(`other-${second}`), user: { external_id: `u-${second}` } };
    await it.poll(page([link('e1'), other], 'c-1'));
    expect(it.answered()).toBe(second + 1);
  }
});

test('a page that is polled again because of one event is looked up only for what is left of it', async () => {
  const it = listening();
  it.poison.add('e1');
  const page1 = [apart('e1'), ...Array.from({ length: 20 }, (_, n) => apart(`ok-${n}`))];
  await it.poll(page(page1, 'c-1'));
  expect(it.lookedUp()).toHaveLength(21);
  it.clock.advance(SECOND);
  await it.poll(page([...page1, apart('new')], 'c-1'));
  expect(it.lookedUp()).toEqual(['e1', 'new']);
  it.clock.advance(SECOND);
  // Not due again.
  await it.poll(page([...page1, apart('new')], 'c-1'));
  expect(it.lookedUp()).toEqual([]);
});

test('what was handled of one page is remembered for that page alone', async () => {
  const it = listening();
  it.poison.add('e1');
  await it.poll(page([apart('e1'), apart('e2')], 'c-1'));
  it.poison.clear();
  it.clock.advance(SECOND);
  await it.poll(page([apart('e1'), apart('e2')], 'c-1'));
  it.lookedUp();
  await it.poll(page([apart('e2')], 'c-2'));
  expect(it.lookedUp()).toEqual(['e2']);
});

test('what the same person or message does later waits for what could not be handled yet', async () => {
  const it = listening();
  it.poison.add('e1');
  const both = page([link('e1'), link('e2')], 'c-1');
  await it.poll(both);
  expect(it.answered()).toBe(0);
  it.poison.clear();
  it.clock.advance(SECOND);
  await it.poll(both);
  expect(it.answered()).toBe(2);
  expect(it.calls().at(-1)).toBe('/v1/events?cursor=c-1&wait=25');
});

test('an event that always fails is given up after 5 times and 5 minutes; later ones are handled meanwhile', async () => {
  const it = listening();
  it.poison.add('e1');
  for (let minutes = 0; minutes <= 6; minutes++) {
    await it.poll(page([link('e1'), { ...link('e2'), user: { external_id: '19' } }], 'c-1'));
    it.clock.advance(MINUTE);
    await it.settle();
  }
  expect(it.answered()).toBe(1);
  expect(it.logged()).toContain('update_failed');
  it.poison.clear();
  await it.poll(page([link('e1')], 'c-1'));
  expect(it.calls().at(-1)).toBe('/v1/events?cursor=c-1&wait=25');
});

test('events of one person are handled in their order, those of others beside them', async () => {
  let answered: (outcome: BridgeOutcome<unknown>) => void = () => undefined;
  const first = new Promise<BridgeOutcome<unknown>>((resolve) => {
    answered = resolve;
  });
  const it = listening((_text, attempt) => (attempt === 1 ? first : OK));
  await it.poll(page([link('e1'), link('e2'), { ...link('e3'), user: { external_id: '19' } }], 'c-1'));
  expect(it.answered()).toBe(2);
  expect(it.isPolling()).toBe(false);
  answered(OK);
  await it.settle();
  expect(it.answered()).toBe(3);
  expect(it.isPolling()).toBe(true);
});

test('an answer that fails is tried once more', async () => {
  const it = listening((_text, attempt) => (attempt === 1 ? { class: 'transient', ...FAILED } : OK));
  await it.poll(page([link('e1')], 'c-1'));
  expect(it.isPolling()).toBe(false);
  it.clock.advance(SECOND / 2);
  await it.settle();
  expect(it.answered()).toBe(2);
  expect(it.isPolling()).toBe(true);
});

test('an answer that fails for good is given up, and the event passed all the same', async () => {
  const it = listening(() => ({ class: 'gone', reason: null, ...FAILED, status: 410 }));
  await it.poll(page([link('e1')], 'c-1'));
  expect(it.logged()).toContain('event_not_answered');
  expect(it.isPolling()).toBe(true);
});

test.each<[string, BridgeOutcome<unknown>, number]>([
  ['a refused token', { class: 'fatal', ...FAILED, status: 401 }, MINUTE],
  ['a failure', { class: 'transient', ...FAILED }, SECOND],
  ['a redirect, even behind a cursor', { class: 'unknown', ...FAILED, code: 'redirect_refused' }, MINUTE],
])('after %s it is tried again in its time', async (_name, outcome, pause) => {
  const it = listening();
  await it.poll(page([link('e1')], 'c-1'));
  await it.poll(outcome);
  expect(it.trouble()).not.toBeNull();
  it.clock.advance(pause - 1);
  await it.settle();
  expect(it.isPolling()).toBe(false);
  it.clock.advance(1);
  await it.settle();
  expect(it.calls().at(-1)).toBe('/v1/events?cursor=c-1&wait=25');
});

test('a bridge that asks to wait is asked again exactly then', async () => {
  const it = listening();
  await it.settle();
  const until = it.clock.now() + 7 * SECOND;
  await it.poll({ class: 'retry_after', until, scope: 'bot', ...FAILED });
  it.clock.advance(7 * SECOND - 1);
  await it.settle();
  expect(it.isPolling()).toBe(false);
  it.clock.advance(1);
  await it.settle();
  expect(it.isPolling()).toBe(true);
});
