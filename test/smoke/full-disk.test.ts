/** The disk of the database is full: senders are told to come again, nothing accepted is lost, and it ends by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { Sender } from '../harness/sender.ts';
import { SmallVolume } from '../harness/small-volume.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let volume: SmallVolume;

beforeAll(async () => {
  tocsin = new Installation();
  volume = new SmallVolume(tocsin.dataDir, 400);
  ready = await tocsin.start();
});

afterAll(async () => {
  await tocsin.stop();
  volume.unmount();
  await tocsin.remove();
});

async function readiness(): Promise<string> {
  const answer = await fetch(new URL('/health/ready', ready.internal_url));
  return `${answer.status} ${await answer.text()}`;
}

test('a full disk is 503 with its reason, keeps all that was accepted, and ends when there is room', async () => {
  const api = await Api.signIn(ready);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const accepted: string[] = [];
  const send = async (alertname: string): Promise<number> => {
    const alerts = Array.from({ length: 60 }, (_, n) => ({
      labels: { alertname, n: String(n), filler: 'x'.repeat(400) },
    }));
    const status = await sender.post({ groupKey: alertname, alerts });
    if (status === 202) accepted.push(alertname);
    return status;
  };

  expect(await send('Before')).toBe(202);
  expect(await readiness()).toBe('200 ok');
  volume.fill();
  const statuses = new Set<number>();
  await until('the disk to be full', async () => {
    statuses.add(await send(`During${statuses.size}x${accepted.length}`));
    return statuses.has(503);
  });
  expect([...statuses].filter((status) => status !== 202)).toEqual([503]);
  expect(await readiness()).toBe('503 database disk full');
  expect(await send('Refused')).toBe(503);
  expect((await fetch(new URL('/health/live', ready.internal_url))).status).toBe(200);

  volume.makeRoom();
  await until('readiness', async () => (await readiness()) === '200 ok');
  await until('a post to be accepted', async () => (await send('After')) === 202);
  await until('every accepted group', async () => {
    const found = new Set((await api.all('/alert-groups')).map(({ title }) => title));
    return accepted.every((name) => found.has(name));
  });
});
