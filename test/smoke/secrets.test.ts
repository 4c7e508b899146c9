/**
 * No secret is told twice (secrets §9): the running service is given one of every kind, all of them go where they are
 * told back in every form, refused, redirected or broken; then everything that the service wrote anywhere is searched.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { generateSync, ScureBase32Plugin } from 'otplib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PERMISSIONS } from '../../http/permissions.ts';
import { embeddedSettings } from '../../storage/postgres/embedded/embedded.ts';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import { type EchoReceiver, startEchoReceiver } from '../fakes/echo-receiver.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { attachChannel, postTo, rootsOf } from '../harness/bridge-channel.ts';
import { Canaries } from '../harness/canaries.ts';
import { type IdentityProvider, startIdentityProvider } from '../harness/identity-provider.ts';
import { Sender } from '../harness/sender.ts';
import { note, walkApi, walkDatabase, walkFiles, walkProcesses } from '../harness/sweep.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
/** What receivers and browsers write in many ways. */
const ODD = `"&<>+/='%é`;
const ODD_ASCII = `"&<>+/='%`;
const ODD_IN_PATH = `"&<+='%|{`;
const WIDE = { limit: 1000, per_seconds: 1 };

const canaries = new Canaries();
const findings = new Set<string>();
const tocsin = new Installation({ SVC_LOG_LEVEL: 'info' });
let ready: Ready;
let api: Api;
let echo: EchoReceiver;
let bridge: ReferenceBridge;
let chat: RunningChatServer;
let provider: IdentityProvider;
let sender: Sender;
let live = '';
const leave = new AbortController();

beforeAll(async () => {
  echo = await startEchoReceiver();
  chat = await startChatServer();
  bridge = await startReferenceBridge({ tokens: [canaries.make('bridge token', '/+=')] });
  ready = await tocsin.start();
  provider = await startIdentityProvider(`${ready.app_url}/api/v1/sessions/oidc/callback`);
  canaries.add('password of the first Admin', ready.password ?? '');
  canaries.add('Integration token', ready.integration_token ?? '');
  canaries.add('OIDC client secret', provider.clientSecret);
  for (const line of readFileSync(path.join(tocsin.dataDir, 'secret-keys'), 'utf8').split('\n')) {
    if (/^[A-Za-z0-9+/]{43}=$/.test(line)) canaries.addBytes('master key', Buffer.from(line, 'base64'));
  }
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  api = await signIn(ready.login, ready.password ?? '');
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  void follow();
});

afterAll(async () => {
  leave.abort();
  await tocsin.remove();
  await Promise.all([echo.close(), bridge.close(), chat.close(), provider.stop()]);
});

/** A signed-in person whose every answer is searched. What tells a secret once is not known yet when it is answered. */
async function signIn(login: string, password: string): Promise<Api> {
  const person = await Api.signIn({ app_url: ready.app_url, login, password });
  watch(person);
  const { csrf_token: csrf } = await person.get('/sessions/current');
  // What follows the id of the key, which is no secret.
  canaries.add('CSRF token', csrf.slice(csrf.indexOf('.') + 1));
  canaries.add('session cookie', person.cookie.replace('svc_session=', ''));
  return person;
}

function watch(person: Api): void {
  const plain = person.call.bind(person);
  person.call = async (...asked) => {
    const answer = await plain(...asked);
    const [method, where] = asked;
    // Read anew by whoever holds the session.
    if (where === '/sessions/current') return answer;
    note(findings, canaries, `answer ${answer.status} to ${method} ${where}`, JSON.stringify(answer.body));
    return answer;
  };
}

/** Hints of everything that happens. */
async function follow(): Promise<void> {
  const answer = await fetch(`${ready.app_url}/api/v1/live-updates`, {
    headers: { cookie: api.cookie, accept: 'text/event-stream' },
    signal: leave.signal,
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done) return;
    live += value;
  }
}

