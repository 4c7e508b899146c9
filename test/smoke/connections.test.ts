/** A Connection to a bridge in the running service: what it learns of the bridge, and what people send it. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const NO_PROXY = { enabled: false };

let tocsin: Installation;
let api: Api;
let bridge: ReferenceBridge;
/** Where the bridge pushes to, once a Connection says so. */
const push = { url: 'http://127.0.0.1:9/', secret: SECRET };
let connection: Json;

beforeAll(async () => {
  tocsin = new Installation();
  bridge = await startReferenceBridge({ push });
  api = await Api.signIn(await tocsin.start());
  await putPolicy({ policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] });
});

afterAll(async () => {
  await tocsin.remove();
  await bridge.close();
});

async function putPolicy(body: object): Promise<void> {
  const { headers } = await api.call('GET', '/organization/outbound-policy');
  await api.call('PUT', '/organization/outbound-policy', body, { 'if-match': headers.get('etag') ?? '' });
}

const draft = () => ({ type: 'bridge', base_url: bridge.url, bot_token: bridge.token, proxy: NO_PROXY });
const read = () => api.get(`/connections/${connection.id}`);
const fakeToken = () => randomBytes(32).toString('base64url');

async function sendDirectly(text: string): Promise<void> {
  const answer = await fetch(`${bridge.url}/_sim/direct`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'u-17', text }),
  });
  expect(answer.status).toBe(200);
}

const answers = () => bridge.requests.filter(({ operation }) => operation === 'answerEvent');
/** Events that were answered, however often. */
const answered = () => new Set(answers().map(({ idempotency_key: key }) => key)).size;

async function update(changes: object): Promise<void> {
  const { base_url, name, type } = connection;
  const body = { base_url, name, type, proxy: NO_PROXY, ...changes };
  const { etag } = await read();
  const answer = await api.call('PUT', `/connections/${connection.id}`, body, { 'if-match': etag });
  expect(answer.status).toBe(200);
}

test('a check before saving shows each step, and stores nothing', async () => {
  const check = await api.post('/connections/checks', draft());
  expect(check).toMatchObject({
    ok: true,
    bot_name: 'oncall-bot',
    info: { event_delivery: ['poll', 'push'] },
  });
  expect(check.steps.map(({ name, ok }: Json) => [name, ok])).toEqual([
    ['dry_probe', true],
    ['get_info', true],
  ]);
  expect(check.warnings).toEqual([{ kind: 'base_url_uses_http', field: '/base_url' }]);
  expect((await api.get('/connections')).items).toEqual([]);
});

test('once saved it is polled: the bridge is known, and an unknown token is answered once', async () => {
  connection = await api.post('/connections', { ...draft(), name: 'Reference' });
  await until('the Info is known', async () => (await read()).bot_username === 'oncall-bot');
  await sendDirectly(fakeToken());
  await until('the person is answered', async () => answers().length === 1);
  expect(JSON.parse(answers()[0]?.body ?? '').text).toMatch(/^Nothing waits for this token/);
  await until('something arrived', async () => (await read()).inbound.last_at !== null);
});

test('after a crash it goes on behind what was handled', async () => {
  await tocsin.kill();
  api = await Api.signIn(await tocsin.start());
  await sendDirectly(fakeToken());
  await until('the person is answered', async () => answered() === 2);
});

test('a bridge that fails is told of while it does', async () => {
  const fault = { operation: 'pollEvents', times: 3, status: 503, class: 'transient' } as const;
  bridge.setFaults([{ ...fault, delay_ms: 0, drop_answer: false }]);
  await sendDirectly(fakeToken());
  await until('the trouble is shown', async () => (await read()).inbound.error?.startsWith('answered 503'));
  expect((await read()).inbound.since).not.toBeNull();
  // The poll that was under way brought the first event; what ends the trouble is a poll that brings the next.
  await sendDirectly(fakeToken());
  await until('no trouble is left', async () => (await read()).inbound.error === null, 40);
  await until('both are answered', async () => answered() === 4);
});

test('in push mode the bridge calls, signed', async () => {
  push.url = connection.callback_url;
  await update({ event_mode: 'push', push_secret: SECRET });
  await sendDirectly(fakeToken());
  await until('the person is answered', async () => answered() === 5);
  const forged = await fetch(connection.callback_url, { method: 'POST', body: '{}' });
  expect(forged.status).toBe(401);
});

test('deleted, it takes nothing any more', async () => {
  expect((await api.call('DELETE', `/connections/${connection.id}`)).status).toBe(204);
  const refused = await fetch(connection.callback_url, { method: 'POST', body: '{}' });
  expect(refused.status).toBe(401);
  expect(bridge.refusals()).toEqual([]);
});
