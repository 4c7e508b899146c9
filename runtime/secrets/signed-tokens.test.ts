import { describe, expect, test } from 'vitest';
import type { PublicId } from '../public-id.ts';
import { createKeyring, masterKey } from './keyring.ts';
import { type ButtonData, buttonData, readButtonData } from './signed-tokens.ts';

const KEY = masterKey(Buffer.from(Array.from({ length: 32 }, (_, index) => index)));
const OTHER = masterKey(Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index)));
const keyring = createKeyring([KEY, OTHER], KEY.id);
const GROUP = 'AGK7M3QX9P2RTA' as PublicId;

test.each<[ButtonData, string]>([
  [
    { subject: 'root_message', id: GROUP, command: 'snooze', seconds: 3_600 },
    'AQFBR0s3TTNRWDlQMlJUQQQAAA4QYw3NKR4mY_79DRqcQ_FI6sgBrTg',
  ],
  [
    { subject: 'root_message', id: GROUP, command: 'acknowledge', seconds: 0 },
    'AQFBR0s3TTNRWDlQMlJUQQEAAAAAYw3NKS0ywc4pCXbdbGRlBOnyXeU',
  ],
  [
    { subject: 'thread_reply', id: GROUP, command: 'still_on_it', seconds: 0 },
    'AQJBR0s3TTNRWDlQMlJUQQYAAAAAYw3NKSsxjuhKFus0agbOskxNoN0',
  ],
])('published vector: %o', (button, text) => {
  expect(buttonData(keyring, button)).toBe(text);
  expect(readButtonData(keyring, text)).toEqual({ ok: true, button, keyId: KEY.id });
});

describe('a press', () => {
  const button: ButtonData = { subject: 'root_message', id: GROUP, command: 'snooze', seconds: 3_600 };
  const text = buttonData(keyring, button);

  test('with one flipped bit, in whichever byte, is refused', () => {
    const bytes = Buffer.from(text, 'base64url');
    for (const index of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(readButtonData(keyring, changed.toString('base64url'))).toMatchObject({ ok: false });
    }
  });

  test.each([
    ['nothing', ''],
    ['too short', text.slice(1)],
    ['too long', `${text}A`],
    ['other characters', `${text.slice(0, -1)}=`],
    ['stray bits behind the last byte', `${text.slice(0, -1)}h`],
    [
      'no known version',
      Buffer.concat([Buffer.from([2]), Buffer.from(text, 'base64url').subarray(1)]).toString('base64url'),
    ],
  ])('%s: invalid', (_name, changed) => {
    expect(readButtonData(keyring, changed)).toEqual({ ok: false, reason: 'invalid' });
  });

  test('made with a key that is no longer active is good while the key is held, and expired afterwards', () => {
    const rotated = createKeyring([KEY, OTHER], OTHER.id);
    expect(readButtonData(rotated, text)).toEqual({ ok: true, button, keyId: KEY.id });
    expect(readButtonData(createKeyring([OTHER], OTHER.id), text)).toEqual({ ok: false, reason: 'expired' });
  });
});
