import { expect, test } from 'vitest';
import { RecentMessages } from './recent.ts';

test('the newest message comes first, with the kind of its sender', () => {
  const recent = new RecentMessages();
  expect(recent.list()).toEqual([]);
  recent.note(1, 'created', { kind: 'feed', key: 'f' });
  recent.note(2, 'acknowledge', null);
  expect(recent.list()).toEqual([
    { at: 2, type: 'acknowledge', from: null },
    { at: 1, type: 'created', from: 'feed' },
  ]);
});

test('fifty are remembered, however many there were', () => {
  const recent = new RecentMessages();
  for (let at = 1; at <= 120; at++) recent.note(at, at % 2 === 0 ? 'even' : 'odd', null);
  const list = recent.list();
  expect(list.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, age) => 120 - age));
  expect(list.slice(0, 2).map(({ type }) => type)).toEqual(['even', 'odd']);
});

test('an actor that leaves memory leaves nothing behind', () => {
  const recent = new RecentMessages();
  recent.note(1, 'created', null);
  recent.clear();
  expect(recent.list()).toEqual([]);
  recent.note(7, 'wake', null);
  expect(recent.list()).toEqual([{ at: 7, type: 'wake', from: null }]);
});
