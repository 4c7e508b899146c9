/**
 * Fills the database of the version that it runs in with everything that can be under way, kills the service, and
 * keeps what is stored: `filled.sql.gz` (pg_dump) and `filled.json.gz` (keys, sign-in, what stands in the fakes).
 *
 * It runs inside a checkout of the version before: `cp -r test/upgrade ../before/test/ && cd ../before &&
 * TOCSIN_TEST_POSTGRES=15 node test/upgrade/fill.ts OUT`. PostgreSQL 15 because Debian's pg_dump reads no newer one.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  type ChaosGateway,
  type GatewayAnswer,
  startChaosGateway,
  type Trouble,
} from '../fakes/chaos-gateway.ts';
import { startReferenceBridge } from '../fakes/reference-bridge.ts';
import { startTemplateReceiver } from '../fakes/template-receiver.ts';
import { startWebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api, type Json } from '../harness/api.ts';
import { postTo, repliesTo } from '../harness/bridge-channel.ts';
import { Sender, type SentAlert } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { startTestServer } from '../postgres.ts';
import { ADA, type Filled, PUBLIC_URL, TEMPLATE } from './filled.ts';

const run = promisify(execFile);
const WIDE = { limit: 1000, per_seconds: 1 };
const BANKS = ['Bank1', 'Bank2', 'Bank3', 'Bank4', 'Bank5'];
const SERVER_ERROR: GatewayAnswer = problem(503, 'transient', 'the messenger is being restarted');
const FORBIDDEN: GatewayAnswer = problem(403, 'forbidden', 'the bot was removed from the channel');

const out = path.resolve(process.argv[2] ?? '.');
const server = await startTestServer();
const database = await server.createDatabase('empty');
const tocsin = new Installation({
  SVC_DATABASE_HOST: database.host,
  SVC_DATABASE_PORT: String(database.port),
  SVC_DATABASE_NAME: database.database,
  SVC_DATABASE_USER: database.user,
  SVC_DATABASE_SSLMODE: 'disable',
  SVC_PUBLIC_URL: PUBLIC_URL,
  SVC_REPLICA_ID: 'before',
});
const bridge = await startReferenceBridge();
const answered: [key: string, body: string][] = [];
const gateways: Record<string, ChaosGateway> = {};
for (const name of ['steady', 'former', 'failing', 'broken']) {
  gateways[name] = await startChaosGateway(bridge.url, ({ headers }, { status, body }) => {
    const key = headers['idempotency-key'];
    if (key !== undefined && status === 201) answered.push([key, body]);
  });
}
const receiver = await startWebhookReceiver();
const chat = await startTemplateReceiver();

const groups: Record<string, string> = {};
const ready = await tocsin.start();
const api = await Api.signIn(ready);
const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');

function command(name: string, verb: string, body?: object): Promise<Json> {
  return api.post(`/alert-groups/${groups[name]}/${verb}`, body);
}

try {
  await fill();
} finally {
  await tocsin.remove();
  await server.stop();
}
process.exit(0);

async function fill(): Promise<void> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const { destinations, secrets } = await makeDestinations();
  receiver.trust(...secrets);
  const token = await makePeople();
  await postTo(api, Object.values(destinations), { storm_threshold: 1000 });
  refuse('failing', SERVER_ERROR);
  refuse('broken', FORBIDDEN);
  await everyStatus(destinations);
  await leave(destinations.former);
  await storm(destinations);
  await waitingEvents();
  await halfDelivered(destinations.steady);
  await tocsin.kill();
  await keep({ filledAt: Date.now() * 1000, token, destinations, signingSecrets: secrets });
}

function problem(status: number, kind: string, detail: string): GatewayAnswer {
  const body = JSON.stringify({ type: 'about:blank', title: 'No', status, detail, class: kind });
  return { status, headers: { 'content-type': 'application/problem+json' }, body };
}

/** The messenger behind a gateway answers every write so from now on. */
function refuse(name: string, answer: GatewayAnswer): void {
  gateways[name]?.trouble(({ method }) =>
    method === 'GET' ? null : { does: 'answer', answer, worked: false },
  );
}

