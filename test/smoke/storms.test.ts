/** A Storm in a messenger: the running service, a real database, and the reference bridge (delivery §12). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { attachChannel, rootsOf } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const THRESHOLD = 2;

let tocsin: Installation;
let api: Api;
let bridge: ReferenceBridge;
let sender: Sender;

beforeAll(async () => {
  tocsin = new Installation();
  bridge = await startReferenceBridge();
  const ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  await attachChannel(api, bridge, { policy: { storm_threshold: THRESHOLD } });
});

afterAll(async () => {
  await tocsin.remove();
  await bridge.close();
});

const summaries = () => bridge.messenger.posts.filter(({ kind }) => kind === 'storm_summary');
const roots = () => bridge.messenger.posts.filter(({ kind }) => kind === 'root');

async function post(name: string): Promise<void> {
  const alerts = [{ labels: { alertname: name, severity: 'warning' } }];
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

test('a Storm is told once, Loud, and edited as it grows; what it holds is not posted', async () => {
  for (let n = 1; n <= THRESHOLD; n++) {
    await post(`Calm${n}`);
    await until(`the message about Calm${n}`, async () => rootsOf(bridge, `Calm${n}`).length === 1);
  }
  await post('Starting');
  const summary = await until('the summary', async () => summaries()[0]);
  expect(summary).toMatchObject({ notify: true, buttons: [] });
  expect(summary.heading).toMatchObject({ status: 'storm' });
  expect(summary.body).toContain('New Alert Groups: 1,');
  await post('Held');
  await until('the edit', async () => summary.edits > 0 && summary.body.includes('New Alert Groups: 2,'));
  for (const name of ['Starting', 'Held']) {
    const { items } = await api.get(`/alert-groups?q=${name}`);
    const deliveries = await api.get(`/alert-groups/${items[0].id}/deliveries`);
    expect(deliveries.items).toMatchObject([{ state: 'pending' }]);
  }
  expect(summaries()).toHaveLength(1);
  expect(roots()).toHaveLength(THRESHOLD);
  expect(bridge.refusals()).toEqual([]);
});

test('a summary that somebody deletes after a restart is posted again, Quiet, and edited as the Storm grows', async () => {
  const [summary] = summaries();
  await tocsin.kill();
  await tocsin.start();
  bridge.acts.delete(summary?.message_id ?? '', null);
  const again = await until('the second summary', async () => summaries()[1]);
  expect(again.notify).toBe(false);
  expect(again.body).toContain('New Alert Groups: 2,');
  await post('Later');
  await until('the edit', async () => again.body.includes('New Alert Groups: 3,'));
  expect(summaries()).toHaveLength(2);
  expect(bridge.refusals()).toEqual([]);
});
