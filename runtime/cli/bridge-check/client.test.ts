import { expect, test } from 'vitest';
import { problem, Refusal } from '../bridge-reference/wire.ts';
import { type Answer, classOf } from './client.ts';
import { playChecks } from './in-memory.fixture.ts';

function answer(status: number, named?: string, headers: Record<string, string> = {}): Answer {
  const fields = named === undefined ? {} : { class: named };
  const type = { 'content-type': 'application/problem+json' };
  return { status, headers: { ...type, ...headers }, body: '', json: fields, fields, seconds: 0 };
}

test.each([
  [answer(204), null],
  [answer(404, 'gone'), 'gone'],
  [answer(500, 'invalid'), 'invalid'],
  [answer(404), 'invalid'],
  [answer(410), 'invalid'],
  [answer(401), 'forbidden'],
  [answer(403), 'forbidden'],
  [answer(408), 'transient'],
  [answer(429), 'rate_limited'],
  [answer(503, undefined, { 'retry-after': '7' }), 'rate_limited'],
  [answer(503), 'transient'],
  [answer(403, 'gone', { 'content-type': 'application/json' }), 'forbidden'],
])('an answer is taken for what the service takes it for: %j', (given, expected) => {
  expect(classOf(given)).toBe(expected);
});

test('throttling is no fault: the call is repeated after Retry-After', async () => {
  const throttled = new Refusal(429, 'slowly', { class: 'rate_limited', scope: 'bot', retry_after: 7 });
  let times = 2;
  const [result] = await playChecks({
    broken: {
      answer: async (request, next) =>
        request.method === 'POST' && times-- > 0 ? problem(throttled) : next(request),
    },
    session: { only: ['P1'] },
  });
  expect(result?.verdict).toBe('PASS');
  expect(times).toBeLessThan(0);
});
