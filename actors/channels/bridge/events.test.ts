import { describe, expect, test } from 'vitest';
import { MINUTE, parseInstant } from '../../../runtime/clock.ts';
import { lanesOf, readEvent } from './events.ts';

const AT = '2026-10-03T09:41:08Z';
const NOW = parseInstant(AT) ?? 0;
const USER = { external_id: '18', username: 'bob', display_name: 'Bob Jones' };
const PRESS = { id: 'evt-1', type: 'press', occurred_at: AT, message_id: '9001', user: USER, data: 'AQFB' };
const LINK = { id: 'evt-2', type: 'account_link', occurred_at: AT, user: USER, token: 'q3Zc' };

test.each<[string, object, object]>([
  ['a press', PRESS, { type: 'press', id: 'evt-1', message_id: '9001', data: 'AQFB', occurredAt: NOW }],
  [
    'a Thread message',
    { ...PRESS, type: 'thread_message', reply_id: '9003', text: 'rolling back' },
    { type: 'thread_message', thread_ref: null, reply_id: '9003', text: 'rolling back' },
  ],
  ['a link', LINK, { type: 'account_link', token: 'q3Zc', user: { external_id: '18', bot: false } }],
  [
    'a deletion by nobody known',
    { id: 'evt-3', type: 'message_deleted', occurred_at: AT, message_id: '9001', user: null },
    { type: 'message_deleted', user: null },
  ],
  ['a type of a later version', { id: 'evt-4', type: 'poke', occurred_at: AT }, { type: 'other' }],
])('%s is read', (_name, event, expected) => {
  expect(readEvent(event, NOW)).toMatchObject(expected);
});

describe('what can never be handled is no event', () => {
  test.each<[string, unknown]>([
    ['no object', 'evt'],
    ['nothing in it', {}],
    ['an id with a space', { ...PRESS, id: 'evt 1' }],
    ['an id that is too long', { ...PRESS, id: 'e'.repeat(201) }],
    ['no time', { ...PRESS, occurred_at: undefined }],
    ['a time that is none', { ...PRESS, occurred_at: 'yesterday' }],
    ['a press without its message', { ...PRESS, message_id: undefined }],
    ['a press by nobody', { ...PRESS, user: null }],
    ['an account without an id', { ...PRESS, user: { username: 'bob' } }],
    ['a Thread message without text', { ...PRESS, type: 'thread_message', reply_id: '1', text: '' }],
    ['a token that is too long', { ...LINK, token: 't'.repeat(513) }],
  ])('%s', (_name, value) => {
    expect(readEvent(value, NOW)).toBeNull();
  });
});

test('a time more than 5 minutes ahead counts as now', () => {
  expect(readEvent(PRESS, NOW - 5 * MINUTE)).toMatchObject({ occurredAt: NOW });
  expect(readEvent(PRESS, NOW - 5 * MINUTE - 1)).toMatchObject({ occurredAt: NOW - 5 * MINUTE - 1 });
});

test('events wait for others of their message and of their person', () => {
  const lanes = (value: object) => {
    const event = readEvent(value, NOW);
    return event && lanesOf(event);
  };
  expect(lanes(PRESS)).toEqual(['message 9001', 'person 18']);
  expect(lanes(LINK)).toEqual(['person 18']);
  expect(lanes({ id: 'e', type: 'poke', occurred_at: AT })).toEqual([]);
});
