import { expect, it } from 'vitest';
import { draftFor, draftSent, keepDraft, readDraft, restOf } from './drafts.ts';

function storage() {
  const held = new Map<string, string>();
  return {
    held,
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
    removeItem: (key: string) => void held.delete(key),
  };
}

it('keeps a text for one Alert Group until it is empty', () => {
  const tab = storage();
  keepDraft('AG1', 'The disk', tab);
  expect([readDraft('AG1', tab), readDraft('AG2', tab)]).toEqual(['The disk', '']);
  keepDraft('AG1', '', tab);
  expect(tab.held.size).toBe(0);
});

it('whoever uses the tab next does not read the draft of another person', () => {
  const tab = storage();
  keepDraft(draftFor({ id: 'SR1' }, 'AG1'), 'The disk', tab);
  expect(readDraft(draftFor({ id: 'SR2' }, 'AG1'), tab)).toBe('');
  expect(readDraft(draftFor({ id: 'SR1' }, 'AG1'), tab)).toBe('The disk');
});

it('forgets what was sent, and keeps what was typed since', () => {
  const tab = storage();
  keepDraft('AG1', 'The disk', tab);
  draftSent('AG1', 'The disk', tab);
  expect(tab.held.size).toBe(0);
  keepDraft('AG1', 'The disk is full\nRebooting', tab);
  draftSent('AG1', 'The disk is full', tab);
  expect(readDraft('AG1', tab)).toBe('Rebooting');
});

it.each([
  ['The disk', 'The disk', ''],
  ['The disk, too', 'The disk', ', too'],
  ['Another text', 'The disk', 'Another text'],
  ['', 'The disk', ''],
])('of %j after %j was sent, %j is left', (text, sent, rest) => {
  expect(restOf(text, sent)).toBe(rest);
});
