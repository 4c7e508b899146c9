/** Template-mode webhooks: the running service, a real database, and a chat that only knows requests (webhooks §4). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTemplateReceiver, type TemplateReceiver } from '../fakes/template-receiver.ts';
import { Api, type Json } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { Sender, type SentAlert } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let api: Api;
let chat: TemplateReceiver;
let sender: Sender;
let destinationId: string;

const templateOf = (url: string) => ({
  create: {
    request: `POST ${url}/messages\nAuthorization: Bearer {{ .Secrets.token }}\n\n{"text":{{ toJson .AlertGroup.Title }},"notify":{{ .Notify }}}`,
    extract: [{ name: 'id', path: '$.data.id' }],
  },
  update: {
    request: `PUT ${url}/messages/{{ .Response.id }}\n\n{"text":{{ toJson .AlertGroup.Title }},"status":"{{ .AlertGroup.Status }}","final":{{ toJson .Final }}}`,
  },
  open_thread: {
    request: `POST ${url}/messages/{{ .Response.id }}/thread\n\n{{ .AlertGroup.Title }}`,
    extract: [{ name: 'thread', path: '$.thread.id' }],
  },
  reply_in_thread: {
    request: `POST ${url}/threads/{{ .Response.thread }}\n\n{{ .AlertGroup.Title }} {{ .Event }}: {{ .Text }}`,
  },
});

beforeAll(async () => {
  tocsin = new Installation();
  chat = await startTemplateReceiver();
  const ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  destinationId = await created('chat');
  await postTo(api, [destinationId], { thread_batching_window_seconds: 0, reopen_window_seconds: 0 });
});

/** A Destination at the chat. @returns its id */
async function created(name: string): Promise<string> {
  const { destination } = await api.post('/destinations', {
    ...{ type: 'webhook', name, mode: 'template', template: templateOf(chat.url) },
    limiter: { limit: 1000, per_seconds: 1 },
  });
  const { id } = destination;
  await api.call('PUT', `/destinations/${id}/secrets/token`, { value: 's3cret-of-the-chat' });
  return id;
}

afterEach(() => {
  expect(chat.faults).toEqual([]);
});

afterAll(async () => {
  await tocsin.remove();
  await chat.close();
});

function alertsOf(name: string, pods: readonly string[], status: SentAlert['status'] = 'firing') {
  return pods.map((shard) => ({ status, labels: { alertname: name, shard, severity: 'critical' } }));
}