/** A request outside of any session; only its answer counts. */
async function anybody(
  method: string,
  url: string,
  options: Omit<RequestInit, 'method'> = {},
): Promise<void> {
  const answer = await fetch(url, { method, redirect: 'manual', ...options });
  const said = JSON.stringify([...answer.headers]) + (await answer.text());
  note(
    findings,
    canaries,
    `answer ${answer.status} to ${method} ${new URL(url).pathname.slice(0, 24)}`,
    said,
  );
}

const json = { 'content-type': 'application/json' };

async function post(name: string): Promise<void> {
  const alerts = [{ status: 'firing' as const, labels: { alertname: name, severity: 'critical' } }];
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

async function makeWebhook(name: string, more: object, secrets: readonly string[]): Promise<string> {
  const body = { type: 'webhook', name, limiter: WIDE, ...more };
  const { destination, signing_secret: signing } = await api.post('/destinations', body);
  canaries.add('signing secret', signing);
  for (const secret of secrets) {
    const value = canaries.make(`Secret ${secret} of ${name}`, secret === 'path' ? ODD_IN_PATH : ODD_ASCII);
    await api.call('PUT', `/destinations/${destination.id}/secrets/${secret}`, { value });
  }
  return destination.id;
}

const EVENTS = { path: '{{ .Secrets.path }}', query: '{{ .Secrets.query }}' };

function eventsTo(status: string): object {
  return {
    mode: 'events',
    events: {
      url: `${echo.url}/${status}/${EVENTS.path}?x=${EVENTS.query}&y={{ .Secrets.query | urlquery }}`,
      headers: [
        { name: 'Authorization', value: 'Bearer {{ .Secrets.bearer }}' },
        { name: 'X-Custom', value: 'is {{ .Secrets.custom }}' },
      ],
    },
  };
}

/** Everything written out by an Admin who has not heard of Secrets. */
function literalTo(status: string): object {
  const [user, token, header] = ['user', 'token', 'header'].map((name) => canaries.make(`literal ${name}`));
  const { host } = new URL(echo.url);
  const url = `http://tocsin:${user}@${host}/${status}/in?token=${token}`;
  return { mode: 'events', events: { url, headers: [{ name: 'X-Api-Key', value: header }] } };
}

function templateTo(status: string): object {
  const head = `${echo.url}/${status}/{{ .Secrets.path }}`;
  const body = '{"a":{{ toJson .Secrets.body }},"t":{{ toJson .AlertGroup.Title }}}';
  const auth = 'X-Custom: {{ .Secrets.custom }}';
  return {
    mode: 'template',
    template: {
      create: { request: `POST ${head}\n${auth}\n\n${body}`, extract: [{ name: 'id', path: '$.id' }] },
      update: { request: `PUT ${head}\n${auth}\n\n${body}` },
      reply_in_thread: { request: `POST ${head}\n\nsecret={{ .Secrets.body | urlquery }}` },
    },
  };
}

const failing = (status: string): object => ({
  mode: 'template',
  template: {
    create: {
      request: `POST ${echo.url}/${status}\n\n{{ if eq .Secrets.body "example-body" }}x{{ else }}{{ regexFind (print "(" .Secrets.body) "x" }}{{ tz .Secrets.body .AlertGroup.StartedAt }}{{ end }}`,
    },
    update: { request: `PUT ${echo.url}/${status}\n\n{{ .AlertGroup.Title }}` },
  },
});

async function useWebhooks(): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const status of ['echo', '400', '401', '503', 'away']) {
    ids.push(await makeWebhook(`events ${status}`, eventsTo(status), ['path', 'query', 'bearer', 'custom']));
  }
  for (const status of ['echo', '400', '401', 'away']) {
    ids.push(await makeWebhook(`template ${status}`, templateTo(status), ['path', 'custom', 'body']));
    ids.push(await makeWebhook(`literal ${status}`, literalTo(status), []));
    const proxy = {
      ...{ enabled: true, type: 'http', address: `127.0.0.1:${echo.port}`, username: 'tocsin' },
      password: canaries.make(`proxy password ${status}`, ODD),
    };
    const proxied = { ...eventsTo(status), proxy };
    ids.push(await makeWebhook(`proxied ${status}`, proxied, ['path', 'query', 'bearer', 'custom']));
  }
  ids.push(await makeWebhook('failing', failing('400'), ['body']));
  const [first] = ids;
  const { secret: next } = await api.post(`/destinations/${first}/signing-secret`);
  canaries.add('second signing secret', next);
  for (const id of ids) {
    await api.call('POST', `/destinations/${id}/tests`, {});
    await api.call('POST', `/destinations/${id}/previews`, {});
    await api.call('POST', `/destinations/${id}/checks`, {});
    await api.call('PUT', `/destinations/${id}/secrets/body`, {
      value: [canaries.make('Secret of a wrong shape')],
    });
  }
  return ids;
}

