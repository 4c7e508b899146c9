/** A stop while a messenger has not answered yet: the running service, a real database, and the reference bridge. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { attachChannel, requestsTo, rootsOf } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** Longer than a stop takes that waits for nothing, shorter than calls under way get. */
const ANSWERED_AFTER_MS = 4_000;

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

test('a stop waits for the answer of a post, and the next start does not post again', async () => {
  const ready = await tocsin.start();
  const api = await Api.signIn(ready);
  await attachChannel(api, bridge);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const fire = (name: string) =>
    sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts: [{ labels: { alertname: name } }] });
  const posts = () => requestsTo(bridge, 'postMessage');

  bridge.setFaults([{ operation: 'postMessage', times: 1, delay_ms: ANSWERED_AFTER_MS, drop_answer: false }]);
  expect(await fire('Slow')).toBe(202);
  await until('the post to be under way', async () => posts().length === 1);
  expect(await tocsin.stop()).toBe(0);
  expect(posts().map(({ status }) => status)).toEqual([201]);
  expect(tocsin.log.filter((line) => line.includes('"event":"shutdown_grace_exceeded"'))).toEqual([]);

  await tocsin.start();
  const { items: groups } = await api.get('/alert-groups?q=Slow');
  const deliveries = async () => (await api.get(`/alert-groups/${groups[0].id}/deliveries`)).items;
  const kept = [{ state: 'delivered', possible_duplicate: false }];
  expect(await deliveries()).toMatchObject(kept);
  // What this Destination had to do before this one it has done.
  expect(await fire('After')).toBe(202);
  await until('the message about After', async () => rootsOf(bridge, 'After').length === 1);
  expect(posts()).toHaveLength(2);
  expect(rootsOf(bridge, 'Slow')).toHaveLength(1);
  expect(await deliveries()).toMatchObject(kept);
  expect(bridge.refusals()).toEqual([]);
});
