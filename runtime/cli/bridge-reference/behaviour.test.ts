import { expect, test } from 'vitest';
import { fieldsOf, REPLY, ROOT, stage } from './bridge.fixture.ts';
import type { Switch } from './shapes.ts';

const ALICE = { external_id: 'u-17', username: 'alice', display_name: 'Alice Smith', bot: false };
const LINK_TOKEN = 'a'.repeat(43);

test('members that are not known are ignored at every level', async () => {
  const { post } = stage();
  const extra = { unknown: [1] };
  const answer = await post({
    ...extra,
    link: { ...ROOT.link, ...extra },
    buttons: [{ text: 'A', data: 'a', ...extra }],
  });
  expect(answer).toMatchObject({ replayed: false, truncated: false });
});

test('a repeated key answers the first result, for its token and operation alone', async () => {
  const { post, send } = stage();
  const first = await post({}, 'key');
  expect(await post({ title: 'another' }, 'key')).toEqual({ ...first, replayed: true });
  const other = { authorization: 'Bearer second-token', 'idempotency-key': 'key' };
  expect(fieldsOf(await send('POST', '/v1/messages', ROOT, other))).toMatchObject({ replayed: false });
  const direct = { user_external_id: 'u-17', body: 'Hello' };
  const answer = await send('POST', '/v1/direct-messages', direct, { 'idempotency-key': 'key' });
  expect(fieldsOf(answer)).toMatchObject({ replayed: false });
});

test('an answer that gets lost was done: the retry is replayed', async () => {
  const { post, send, bridge } = stage();
  expect((await send('PUT', '/_sim/faults', [{ operation: 'postMessage', drop_answer: true }])).status).toBe(
    204,
  );
  const lost = await send('POST', '/v1/messages', ROOT, { 'idempotency-key': 'key' });
  expect(lost.isLost).toBe(true);
  expect(await post({}, 'key')).toMatchObject({ replayed: true });
  expect(bridge.messenger.posts).toHaveLength(1);
});

test('a fault answers what it was told as often as it was told, and leaves the key unused', async () => {
  const { post, send, bridge } = stage();
  const fault = {
    operation: 'postMessage',
    times: 2,
    status: 429,
    class: 'rate_limited',
    scope: 'bot',
    retry_after: 7,
  };
  await send('PUT', '/_sim/faults', [fault]);
  for (let attempt = 0; attempt < 2; attempt++) {
    const refused = await send('POST', '/v1/messages', ROOT, { 'idempotency-key': 'key' });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
    expect(fieldsOf(refused)).toMatchObject({ class: 'rate_limited', scope: 'bot' });
  }
  expect(await post({}, 'key')).toMatchObject({ replayed: false });
  expect(bridge.requests.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
    'postMessage 429',
    'postMessage 429',
    'postMessage 201',
  ]);
});

test('a repeat while the first request is at work is transient', async () => {
  const { post, send, clock } = stage();
  await send('PUT', '/_sim/faults', [{ operation: 'postMessage', delay_ms: 3000 }]);
  const first = post({}, 'key');
  expect(await post({}, 'key')).toMatchObject({ status: 409, class: 'transient' });
  clock.advance(3_000_000);
  expect(await first).toMatchObject({ replayed: false });
});

test('each token has messages and events of its own', async () => {
  const { post, send, bridge, events } = stage();
  const { message_id } = await post();
  const target = `/v1/messages/${encodeURIComponent(String(message_id))}/replies`;
  const asOther = { authorization: 'Bearer second-token', 'idempotency-key': 'key' };
  expect(fieldsOf(await send('POST', target, REPLY, asOther))).toMatchObject({ class: 'gone' });
  bridge.acts.press(String(message_id), 'ack-412', ALICE);
  expect(await events()).toHaveLength(1);
  const others = await send('GET', '/v1/events?wait=0', undefined, { authorization: 'Bearer second-token' });
  expect(fieldsOf(others).events).toEqual([]);
});