/** A code that the bot sends, typed wrong and right. */
async function useAccountLinks(): Promise<void> {
  canaries.add('token of the chat server', chat.token);
  const user = chat.server.addUser('alice');
  const { id } = await api.post('/connections', {
    ...{ type: 'chat_server', name: 'chat server', server_url: chat.url, bot_token: chat.token },
    ...{ proxy: { enabled: false }, limiter: WIDE },
  });
  const links = '/me/account-links/chat-server';
  const { request_id } = await api.post(links, { connection_id: id, username: user.username });
  const [code = ''] = /[2-9A-HJ-NP-Z]{8}/.exec(chat.server.posts.at(-1)?.message ?? '') ?? [];
  canaries.addWhole('Account link code', [code, code.toLowerCase()]);
  for (const typed of [`${code}X`, code.toLowerCase(), code])
    await api.call('POST', `${links}/confirmation`, { request_id, code: typed });
  expect((await api.get('/me/account-links')).items).toMatchObject([{ external_id: user.id }]);
}

async function useConnections(): Promise<string> {
  const pushSecret = (name: string) =>
    canaries.add(name, `whsec_${Buffer.from(canaries.make(name)).toString('base64')}`);
  const more = { connection: { push_secret: pushSecret('push secret') } };
  const { connectionId, destinationId } = await attachChannel(api, bridge, more);
  const { token } = await api.post('/me/account-links/bridge', {
    connection_id: connectionId,
    method: 'token',
  });
  canaries.add('Account link token', token);
  for (const status of ['echo', '400', '401', '503', 'away']) {
    const proxy = {
      ...{ enabled: status === '401', type: 'http', address: `127.0.0.1:${echo.port}`, username: 'tocsin' },
      password: canaries.make(`proxy password of bridge ${status}`, ODD),
    };
    const draft = { type: 'bridge', base_url: `${echo.url}/${status}`, proxy };
    const typed = canaries.make(`bridge token ${status}`, '"&+/=%');
    await api.call('POST', '/connections/checks', { ...draft, bot_token: typed });
    const saved = {
      ...{
        ...draft,
        name: `bridge ${status}`,
        event_mode: status === '503' ? 'push' : 'poll',
        limiter: WIDE,
      },
      ...{ bot_token: typed, push_secret: pushSecret(`push secret ${status}`) },
    };
    const { body } = await api.call('POST', '/connections', saved);
    await api.call('POST', '/connections/checks', {
      ...draft,
      proxy: { enabled: false },
      connection_id: body.id,
    });
    const forged = JSON.stringify({
      id: '1',
      secret: saved.push_secret,
      token: typed,
      text: `${typed} ${saved.push_secret}`,
    });
    const headers = {
      ...json,
      'webhook-signature': `v1,${typed}`,
      authorization: `Bearer ${typed}`,
      'x-note': saved.push_secret,
    };
    await anybody('POST', body.callback_url, { headers, body: forged });
    const channel = { type: 'bridge', name: `channel ${status}`, connection_id: body.id, channel_id: typed };
    await api.call('POST', '/destinations', channel);
    await api.call('POST', '/connections', { ...saved, name: 'wrong', bot_token: `${typed}\n` });
  }
  return destinationId;
}

