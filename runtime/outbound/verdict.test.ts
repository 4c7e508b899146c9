import { describe, expect, test } from 'vitest';
import { SECOND } from '../clock.ts';
import { createMask } from '../secrets/masking.ts';
import type { OutboundResult } from './client.ts';
import { DEFAULT_MAPPING, judgeResult } from './verdict.ts';

const NOW = 1_791_020_467_000_000;
const CONTEXT = { url: new URL('https://id.example/token'), now: NOW, mask: createMask(['hunter2-secret']) };

function answer(
  status: number,
  more: Partial<Extract<OutboundResult, { kind: 'answer' }>> = {},
): OutboundResult {
  return { kind: 'answer', status, headers: {}, body: Buffer.alloc(0), tooLarge: false, ...more };
}

type Case = [name: string, result: OutboundResult, verdict: string, code?: string];

describe('the default mapping', () => {
  test.each<Case>([
    ['200', answer(200), 'ok'],
    ['299', answer(299), 'ok'],
    ['a larger answer than is read', answer(200, { tooLarge: true }), 'unknown', 'response_too_large'],
    ['301', answer(301, { headers: { location: '/x' } }), 'redirect', 'redirect_refused'],
    ['304', answer(304), 'unknown', 'http_status'],
    ['429 that says when', answer(429, { headers: { 'retry-after': '7' } }), 'retry_after', 'http_status'],
    ['503 that says when', answer(503, { headers: { 'retry-after': '0' } }), 'retry_after', 'http_status'],
    ['429 that does not', answer(429), 'transient', 'http_status'],
    ['500 that says when', answer(500, { headers: { 'retry-after': '7' } }), 'transient', 'http_status'],
    ...[408, 500, 502, 503, 504].map((status): Case => [`${status}`, answer(status), 'transient']),
    ...[400, 401, 403, 404].map((status): Case => [`${status}`, answer(status), 'fatal']),
    ...[405, 410, 418, 501, 505].map((status): Case => [`${status}`, answer(status), 'unknown']),
    ['no HTTP', { kind: 'failed', code: 'response_invalid', error: '' }, 'unknown', 'response_invalid'],
    [
      'a refused proxy login',
      { kind: 'failed', code: 'proxy_auth_failed', error: '' },
      'transient',
      'proxy_auth_failed',
    ],
    ['no answer', { kind: 'failed', code: 'timeout', error: '' }, 'transient', 'timeout'],
    [
      'the outbound policy',
      { kind: 'blocked', refusal: { rule: 'loopback', error: '' } },
      'blocked',
      'policy_blocked',
    ],
  ])('%s', (_name, result, kind, code) => {
    const verdict = judgeResult(result, DEFAULT_MAPPING, CONTEXT);
    expect(verdict.class).toBe(kind);
    if (code !== undefined) expect(verdict).toMatchObject({ code });
  });
});

test('an answer that asks to wait says until when', () => {
  const result = answer(503, { headers: { 'retry-after': '30' } });
  expect(judgeResult(result, DEFAULT_MAPPING, CONTEXT)).toEqual({
    class: 'retry_after',
    code: 'http_status',
    error: 'answered 503, asked to wait 30 s',
    until: NOW + 30 * SECOND,
  });
});

test('errors are masked before they are cut to 1,024 bytes on a character boundary', () => {
  const body = Buffer.from(`${'я'.repeat(505)} hunter2-secret ${'z'.repeat(2_000)}`);
  const verdict = judgeResult(answer(400, { body }), DEFAULT_MAPPING, CONTEXT);
  const { error } = verdict as { error: string };
  expect(error).not.toContain('hunter2');
  expect(Buffer.byteLength(error.slice('answered 400: '.length))).toBeLessThanOrEqual(1_024);
  expect(error).not.toContain('\ufffd');
});

test('an owner whose bodies say more than their status judges them', () => {
  const said = { class: 'gone', code: 'http_status', error: 'no such message' } as const;
  const mapping = { ...DEFAULT_MAPPING, answer: () => said };
  expect(judgeResult(answer(200), mapping, CONTEXT)).toEqual(said);
});
