/** Alert Groups in a messenger: the running service, a real database, and the reference bridge (delivery, bridge §6). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { attachChannel, repliesTo, requestsTo, rootsOf } from '../harness/bridge-channel.ts';
import { Sender, type SentAlert } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let api: Api;
let bridge: ReferenceBridge;
let sender: Sender;
let destinationId: string;

beforeAll(async () => {
  tocsin = new Installation();
  bridge = await startReferenceBridge();
  const ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  ({ destinationId } = await attachChannel(api, bridge, {
    policy: { thread_batching_window_seconds: 0, reopen_window_seconds: 0 },
  }));
});

afterEach(() => {
  bridge.setFaults([]);
  expect(bridge.refusals()).toEqual([]);
});

afterAll(async () => {
  await tocsin.remove();
  await bridge.close();
});

function alertsOf(
  name: string,
  pods: readonly string[],
  status: SentAlert['status'] = 'firing',
): SentAlert[] {
  return pods.map((pod) => ({ status, labels: { alertname: name, shard: pod, severity: 'critical' } }));
}

async function post(name: string, alerts: readonly SentAlert[]): Promise<void> {
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

/** The one Root message of a group that was just posted, once it is there, and the group. */
async function posted(name: string, alerts = alertsOf(name, ['a'])) {
  await post(name, alerts);
  const message = await until(`the message about ${name}`, async () => rootsOf(bridge, name)[0]);
  const { items } = await api.get(`/alert-groups?q=${name}`);
  return { message, group: items[0] as Json };
}

async function deliveryOf(groupId: string): Promise<Json> {
  const { items } = await api.get(`/alert-groups/${groupId}/deliveries`);
  return items[0];
}

const names = (buttons: readonly { text: string }[]) => buttons.map(({ text }) => text);

test('a posted Snapshot appears as one Loud message with its Alerts and buttons', async () => {
  const { message, group } = await posted('Appears', alertsOf('Appears', ['a', 'b']));
  expect(message).toMatchObject({ channel_id: 'alerts/prod', notify: true, edits: 0 });
  expect(message.heading).toMatchObject({ status: 'firing', title: `#${group.number} Appears` });
  expect(message.body).toMatch(/^- shard: a$/m);
  expect(message.body).toMatch(/^- shard: b$/m);
  expect(names(message.buttons).slice(0, 2)).toEqual(['Ack', 'Resolve']);
  const delivery = await until('its delivery', async () => {
    const found = await deliveryOf(group.id);
    return found?.state === 'delivered' ? found : null;
  });
  expect(delivery).toMatchObject({ error: null, possible_duplicate: false, message_url: null });
});

test('acknowledging edits the message and writes no reply', async () => {
  const { message, group } = await posted('Acknowledged');
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('the edit', async () => message.heading?.status === 'acknowledged');
  expect(names(message.buttons)[0]).toBe('Unack');
  expect(message.body).toContain('Owner: ');
  expect(repliesTo(bridge, message.message_id)).toEqual([]);
});

test('another name of the Owner is shown by the open message at once', async () => {
  const { message, group } = await posted('Renamed');
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('the Owner', async () => message.body.includes('Owner: '));
  const { user } = await api.get('/me');
  const { name, time_zone, language } = user;
  await api.call('PUT', '/me', { name: 'Ann Otherwise', time_zone, language });
  // The engine looks by itself every half minute only.
  await until('the other name', async () => message.body.includes('Owner: Ann Otherwise'), 10);
  await api.change(`/users/${user.id}`, ({ email, role }) => ({ name, email, role }));
  await until('the name from before', async () => !message.body.includes('Ann Otherwise'), 10);
});

test('a new Alert is a Loud reply in the Thread, and the message lists it', async () => {
  const { message } = await posted('Grows', alertsOf('Grows', ['a']));
  await post('Grows', alertsOf('Grows', ['a', 'b']));
  const [reply] = await until('the reply', async () => {
    const replies = repliesTo(bridge, message.message_id);
    return replies.length > 0 ? replies : null;
  });
  expect(reply).toMatchObject({ notify: true });
  expect(reply?.body).toContain('1 new alert');
  await until('the edit', async () => message.body.includes('shard: b'));
});

test('the end of every Alert is a reply and an edit without buttons', async () => {
  const { message } = await posted('Ends');
  await post('Ends', alertsOf('Ends', ['a'], 'resolved'));
  await until('the edit', async () => message.heading?.status === 'resolved');
  expect(message.buttons).toEqual([]);
  await until('the reply', async () => repliesTo(bridge, message.message_id).length === 1);
});