test('what people do is reported with all its fields', async () => {
  const { post, bridge, events } = stage();
  const { message_id } = await post();
  const id = String(message_id);
  bridge.acts.press(id, 'ack-412', ALICE);
  bridge.acts.writeInThread(id, 'rolling back', ALICE);
  bridge.acts.writeDirectly(0, ` /START ${LINK_TOKEN}\n`, ALICE);
  bridge.acts.writeDirectly(0, ' /Unlink', ALICE);
  bridge.acts.delete(id, null);
  const common = { id: expect.stringMatching(/^evt-/), occurred_at: '2026-10-03T09:41:07.000Z' };
  expect(await events()).toEqual([
    { ...common, type: 'press', message_id, user: ALICE, data: 'ack-412' },
    {
      ...{ ...common, type: 'thread_message', message_id, thread_ref: `t-${id}`, user: ALICE },
      ...{ reply_id: expect.stringMatching(/^m\//), text: 'rolling back' },
    },
    { ...common, type: 'account_link', user: ALICE, token: LINK_TOKEN },
    { ...common, type: 'account_link', user: ALICE, token: 'unlink' },
    { ...common, type: 'message_deleted', message_id, user: null },
  ]);
});

test('bots, other direct messages and what was switched off are not reported', async () => {
  const without = new Set<Switch>(['buttons', 'thread_messages', 'deletion_events']);
  const { post, bridge, events } = stage({ without });
  const id = String((await post({ buttons: [] })).message_id);
  bridge.acts.press(id, 'ack-412', ALICE);
  bridge.acts.writeInThread(id, LINK_TOKEN, ALICE);
  bridge.acts.writeDirectly(0, 'hello', ALICE);
  bridge.acts.writeDirectly(0, LINK_TOKEN, { ...ALICE, bot: true });
  bridge.acts.delete(id, ALICE);
  expect(await events()).toEqual([]);
});

test('an answer to a press is private while it is recent, and in the Thread later', async () => {
  const { post, send, bridge, clock } = stage();
  const id = String((await post()).message_id);
  const { event_id } = bridge.acts.press(id, 'ack-412', ALICE);
  const answer = (key: string) =>
    send('POST', '/v1/event-answers', { event_id, text: 'Done: Ack' }, { 'idempotency-key': key }).then(
      fieldsOf,
    );
  expect(await answer('a')).toEqual({ shown_as: 'ephemeral', replayed: false });
  expect(await answer('a')).toEqual({ shown_as: 'ephemeral', replayed: true });
  clock.advance(16 * 60 * 1_000_000);
  expect(await answer('b')).toEqual({ shown_as: 'thread', replayed: false });
  bridge.acts.delete(id, null);
  expect(await answer('c')).toMatchObject({ class: 'gone' });
});

test('a poll that waits is answered by the first event, and a restart knows no cursor from before', async () => {
  const { post, send, bridge } = stage();
  const id = String((await post()).message_id);
  const waiting = send('GET', '/v1/events?wait=25');
  bridge.acts.press(id, 'ack-412', ALICE);
  const page = fieldsOf(await waiting);
  expect(page.events).toHaveLength(1);
  const target = `/v1/events?wait=0&cursor=${page.next_cursor}`;
  expect(fieldsOf(await send('GET', target))).toEqual({ events: [], next_cursor: page.next_cursor });
  expect(fieldsOf(await stage().send('GET', target))).toMatchObject({ class: 'invalid' });
});

test('a poll ends when its caller is gone', async () => {
  const { bridge } = stage();
  const caller = new AbortController();
  const headers = { authorization: 'Bearer first-token' };
  const waiting = bridge.answer({
    method: 'GET',
    target: '/v1/events',
    headers,
    body: '',
    gone: caller.signal,
  });
  caller.abort();
  expect(fieldsOf(await waiting).events).toEqual([]);
});

test('who is closed to the bot is forbidden', async () => {
  const { post, send } = stage();
  expect(await post({ channel_id: 'closed' })).toMatchObject({ class: 'forbidden' });
  const body = { user_external_id: 'u-19', body: 'Hello' };
  const refused = await send('POST', '/v1/direct-messages', body, { 'idempotency-key': 'key' });
  expect(fieldsOf(refused)).toMatchObject({ class: 'forbidden' });
});

test('/_sim/ takes JSON only, so that no page of somebody else can act here', async () => {
  const { send } = stage();
  const press = { message_id: 'm', data: 'd', user: 'u-17' };
  expect((await send('POST', '/_sim/press', press, { 'content-type': 'text/plain' })).status).toBe(400);
  expect((await send('POST', '/_sim/press', press)).status).toBe(404);
  expect((await send('POST', '/_sim/direct', { text: 'x', user: 'u-99' })).status).toBe(400);
});
