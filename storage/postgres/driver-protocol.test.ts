import { describe, expect, test } from 'vitest';
import { createSessionWatch, endsWithPassword, partFarewell, readError } from './driver-protocol.ts';

/** One message: its type and what it holds. */
function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`, 'latin1');
  bytes.writeUInt32BE(bytes.length - 1, 1);
  return bytes;
}

const STARTUP = Buffer.from('\0\0\0\x09\0\x03\0\0\0', 'latin1');
const parse = (name: string, text: string) => message('P', `${name}\0${text}\0\0\0`);
const bind = (name: string) => message('B', `\0${name}\0\0\0\0\0`);
const ready = (status: string) => message('Z', status);
const fatal = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating\0\0');
const row = message('D', '\0\x01\0\0\0\x01a');

describe('a session', () => {
  test('is started and in a transaction as the server says', () => {
    const session = createSessionWatch();
    session.received(message('S', 'TimeZone\0UTC\0'));
    expect([session.started(), session.inTransaction()]).toEqual([false, false]);
    session.received(Buffer.concat([row, ready('I')]));
    expect([session.started(), session.inTransaction()]).toEqual([true, false]);
    session.received(ready('T'));
    expect(session.inTransaction()).toBe(true);
    session.received(ready('E'));
    expect(session.inTransaction()).toBe(true);
    session.received(ready('I').subarray(0, 2));
    session.received(ready('I').subarray(2));
    expect(session.inTransaction()).toBe(false);
  });

  test('knows the statement that ends a transaction by its text and, later, by its name', () => {
    const session = createSessionWatch();
    const isEndedBy = (...request: Buffer[]) => {
      session.received(ready('I'));
      session.received(ready('T'));
      session.sent(Buffer.concat(request));
      return session.isEnding();
    };
    session.sent(STARTUP);
    expect(isEndedBy(parse('s1', 'select 1'), bind('s1'))).toBe(false);
    expect(isEndedBy(parse('s2', 'rollback'), bind('s2'))).toBe(true);
    expect(isEndedBy(parse('s3', 'commit'), bind('s3'))).toBe(true);
    expect(isEndedBy(bind('s1'), bind('s3'))).toBe(true);
    expect(isEndedBy(bind('s1'))).toBe(false);
    expect(isEndedBy(parse('s4', 'rollback to "s0"'), bind('s4'))).toBe(false);
  });

  test('knows it without names, too', () => {
    const session = createSessionWatch();
    session.sent(STARTUP);
    session.received(ready('T'));
    session.sent(Buffer.concat([parse('', 'commit'), bind('')]));
    expect(session.isEnding()).toBe(true);
    session.received(ready('I'));
    session.received(ready('T'));
    session.sent(Buffer.concat([parse('', 'select 1'), bind('')]));
    expect(session.isEnding()).toBe(false);
  });

  test('is ending until the server is idle, whatever else it answers before', () => {
    const session = createSessionWatch();
    session.sent(STARTUP);
    session.received(ready('T'));
    session.sent(Buffer.concat([parse('s1', 'select 1'), bind('s1'), parse('s2', 'rollback'), bind('s2')]));
    session.received(ready('E'));
    expect(session.isEnding()).toBe(true);
    session.received(ready('I'));
    expect(session.isEnding()).toBe(false);
  });
});

test.each([
  ['one farewell', fatal, ''],
  ['a farewell after something else', Buffer.concat([row, fatal]), row.toString('latin1')],
  ['an error of a statement', message('E', 'SERROR\0VERROR\0\0'), null],
  ['the words in a row', message('D', 'SFATAL\0VFATAL\0'), null],
  ['nothing of the kind', row, null],
])('%s', (_, chunk, left) => {
  const { before, farewell } = partFarewell(chunk);
  expect(before.toString('latin1')).toBe(left ?? chunk.toString('latin1'));
  expect(farewell).toEqual(left === null ? null : fatal);
});

test('a password is seen when it is the last message', () => {
  expect(endsWithPassword(Buffer.concat([bind('a'), message('p', 'x\0')]))).toBe(true);
  expect(endsWithPassword(Buffer.concat([message('p', 'x\0'), bind('a')]))).toBe(false);
});

test('an error is read by its SQLSTATE and its message', () => {
  expect(readError(fatal)).toEqual({ code: '57P01', message: 'terminating' });
  expect(readError(message('E', 'SERROR\0\0'))).toEqual({ code: '', message: '' });
});
