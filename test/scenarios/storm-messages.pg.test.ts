/**
 * A Storm from its first Alert Group to its end as people see it: in the channel of a bridge, and in a chat that only
 * knows requests (alert-groups §9, delivery §12, webhooks §4.6).
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { startTemplateReceiver, type TemplateReceiver } from '../fakes/template-receiver.ts';
import type { Json } from '../harness/api.ts';
import { rootsOf } from '../harness/bridge-channel.ts';
import { Scenario } from './scenario.ts';
import { useWorld } from './world.ts';

const world = useWorld();

const WIDE = { limit: 1000, per_seconds: 1 };
const POLICY = { storm_threshold: 2, thread_batching_window_seconds: 0 };
/** G1 and G2 are posted as ever, G3 starts the Storm at three seconds. */
const BURST = 't1s I/g1: +G1; t2s I/g2: +G2; t3s I/g3: +G3';
const OVER_COLOR = '#388e3c';
/** Both tell of groups and Storms in a line; the second one knows of no Storms. */
const CREATE = `{{ if .Storm }}Storm {{ .Storm.AlertGroupCount }}, {{ .Storm.UrgentCount }} Urgent{{ else }}{{ .AlertGroup.Title }}{{ end }}{{ if .Notify }} Loud{{ end }}`;
const UPDATE = `{{ if .Storm }}Storm {{ .Storm.AlertGroupCount }}, {{ .Storm.UrgentCount }} Urgent{{ if .Storm.Final }}, over{{ end }}{{ else }}{{ .AlertGroup.Title }} {{ .AlertGroup.Status }}{{ end }}`;
const UNAWARE = '{{ .AlertGroup.Title }}{{ if .Notify }} Loud{{ end }}';

let s: Scenario;
let bridge: ReferenceBridge;
let chat: TemplateReceiver;
let connection: Json;
const made: Json[] = [];
/** What earlier tests left behind. */
const before = { posts: 0, requests: 0 };

beforeAll(async () => {
  // The bridge is not polled: business time makes leaps.
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  bridge = await startReferenceBridge({ push: { url: 'http://127.0.0.1:9/', secret } });
  chat = await startTemplateReceiver();
  connection = await world().admin.post('/connections', {
    ...{ type: 'bridge', name: 'bridge', base_url: bridge.url, bot_token: bridge.token },
    ...{ event_mode: 'push', push_secret: secret, proxy: { enabled: false }, limiter: WIDE },
  });
});

afterEach(async () => {
  await s.close();
  for (const { id } of made.splice(0)) await s.admin.call('DELETE', `/destinations/${id}`);
  await s.world.settle();
  expect(bridge.refusals()).toEqual([]);
  expect(chat.faults).toEqual([]);
});

afterAll(async () => {
  await bridge.close();
  await chat.close();
});