async function makeDestinations() {
  const destinations: Record<string, string> = {};
  const secrets: string[] = [];
  for (const name of Object.keys(gateways)) {
    const connection = await api.post('/connections', {
      ...{ type: 'bridge', name, base_url: gateways[name]?.url, bot_token: bridge.token },
      ...{ event_mode: 'poll', proxy: { enabled: false }, limiter: WIDE },
    });
    const made = await api.post('/destinations', {
      ...{ type: 'bridge', name, connection_id: connection.id, channel_id: 'alerts/prod', limiter: WIDE },
    });
    destinations[name] = made.destination.id;
  }
  receiver.answerAll(({ path: where }) => ({ status: where === '/gone' ? 410 : 204 }));
  for (const name of ['pager', 'relay', 'gone']) {
    const url = new URL(`/${name}`, receiver.url).href;
    const headers = [{ name: 'Authorization', value: 'Bearer {{ .Secrets.token }}' }];
    const made = await api.post('/destinations', {
      ...{ type: 'webhook', name, mode: 'events', limiter: WIDE, events: { url, headers } },
    });
    destinations[name] = made.destination.id;
    secrets.push(made.signing_secret);
    await secretOf(made.destination.id);
  }
  const tickets = await api.post('/destinations', {
    ...{ type: 'webhook', name: 'tickets', mode: 'template', limiter: WIDE, template: TEMPLATE(chat.url) },
  });
  destinations.tickets = tickets.destination.id;
  await secretOf(tickets.destination.id);
  return { destinations, secrets };
}

async function secretOf(id: string): Promise<void> {
  await api.call('PUT', `/destinations/${id}/secrets/token`, { value: 'kept-over-the-upgrade' });
}

/** @returns an API token of Ada, who is a responder */
async function makePeople(): Promise<string> {
  const made = await api.post('/users', { ...ADA, role: 'responder', email: 'ada@example.org' });
  const link = new URL(made.password_setup_link.url).hash.slice('#token='.length);
  await new Api(ready.app_url).post('/password-setups', { token: link, password: ADA.password });
  const ada = await Api.signIn({ app_url: ready.app_url, ...ADA });
  const tokens = { name: 'laptop', permissions: ['alert-groups:read'] };
  await api.post('/service-accounts', { name: 'deployments', role: 'responder' });
  return (await ada.post('/me/personal-access-tokens', tokens)).value;
}

async function send(
  name: string,
  firing: readonly string[],
  more: object = {},
  ended: readonly string[] = [],
) {
  const alert = (n: string, status: 'firing' | 'resolved'): SentAlert => ({
    status,
    labels: { alertname: name, n, severity: 'warning', ...more },
    annotations: { summary: `What happens to ${name}` },
  });
  const alerts = [...firing.map((n) => alert(n, 'firing')), ...ended.map((n) => alert(n, 'resolved'))];
  const status = await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts });
  if (status !== 202) throw new Error(`a Snapshot of ${name} was answered ${status}`);
}

async function begin(name: string, more: object = {}): Promise<void> {
  await send(name, ['a'], more);
  groups[name] = await until(`the Alert Group ${name}`, async () => {
    const query = `q=${name}&status=firing&status=acknowledged&status=snoozed&status=resolved`;
    return (await api.get(`/alert-groups?${query}`)).items[0]?.id;
  });
}

function delivered(name: string, destination: string): Promise<unknown> {
  return until(`${name} to be delivered to ${destination}`, async () => {
    const { items } = await api.get(`/alert-groups/${groups[name]}/deliveries`);
    return items.find((one: Json) => one.destination.name === destination)?.state === 'delivered';
  });
}

