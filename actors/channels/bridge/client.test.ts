import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, SECOND, systemClock } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { type ScriptedBridge, startScriptedBridge } from '../../../test/fakes/scripted-bridge.ts';
import { type BridgeAccess, createBridgeClient } from './client.ts';
import { type BridgeRequest, bridgeCalls, type NewMessage } from './operations.ts';

const ID = 'CN5Q8V2K7WXM3D' as PublicId;

let bridge: ScriptedBridge;
let records: RequestRecord[];
let closings: (() => void)[];

beforeEach(async () => {
  bridge = await startScriptedBridge();
  records = [];
  closings = [];
});

afterEach(async () => {
  for (const close of closings) close();
  await bridge.close();
});

function speaking(clock: Clock = systemClock) {
  const client = createOutboundClient({
    clock,
    policy: { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] },
  });
  closings.push(() => client.close());
  return createBridgeClient(
    createOutboundCaller({
      ...{ client, clock, log: silentLog, userAgent: 'Tocsin/0.0.0' },
      recorder: { record: (make) => void records.push(make()) },
      metrics: createOutboundMetrics(new Registry()),
    }),
  );
}

function access(changes: Partial<BridgeAccess> = {}): BridgeAccess {
  const { url: baseUrl, token } = bridge;
  return {
    connectionId: ID,
    owner: `connection/${ID}`,
    ...{ baseUrl, token, proxy: null, credentials: '1' },
    ...changes,
  };
}

function call<Value>(request: BridgeRequest<Value>, changes: Partial<BridgeAccess> = {}) {
  return speaking().call(access(changes), request, { class: 'delivery' });
}

