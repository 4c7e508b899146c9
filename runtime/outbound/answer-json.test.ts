import { afterEach, expect, test, vi } from 'vitest';
import { parseAnswer, parseStorable } from './answer-json.ts';

afterEach(() => vi.restoreAllMocks());

const MOST_BYTES = 4 * 1024 * 1024;
const filled = (before: string, part: string, after: string): string =>
  before + part.repeat(Math.floor((MOST_BYTES - before.length - after.length) / part.length)) + after;

test.each([
  ['an object', '{"a":[1,"x",null]}', { a: [1, 'x', null] }],
  ['a text', '"[{,"', '[{,'],
  ['a hundred levels', '['.repeat(100) + ']'.repeat(100), expect.any(Array)],
  ['no JSON', '{', undefined],
  ['nothing', '', undefined],
  ['a text without an end', '"a\\', undefined],
])('%s', (_, text, value) => {
  expect(parseAnswer(Buffer.from(text))).toEqual(value);
});

test('texts that are stored have no U+0000 and no half of a surrogate pair, which the database refuses', () => {
  const body = Buffer.from(String.raw`{"a":["x\u0000y",{"b":"\u0000"}],"c":"\\u0000"}`);
  expect(parseStorable(body)).toEqual({ a: ['x\ufffdy', { b: '\ufffd' }], c: String.raw`\u0000` });
  const halves = Buffer.from(String.raw`["\ud83d\udd25","\ud83d","a\uDD25b"]`);
  expect(parseStorable(halves)).toEqual(['🔥', '\ufffd', 'a\ufffdb']);
});

test('the largest page of the smallest events is read', () => {
  const event = '{"id":"1","type":"message_deleted","occurred_at":"2026-10-03T09:44:00Z","message_id":"m"},';
  const page = filled('{"events":[', event, '0],"next_cursor":"c"}');
  expect(parseAnswer(Buffer.from(page))).toMatchObject({ next_cursor: 'c' });
});

test('brackets and commas within texts are no values', () => {
  expect(parseAnswer(Buffer.from(filled('["\\"', '[{,', '"]')))).toHaveLength(1);
});

test.each([
  ['levels', '['.repeat(101)],
  ['levels of objects', '{"a":'.repeat(101)],
  ['lists', filled('[', '[],', '0]')],
  ['objects', filled('[', '{},', '0]')],
  ['numbers', filled('[', '0,', '0]')],
  ['members', filled('{', '"a":0,', '"b":0}')],
])('nothing is made of an answer of too many %s', (_, text) => {
  const parse = vi.spyOn(JSON, 'parse');
  expect(parseAnswer(Buffer.from(text))).toBeUndefined();
  expect(parse).not.toHaveBeenCalled();
});
