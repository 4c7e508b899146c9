/** `docs/life-of-an-alert.md` against the running service: the files that an alert enters on its way to a messenger. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filesOnTheWay } from '../../scripts/house.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { attachChannel, rootsOf } from '../harness/bridge-channel.ts';
import {
  attachRecorder,
  type CoverageRecorder,
  type Entered,
  enteredByEach,
  INSPECTED,
} from '../harness/entered-modules.ts';
import { Sender } from '../harness/sender.ts';
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const PAGE = path.resolve(import.meta.dirname, '..', '..', 'docs', 'life-of-an-alert.md');
/** Where it serves in place of uWebSockets.js, which has no file here. */
const NODE_HTTP = 'http/server/node-app.ts';
const PUSH_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** ms; the outcome of a message is stored within it, and what the service does every second happens in it. */
const WINDOW = 3_000;

let tocsin: Installation;
let bridge: ReferenceBridge;
let network: TcpProxy;
let sender: Sender;
let recorder: CoverageRecorder;

beforeAll(async () => {
  tocsin = new Installation(INSPECTED);
  bridge = await startReferenceBridge({ push: { url: 'http://127.0.0.1:9/', secret: PUSH_SECRET } });
  network = await startTcpProxy({ port: Number(new URL(bridge.url).port) });
  const ready = await tocsin.start();
  const api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  // A bridge that pushes is not polled: the calls recorded are those for the alert.
  await attachChannel(api, bridge, {
    connection: {
      base_url: `http://127.0.0.1:${network.port}`,
      ...{ event_mode: 'push', push_secret: PUSH_SECRET },
    },
  });
  recorder = await attachRecorder(tocsin.log);
});

afterAll(async () => {
  recorder?.close();
  await tocsin.remove();
  await network.stop();
  await bridge.close();
});

async function alertBecomesMessage(name: string): Promise<void> {
  // Every alert opens a connection: whether one is still open from the last would be chance.
  network.cut();
  const alerts = [{ labels: { alertname: name, severity: 'critical' } }];
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
  await until(`the message about ${name}`, async () => rootsOf(bridge, name)[0]);
}

/** What is entered during {@link WINDOW}, or until the work is done when that takes longer. */
async function enteredDuring(work: () => Promise<void>): Promise<Entered> {
  await recorder.take();
  await Promise.all([pause(WINDOW), work()]);
  return recorder.take();
}
const idle = () => enteredDuring(async () => undefined);

test('the page names every file that only an alert enters on its way to a messenger, and none that it does not', async () => {
  await alertBecomesMessage('WarmUp');
  await pause(WINDOW);
  const before = await idle();
  const alerts: Entered[] = [];
  // What some timer runs now and then is not entered by each of them.
  for (const name of ['DiskFull', 'HostDown', 'TooManyErrors'])
    alerts.push(await enteredDuring(() => alertBecomesMessage(name)));
  const after = await idle();
  const page = filesOnTheWay(readFileSync(PAGE, 'utf8'));
  const entered = new Set(enteredByEach(alerts));
  expect(page.filter((file) => !entered.has(file))).toEqual([]);
  const known = new Set([...page, NODE_HTTP]);
  expect(enteredByEach(alerts, [before, after]).filter((file) => !known.has(file))).toEqual([]);
});
