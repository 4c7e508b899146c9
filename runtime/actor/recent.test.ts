import { expect, test } from 'vitest';
import { setup } from 'xstate';
import type { Turn } from './definition.ts';
import {
  begin,
  followTransitions,
  MOST_TAKEN,
  type NamedTransition,
  nameTransition,
  step,
  takenTransitions,
} from './machine.ts';
import { MOST_COUNTED, type NotedTurn, RECENT, RecentMessages, readRecent, replyOfRecent } from './recent.ts';

const nothing: NotedTurn['turn'] = { sends: [], records: [], performs: [] };
const note = (at: number, rest: Partial<NotedTurn> = {}): NotedTurn => ({
  ...{ at, batch: at, type: 'thing', from: null, value: 'on', taken: [], turn: nothing },
  ...rest,
});
const messagesTo = (kind: string, type: string, count: number): Turn<unknown>['sends'] =>
  Array.from({ length: count }, (_, key) => ({ to: { kind, key: String(key) }, message: { type } }));
const effect = (type: string) => ({ type });

/** Goes back and forth between two states; `passing` ends by itself. */
const makeLamp = (id: string) =>
  setup({
    types: { context: {} as { uses: number }, events: {} as { type: 'on' | 'off' | 'dim' } },
    guards: { isNew: ({ context }) => context.uses === 0, isWorn: ({ context }) => context.uses > 9 },
    actions: { count: () => undefined },
  }).createMachine({
    ...{ id, initial: 'dark', context: () => ({ uses: 0 }) },
    states: {
      dark: {
        on: {
          on: [
            { guard: 'isWorn', target: 'broken' },
            { guard: 'isNew', target: 'lit.bright', actions: 'count' },
          ],
        },
      },
      lit: {
        ...{ initial: 'bright', on: { off: { target: 'dark' } } },
        states: {
          bright: { on: { dim: { target: 'passing' } } },
          passing: { always: 'dim' },
          dim: {},
        },
      },
      broken: {},
    },
  });

const taken = () => takenTransitions().map(nameTransition);
const lampOn: NamedTransition = {
  ...{ from: 'dark', to: 'lit.bright', event: 'on', guard: 'isNew', actions: ['count'] },
};

/** What a lamp takes of some events. */
function lampTaken(...types: readonly ('on' | 'off' | 'dim')[]) {
  const lamp = makeLamp('lamp');
  followTransitions('lamp');
  let snapshot = begin(lamp);
  for (const type of types) ({ snapshot } = step(lamp, snapshot, { type }));
  return takenTransitions();
}

test('the newest message comes first, with its sender, its commit, what its machine took and what it did', () => {
  const recent = new RecentMessages();
  expect(recent.list()).toEqual([]);
  recent.note(note(1, { type: 'created', from: { kind: 'feed', key: 'f' }, value: { open: 'firing' } }));
  recent.committed(1, 5);
  const turn = {
    sends: [...messagesTo('destination', 'group', 3), ...messagesTo('feed', 'ended', 1)],
    records: [effect('timeline.added'), effect('group.saved'), effect('timeline.added')],
    performs: [effect('hint')],
  };
  recent.note(note(2, { type: 'acknowledge', value: 'acknowledged', taken: lampTaken('on'), turn }));
  recent.note(note(3, { type: 'end', value: null }));
  const rest = { events: [], transitions: [], effects: [] };
  expect(recent.list()).toEqual([
    { at: 3, committedAt: null, type: 'end', from: null, state: null, ...rest },
    {
      ...{ at: 2, committedAt: null, type: 'acknowledge', from: null, state: 'acknowledged' },
      ...{ events: ['on'], transitions: [lampOn] },
      effects: [
        { kind: 'send', type: 'group', to: 'destination', count: 3 },
        { kind: 'send', type: 'ended', to: 'feed', count: 1 },
        { kind: 'record', type: 'timeline.added', to: null, count: 2 },
        { kind: 'record', type: 'group.saved', to: null, count: 1 },
        { kind: 'perform', type: 'hint', to: null, count: 1 },
      ],
    },
    { at: 1, committedAt: 5, type: 'created', from: 'feed', state: { open: 'firing' }, ...rest },
  ]);
});

test('fifty are remembered, however many there were', () => {
  const recent = new RecentMessages();
  for (let at = 1; at <= 120; at++) recent.note(note(at, { type: at % 2 === 0 ? 'even' : 'odd' }));
  const list = recent.list();
  expect(list.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, age) => 120 - age));
  expect(list.slice(0, 2).map(({ type }) => type)).toEqual(['even', 'odd']);
});

test('a commit is that of the messages of its batch, also when others follow it or the ring began anew', () => {
  const recent = new RecentMessages();
  const commits = (count: number) =>
    recent
      .list()
      .slice(0, count)
      .map(({ committedAt }) => committedAt);
  for (let at = 1; at <= 49; at++) recent.note(note(at, { batch: 7 }));
  recent.note(note(50, { batch: 8 }));
  recent.note(note(51, { batch: 8 }));
  recent.note(note(52, { batch: -3 }));
  recent.committed(7, 100);
  expect(commits(4)).toEqual([null, null, null, 100]);
  recent.committed(8, 0);
  expect(commits(4)).toEqual([null, 0, 0, 100]);
  recent.committed(-3, 300);
  recent.committed(9, 400);
  expect(commits(50)).toEqual([300, 0, 0, ...Array.from({ length: 47 }, () => 100)]);
});

