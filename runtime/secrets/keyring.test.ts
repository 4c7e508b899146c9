import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseKeyList } from './key-list.ts';
import { createKeyring, masterKey, type Sealed, sealedKeyId } from './keyring.ts';
import { csrfToken, verifyCsrfToken } from './signed-tokens.ts';

const KEY_LINE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const OTHER_LINE = '//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=';
const bytes = (from: number, count: number) => Buffer.from(Array.from({ length: count }, (_, i) => from + i));
const KEY = masterKey(bytes(0, 32));
const OTHER = masterKey(Buffer.from(OTHER_LINE, 'base64'));
const keyring = createKeyring([KEY, OTHER], KEY.id);

describe('published vectors', () => {
  test('the key id', () => {
    expect(KEY.bytes.toString('base64')).toBe(KEY_LINE);
    expect(KEY.id).toBe('k-630dcd2966c43366');
  });

  test.each([
    ['encryption', 'd6a2ca40a10cb559c4982059c06791aec72192983c1388e438c412bea396f19d'],
    ['button-signature', 'f0ed5c94ef2a7ea6ab0df29a4ccbb7dee27f05a6acbbebfd1c63295933049cdb'],
    ['csrf', 'ec8bc5be7da4f2db239f644068dae0d07202061ee964296c4a76dd2039e4207e'],
  ] as const)('the %s sub-key', (purpose, hex) => {
    expect(keyring.subKey(KEY.id, purpose)?.toString('hex')).toBe(hex);
  });

  test('a sealed bot token', () => {
    const fixed = createKeyring([KEY], KEY.id, () => bytes(0, 12));
    const sealed = fixed.sealer(fixed.activeKeyId).seal('connection.bot_token', 'CN5Q8V2K7WXM3D', 'hunter2');
    const envelope = Buffer.from(sealed.slice(sealed.indexOf(':') + 1), 'base64').toString('hex');
    expect(envelope).toBe('000102030405060708090a0b28b30af6fe991c93cbf62ba813194192401d4103bc32de');
    expect(sealedKeyId(sealed)).toBe(KEY.id);
  });

  test('a CSRF token', () => {
    expect(csrfToken(keyring, bytes(0x20, 32))).toBe(
      'k-630dcd2966c43366.0ZlDKk2W9DYbLVUBAAuxgqN1ie0Fl9ILoHaNet58cDQ',
    );
  });

  test('a Root message button, whose MAC is made with the button-signature sub-key', () => {
    const head = Buffer.concat([
      Buffer.from([1, 1]),
      Buffer.from('AGK7M3QX9P2RTA'),
      Buffer.from([4]),
      Buffer.from([0, 0, 0x0e, 0x10]),
      Buffer.from(KEY.id.slice(2, 10), 'hex'),
    ]);
    const mac = createHmac('sha256', keyring.subKey(KEY.id, 'button-signature') ?? '').update(head);
    const text = Buffer.concat([head, mac.digest().subarray(0, 16)]).toString('base64url');
    expect(text).toBe('AQFBR0s3TTNRWDlQMlJUQQQAAA4QYw3NKR4mY_79DRqcQ_FI6sgBrTg');
  });
});

describe('sealing', () => {
  const sealed = keyring.sealer(keyring.activeKeyId).seal('destination.secret', 'DS1/token', 'Тайна 🔑');

  test('opens in its own place', () => {
    expect(keyring.open('destination.secret', 'DS1/token', sealed)).toEqual({ ok: true, value: 'Тайна 🔑' });
  });

  test('gives another text each time', () => {
    expect(keyring.sealer(keyring.activeKeyId).seal('destination.secret', 'DS1/token', 'Тайна 🔑')).not.toBe(
      sealed,
    );
  });

  test.each([
    ['another owner', 'destination.secret', 'DS2/token', sealed],
    ['another field', 'destination.signing_secret', 'DS1/token', sealed],
    [
      'a damaged text',
      'destination.secret',
      'DS1/token',
      `${sealed.slice(0, -8)}AAAA${sealed.slice(-4)}` as Sealed,
    ],
    ['no text', 'destination.secret', 'DS1/token', `${KEY.id}:` as Sealed],
    ['a key that is not held', 'destination.secret', 'DS1/token', sealed.replace(KEY.id, OTHER.id) as Sealed],
  ])('does not open with %s', (_name, field, owner, text) => {
    expect(keyring.open(field, owner, text).ok).toBe(false);
  });

  test('names the key it needs', () => {
    const only = createKeyring([OTHER], OTHER.id);
    expect(only.open('destination.secret', 'DS1/token', sealed)).toEqual({ ok: false, keyId: KEY.id });
  });

  test('refuses an active key that is not held', () => {
    expect(() => createKeyring([KEY], OTHER.id)).toThrow(OTHER.id);
  });
});

