import { describe, expect, test } from 'vitest';
import { createMask } from '../../secrets/masking.ts';
import { createRecordMask, SHOWN_BODY_BYTES } from './mask-record.ts';

const SECRET = 'hunter2-very-secret';
const SECRETS = [SECRET];
const mask = createRecordMask(SECRETS, createMask(SECRETS));
const JSON_TYPE = ['Content-Type', 'application/json'] as const;

function body(text: string, type: string | null = 'application/json'): string | null {
  return mask.message(type === null ? [] : [['content-type', type]], Buffer.from(text)).body;
}

describe('URLs', () => {
  test.each([
    [`https://h.example/${SECRET}/in`, 'https://h.example/[redacted]/in'],
    ['https://h.example/in?key=a&api_key=b&x=1', 'https://h.example/in?key=a&api_key=[redacted]&x=1'],
    [`https://h.example/in?key=${SECRET}`, 'https://h.example/in?key=[redacted]'],
    ['https://u:p@h.example/', 'https://[redacted]@h.example/'],
    ['https://api.example/prefix/bot123:abc/getMe', 'https://api.example/prefix/bot[redacted]/getMe'],
    ['https://api.example/bot0%3Ax/getMe', 'https://api.example/bot[redacted]/getMe'],
    ['https://h.example/bots/in', 'https://h.example/bots/in'],
  ])('%s is shown as %s', (url, shown) => {
    expect(mask.url(new URL(url))).toBe(shown);
  });
});

describe('headers', () => {
  test.each([
    ['Authorization', `Bearer ${SECRET}`, 'Bearer [redacted]'],
    ['authorization', 'Basic dTpw', 'Basic [redacted]'],
    ['Authorization', 'opaque', '[redacted]'],
    ['Proxy-Authorization', 'Basic dTpw', 'Basic [redacted]'],
    ['Cookie', 'a=b', '[redacted]'],
    ['Set-Cookie', 'a=b', '[redacted]'],
    ['X-Telegram-Bot-Api-Secret-Token', 'x', '[redacted]'],
    ['X-Api-Key', 'x', '[redacted]'],
    ['X_Auth_Token', 'x', '[redacted]'],
    ['X-Note', `see ${SECRET}`, 'see [redacted]'],
    ['webhook-signature', 'v1,xpnab1aILkLw= v1,AGuy8r0MnzabHKhH=', 'v1,xpnab1aI… v1,AGuy8r0M…'],
    ['webhook-id', 'msg_a', 'msg_a'],
    ['webhook-timestamp', '1791020468', '1791020468'],
  ])('%s: %s', (name, value, shown) => {
    expect(mask.message([[name, value]], null).headers).toEqual([[name, shown]]);
  });
});

test('a secret too short to be looked for is hidden where it is known to be', () => {
  const made = createRecordMask(['pin'], createMask(['pin']), new Set(['x-pin']));
  const headers = [
    ['X-Pin', 'pin'],
    ['X-Other', 'pin'],
  ] as const;
  expect(made.message(headers, null).headers).toEqual([
    ['X-Pin', '[redacted]'],
    ['X-Other', 'pin'],
  ]);
});

describe('bodies', () => {
  test.each([
    ['a known secret anywhere', `{"a":"x ${SECRET} y"}`, '{"a":"x [redacted] y"}'],
    ['a sensitive member', '{"token":"abc","a":1}', '{"token":"[redacted]","a":1}'],
    [
      'spelled in other ways',
      '{"API-Key" : "abc", "access_TOKEN":12}',
      '{"API-Key" : "[redacted]", "access_TOKEN":"[redacted]"}',
    ],
    ['escaped', '{"p\\u0061ssword":"abc"}', '{"p\\u0061ssword":"[redacted]"}'],
    [
      'at any depth',
      '[{"a":{"credentials":{"u":"x","p":["y"]},"b":2}}]',
      '[{"a":{"credentials":"[redacted]","b":2}}]',
    ],
    ['null', '{"secret":null}', '{"secret":"[redacted]"}'],
    ['with quotes in its value', '{"secret":"a\\"b","c":"d"}', '{"secret":"[redacted]","c":"d"}'],
    ['that breaks off', '{"a":1,"secret":"abc', '{"a":1,"secret":"[redacted]"'],
    ['nothing to hide', '{"a": "b",\n "c": [1, 2]}', '{"a": "b",\n "c": [1, 2]}'],
  ])('JSON: %s', (_name, text, shown) => {
    expect(body(text)).toBe(shown);
  });

  test('form fields', () => {
    const text = `a=1&pass%77ord=x&token=y&b=${encodeURIComponent(SECRET)}`;
    expect(body(text, 'application/x-www-form-urlencoded; charset=utf-8')).toBe(
      'a=1&pass%77ord=[redacted]&token=[redacted]&b=[redacted]',
    );
  });

  test.each([
    ['text/html; charset=utf-8', 'shown'],
    ['application/problem+json', 'shown'],
    ['application/xml', 'shown'],
    [null, 'shown'],
    ['image/png', null],
    ['application/octet-stream', null],
  ])('of the type %s are %j', (type, shown) => {
    expect(body('shown', type)).toBe(shown);
  });

  test('that are encoded are not text', () => {
    const message = mask.message([JSON_TYPE, ['Content-Encoding', 'gzip']], Buffer.from('x'));
    expect(message).toMatchObject({ body: null, bodyBytes: 1 });
  });

  test('that are empty are none', () => {
    expect(mask.message([], Buffer.alloc(0))).toMatchObject({
      body: null,
      bodyBytes: 0,
      bodyTruncated: false,
    });
  });

  test('invalid UTF-8 is replaced', () => {
    expect(mask.message([], Buffer.from([0x61, 0xff, 0x62])).body).toBe('a\ufffdb');
  });

  test('are cut on a character boundary after masking, and say so', () => {
    const text = `${SECRET}${'я'.repeat(SHOWN_BODY_BYTES)}`;
    const message = mask.message([], Buffer.from(text));
    expect(message.bodyTruncated).toBe(true);
    expect(message.bodyBytes).toBe(Buffer.byteLength(text));
    expect(message.body?.startsWith('[redacted]яя')).toBe(true);
    expect(Buffer.byteLength(message.body ?? '')).toBeLessThanOrEqual(SHOWN_BODY_BYTES);
    expect(message.body).not.toContain('\ufffd');
  });

  test('no part of a secret shows wherever a long body is cut', () => {
    const long = `s${'9f'.repeat(2_000)}`;
    const made = createRecordMask([long], createMask([long]));
    for (const before of [0, 1_000, 16_000, 60_000, 65_000, 66_000, 100_000]) {
      const text = `${'.'.repeat(before)}${long.repeat(40)}`;
      expect(made.message([], Buffer.from(text)).body).not.toContain('9f');
    }
  });
});
