import { describe, expect, it } from 'vitest';
import { createEventStreamReader } from './connection.ts';

function read(pieces: readonly string[]): string[] {
  const seen: string[] = [];
  const feed = createEventStreamReader({
    event: (name, data) => seen.push(`${name} ${data}`),
    retry: (ms) => seen.push(`retry ${ms}`),
  });
  for (const piece of pieces) feed(piece);
  return seen;
}

const TEXT =
  'retry: 3000\n\n: keepalive\n\nid: 1\nevent: hint\ndata: {"type":"route","id":"RT1"}\n\n' +
  'data: a\ndata:b\n\nevent: hint\ndata: {"type":"организация","id":null}\n\n';
const SEEN = [
  'retry 3000',
  'hint {"type":"route","id":"RT1"}',
  'message a\nb',
  'hint {"type":"организация","id":null}',
];

describe('an event stream', () => {
  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('reads the same wherever it is cut in two, with %s', (_, end) => {
    const text = TEXT.replaceAll('\n', end);
    for (let at = 0; at <= text.length; at += 1) {
      expect(read([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(SEEN);
    }
  });

  it.each(['\n', '\r\n', '\r'])('reads the same character by character, with %j', (end) => {
    expect(read([...TEXT.replaceAll('\n', end)])).toEqual(SEEN);
  });

  it('says nothing about an event that is not complete', () => {
    expect(read(['event: hint\ndata: {}'])).toEqual([]);
    expect(read(['event: hint\ndata: {}\n'])).toEqual([]);
    expect(read(['event: hint\n\n'])).toEqual([]);
  });

  it.each(['retry: soon', 'retry: -1', 'retry: 9999999', 'colour: red', ': retry: 5', 'id: 7'])(
    'reads over %j',
    (line) => {
      expect(read([`${line}\n\n`])).toEqual([]);
    },
  );

  it('refuses a line without end, in one piece or in many, and an event of too many lines', () => {
    expect(() => read(['data: '.padEnd(5_000, 'x')])).toThrow(RangeError);
    expect(() => read(Array.from({ length: 500 }, () => ': comment, '))).toThrow(RangeError);
    expect(() => read(Array.from({ length: 200 }, () => `data: ${'x'.repeat(100)}\n`))).toThrow(RangeError);
  });
});
