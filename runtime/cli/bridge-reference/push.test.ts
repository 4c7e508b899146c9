import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { fieldsOf, stage } from './bridge.fixture.ts';
import { createBridge } from './bridge.ts';
import { signedHeaders } from './push.ts';
import type { Ports } from './wire.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const MINUTE = 60_000_000;

test('the signature is that of the published example', () => {
  const body =
    '{"id":"evt-7f3a","type":"press","occurred_at":"2026-10-03T09:41:08Z","message_id":"m-1001","user":{"external_id":"u-17","username":"bob","display_name":"Bob Jones"},"data":"abc"}';
  const headers = signedHeaders('evt-7f3a', 1_791_020_468, body, SECRET);
  expect(headers['webhook-signature']).toBe('v1,5XwTg0w5ampO9SJRbfakkNlIRkchPeWFP8xlqR4jRLo=');
});

test('the published library takes what is signed', () => {
  const body = '{"id":"evt-1"}';
  const headers = signedHeaders('evt-1', Math.floor(Date.now() / 1000), body, SECRET);
  expect(new Webhook(SECRET).verify(body, { ...headers })).toEqual({ id: 'evt-1' });
});

/** Plays answers to the pushes of one event. @returns when each came, in s, and its headers */
async function pushed(answers: readonly (number | 'never' | 'broken')[]) {
  const pushes: { at: number; id: string | undefined; timestamp: string | undefined }[] = [];
  const { bridge, clock } = stage(
    { push: { url: 'http://service.invalid/', secret: SECRET } },
    async (_url, headers) => {
      const at = (clock.now() - start) / 1_000_000;
      pushes.push({ at, id: headers['webhook-id'], timestamp: headers['webhook-timestamp'] });
      const answer = answers[pushes.length - 1] ?? 204;
      if (answer === 'broken') throw new Error('connection refused');
      return answer === 'never' ? new Promise(() => undefined) : answer;
    },
  );
  const start = clock.now();
  bridge.acts.writeDirectly(0, 'a'.repeat(43), {
    external_id: 'u',
    username: null,
    display_name: null,
    bot: false,
  });
  for (let second = 0; second < 120; second++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(MINUTE / 60);
  }
  bridge.close();
  return pushes;
}

test.each([
  ['taken', [204], [0]],
  ['refused for good', [400], [0]],
  ['answered 500, 401, a redirect', [500, 401, 302, 204], [0, 1, 3, 7]],
  ['not answered', ['never', 204], [0, 11]],
  ['out of reach', ['broken', 204], [0, 1]],
] as const)('an event that is %s is pushed as often as it should be', async (_name, answers, times) => {
  const pushes = await pushed(answers);
  expect(pushes.map(({ at }) => Math.floor(at))).toEqual(times);
  expect(new Set(pushes.map(({ id }) => id)).size).toBe(1);
  expect(pushes.map(({ timestamp }) => Number(timestamp) - Number(pushes[0]?.timestamp))).toEqual(times);
});

test('what is pushed is what is polled', async () => {
  const bodies: string[] = [];
  const push = { url: 'http://service.invalid/', secret: SECRET };
  const { bridge, events, send } = stage({ push }, async (_url, _headers, body) => {
    bodies.push(body);
    return 204;
  });
  await send('POST', '/_sim/direct', { user: 'u-17', text: 'a'.repeat(43) });
  expect(bodies.map((body) => JSON.parse(body))).toEqual(await events());
  expect(fieldsOf(await send('GET', '/v1/info')).event_delivery).toEqual(['poll', 'push']);
  bridge.close();
});

test('a bridge that was closed waits for nothing', async () => {
  const waits = new Set<() => void>();
  const ports: Ports = {
    now: () => 0,
    after(_ms, run) {
      waits.add(run);
      return () => void waits.delete(run);
    },
    deliver: () => new Promise(() => undefined),
  };
  const push = { url: 'http://service.invalid/', secret: SECRET };
  const settings = { tokens: ['token'], without: new Set<never>(), editMaxAge: null, push, pageUrl: '' };
  const bridge = createBridge(settings, ports);
  const user = { external_id: 'u', username: null, display_name: null, bot: false };
  bridge.acts.writeDirectly(0, 'a'.repeat(43), user);
  expect(waits.size).toBe(1);
  bridge.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(waits.size).toBe(0);
});
