/** What programs may do with the token of a Service account, and what only people may. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const tocsin = new Installation();
let admin: Api;
let group: Json;
let as: (method: string, path: string, body?: unknown) => ReturnType<Api['call']>;

beforeAll(async () => {
  const ready = await tocsin.start();
  admin = await Api.signIn(ready);
  const account = await admin.post('/service-accounts', { name: 'deploy-bot', role: 'responder' });
  const { value } = await admin.post(`/service-accounts/${account.id}/tokens`, { name: 'ci' });
  const program = new Api(ready.app_url);
  as = (method, path, body) => program.call(method, path, body, { authorization: `Bearer ${value}` });
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const labels = { alertname: 'DiskFull', severity: 'warning' };
  expect(await sender.post({ groupKey: '{}:{alertname="DiskFull"}', alerts: [{ labels }] })).toBe(202);
  group = await until('the Alert Group', async () => (await admin.get('/alert-groups')).items[0]);
});

afterAll(() => tocsin.remove());

test('a Service account owns nothing, adds Notes and resolves, under its own name and token', async () => {
  const of = `/alert-groups/${group.id}`;
  expect(await as('POST', `${of}/acknowledge`)).toMatchObject({
    ...{ status: 409, body: { code: 'owner_must_be_user' } },
  });
  const read = await as('GET', of);
  expect(read.body.allowed_commands).not.toContain('acknowledge');
  expect((await as('POST', `${of}/notes`, { body: 'rolled back' })).body).toMatchObject({
    ...{ author: { kind: 'service_account', name: 'deploy-bot' }, transport: 'api' },
  });
  expect((await as('POST', `${of}/resolve`, { note: 'fixed' })).status).toBe(200);
  const { items } = await admin.get(`${of}/timeline?kind=status`);
  expect(items[0].actor).toMatchObject({ kind: 'service_account', name: 'deploy-bot', token_name: 'ci' });
  const audit = await admin.get('/audit-log?action=alert_group.resolved');
  expect(audit.items[0]).toMatchObject({
    ...{ actor: { kind: 'service_account', name: 'deploy-bot' }, token_name: 'ci', transport: 'api' },
  });
  expect(audit.items[0].token_id).toMatch(/^ST/);
});

test('what needs a person is refused', async () => {
  expect((await as('GET', '/alert-groups?owner=me')).status).toBe(422);
  for (const [method, path, code] of [
    ['GET', '/me', 'service_account_not_allowed'],
    ['GET', '/me/personal-access-tokens', 'service_account_not_allowed'],
    ['GET', '/live-updates', 'session_required'],
    ['GET', '/sessions/current', 'session_required'],
    ['DELETE', '/me/sessions', 'session_required'],
  ] as const) {
    const { status, body } = await as(method, path);
    expect([path, status, body.code]).toEqual([path, 403, code]);
  }
});

test('a Service account is called as it is called now', async () => {
  const [{ id }] = (await admin.get('/service-accounts')).items;
  await admin.change(`/service-accounts/${id}`, (account) => ({ ...account, name: 'release-bot' }));
  const { items } = await admin.get(`/audit-log?actor=${id}`);
  expect(items[0].actor.name).toBe('release-bot');
});
