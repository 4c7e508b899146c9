import { expect, test } from 'vitest';
import { setup } from 'xstate';
import { begin, forgetTaken, step, takenEvents } from './machine.ts';
import { RecentMessages } from './recent.ts';

test('the newest message comes first, with the kind of its sender', () => {
  const recent = new RecentMessages();
  expect(recent.list()).toEqual([]);
  recent.note(1, 'created', { kind: 'feed', key: 'f' }, { open: 'firing' }, []);
  recent.note(2, 'acknowledge', null, 'acknowledged', ['join', 'acknowledge']);
  recent.note(3, 'note', null, 'acknowledged', []);
  recent.note(4, 'end', null, null, ['end']);
  expect(recent.list()).toEqual([
    { at: 4, type: 'end', from: null, state: null, events: ['end'] },
    { at: 3, type: 'note', from: null, state: 'acknowledged', events: [] },
    { at: 2, type: 'acknowledge', from: null, state: 'acknowledged', events: ['join', 'acknowledge'] },
    { at: 1, type: 'created', from: 'feed', state: { open: 'firing' }, events: [] },
  ]);
});

test('fifty are remembered, however many there were', () => {
  const recent = new RecentMessages();
  for (let at = 1; at <= 120; at++) recent.note(at, at % 2 === 0 ? 'even' : 'odd', null, 'on', []);
  const list = recent.list();
  expect(list.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, age) => 120 - age));
  expect(list.slice(0, 2).map(({ type }) => type)).toEqual(['even', 'odd']);
});

test('an actor that leaves memory leaves nothing behind', () => {
  const recent = new RecentMessages();
  recent.note(1, 'created', null, 'on', []);
  recent.clear();
  expect(recent.list()).toEqual([]);
  recent.note(7, 'wake', null, null, []);
  expect(recent.list()).toEqual([{ at: 7, type: 'wake', from: null, state: null, events: [] }]);
});

test('events that the machine of the actor took are told; those of others, and ignored ones, are not', () => {
  const make = (id: string) =>
    setup({ types: { events: {} as { type: 'on' | 'off' } } }).createMachine({
      ...{ id, initial: 'dark' },
      states: { dark: { on: { on: { target: 'lit' } } }, lit: { on: { off: { target: 'dark' } } } },
    });
  const [lamp, other] = [make('lamp'), make('other')];
  const types = ['off', 'on', 'on', 'off', 'on', 'off', 'on', 'off'] as const;
  forgetTaken();
  step(other, begin(other), { type: 'on' });
  let snapshot = begin(lamp);
  for (const type of types) ({ snapshot } = step(lamp, snapshot, { type }));
  expect(takenEvents('lamp')).toEqual(['on', 'off', 'on', 'off']);
  forgetTaken();
  expect(takenEvents('lamp')).toEqual([]);
});