test('a post whose answer is lost is sent again under its key, and is no possible duplicate', async () => {
  bridge.setFaults([{ operation: 'postMessage', times: 1, delay_ms: 0, drop_answer: true }]);
  const { group } = await posted('Lost');
  const delivery = await until('its delivery', async () => {
    const found = await deliveryOf(group.id);
    return found?.state === 'delivered' ? found : null;
  });
  expect(delivery.possible_duplicate).toBe(false);
  expect(rootsOf(bridge, 'Lost')).toHaveLength(1);
  const key = `root-${destinationId}-${group.id}-1`;
  expect(requestsTo(bridge, 'postMessage').filter(({ idempotency_key: sent }) => sent === key)).toHaveLength(
    2,
  );
  await until('an edit to the newest state', async () => rootsOf(bridge, 'Lost')[0]?.edits === 1);
});

test('a refused channel makes the Destination Broken; a check that passes brings what waited', async () => {
  bridge.setFaults([
    { operation: 'postMessage', times: 1, status: 403, class: 'forbidden', delay_ms: 0, drop_answer: false },
  ]);
  await post('Refused', alertsOf('Refused', ['a']));
  await until(
    'Broken',
    async () => (await api.get(`/destinations/${destinationId}`)).health.state === 'broken',
  );
  expect(rootsOf(bridge, 'Refused')).toEqual([]);
  const checked = await api.post(`/destinations/${destinationId}/checks`, {});
  expect(checked.ok).toBe(true);
  const [message] = await until('the message', async () => {
    const found = rootsOf(bridge, 'Refused');
    return found.length > 0 ? found : null;
  });
  expect(message?.notify).toBe(true);
  expect((await api.get(`/destinations/${destinationId}`)).health.state).toBe('healthy');
});

test('a template that fails shows the Fallback and says so on its Route, until it renders again', async () => {
  const { items } = await api.get('/routes');
  const { destination_ids, policy, ...fallback } = items.find((route: Json) => route.is_default);
  // Of its own: the Default route also takes the Internal alert about the failure, whose message renders.
  const { id } = await api.post('/routes', {
    name: 'templated',
    description: '',
    matchers: [{ label: 'shard', op: '=', value: 'templated' }],
    urgent: false,
    group_key: fallback.group_key,
    destination_ids,
    policy,
  });
  const path = `/routes/${id}`;
  const alerts = (name: string) => alertsOf(name, ['templated']);
  const { message: open } = await posted('Before', alerts('Before'));
  const saveTemplate = (root_message: string | null) =>
    api.change(path, (route) => ({
      ...route,
      policy: { ...route.policy, templates: { ...route.policy.templates, root_message } },
    }));
  // Whether it fails depends on the Alert Group: no dry run has seen this one.
  await saveTemplate('{{ if eq .AlertGroup.Title "Unrendered" }}{{ index (list "a") 7 }}{{ end }}As written');
  await until('the open message to be made with it', async () => open.body.includes('As written'));
  const { message, group } = await posted('Unrendered', alerts('Unrendered'));
  expect(message.body).toContain("The Route's message template failed, all labels follow");
  const fallbacks = async () => {
    const entries = (await api.get(`/alert-groups/${group.id}/timeline`)).items;
    return entries.filter((entry: Json) => entry.system_event === 'fallback_template_used');
  };
  await until('its entry in the Timeline', async () => (await fallbacks()).length > 0);
  const error = async () => (await api.get(path)).template_error;
  const told = await until('the error on the Route', error);
  expect(told).toMatchObject({ template: 'root_message', fallback: 'fallback_template' });
  const status = await api.get('/system-status');
  expect(status.template_errors).toMatchObject([{ subject_kind: 'route', template: 'root_message' }]);

  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('the edit', async () => message.heading?.status === 'acknowledged');
  expect(await fallbacks()).toMatchObject([{ detail: expect.stringContaining('line 1, column') }]);

  const { message: next } = await posted('Renders', alerts('Renders'));
  expect(next.body).toContain('As written');
  await until('no error', async () => (await error()) === null);
  await saveTemplate(null);
  await until('the messages without a template', async () => next.body.includes('alerts began'));
});

test('a deleted message of an open group is published once more, Quiet and with a note', async () => {
  const { message } = await posted('Removed');
  bridge.acts.delete(message.message_id, null);
  const again = await until('the second message', async () => rootsOf(bridge, 'Removed')[1]);
  expect(again.notify).toBe(false);
  expect(again.body).toContain('Posted again');
});