async function useAccess(): Promise<void> {
  const begun = await api.post('/me/totp');
  canaries.add('TOTP seed', begun.secret);
  canaries.addBytes('TOTP seed as bytes', Buffer.from(new ScureBase32Plugin().decode(begun.secret)));
  await api.call('POST', '/me/totp/confirmation', { code: canaries.make('wrong TOTP code') });
  const code = () => generateSync({ secret: begun.secret });
  const { codes } = await api.post('/me/totp/confirmation', { code: code() });
  const recovery: string[] = codes;
  for (const one of recovery) canaries.addWhole('recovery code', [one, one.replace('-', '')]);
  const personal = await api.post('/me/personal-access-tokens', {
    name: 'ci',
    permissions: [...PERMISSIONS],
  });
  canaries.add('Personal access token', personal.value);
  const account = await api.post('/service-accounts', { name: 'bot', role: 'viewer' });
  const { value } = await api.post(`/service-accounts/${account.id}/tokens`, { name: 'ci' });
  canaries.add('Service account token', value);
  const ingest = await api.post(`/integrations/${ready.integration_id}/tokens`, { name: 'second' });
  canaries.add('second Integration token', ingest.value);
  for (const token of [personal.value, value, canaries.make('unknown token')]) {
    const headers = { authorization: `Bearer ${token}` };
    await anybody('GET', `${ready.app_url}/api/v1/alert-groups`, { headers });
    await anybody('GET', `${ready.app_url}/api/v1/users?q=x`, { headers });
    await anybody('POST', `${ready.app_url}/api/v1/me/totp`, { headers });
    await anybody('POST', ready.ingest_endpoint, { headers, body: '{}' });
    await anybody('POST', `${ready.ingest_url}/api/v1/ingest/${token}`, { body: `{"no":"${token}` });
    await anybody('GET', `${ready.ingest_url}/api/v1/heartbeat/${token}`);
    await anybody('GET', `${ready.app_url}/nothing/${token}?token=${token}`);
    await anybody('GET', `${ready.internal_url}/${token}`);
  }
  const made = await api.post('/users', { name: 'Ann', login: 'ann', role: 'responder', email: null });
  const link = made.password_setup_link.url.split('token=')[1];
  canaries.add('token of a setup link', link);
  const chosen = canaries.make('password that was chosen', ODD);
  const setups = `${ready.app_url}/api/v1/password-setups`;
  await anybody('POST', setups, { headers: json, body: JSON.stringify({ token: link, password: 'short' }) });
  await anybody('POST', setups, { headers: json, body: JSON.stringify({ token: link, password: chosen }) });
  await anybody('POST', setups, { headers: json, body: JSON.stringify({ token: link, password: chosen }) });
  await anybody('POST', setups, { headers: json, body: `{"token":"${link}", "password":${chosen}` });
  const { url } = await api.post(`/users/${made.user.id}/password-setup-links`);
  canaries.add('token of another setup link', url.split('token=')[1]);
  const ann = await signIn('ann', chosen);
  const other = canaries.make('password that took its place', ODD);
  await ann.call('PUT', '/me/password', { current_password: chosen, new_password: other });
  const wrong = { login: 'ann', password: canaries.make('wrong password', ODD), recovery_code: recovery[0] };
  for (const body of [wrong, { ...wrong, login: 'nobody' }, { ...wrong, login: 1 }]) {
    await anybody('POST', `${ready.app_url}/api/v1/sessions`, { headers: json, body: JSON.stringify(body) });
  }
  const headers = {
    cookie: `svc_session=${canaries.make('unknown cookie')}`,
    'x-csrf-token': canaries.make('wrong CSRF token'),
  };
  await anybody('GET', `${ready.app_url}/api/v1/me`, { headers });
  await ann.call('POST', '/me/totp', undefined, headers);
}