async function post(name: string, alerts: readonly SentAlert[]): Promise<void> {
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

/** An Alert Group that the chat has a message about. */
async function posted(name: string): Promise<Json> {
  await post(name, alertsOf(name, ['a']));
  await until(`the create of ${name}`, async () => chat.of('create', name).length === 1);
  const { items } = await api.get(`/alert-groups?q=${name}`);
  await until('its delivery', async () => (await deliveryOf(items[0].id))?.state === 'delivered');
  return items[0];
}

async function deliveryOf(groupId: string): Promise<Json> {
  const { items } = await api.get(`/alert-groups/${groupId}/deliveries`);
  return items[0];
}

/** Texts of requests of a kind about a group. */
const told = (kind: Parameters<TemplateReceiver['of']>[0], name: string) =>
  chat.of(kind, name).map(({ body }) => body);

test('a new Alert Group is created with its Secret, and no update follows what the create has told', async () => {
  await posted('Appears');
  const [create] = chat.of('create', 'Appears');
  expect(create).toMatchObject({ body: '{"text":"Appears","notify":true}' });
  expect(create?.headers).toMatchObject({
    authorization: 'Bearer s3cret-of-the-chat',
    'content-type': 'application/json',
  });
  expect(told('update', 'Appears')).toEqual([]);
});

test('an acknowledgement is an update of the message that the create made', async () => {
  const group = await posted('Acknowledged');
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  const [update] = await until('the update', async () => {
    const found = chat.of('update', 'Acknowledged');
    return found.length > 0 ? found : null;
  });
  expect(update?.body).toBe('{"text":"Acknowledged","status":"acknowledged","final":""}');
  expect(update?.path).toMatch(/^\/messages\/90071992547409\d\d$/);
});

test('replies open the Thread once and go there', async () => {
  await posted('Grows');
  await post('Grows', alertsOf('Grows', ['a', 'b']));
  await until('the first reply', async () => told('reply_in_thread', 'Grows').length === 1);
  await post('Grows', alertsOf('Grows', ['a', 'b', 'c']));
  await until('the second reply', async () => told('reply_in_thread', 'Grows').length === 2);
  expect(told('open_thread', 'Grows')).toHaveLength(1);
  expect(told('reply_in_thread', 'Grows')).toEqual([
    'Grows alerts_added: 1 new alert\n- shard: b',
    'Grows alerts_added: 1 new alert\n- shard: c',
  ]);
});

test('a value that the answer lacks is told in the Timeline, and fails what reads it', async () => {
  // A Destination of its own: the next request that renders ends the error, and at the Default route's Destination that
  // may be the message about the Internal alert which tells of it.
  const ownId = await created('chat without names');
  const { items: routes } = await api.get('/routes');
  const { group_key, policy } = routes.find((route: Json) => route.is_default);
  await api.post('/routes', {
    ...{ name: 'nameless', description: '', urgent: false, group_key, policy },
    matchers: [{ label: 'alertname', op: '=~', value: 'Nameless|Named' }],
    destination_ids: [ownId],
  });
  chat.answerCreate('Nameless', { status: 200, body: '{}' });
  const group = await posted('Nameless');
  await until('its entry in the Timeline', async () => {
    const { items } = await api.get(`/alert-groups/${group.id}/timeline`);
    return items.find(
      ({ system_event: event, detail }: Json) => event === 'template_value_missing' && detail === 'id',
    );
  });
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  const { template_error: error, health } = await until('the template error', async () => {
    const told = await api.get(`/destinations/${ownId}`);
    return told.template_error && told;
  });
  expect(error).toMatchObject({ template: 'webhook_request', request: 'update', fallback: 'not_sent' });
  expect(error.error).toContain('there is no value id');
  expect(health.state).toBe('healthy');
  expect(await deliveryOf(group.id)).toMatchObject({ state: 'not_delivered' });
  await posted('Named');
  await until('its end', async () => (await api.get(`/destinations/${ownId}`)).template_error === null);
});

test('a test makes a real create and stores nothing; a preview sends nothing', async () => {
  const { steps } = await api.post(`/destinations/${destinationId}/tests`, {});
  expect(steps).toMatchObject([
    { name: 'create', error_class: 'none', response_status: 201, extracted: { id: expect.any(String) } },
  ]);
  expect(JSON.stringify(steps)).not.toContain('s3cret-of-the-chat');
  // Messages of earlier stories may still be edited.
  const creates = chat.of('create', '').length;
  const { items } = await api.post(`/destinations/${destinationId}/previews`, {});
  expect(items.map(({ name }: Json) => name)).toEqual([
    ...['create', 'update', 'open_thread', 'reply_in_thread'],
  ]);
  expect(items[1].request).toMatchObject({ method: 'PUT', url: `${chat.url}/messages/example-id` });
  expect(chat.of('create', '')).toHaveLength(creates);
});

test('a Destination that leaves its Route closes its messages with one last update', async () => {
  await posted('Leaves');
  await postTo(api, []);
  const [final] = await until('the last update', async () => {
    const found = chat.of('update', 'Leaves');
    return found.length > 0 ? found : null;
  });
  expect(JSON.parse(final?.body ?? '').final).toMatch(/^Not kept up to date any more\. Current state: http/);
  await postTo(api, [destinationId]);
});

test('changing the mode ends what was of the old one, and begins the new one Quietly', async () => {
  const group = await posted('Turned');
  const path = `/destinations/${destinationId}`;
  const events = { url: `${chat.url}/messages`, headers: [] };
  await api.change(path, (destination) => ({ ...destination, mode: 'events', events }));
  await until('the last update', async () => told('update', 'Turned').length === 1);
  expect(JSON.parse(told('update', 'Turned')[0] ?? '').final).toContain('Current state');
  // Back before its answer is stored, the message would be kept up to date again.
  await until('its end', async () => {
    const { items } = await api.get(`/alert-groups/${group.id}/deliveries`);
    return items.every(({ state }: Json) => state === 'retired');
  });
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('the event', async () =>
    chat.of('create', 'Turned').some(({ body }) => body.includes('"event":"acknowledged"')),
  );
  await api.change(path, (destination) => ({ ...destination, mode: 'template' }));
  await until('the new create', async () =>
    told('create', 'Turned').includes('{"text":"Turned","notify":false}'),
  );
});

test('a deleted Destination sends nothing more', async () => {
  chat.answerCreate('Deleted', { status: 503 });
  await post('Deleted', alertsOf('Deleted', ['a']));
  await until('the first attempt', async () => told('create', 'Deleted').length === 1);
  const { items } = await api.get('/alert-groups?q=Deleted');
  expect((await api.call('DELETE', `/destinations/${destinationId}`)).status).toBe(204);
  await until('its end', async () => (await deliveryOf(items[0].id))?.state === 'not_delivered');
  expect(told('create', 'Deleted')).toHaveLength(1);
});