test('effects of eight kinds are counted, each up to a bound', () => {
  const recent = new RecentMessages();
  const records = Array.from({ length: 12 }, (_, index) => `record-${index}`).flatMap((type, index) =>
    Array.from({ length: index === 4 ? 9_000 : 1 + index * 1_000 }, () => effect(type)),
  );
  recent.note(note(1, { turn: { ...nothing, records } }));
  const [{ effects }] = recent.list() as [ReturnType<typeof recent.list>[0]];
  expect(effects.map(({ type, count }) => [type, count])).toEqual(
    [1, 1_001, 2_001, 3_001, MOST_COUNTED, 5_001, 6_001, 7_001].map((count, index) => [
      `record-${index}`,
      count,
    ]),
  );
});

test('what is told has its own count and state when there is no room for what occurs together', async () => {
  // A module of its own: what is filled here is shared by all actors of a process.
  const own = './recent.ts?full';
  const fresh = (await import(own)) as typeof import('./recent.ts');
  const recent = new fresh.RecentMessages();
  const types = Array.from({ length: 150 }, (_, index) => `record-${index}`);
  const recorded = (...counted: readonly (readonly [type: string, count: number])[]) => ({
    ...nothing,
    records: counted.flatMap(([type, count]) => Array.from({ length: count }, () => effect(type))),
  });
  for (const one of types)
    for (const other of types) recent.note(note(1, { turn: recorded([one, 1], [other, 1]) }));
  recent.note(note(2, { turn: recorded(['new', 2], ['record-0', 3]) }));
  recent.note(note(3, { turn: recorded(['record-0', 2], ['new', 4], ['record-1', 5]) }));
  recent.note(note(4, { type: 'unseen', from: { kind: 'feed', key: 'f' }, value: { a: 'b' } }));
  const [last, cut, none] = recent.list();
  expect(none).toMatchObject({ type: 'thing', state: 'on', effects: [] });
  expect(cut?.effects).toEqual([{ kind: 'record', type: 'record-0', to: null, count: 2 }]);
  expect(last).toMatchObject({ type: 'unseen', from: 'feed', state: { a: 'b' }, effects: [] });
});

test('states within others are told apart, written anew or not', () => {
  const recent = new RecentMessages();
  const values = [
    { a: 'b' },
    { a: 'b' },
    { a: { b: 'c' } },
    { a: 'b', d: 'e' },
    { a: 'b' },
    'a',
    null,
    { d: 'b' },
  ];
  for (const [index, value] of values.entries()) recent.note(note(index, { value }));
  expect(recent.list().map(({ state }) => state)).toEqual(values.toReversed());
});

test('an actor that leaves memory leaves nothing behind', () => {
  const recent = new RecentMessages();
  recent.note(note(1, { type: 'created' }));
  recent.clear();
  expect(recent.list()).toEqual([]);
  recent.committed(1, 2);
  recent.note(note(7, { type: 'wake', value: null }));
  expect(recent.list()).toMatchObject([{ at: 7, type: 'wake', from: null, state: null, events: [] }]);
});

test('transitions are those that guards let through, with what follows by itself', () => {
  expect(lampTaken('off', 'on', 'dim').map(nameTransition)).toEqual([
    lampOn,
    { from: 'lit.bright', to: 'lit.passing', event: 'dim', guard: null, actions: [] },
    { from: 'lit.passing', to: 'lit.dim', event: 'always', guard: null, actions: [] },
  ]);
  expect(lampTaken('on', 'off').map(nameTransition)).toEqual([
    lampOn,
    { from: 'lit', to: 'dark', event: 'off', guard: null, actions: [] },
  ]);
});

test('those of other machines, of refused events, and of no turn are not among them', () => {
  const [lamp, other] = [makeLamp('lamp'), makeLamp('other')];
  step(lamp, begin(lamp), { type: 'on' });
  followTransitions('lamp');
  step(other, begin(other), { type: 'on' });
  step(lamp, begin(lamp), { type: 'dim' });
  expect(taken()).toEqual([]);
  step(lamp, begin(lamp), { type: 'on' });
  expect(taken()).toEqual([]);
});

test('of many transitions the first ones are kept', () => {
  const lamp = makeLamp('lamp');
  followTransitions('lamp');
  for (let times = 0; times < 2 * MOST_TAKEN; times++) step(lamp, begin(lamp), { type: 'on' });
  expect(taken()).toHaveLength(MOST_TAKEN);
});

test('an answer of the previous release is read, too', () => {
  const old = { at: 1, type: 'created', from: null, state: 'on', events: ['on'] };
  expect(readRecent([old])).toEqual({
    messages: [{ ...old, committedAt: null, transitions: [], effects: [] }],
    waiting: null,
  });
});

test('an answer says how many wait, unless the previous release asks, which reads messages alone', () => {
  const recent = new RecentMessages();
  recent.note(note(1));
  const told = { messages: recent.list(), waiting: 3 };
  expect(readRecent(replyOfRecent(RECENT, told))).toEqual(told);
  expect(replyOfRecent({ type: RECENT.type }, told)).toEqual(told.messages);
});