async function useSingleSignOn(): Promise<void> {
  const settings = {
    ...{
      enabled: true,
      issuer_url: provider.issuer,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
    },
    ...{ group_mappings: [{ group: 'ops', role: 'viewer' }], proxy: { enabled: false } },
  };
  await api.change('/oidc-settings', (current) => ({ ...current, ...settings }));
  await api.post('/oidc-settings/checks', {});
  provider.visitor = { sub: 'eve', claims: { preferred_username: 'eve', groups: ['ops'] } };
  await throughProvider();
  provider.visitor = { sub: 'mallory', claims: { preferred_username: 'mallory', groups: [] } };
  await throughProvider();
  for (const status of ['echo', '401', '500', 'away']) {
    const proxy = {
      ...{ enabled: status === 'echo', type: 'http', address: `127.0.0.1:${echo.port}`, username: 'tocsin' },
      password: canaries.make(`proxy password of the provider ${status}`, ODD),
    };
    const changed = {
      issuer_url: `${echo.url}/${status}`,
      client_secret: canaries.make(`client secret ${status}`, ODD),
      proxy,
    };
    await api.change('/oidc-settings', (current) => ({ ...current, ...settings, ...changed }));
    await api.post('/oidc-settings/checks', {});
    await anybody('GET', `${ready.app_url}/api/v1/sessions/oidc/start`);
  }
  // The provider is itself, but its token endpoint tells what it was sent.
  provider.discovery = { token_endpoint: `${echo.url}/401/token` };
  await api.change('/oidc-settings', (current) => ({
    ...current,
    ...settings,
    client_secret: canaries.make('client secret that is told back', ODD),
  }));
  provider.visitor = { sub: 'eve', claims: { preferred_username: 'eve', groups: ['ops'] } };
  await throughProvider();
}

/** From the button through the provider and back, with everything that travels noted as a secret. */
async function throughProvider(): Promise<void> {
  const jar = new Map<string, string>();
  let next = `${ready.app_url}/api/v1/sessions/oidc/start`;
  for (let hops = 0; hops < 12; hops++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
      if (name === 'svc_session' && value !== '') canaries.add('session cookie of single sign-on', value);
      if (name === 'svc_oidc_state' && value !== '') canaries.add('OIDC state', value);
    }
    const location = answer.headers.get('location');
    if (location === null) return;
    const code = new URL(location, next).searchParams.get('code');
    if (code !== null) canaries.add('authorization code', code);
    if (next.includes('/oidc/callback')) return;
    next = new URL(location, next).href;
  }
}

async function useHeartbeat(): Promise<void> {
  const [segment, query, user] = [
    canaries.make('heartbeat path'),
    canaries.make('heartbeat query', '%2F'),
    canaries.make('heartbeat user'),
  ];
  const { host } = new URL(echo.url);
  const proxy = {
    ...{ enabled: true, type: 'http', address: host, username: 'tocsin' },
    password: canaries.make('proxy password of the heartbeat', ODD),
  };
  const save = (url: string) =>
    api.change('/organization', (organization) => ({ ...organization, outgoing_heartbeat: { url, proxy } }));
  await api.call('PUT', '/organization', { outgoing_heartbeat: { url: [segment] } }, { 'if-match': '*' });
  const refused = { url: `http://x:${user}@${host}/401/${segment}#${query}`, proxy };
  const organization = await api.get('/organization');
  await api.call(
    'PUT',
    '/organization',
    { ...organization, outgoing_heartbeat: refused },
    { 'if-match': '*' },
  );
  await save(`${echo.url}/401/beat/${segment}/x?token=${query}&other=1`);
  await until(
    'the heartbeat to be refused',
    async () => JSON.stringify(await api.get('/system-status')).includes('answered 401'),
    60,
  );
}

