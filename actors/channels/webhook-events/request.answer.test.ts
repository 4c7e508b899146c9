import { describe, expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import type { OutboundResult } from '../../../runtime/outbound/client.ts';
import { judgeResult } from '../../../runtime/outbound/verdict.ts';
import { createMask } from '../../../runtime/secrets/masking.ts';
import { sentOutcome, WEBHOOK_MAPPING } from './request.ts';

const NOW = 1_791_020_467_000_000;
const CONTEXT = { url: new URL('https://relay.example/in'), now: NOW, mask: createMask(['hunter2-secret']) };

function classify(result: OutboundResult) {
  return sentOutcome({ result, verdict: judgeResult(result, WEBHOOK_MAPPING, CONTEXT) });
}

function answer(status: number, body = '', headers: Record<string, string> = {}): OutboundResult {
  return { kind: 'answer', status, headers, body: Buffer.from(body), tooLarge: false };
}

const failed = (code: 'timeout' | 'connect_refused' | 'tls_failed' | 'response_invalid'): OutboundResult => ({
  kind: 'failed',
  code,
  error: code,
});

describe('the answer mapping', () => {
  test.each<[string, OutboundResult, string, string?]>([
    ['200', answer(200), 'ok'],
    ['204', answer(204), 'ok'],
    ['299', answer(299), 'ok'],
    [
      '429 with Retry-After',
      answer(429, '', { 'retry-after': '7' }),
      'retry_after',
      'answered 429, asked to wait 7 s',
    ],
    [
      '503 with Retry-After',
      answer(503, '', { 'retry-after': '0' }),
      'retry_after',
      'answered 503, asked to wait 0 s',
    ],
    ['429 without Retry-After', answer(429), 'transient', 'answered 429'],
    ['429 with an unusable Retry-After', answer(429, '', { 'retry-after': 'soon' }), 'transient'],
    ['503 without Retry-After', answer(503, 'busy'), 'transient', 'answered 503: busy'],
    ['408', answer(408), 'transient'],
    ['500', answer(500), 'transient'],
    ['500 with Retry-After', answer(500, '', { 'retry-after': '7' }), 'transient'],
    ['502', answer(502), 'transient'],
    ['504', answer(504), 'transient'],
    ['timeout', failed('timeout'), 'transient', 'timeout'],
    ['refused connection', failed('connect_refused'), 'transient'],
    ['TLS failure', failed('tls_failed'), 'transient'],
    ['no HTTP', failed('response_invalid'), 'unknown'],
    ['401', answer(401, 'no'), 'fatal', 'answered 401: no'],
    ['403', answer(403), 'fatal'],
    ['404', answer(404), 'fatal'],
    ['410', answer(410), 'fatal'],
    [
      'the outbound policy',
      { kind: 'blocked', refusal: { rule: 'loopback', error: 'refused by …' } },
      'fatal',
      'refused by …',
    ],
    ['400', answer(400, 'bad'), 'unknown', 'answered 400: bad'],
    ['413', answer(413), 'unknown'],
    ['422', answer(422), 'unknown'],
    ['418', answer(418), 'unknown'],
    ['304', answer(304), 'unknown', 'answered 304'],
    [
      '302',
      answer(302, '', { location: '/login' }),
      'unknown',
      'redirect to https://relay.example/login not followed',
    ],
    [
      '301 to a secret',
      answer(301, '', { location: '/hunter2-secret' }),
      'unknown',
      'redirect to https://relay.example/[redacted] not followed',
    ],
    ['302 without Location', answer(302), 'unknown', 'redirect without Location'],
    ['101', answer(101), 'unknown'],
  ])('%s', (_name, result, outcome, error) => {
    const classified = classify(result);
    expect(classified.class).toBe(outcome);
    if (error !== undefined) expect(classified).toMatchObject({ error });
  });
});

test('Retry-After becomes an instant', () => {
  const classified = classify(answer(429, '', { 'retry-after': '7' }));
  expect(classified).toMatchObject({ until: NOW + 7 * SECOND });
});

test('an answer that is too large still counts by its status', () => {
  const large: OutboundResult = {
    kind: 'answer',
    status: 200,
    headers: {},
    body: Buffer.alloc(65_536),
    tooLarge: true,
  };
  expect(classify(large)).toEqual({ class: 'ok', status: 200 });
});

test('the text of an answer is masked before it is cut, and is one line', () => {
  const body = `${'x'.repeat(1015)}hunter2-secret\r\nmore`;
  const classified = classify(answer(400, body));
  expect(classified).toMatchObject({ error: `answered 400: ${'x'.repeat(1015)}[redacted` });
  expect(classify(answer(400, 'a\r\n\tb\0c'))).toMatchObject({
    error: 'answered 400: a b c',
  });
});
