/** SIGKILL between a Command and its answer: the press comes again, has no second effect, and is answered (bridge §7.1). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PEOPLE } from '../../runtime/cli/bridge-reference/messenger.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { attachChannel, rootsOf } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** Far longer than it takes to see that the Command was carried out, and to kill. */
const NO_ANSWER_MS = 9_000;

let tocsin: Installation;
let bridge: ReferenceBridge;

beforeAll(async () => {
  tocsin = new Installation();
  bridge = await startReferenceBridge();
});

afterAll(async () => {
  await tocsin.remove();
  await bridge.close();
});

test('a killed service carries out a press once, and answers it after its return', async () => {
  const [alice] = PEOPLE.map(({ person }) => person);
  if (!alice) throw new Error('the reference bridge knows nobody');
  const ready = await tocsin.start();
  let api = await Api.signIn(ready);
  const { connectionId } = await attachChannel(api, bridge);
  const { token } = await api.post('/me/account-links/bridge', {
    connection_id: connectionId,
    method: 'token',
  });
  bridge.acts.writeDirectly(0, token, alice);
  await until('the link', async () => (await api.get('/me/account-links')).items.length === 1);

  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [{ status: 'firing', labels: { alertname: 'Killed', severity: 'critical' } }] as const;
  expect(await sender.post({ groupKey: '{}:{alertname="Killed"}', alerts })).toBe(202);
  const message = await until('the message', async () => rootsOf(bridge, 'Killed')[0]);
  const { items: groups } = await api.get('/alert-groups?q=Killed');
  const group: string = groups[0].id;

  bridge.setFaults([
    { operation: 'answerEvent', times: 1, delay_ms: NO_ANSWER_MS, drop_answer: false, status: 503 },
  ]);
  const ack = message.buttons.find(({ text }) => text === 'Ack');
  bridge.acts.press(message.message_id, ack?.data ?? '', alice);
  await until('the Command', async () => (await api.get(`/alert-groups/${group}`)).status === 'acknowledged');
  await tocsin.kill();
  bridge.setFaults([]);
  await tocsin.start();

  await until('the answer', async () =>
    bridge.messenger.posts.some(({ kind, body }) => kind === 'answer' && body === 'Done: Ack'),
  );
  await until('the edit', async () => message.heading?.status === 'acknowledged');
  api = await Api.signIn(ready);
  const entries = await api.get(`/audit-log?resource_id=${group}`);
  expect(entries.items.map(({ action }: { action: string }) => action)).toEqual(['alert_group.acknowledged']);
  expect(bridge.refusals()).toEqual([]);
});