/** `tocsin …` beside the running service. */
async function command(words: readonly string[], input = ''): Promise<void> {
  const { host, database, user, password } = await embeddedSettings(path.join(tocsin.dataDir, 'postgres'));
  const env = {
    ...{
      PATH: process.env.PATH,
      SVC_DATABASE_HOST: host,
      SVC_DATABASE_NAME: database,
      SVC_DATABASE_USER: user,
      SVC_DATABASE_PASSWORD: password ?? '',
    },
    ...{ SVC_SECRET_KEYS_FILE: path.join(tocsin.dataDir, 'secret-keys'), SVC_PUBLIC_URL: ready.app_url },
  };
  await new Promise<void>((ended) => {
    const child = execFile(
      process.execPath,
      ['runtime/main.ts', ...words],
      { cwd: root, env },
      (_, out, err) => {
        note(findings, canaries, `what tocsin ${words[0]} ${words[1] ?? ''} says`, out + err);
        ended();
      },
    );
    child.stdin?.end(`${input}\n`);
  });
}

/** What an Admin writes out is configuration, and is shown to whoever reads that. */
const CONFIGURATION =
  /^literal .* in (GET \/destinations|GET \/audit-log|answer \d+ to \w+ \/destinations|table (destinations|audit_log)|file )/;
/** Told to whoever holds the session. */
const OWN = /^CSRF token in GET \/sessions\/current 200$/;

test('no secret of any kind is written or told anywhere but where it was told once', async () => {
  const webhooks = await useWebhooks();
  const channel = await useConnections();
  await useAccountLinks();
  await postTo(api, [...webhooks, channel]);
  await post('Told');
  await until('the message', async () => rootsOf(bridge, 'Told')[0]);
  const [group] = (await api.get('/alert-groups?q=Told')).items;
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await useAccess();
  await useSingleSignOn();
  await useHeartbeat();
  await Promise.all([
    command(['doctor', '--json']),
    command(['user', 'list']),
    command(['keys', 'status']),
    command(['keys', 'verify']),
    command(
      ['user', 'reset-password', 'ann', '--actor', 'Eve'],
      canaries.make('password from the command line', ODD),
    ),
    command(['user', 'reset-password', 'ann', '--actor', 'Eve'], 'short'),
    command(['migrate', '--token', canaries.make('word of a command line')]).catch(() => undefined),
  ]);
  expect(echo.received.length).toBeGreaterThan(50);
  await until('the Request log to be written', async () => {
    const { items } = await api.get(`/request-records?destination=${webhooks[0]}`);
    return items.length >= 3;
  });

  const tell = (place: string, text: string | Buffer) => note(findings, canaries, place, text);
  expect(await walkApi(api, tell)).toEqual([
    ...['/alert-group-statistics', '/stored-snapshots', '/stored-snapshots/{stored_snapshot_id}'],
    ...['/lookup-tables/{lookup_table_id}', '/saved-views/{saved_view_id}'],
  ]);
  for (const url of [ready.app_url, ready.ingest_url, ready.internal_url]) {
    tell('metrics', await (await fetch(`${url}/metrics`)).text());
  }
  tell('live updates', live);
  expect(live).toContain('event');
  walkProcesses(tocsin.pid, tell);
  await walkDatabase(tocsin, tell);
  await tocsin.stop();
  tell('log', tocsin.log.filter((line) => !line.startsWith('{"ready":true')).join('\n'));
  expect(tocsin.log.join('\n')).toContain('"event":"audit_entry"');
  walkFiles(tocsin.dataDir, (name) => name === 'secret-keys', tell);

  expect(canaries.names.length).toBeGreaterThan(100);
  expect([...findings].filter((one) => !CONFIGURATION.test(one) && !OWN.test(one)).sort()).toEqual([]);
});
