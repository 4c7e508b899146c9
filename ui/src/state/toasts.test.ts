import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createToasts } from './toasts.svelte.ts';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Toasts, and what was taken back. An Undo is on its way until `answer` is called. */
function setUp() {
  let whyNot: string | null = null;
  const toasts = createToasts(() => whyNot);
  const sendable = (why: string | null) => (whyNot = why);
  const taken: string[] = [];
  let answer = () => {};
  const undo = (what: string) => ({
    text: 'Undo',
    run: () => {
      taken.push(what);
      return new Promise<void>((resolve) => (answer = resolve));
    },
  });
  const answered = async () => {
    answer();
    await vi.advanceTimersByTimeAsync(0);
  };
  const texts = () => toasts.items.map(({ text }) => text);
  return { toasts, taken, undo, answered, texts, sendable };
}

it('a message stays 6 s, one with an Undo 10 s', () => {
  const { toasts, undo, texts } = setUp();
  toasts.done('plain');
  toasts.command('Command', 'AG1', undo('it'));
  vi.advanceTimersByTime(6_000);
  expect(texts()).toEqual(['Command']);
  vi.advanceTimersByTime(3_999);
  expect(texts()).toEqual(['Command']);
  vi.advanceTimersByTime(1);
  expect(texts()).toEqual([]);
  expect(toasts.undoNewest()).toBe(false);
});

it('a message that is held stays, and its time begins anew when it is released', () => {
  const { toasts, texts } = setUp();
  toasts.done('held');
  const [{ id } = { id: 0 }] = toasts.items;
  toasts.hold(id);
  vi.advanceTimersByTime(60_000);
  expect(texts()).toEqual(['held']);
  toasts.release(id);
  vi.advanceTimersByTime(5_999);
  expect(texts()).toEqual(['held']);
  vi.advanceTimersByTime(1);
  expect(texts()).toEqual([]);
});

it('an Undo on its way is busy, keeps its message, and a second press does nothing', async () => {
  const { toasts, taken, undo, answered, texts } = setUp();
  toasts.command('older', 'AG1', undo('older'));
  toasts.command('newer', 'AG2', undo('newer'));
  expect(toasts.undoNewest()).toBe(true);
  expect(toasts.items.map(({ busy }) => busy)).toEqual([false, true]);
  expect(toasts.undoNewest()).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect([texts(), taken]).toEqual([['newer'], ['newer']]);
  await answered();
  expect(texts()).toEqual([]);
});

it('the newest Undo is pressed first, and then the one before it', async () => {
  const { toasts, taken, undo, answered } = setUp();
  toasts.command('one', 'AG1', undo('one'));
  toasts.command('two', 'AG2', undo('two'));
  toasts.undoNewest();
  await answered();
  toasts.done('taken back', 'AG2');
  toasts.undoNewest();
  expect(taken).toEqual(['two', 'one']);
});

it('after a Command without a way back the key takes back nothing, the button of an earlier one still does', () => {
  const { toasts, taken, undo } = setUp();
  toasts.command('one', 'AG1', undo('one'));
  toasts.command('takeover', 'AG2', null);
  expect([toasts.undoNewest(), taken]).toEqual([false, []]);
  void toasts.undo(toasts.items[0]!.id);
  expect(taken).toEqual(['one']);
});

it('a message takes the place of an earlier one about the same Alert Group', () => {
  const { toasts, taken, undo, texts } = setUp();
  toasts.command('acknowledged', 'AG1', undo('acknowledge'));
  toasts.command('other', 'AG2', undo('other'));
  toasts.command('resolved', 'AG1', undo('resolve'));
  expect(texts()).toEqual(['other', 'resolved']);
  toasts.undoNewest();
  expect(taken).toEqual(['resolve']);
});

it('no refusal and no later Command pushes out an Undo before its time', () => {
  const { toasts, taken, undo, texts } = setUp();
  for (let n = 1; n <= 6; n++) toasts.command(`Command ${n}`, `AG${n}`, undo(`${n}`));
  for (let n = 1; n <= 6; n++) toasts.refused(`refusal ${n}`);
  vi.advanceTimersByTime(9_999);
  expect(texts()).toEqual([
    ...Array.from({ length: 6 }, (_, index) => `Command ${index + 1}`),
    ...['refusal 3', 'refusal 4', 'refusal 5', 'refusal 6'],
  ]);
  void toasts.undo(toasts.items[0]!.id);
  toasts.undoNewest();
  expect(taken).toEqual(['1', '6']);
  toasts.command('Command 7', 'AG7', undo('7'));
  expect(texts().slice(-5)).toEqual(['refusal 3', 'refusal 4', 'refusal 5', 'refusal 6', 'Command 7']);
});

it('an Undo that cannot be sent says why, however often it is pressed, and stays', () => {
  const { toasts, taken, undo, texts, sendable } = setUp();
  toasts.command('Command', 'AG1', undo('it'));
  sendable('not sent');
  for (let press = 0; press < 5; press++) expect(toasts.undoNewest()).toBe(true);
  void toasts.undo(toasts.items[0]!.id);
  expect([texts(), taken]).toEqual([['Command', 'not sent'], []]);
  sendable(null);
  toasts.undoNewest();
  expect(taken).toEqual(['it']);
});

it('what one person did is not taken back by the next', () => {
  const { toasts, taken, undo, texts } = setUp();
  toasts.done('plain');
  toasts.command('Command', 'AG1', undo('it'));
  toasts.forgetUndos();
  expect(texts()).toEqual(['plain']);
  expect(toasts.undoNewest()).toBe(false);
  expect(taken).toEqual([]);
});