const CONTENT = {
  status: 'firing',
  color: '#d32f2f',
  emoji: '🔴',
  title: '#412 HighErrorRate',
  link: { url: 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA', text: 'Open in Tocsin' },
  body: '*Error rate above 5%*',
  buttons: [{ text: 'Ack', data: 'AQFB', style: 'primary' }],
} as const;
const MESSAGE: NewMessage = {
  ...CONTENT,
  channel_id: 'alerts/prod',
  kind: 'root',
  mentions: [],
  notify: true,
};
const REPLY = { thread_ref: null, body: '2 new alerts', buttons: [], mentions: [], notify: false } as const;
const CREATED = { message_id: '9001', thread_ref: null, truncated: false, replayed: false };

describe('every operation', () => {
  test.each<[string, BridgeRequest<unknown>, object, object]>([
    ['getInfo', bridgeCalls.getInfo(), { method: 'GET', target: '/v1/info' }, {}],
    [
      'postMessage',
      bridgeCalls.postMessage(MESSAGE, 'root-DS1-AG1-1'),
      { method: 'POST', target: '/v1/messages', body: MESSAGE, key: 'root-DS1-AG1-1' },
      CREATED,
    ],
    [
      'editMessage',
      bridgeCalls.editMessage('a/b?c#d%2F', CONTENT),
      { method: 'PUT', target: '/v1/messages/a%2Fb%3Fc%23d%252F', body: CONTENT },
      { truncated: true },
    ],
    [
      'replyInThread',
      bridgeCalls.replyInThread('9001', REPLY, 'reply-1'),
      { method: 'POST', target: '/v1/messages/9001/replies', body: REPLY, key: 'reply-1' },
      { ...CREATED, thread_ref: 't-9001' },
    ],
    [
      'checkChannel',
      bridgeCalls.checkChannel('alerts/prod'),
      { method: 'GET', target: '/v1/channels/alerts%2Fprod' },
      { channel_id: 'alerts/prod', name: 'alerts > prod' },
    ],
    [
      'findPerson',
      bridgeCalls.findPerson('bob@example.org'),
      { method: 'GET', target: '/v1/people?handle=bob%40example.org' },
      { items: [{ external_id: '18', username: 'bob', display_name: null, bot: false }] },
    ],
    [
      'sendDirectMessage',
      bridgeCalls.sendDirectMessage('18', 'Tocsin code: 7QF4H9XJ.', 'code-AR1'),
      {
        method: 'POST',
        target: '/v1/direct-messages',
        body: { user_external_id: '18', body: 'Tocsin code: 7QF4H9XJ.' },
        key: 'code-AR1',
      },
      { message_id: '9100', replayed: false },
    ],
    [
      'answerEvent',
      bridgeCalls.answerEvent('evt-7f3a', 'Done: Ack'),
      {
        method: 'POST',
        target: '/v1/event-answers',
        body: { event_id: 'evt-7f3a', text: 'Done: Ack' },
        key: 'answer-evt-7f3a',
      },
      { shown_as: 'smoke signal', replayed: false },
    ],
    [
      'pollEvents, from the oldest',
      bridgeCalls.pollEvents(null),
      { method: 'GET', target: '/v1/events?wait=25' },
      { events: [], next_cursor: 'c-1' },
    ],
    [
      'pollEvents, behind a cursor',
      bridgeCalls.pollEvents('c 17&'),
      { method: 'GET', target: '/v1/events?cursor=c+17%26&wait=25' },
      { events: [{ what: 'ever' }], next_cursor: 'c-21' },
    ],
  ])(
    '%s goes out as the protocol has it, and its answer comes back',
    async (_name, request, sent, answer) => {
      const { method, target, body = null, key } = sent as Record<string, string>;
      if (target !== '/v1/info')
        bridge.on(`${method} ${target?.split('?')[0]}`, { status: 201, body: answer });
      const outcome = await call(request);
      expect(outcome.class).toBe('ok');
      if (outcome.class === 'ok' && target !== '/v1/info') expect(outcome.value).toEqual(answer);
      expect(bridge.requests).toHaveLength(1);
      expect(bridge.requests[0]).toMatchObject({ method, target, body, withToken: true });
      expect(bridge.requests[0]?.headers['idempotency-key']).toBe(key);
      expect(bridge.faults).toEqual([]);
    },
  );

  test('a segment of dots alone, and half a character, are never sent: they would mean another path', async () => {
    for (const id of ['.', '..', 'a\ud800']) {
      expect(await call(bridgeCalls.checkChannel(id))).toMatchObject({ class: 'unknown', status: null });
    }
    expect(bridge.requests).toEqual([]);
  });

  test('a base URL keeps its path prefix', async () => {
    bridge.on('GET /zulip/v1/info', { status: 200, body: {} });
    await call(bridgeCalls.getInfo(), { baseUrl: `${bridge.url}/zulip` });
    expect(bridge.requests[0]?.target).toBe('/zulip/v1/info');
  });
});

describe('an answer is classified', () => {
  const problem = (status: number, more: object, headers: Record<string, string> = {}) => ({
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: { type: 'about:blank', title: 'No', status, ...more },
  });

  test.each<
    [string, ReturnType<typeof problem> | { status: number; body?: unknown; headers?: object }, object]
  >([
    ['transient by its class', problem(409, { class: 'transient' }), { class: 'transient', status: 409 }],
    ['forbidden by its class', problem(404, { class: 'forbidden' }), { class: 'fatal' }],
    ['invalid by its class', problem(503, { class: 'invalid' }), { class: 'unknown' }],
    ['gone by its class', problem(404, { class: 'gone' }), { class: 'gone', reason: null }],
    [
      'gone past its edit window',
      problem(410, { class: 'gone', reason: 'edit_window_closed' }),
      { class: 'gone', reason: 'edit_window_closed' },
    ],
    ['403 without a class', { status: 403, body: 'no' }, { class: 'fatal' }],
    ['401 without a class', { status: 401 }, { class: 'fatal' }],
    ['404 without a class is never gone', { status: 404, body: {} }, { class: 'unknown' }],
    ['410 without a class is never gone', { status: 410, body: {} }, { class: 'unknown' }],
    ['408', { status: 408 }, { class: 'transient' }],
    ['500', { status: 500 }, { class: 'transient' }],
    ['501 without a class', { status: 501 }, { class: 'transient' }],
    ['503', { status: 503 }, { class: 'transient' }],
    ['429 without a time', { status: 429 }, { class: 'transient' }],
    [
      '429 with a time',
      { status: 429, headers: { 'retry-after': '7' } },
      { class: 'retry_after', scope: 'channel' },
    ],
    ['503 with a time', { status: 503, headers: { 'retry-after': '7' } }, { class: 'retry_after' }],
    [
      'the whole bot is limited',
      problem(429, { class: 'rate_limited', scope: 'bot' }, { 'retry-after': '7' }),
      { class: 'retry_after', scope: 'bot' },
    ],
    [
      'a wait of more than 15 minutes',
      problem(429, { class: 'rate_limited' }, { 'retry-after': '901' }),
      { class: 'transient' },
    ],
    ['a class that is not known counts as none', problem(403, { class: 'sad' }), { class: 'fatal' }],
    ['204 where an answer is expected', { status: 204 }, { class: 'unknown', code: 'http_status' }],
    ['200 without JSON', { status: 200, body: 'hello' }, { class: 'unknown', code: 'response_invalid' }],
    ['200 with other JSON', { status: 200, body: { id: 1 } }, { class: 'unknown', code: 'response_invalid' }],
    [
      'an id that is too long',
      { status: 200, body: { ...CREATED, message_id: 'x'.repeat(513) } },
      { class: 'unknown', code: 'response_invalid' },
    ],
    [
      'an answer that is nested deeper than anybody needs',
      { status: 200, body: { ...CREATED, more: JSON.parse('['.repeat(100) + ']'.repeat(100)) } },
      { class: 'unknown', code: 'response_invalid' },
    ],
    [
      'more than 4 MiB',
      { status: 200, body: 'x'.repeat(4 * 1024 * 1024 + 1) },
      { class: 'unknown', code: 'response_too_large' },
    ],
    [
      'a redirect',
      { status: 307, headers: { location: 'https://elsewhere.example/v1/messages' } },
      {
        class: 'unknown',
        code: 'redirect_refused',
        error:
          "redirect to https://elsewhere.example/v1/messages not followed: enter the address that answers itself as the Connection's base URL",
      },
    ],
  ])('%s', async (_name, answer, expected) => {
    bridge.on('POST /v1/messages', answer as { status: number });
    expect(await call(bridgeCalls.postMessage(MESSAGE, 'root-1'))).toMatchObject(expected);
    expect(bridge.requests).toHaveLength(1);
  });

  test('a call without the token carries none; what the bridge tells of it and of other secrets is hidden', async () => {
    const pushSecret = `whsec_${'k'.repeat(32)}`;
    const secrets = `${bridge.token} ${pushSecret}`;
    bridge.on('GET /v1/info', problem(500, { class: 'transient', detail: secrets }));
    const reached = access({ otherSecrets: [pushSecret] });
    const outcome = await speaking().call(reached, bridgeCalls.getInfo(), {
      class: 'interactive',
      isTokenless: true,
    });
    expect(bridge.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(outcome).toMatchObject({ detail: '[redacted] [redacted]' });
    expect(JSON.stringify(records)).not.toContain(pushSecret);
    expect(JSON.stringify(records)).not.toContain(bridge.token);
  });

  test('what the bridge says about it is shown, cut and without secrets', async () => {
    const detail = `The bot ${bridge.token} is not a member.\n${'x'.repeat(2000)}`;
    bridge.on('GET /v1/channels/c', problem(403, { class: 'forbidden', detail }));
    const outcome = await call(bridgeCalls.checkChannel('c'));
    if (outcome.class !== 'fatal') throw new Error(outcome.class);
    expect(outcome.detail).toMatch(/^The bot \[redacted\] is not a member\. x+$/);
    expect(Buffer.byteLength(outcome.detail ?? '')).toBe(1024);
    expect(JSON.stringify(records)).not.toContain(bridge.token);
    expect(records[0]).toMatchObject({ operation: 'checkChannel', connectionId: ID, errorClass: 'fatal' });
  });

  test('another channel than the one asked for', async () => {
    bridge.on('GET /v1/channels/a', { status: 200, body: { channel_id: 'b', name: 'B' } });
    expect(await call(bridgeCalls.checkChannel('a'))).toMatchObject({
      class: 'unknown',
      error: 'The bridge answered for another channel.',
    });
  });

  test.each([
    [{ next_cursor: 'c' }],
    [{ events: [], next_cursor: '' }],
    [{ events: [], next_cursor: 'c'.repeat(1025) }],
    [{ events: {}, next_cursor: 'c' }],
  ])('a page that is none (%j) is as if the bridge were down', async (body) => {
    bridge.on('GET /v1/events', { status: 200, body });
    expect(await call(bridgeCalls.pollEvents(null))).toMatchObject({ class: 'transient' });
  });

  test('nobody listens', async () => {
    await bridge.close();
    expect(await call(bridgeCalls.getInfo())).toMatchObject({ class: 'transient', code: 'connect_refused' });
  });

  test('the policy refuses the address', async () => {
    const outcome = await call(bridgeCalls.getInfo(), { baseUrl: 'http://169.254.169.254' });
    expect(outcome).toMatchObject({ class: 'fatal', code: 'policy_blocked', status: null });
  });
});

test('a redirect is not followed, and the token goes nowhere else', async () => {
  const other = await startScriptedBridge(bridge.token);
  bridge.on('GET /v1/info', { status: 302, headers: { location: `${other.url}/v1/info` } });
  await call(bridgeCalls.getInfo());
  expect(other.requests).toEqual([]);
  await other.close();
});

test.each([
  ['an answer', bridgeCalls.getInfo(), 10],
  ['a poll', bridgeCalls.pollEvents(null), 40],
])('%s that never comes is given up in time', async (_name, request, seconds) => {
  const clock = createManualClock();
  let arrived: () => void;
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  for (const route of ['GET /v1/info', 'GET /v1/events']) {
    bridge.on(route, () => {
      arrived();
      return 'hang';
    });
  }
  const calling = speaking(clock).call(access(), request as BridgeRequest<unknown>, { class: 'background' });
  await asked;
  clock.advance(seconds * SECOND);
  expect(await calling).toMatchObject({ class: 'transient', code: 'timeout' });
});