async function everyStatus(staying: Readonly<Record<string, string>>): Promise<void> {
  const open = ['Firing', 'Acknowledged', 'Snoozed', 'Noted', 'Batched', 'Edited', 'Replied'];
  for (const name of [...open, 'EndedAlone', 'EndedByHand']) await begin(name);
  for (const name of Object.keys(groups))
    for (const where of ['steady', 'former', 'tickets', 'pager', 'relay']) await delivered(name, where);
  const ada = await Api.signIn({ app_url: ready.app_url, ...ADA });
  await ada.post(`/alert-groups/${groups.Acknowledged}/acknowledge`);
  await command('Snoozed', 'snooze', { until: new Date(Date.now() + 4 * 3_600_000).toISOString() });
  await command('Noted', 'notes', { body: 'Rolling back the last release.' });
  await command('EndedByHand', 'resolve', { note: 'The quota was raised.' });
  await send('EndedAlone', [], {}, ['a']);
  await until('the end of EndedAlone', async () => {
    return (await api.get(`/alert-groups/${groups.EndedAlone}`)).status === 'resolved';
  });
  for (const name of Object.keys(groups))
    for (const where of ['steady', 'former', 'tickets', 'pager', 'relay']) await delivered(name, where);
  await until('a Broken bridge', async () => isBroken(staying.broken));
  await until('a Broken webhook', async () => isBroken(staying.gone));
  await until('a failing bridge', () => hasFailed('Firing', 'failing'));
}

async function isBroken(id: string | undefined): Promise<boolean> {
  return (await api.get(`/destinations/${id}`)).health.state === 'broken';
}

async function hasFailed(name: string, destination: string): Promise<boolean> {
  const { items } = await api.get(`/alert-groups/${groups[name]}/deliveries`);
  const delivery = items.find((one: Json) => one.destination.name === destination);
  return delivery?.state === 'pending' && delivery.error !== null;
}

/** A Destination is deleted whose last edits do not go out. */
async function leave(former: string | undefined): Promise<void> {
  refuse('former', SERVER_ERROR);
  await api.call('DELETE', `/destinations/${former}`);
}

async function storm(staying: Readonly<Record<string, string>>): Promise<void> {
  const [{ urgent, group_key, policy }] = (await api.get('/route-profiles')).items;
  await api.post('/routes', {
    ...{ name: 'Payments', description: '', urgent, group_key },
    matchers: [{ label: 'team', op: '=', value: 'payments' }],
    destination_ids: [staying.steady, staying.tickets, staying.pager],
    policy: { ...policy, storm_threshold: 2 },
  });
  for (const bank of BANKS) await begin(bank, { team: 'payments' });
  const summary = await until('the Storm summary', async () =>
    bridge.messenger.posts.find(({ kind }) => kind === 'storm_summary'),
  );
  await until('all of it in the summary', async () => summary.body.includes('New Alert Groups: 3'));
  await until('the summary as a ticket', async () => chat.received.some(({ body }) => body === 'Storm 3'));
}

/** The relay is down: what happens now waits there, event by event. */
async function waitingEvents(): Promise<void> {
  const down = (where: string) => (where === '/gone' ? 410 : where === '/relay' ? 503 : 204);
  receiver.answerAll(({ path: where }) => ({ status: down(where) }));
  await command('Noted', 'notes', { body: 'It did not help.' });
  await command('Noted', 'acknowledge');
  await command('Noted', 'unacknowledge');
  await command('Firing', 'notes', { body: 'Somebody is on the way.' });
  await until('a failing relay', () => hasFailed('Noted', 'relay'));
  await delivered('Noted', 'steady');
}

