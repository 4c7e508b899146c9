import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSeen, dismissed, looked, newAmong, type Seen } from './seen.ts';

const ME = 'SR1';
const MINUTE = 60_000;
const NIGHT = 9 * 60 * MINUTE;
const NOTHING: Seen = { before: null, look: null };

/** A group that began in this minute; `changed` is the minute of its last change. */
const row = (id: string, began: number, reopens = 0, changed = began, owner: string | null = null) => ({
  id,
  started_at: new Date(began * MINUTE).toISOString(),
  last_changed_at: new Date(changed * MINUTE).toISOString(),
  reopen_count: reopens,
  owner: owner === null ? null : ({ id: owner } as never),
});
const A = row('A', 1);
const isNew = (group: ReturnType<typeof row>, seen: Seen, now: number, userId: string) =>
  newAmong([group], seen, now, userId).has(group.id);

it('nothing is new before and during the first look', () => {
  expect(isNew(row('B', 5), NOTHING, 0, ME)).toBe(false);
  expect(isNew(row('B', 5), looked(NOTHING, [A], 0), MINUTE, ME)).toBe(false);
});

it('what begins while the list is open all night is new in the morning, and stays so while somebody looks', () => {
  const evening = looked(NOTHING, [A], 0);
  const night = row('B', 200);
  expect(isNew(night, evening, NIGHT, ME)).toBe(true);
  expect(isNew(A, evening, NIGHT, ME)).toBe(false);
  const morning = looked(evening, [night, A], NIGHT);
  expect(isNew(night, morning, NIGHT + 14 * MINUTE, ME)).toBe(true);
  const later = looked(morning, [night, A], NIGHT + 10 * MINUTE);
  expect(isNew(night, later, NIGHT + 24 * MINUTE, ME)).toBe(true);
  expect(isNew(night, later, NIGHT + 25 * MINUTE, ME)).toBe(false);
});

it('a group that waits to be shown was not seen', () => {
  const evening = looked(NOTHING, [A], 10 * MINUTE);
  expect(isNew(row('B', 9), evening, NIGHT, ME)).toBe(true);
});

it('rows of a narrower list take nothing away from what was seen', () => {
  const wide = looked(NOTHING, [row('B', 5), A], 0);
  expect(isNew(row('B', 5), looked(wide, [A], MINUTE), NIGHT, ME)).toBe(false);
  expect(isNew(row('B', 5), looked(wide, [A], NIGHT), 2 * NIGHT, ME)).toBe(false);
});

it('a list without rows is a look: whatever begins then is new', () => {
  expect(isNew(A, looked(NOTHING, [], 0), NIGHT, ME)).toBe(true);
});

it('what fires again is new, until it was seen so', () => {
  const seen = looked(NOTHING, [row('B', 5, 1), A], 0);
  expect(isNew(row('B', 5, 1, 300), seen, NIGHT, ME)).toBe(false);
  expect(isNew(row('B', 5, 2, 300), seen, NIGHT, ME)).toBe(true);
  expect(isNew(row('C', 4, 1, 300), seen, NIGHT, ME)).toBe(true);
  expect(isNew(row('C', 4, 1, 5), seen, NIGHT, ME)).toBe(false);
  const again = looked(seen, [row('B', 5, 2, 300)], NIGHT);
  expect(isNew(row('B', 5, 2, 300), again, 2 * NIGHT, ME)).toBe(false);
});

it('one’s own group is not new', () => {
  const seen = looked(NOTHING, [A], 0);
  expect(isNew(row('B', 5, 0, 5, ME), seen, NIGHT, ME)).toBe(false);
  expect(isNew(row('B', 5, 0, 5, 'SR2'), seen, NIGHT, ME)).toBe(true);
});

it('said to be seen, nothing of it is new, but what comes next is', () => {
  const seen = dismissed(looked(NOTHING, [A], 0), [row('B', 200, 1), A], NIGHT);
  expect(isNew(row('B', 200, 1, 300), seen, NIGHT, ME)).toBe(false);
  expect(isNew(row('C', 201), seen, NIGHT, ME)).toBe(true);
});

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A storage of the browser with this text under every key. */
function storageOf(text: string | null): Storage {
  const stored = new Map<string, string>();
  return {
    getItem: (key: string) => stored.get(key) ?? text,
    setItem: (key: string, value: string) => void stored.set(key, value),
  } as Storage;
}

it('the tabs of a browser share what a person has seen, and nobody else does', () => {
  const storage = storageOf(null);
  vi.setSystemTime(0);
  createSeen(storage, ME).sign([A]);
  vi.setSystemTime(NIGHT);
  expect(createSeen(storage, ME).newAmong([row('B', 5)], NIGHT).size).toBe(1);
  expect(createSeen(storage, 'SR2').newAmong([row('B', 5)], NIGHT).size).toBe(0);
});

it.each(['{', '[]', '7', '{"before":{"newest":"x"},"look":{}}', '{"before":{"newest":0}}'])(
  'foreign content, %s, is as before the first look',
  (text) => {
    expect(createSeen(storageOf(text), ME).newAmong([row('B', 5)], NIGHT).size).toBe(0);
  },
);

it('what is new is the same set for as long as the same groups are: no row is drawn anew for it', () => {
  const seen = createSeen(storageOf(''), ME);
  seen.dismiss([A]);
  const [one, other] = [row('B', 5), row('C', 6)];
  const marks = seen.newAmong([one, A], NIGHT);
  expect([...marks]).toEqual(['B']);
  expect(seen.newAmong([{ ...one }, A], NIGHT)).toBe(marks);
  expect([...seen.newAmong([other, one, A], NIGHT)]).toEqual(['C', 'B']);
  expect([...seen.newAmong([other, A], NIGHT)]).toEqual(['C']);
});