/** Alert Groups of this test, each of an Alert of its own; those named so are critical, and Urgent with that. */
async function begin(create = CREATE, limiter: object = WIDE): Promise<void> {
  s = await Scenario.open(world(), { policy: POLICY });
  const sender = s.sender();
  for (const name of ['G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'H1', 'H2', 'H3'])
    sender.call(name, { alertname: name, cluster: 'a', severity: 'warning' });
  sender.call('Urgent', { alertname: 'Urgent', cluster: 'a', severity: 'critical' });
  sender.call('G5C', { alertname: 'G5', cluster: 'a', severity: 'critical' });
  const channel = { connection_id: connection.id, channel_id: 'alerts/prod' };
  await add({ type: 'bridge', name: 'channel', ...channel, limiter });
  const template = {
    create: {
      request: `POST ${chat.url}/messages\n\n${create}`,
      extract: [{ name: 'id', path: '$.data.id' }],
    },
    update: { request: `PUT ${chat.url}/messages/{{ .Response.id }}\n\n${UPDATE}`, extract: [] },
  };
  await add({ type: 'webhook', name: 'chat', mode: 'template', template });
  const ids = [s.destination, ...made].map(({ id }) => id);
  await s.edit((route) => ({ ...route, destination_ids: ids }));
  before.posts = bridge.messenger.posts.length;
  before.requests = chat.received.length;
}

async function add(fields: object): Promise<void> {
  made.push((await s.admin.post('/destinations', { limiter: WIDE, ...fields })).destination);
}

const posts = () => bridge.messenger.posts.slice(before.posts);
const replies = () => posts().filter(({ kind }) => kind === 'reply');
const summaries = () => posts().filter(({ kind }) => kind === 'storm_summary');

/** Root messages in the order of their posts: `G1 Loud`. */
const roots = () =>
  posts()
    .filter(({ kind }) => kind === 'root')
    .map(({ heading, notify }) => `${heading?.title.replace(/^#\d+ /, '')}${notify ? ' Loud' : ''}`);

/** What the chat was sent. */
const told = (method: 'POST' | 'PUT') =>
  chat.received
    .slice(before.requests)
    .filter((request) => request.method === method)
    .map(({ body }) => body);

async function states(number: number): Promise<Record<string, string>> {
  const { id } = await s.group(number);
  const { items } = await s.admin.get(`/alert-groups/${id}/deliveries`);
  return Object.fromEntries(items.map(({ destination, state }: Json) => [destination.name, state]));
}

test('it is summed up in one message while it lasts; then what is open is posted Quiet, and what ended is not', async () => {
  await begin();
  await s.play(BURST);
  const [summary] = summaries();
  expect(summary).toMatchObject({ notify: true, edits: 0, buttons: [], heading: { status: 'storm' } });
  const shows: string[] = [];
  const next = async (script: string) => {
    await s.play(script);
    shows.push(/New Alert Groups: \d+, Urgent: \d+/.exec(summary?.body ?? '')?.[0] ?? '');
  };
  await next('t3s');
  await next('t4s I/g4: +G4');
  await next('t5s I/u: +Urgent');
  await next('t6s I/g5: +G5');
  await next('t7s I/g4: -G4');
  await next('t8s Ann acknowledges #3');
  await next('t9s I/g5: +G5C');
  await next('t13s I/g6: +G6');
  expect(shows).toEqual(
    [
      ...['1, Urgent: 0', '2, Urgent: 0', '3, Urgent: 1', '4, Urgent: 1', '4, Urgent: 1', '4, Urgent: 1'],
      ...['4, Urgent: 2', '5, Urgent: 2'],
    ].map((numbers) => `New Alert Groups: ${numbers}`),
  );
  expect(summary?.edits).toBe(5);
  // Two are Urgent, one from its beginning: each is a message at once, Loud.
  const posted = ['G1 Loud', 'G2 Loud', 'Urgent Loud', 'G5 Loud'];
  expect(roots()).toEqual(posted);
  expect(told('POST')).toEqual([
    ...['G1 Loud', 'G2 Loud', 'Storm 1, 0 Urgent Loud', 'Urgent Loud', 'G5 Loud'],
  ]);
  expect(s.webhooks(3)[0]).toBe('t0:03 created');
  expect((await s.view(7)).next_notice).toBeNull();

  // No more than two began within a minute from t1:05 on.
  await s.play('t6:04');
  expect(roots()).toEqual(posted);
  expect(summary?.edits).toBe(5);
  await s.play('t6:06');
  expect(summary).toMatchObject({ edits: 6, heading: { status: 'storm', color: OVER_COLOR } });
  expect(summary?.body).toContain('The storm has passed. Alert Groups still open: 4');
  // They go out side by side.
  expect(roots().slice(0, 4)).toEqual(posted);
  expect(roots().slice(4).sort()).toEqual(['G3', 'G6']);
  expect(rootsOf(bridge, 'G3').at(-1)?.heading?.status).toBe('acknowledged');
  expect(told('POST').slice(5).sort()).toEqual(['G3', 'G6']);
  expect(told('PUT').filter((line) => line.startsWith('Storm'))).toEqual([
    ...['Storm 2, 0 Urgent', 'Storm 3, 1 Urgent', 'Storm 4, 1 Urgent', 'Storm 4, 2 Urgent'],
    ...['Storm 5, 2 Urgent', 'Storm 5, 2 Urgent, over'],
  ]);
  expect(await states(4)).toMatchObject({ channel: 'withheld', chat: 'withheld' });
  expect(await states(3)).toMatchObject({ channel: 'delivered', chat: 'delivered' });
  await s.shows(7, { next_notice: 'ack_timeout t21:05' });

  // What it withheld stays withheld, whatever becomes of it, and a later burst is a Storm of its own.
  await s.play('t8 I/g4: +G4');
  expect(await s.view(4)).toMatchObject({ status: 'firing', reopen_count: 1 });
  expect(roots()).toHaveLength(posted.length + 2);
  expect(replies()).toEqual([]);
  await s.play('t10 I/h1: +H1; t10 I/h2: +H2; t10 I/h3: +H3');
  expect(summaries()).toHaveLength(2);
  expect(summaries()[1]).toMatchObject({ notify: true, edits: 0 });
  expect(roots().slice(-2)).toEqual(['H1 Loud', 'H2 Loud']);
  expect(summary?.edits).toBe(6);
});

test('what it held is posted in the order of #N, as fast as the limiter lets it', async () => {
  await begin(CREATE, { limit: 1, per_seconds: 20 });
  const names = ['G3', 'G4', 'G5', 'G6', 'H1', 'H2', 'H3'];
  await s.play(BURST);
  for (const [n, name] of names.slice(1).entries()) await s.play(`t${4 + n}s I/${name}: +${name}`);
  await s.play('t6');
  expect(roots()).toEqual(['G1 Loud', 'G2 Loud']);
  await s.play('t10');
  expect(roots()).toEqual(['G1 Loud', 'G2 Loud', ...names]);
});

test('one that ended while nobody was there is over when the service is back', async () => {
  await begin();
  await s.play(`${BURST}; t4s I/g4: +G4; t5s I/g4: -G4; t10s`);
  await s.downUntil('t9');
  await s.play('t9:10');
  expect(summaries()).toMatchObject([{ notify: true, heading: { color: OVER_COLOR } }]);
  expect(summaries()[0]?.body).toContain('Alert Groups still open: 1');
  expect(roots()).toEqual(['G1 Loud', 'G2 Loud', 'G3']);
  expect(told('POST')).toEqual(['G1 Loud', 'G2 Loud', 'Storm 1, 0 Urgent Loud', 'G3']);
  expect(
    told('PUT')
      .filter((line) => line.startsWith('Storm'))
      .at(-1),
  ).toBe('Storm 2, 0 Urgent, over');
});

test('a chat whose requests know no Storms is told nothing until the end', async () => {
  await begin(UNAWARE);
  await s.play(`${BURST}; t4s I/g4: +G4; t30s`);
  const [, webhook] = made;
  expect(told('POST')).toEqual(['G1 Loud', 'G2 Loud']);
  const { template_error: error, health } = await s.admin.get(`/destinations/${webhook?.id}`);
  expect(error).toMatchObject({ template: 'webhook_request', request: 'create' });
  expect(health.state).toBe('healthy');
  expect(summaries()).toHaveLength(1);
  await s.play('t7');
  expect(told('POST').sort()).toEqual(['G1 Loud', 'G2 Loud', 'G3', 'G4']);
  expect((await s.admin.get(`/destinations/${webhook?.id}`)).template_error).toBeNull();
});