/** Calls that hang when the process ends: done over there or not, and nobody here knows which. */
async function halfDelivered(steady: string | undefined): Promise<void> {
  await send('Batched', ['a', 'b']);
  const root = messageOf(steady, 'Batched');
  await until('the first reply', async () => repliesTo(bridge, root).length === 1);
  await send('Batched', ['a', 'b', 'c']);
  await until(
    'the third Alert',
    async () => (await api.get(`/alert-groups/${groups.Batched}`)).firing_alert_count === 3,
  );
  await delivered('Batched', 'tickets');
  for (let attempt = 0; attempt < 10; attempt++) chat.answerCreate('Ticketed', { status: 503 });
  await begin('Ticketed');
  await delivered('Ticketed', 'steady');

  const edited = `/v1/messages/${encodeURIComponent(messageOf(steady, 'Edited'))}`;
  let hanging = 0;
  let posts = 0;
  const hang = (worked: boolean): Trouble => {
    hanging++;
    return { does: 'hang', worked };
  };
  gateways.steady?.trouble(({ method, target }) => {
    if (method === 'POST' && target === '/v1/messages') return hang(posts++ === 0);
    if (method === 'POST') return hang(true);
    return method === 'PUT' && target === edited ? hang(true) : null;
  });
  await command('Edited', 'acknowledge');
  await send('Replied', ['a', 'b']);
  await Promise.all([begin('HalfDone'), begin('HalfSent')]);
  await until('four calls that hang', async () => hanging === 4);
  await send('NotYetProcessed', ['a']);
}

function messageOf(destination: string | undefined, name: string): string {
  const key = `root-${destination}-${groups[name]}-1`;
  const [, body] = answered.find(([one]) => one === key) ?? [];
  if (body === undefined) throw new Error(`${name} was not posted with the key ${key}`);
  return JSON.parse(body).message_id;
}

async function keep(
  known: Pick<Filled, 'filledAt' | 'token' | 'destinations' | 'signingSecrets'>,
): Promise<void> {
  const into = ['-h', database.host, '-p', String(database.port), '-U', database.user];
  const form = [
    '--no-owner',
    '--no-privileges',
    '--inserts',
    '--rows-per-insert=50',
    '--load-via-partition-root',
  ];
  const options = { maxBuffer: 100_000_000 };
  const dump = await run('pg_dump', [...into, ...form, database.database], options);
  const read = async (query: string): Promise<Json> => {
    const all = `select coalesce(json_agg(t), '[]') from (${query}) as t`;
    const { stdout } = await run('psql', [...into, '-d', database.database, '-Atc', all], options);
    return JSON.parse(stdout);
  };
  const filled: Filled = {
    ...known,
    keys: await readFile(path.join(tocsin.dataDir, 'secret-keys'), 'utf8'),
    login: ready.login,
    password: ready.password ?? '',
    integrationToken: ready.integration_token ?? '',
    integrationId: ready.integration_id,
    bridgeToken: bridge.token,
    origins: Object.fromEntries(
      Object.entries({ ...gateways, receiver, chat }).map(([name, { url }]) => [name, new URL(url).origin]),
    ),
    groups: await read(
      'select id, number, title, status, route_id as route from alert_groups order by number',
    ),
    events: await read(`select id, destination_id, group_id, sequence, event from webhook_events
      where finished_at is null order by group_id, sequence`),
    stormEnds:
      (await read("select max(started_at) as at from alert_groups where title like 'Bank%'"))[0].at +
      360_000_000,
    posts: bridge.messenger.posts,
    answered,
  };
  await writeFile(path.join(out, 'filled.sql.gz'), gzipSync(withoutPartitions(dump.stdout), { level: 9 }));
  await writeFile(path.join(out, 'filled.json.gz'), gzipSync(JSON.stringify(filled), { level: 9 }));
}

/** Partitions are made anew for the days and months on which the dump is restored; indexes then reach them, too. */
function withoutPartitions(dump: string): string {
  return dump
    .split(/(?=^--\n-- (?:Name|Data for Name): )/m)
    .filter((part) => !/^--\n-- Name: [^;]*_20(?:\d{4}|\d{6})(?!\d)/.test(part))
    .map((part) => part.replace(/^\\(?:un)?restrict .*$/gm, ''))
    .map((part) => part.replace(/^(ALTER TABLE) ONLY /gm, '$1 ').replace(/ ON ONLY /g, ' ON '))
    .join('');
}
