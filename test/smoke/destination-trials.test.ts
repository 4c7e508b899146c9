/** What a person does with a channel before it is relied on: save, check, test, preview; and what a repair changes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { attachChannel, rootsOf } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let api: Api;
let bridge: ReferenceBridge;
let sender: Sender;
let path: string;

beforeAll(async () => {
  tocsin = new Installation();
  bridge = await startReferenceBridge();
  const ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const { destinationId } = await attachChannel(api, bridge);
  path = `/destinations/${destinationId}`;
});

afterAll(async () => {
  await tocsin.remove();
  await bridge.close();
});

const destination = (): Promise<Json> => api.get(path);

async function post(name: string): Promise<void> {
  const alerts = [{ status: 'firing' as const, labels: { alertname: name, severity: 'critical' } }];
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

test('a saved channel has the name that its messenger gives it', async () => {
  expect(await destination()).toMatchObject({ channel_id: 'alerts/prod', channel_name: 'alerts > prod' });
});

test('a channel that is closed to the bot cannot be saved', async () => {
  const { connection_id } = await destination();
  const body = { type: 'bridge', name: 'closed', connection_id, channel_id: 'closed' };
  const refused = await api.call('POST', '/destinations', body);
  expect(refused.status).toBe(422);
  expect(refused.body.errors).toMatchObject([
    { pointer: '/channel_id', code: 'destination_check_failed', detail: expect.stringMatching(/\S/) },
  ]);
});

test('a test message arrives Quiet, marked, and outside of what is kept up to date', async () => {
  const { steps, health } = await api.post(`${path}/tests`);
  expect(steps).toMatchObject([{ name: 'message', error_class: 'none', response_status: 201 }]);
  expect(health.state).toBe('healthy');
  const [message] = bridge.messenger.posts.filter(({ kind }) => kind === 'test');
  expect(message).toMatchObject({ channel_id: 'alerts/prod', notify: false });
  expect(message?.heading?.title).toContain('Test message');
  expect(bridge.refusals()).toEqual([]);
});

test('a preview says the same and posts nothing', async () => {
  const before = bridge.messenger.posts.length;
  const { items } = await api.post(`${path}/previews`);
  expect(items).toMatchObject([{ name: 'message', format: 'commonmark' }]);
  expect(bridge.messenger.posts).toHaveLength(before);
});

test('a channel that broke works again once a person has checked it, and what waited is posted', async () => {
  const refusal = { status: 403, class: 'forbidden', times: 1, delay_ms: 0, drop_answer: false } as const;
  bridge.setFaults([{ operation: 'postMessage', ...refusal }]);
  await post('Broken');
  await until('the Destination to break', async () => (await destination()).health.state === 'broken');
  expect(rootsOf(bridge, 'Broken')).toEqual([]);
  const check = await api.post(`${path}/checks`);
  expect(check).toMatchObject({ ok: true, health: { state: 'healthy', reason: null } });
  const message = await until('the message that waited', async () => rootsOf(bridge, 'Broken')[0]);
  expect(message.notify).toBe(true);
});

test('pointed at another channel, open Alert Groups are posted there and the old messages get a last edit', async () => {
  await post('Moves');
  const old = await until('the first message', async () => rootsOf(bridge, 'Moves')[0]);
  await api.change(path, (current) => ({ ...current, channel_id: 'alerts' }));
  const anew = await until('the message in the other channel', async () =>
    rootsOf(bridge, 'Moves').find(({ channel_id: channel }) => channel === 'alerts'),
  );
  expect(anew.notify).toBe(false);
  await until('the last edit of the old message', async () => old.edits > 0 && old.buttons.length === 0);
});
