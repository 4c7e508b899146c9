/** However quickly what a message is made of changes, the last state is the one that is delivered (delivery §3). */

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { attachChannel, rootsOf } from '../harness/bridge-channel.ts';
import { randomSource } from '../harness/random.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { seedOfRun } from '../simulation/random.ts';

const ROUNDS = 100;
const CHANGES_A_ROUND = 10;
/** Longer than a render takes, shorter than anything that is kept for a moment. */
const SHORT_PAUSE_MS = 30;
/** Before the last change of every fifth round, 30 s together: longer than anything that is kept for a moment. */
const LONG_PAUSE_MS = 1_500;
const SEED = seedOfRun(process.env.LAST_STATE_SEED);

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
  ({ destinationId } = await attachChannel(api, bridge));
});

afterAll(async () => {
  await tocsin.remove();
  await bridge.close();
});

async function defaultRoute(): Promise<Json> {
  const { items } = await api.get('/routes');
  return items.find((route: Json) => route.is_default);
}

async function posted(name: string) {
  const alerts = [{ status: 'firing', labels: { alertname: name, severity: 'critical' } }] as const;
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
  return until(`the message about ${name}`, async () => rootsOf(bridge, name)[0]);
}

test('after a thousand changes of template and Info at random moments a message shows the last of them', {
  timeout: 600_000,
}, async () => {
  console.info(`LAST_STATE_SEED=${SEED}`);
  const random = randomSource(SEED);
  const message = await posted('Restless');
  const { id: routeId } = await defaultRoute();
  const wanted = { text: '', hasButtons: true };
  let changes = 0;

  const changeTemplate = async () => {
    wanted.text = `state ${changes}`;
    await api.change(`/routes/${routeId}`, (route) => ({
      ...route,
      policy: { ...route.policy, templates: { ...route.policy.templates, root_message: wanted.text } },
    }));
  };
  const changeInfo = async () => {
    wanted.hasButtons = !wanted.hasButtons;
    bridge.offer('buttons', wanted.hasButtons);
    await api.post(`/destinations/${destinationId}/checks`);
  };
  const pauseBefore = (change: number, round: number) => {
    const isLong = round % 5 === 0 && change === CHANGES_A_ROUND - 1;
    return pause(random() * (isLong ? LONG_PAUSE_MS : SHORT_PAUSE_MS));
  };
  const shows = () => message.body.includes(wanted.text) && message.buttons.length > 0 === wanted.hasButtons;

  for (let round = 0; round < ROUNDS; round++) {
    for (let change = 0; change < CHANGES_A_ROUND; change++) {
      await pauseBefore(change, round);
      changes += 1;
      await (random() < 0.7 ? changeTemplate() : changeInfo());
    }
    const last = `${wanted.text}, buttons ${wanted.hasButtons} (round ${round}, LAST_STATE_SEED=${SEED})`;
    await until(last, async () => shows(), 10);
  }
  expect(changes).toBe(ROUNDS * CHANGES_A_ROUND);
});