describe('CSRF tokens', () => {
  const session = bytes(7, 32);
  const token = csrfToken(keyring, session);
  const onOtherKey = createKeyring([KEY, OTHER], OTHER.id);

  test.each([
    ['its own session', keyring, session, token, true],
    ['a key that is no longer active but held', onOtherKey, session, token, true],
    ['a key that is no longer held', createKeyring([OTHER], OTHER.id), session, token, false],
    ['another session', keyring, bytes(8, 32), token, false],
    ['a changed MAC', keyring, session, `${token.slice(0, -2)}AA`, false],
    ['no key id', keyring, session, token.slice(token.indexOf('.')), false],
    ['nothing', keyring, session, '', false],
  ])('%s', (_name, ring, bytesOfSession, text, valid) => {
    expect(verifyCsrfToken(ring, bytesOfSession, text)).toBe(valid);
  });
});

describe('the key list', () => {
  const parse = (text: string, acceptPrinted = true) =>
    parseKeyList(text, { variable: 'SVC_SECRET_KEYS_FILE', separator: 'line', acceptPrinted });

  test('skips blank lines and comments and trims CRLF', () => {
    const list = parse(`# first\r\n\r\n \t${KEY_LINE} \r\n${OTHER_LINE}\r\n`);
    expect(list).toMatchObject({ ok: true, keys: [{ id: KEY.id }, { id: OTHER.id }] });
  });

  test('the inline form is comma-separated', () => {
    const list = parseKeyList(`${KEY_LINE}, ${OTHER_LINE}`, {
      variable: 'SVC_SECRET_KEYS',
      separator: 'comma',
      acceptPrinted: true,
    });
    expect(list).toMatchObject({ ok: true, keys: [{ id: KEY.id }, { id: OTHER.id }] });
  });

  const short = Buffer.alloc(31, 7).toString('base64');
  test.each([
    ['nothing', '\n# only a comment\n', 'holds no key'],
    ['31 bytes', `${KEY_LINE}\n\n${short}\n`, 'line 3: not the base64'],
    ['no base64', `${KEY_LINE}\nhello\n`, 'line 2: not the base64'],
    ['no padding', KEY_LINE.replace('=', ''), 'line 1: not the base64'],
    ['stray bits after the last byte', KEY_LINE.replace('8=', '9='), 'line 1: not the base64'],
    ['the same key twice', `${KEY_LINE}\n${OTHER_LINE}\n${KEY_LINE}`, 'line 3: the same key as in line 1'],
    ['a placeholder', 'REPLACE_ME', 'line 1: a placeholder'],
    ['32 equal bytes', Buffer.alloc(32, 9).toString('base64'), 'line 1: a placeholder'],
    [
      '65 keys',
      Array.from({ length: 65 }, (_, i) => bytes(i, 32).toString('base64')).join('\n'),
      'more than 64',
    ],
    ['a huge file', `#${'x'.repeat(65_536)}`, 'larger than 64 KiB'],
  ])('refuses %s', (_name, text, problem) => {
    const list = parse(text);
    expect(list).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  test('refuses a key printed in documentation, and never repeats a line', () => {
    const list = parse(KEY_LINE, false);
    expect(list).toMatchObject({ ok: false, problem: expect.stringContaining('printed in documentation') });
    expect(JSON.stringify(list)).not.toContain(KEY_LINE);
  });
});
