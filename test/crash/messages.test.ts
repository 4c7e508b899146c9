/**
 * SIGKILL at random moments while messages go out through a bridge. Every Alert Group must have one Root message that
 * shows it as it is, every event that is told in a Thread one reply, and nothing may stand there twice (delivery §5).
 */

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { attachChannel, repliesTo, rootsOf } from '../harness/bridge-channel.ts';
import { randomSource } from '../harness/random.ts';
import { Sender } from '../harness/sender.ts';
import { SendingGroup } from '../harness/sending-group.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { seedOfRun } from '../simulation/random.ts';

/** `CRASH_KILLS=100` kills as often. */
const KILLS = Number(process.env.CRASH_KILLS ?? 8);
const GROUPS = 8;
/** Told under a Root message; what these groups go through, that is all there is. */
const TOLD = ['alerts_added', 'resolved', 'reopened'];
/** Nothing is batched, and no Storm holds anything back. */
const POLICY = { thread_batching_window_seconds: 0, storm_threshold: 100_000 };

/** Repeatable "random": a failing run is run again with CRASH_SEED. */
const seed = seedOfRun(process.env.CRASH_SEED);

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

test(`${KILLS} kills leave one message and one reply each (seed ${seed})`, {
  timeout: 300_000 + KILLS * 20_000,
}, async () => {
  const random = randomSource(seed);
  const ready = await tocsin.start();
  await attachChannel(await Api.signIn(ready), bridge, { policy: POLICY });
  const groups = Array.from({ length: GROUPS }, (_, n) => new SendingGroup(`Told${n}`));
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  let sending = true;
  const senders = groups.map(async (group) => {
    while (sending) {
      const status = await sender.post({ groupKey: group.name, ...group.snapshot() }).catch(() => 0);
      if (status === 202) group.settle();
      await pause(100 + random() * 200);
    }
  });
  for (let kill = 0; kill < KILLS; kill++) {
    await pause(100 + random() * 900);
    await tocsin.kill();
    // Slow answers leave calls under way when the next kill comes.
    const slow = { delay_ms: Math.floor(random() * 200), drop_answer: false };
    bridge.setFaults([
      { operation: 'postMessage', times: 10, ...slow },
      { operation: 'replyInThread', times: 20, ...slow },
    ]);
    await tocsin.start();
  }
  await pause(500);
  sending = false;
  await Promise.all(senders);
  bridge.setFaults([]);

  const api = await Api.signIn(ready);
  const ids = await until('every group to be there', async () => {
    const all = await api.all('/alert-groups?status=firing&status=acknowledged&status=resolved');
    return groups.every(({ name }) => all.some(({ title }) => title === name))
      ? all.map(({ id }) => id)
      : null;
  });
  for (const id of ids) await until(`what ${id} shows`, () => isTold(api, id), 60);
  expect(bridge.messenger.posts.filter(({ kind }) => kind === 'root')).toHaveLength(ids.length);
  expect(bridge.refusals()).toEqual([]);
  const replies = bridge.messenger.posts.filter(({ kind }) => kind === 'reply').length;
  const keys = bridge.requests.flatMap(({ idempotency_key: key }) => key ?? []);
  const again = keys.length - new Set(keys).size;
  console.log(`${ids.length} Root messages, ${replies} replies; asked for again: ${again}`);
});

/** Whether the one message of a group shows it as it is now, with a reply for each event that wants one. */
async function isTold(api: Api, id: string): Promise<boolean> {
  const group = await api.get(`/alert-groups/${id}`);
  const roots = rootsOf(bridge, group.title).filter(
    ({ heading }) => heading?.title === `#${group.number} ${group.title}`,
  );
  if (roots.length > 1) throw new Error(`${roots.length} messages stand there about #${group.number}`);
  const [root] = roots;
  if (!root || root.heading?.status !== group.status) return false;
  const { firing_alert_count: firing, resolved_alert_count: resolved } = group;
  const shows =
    firing + resolved === 1 || root.body.includes(`Alerts: ${firing} firing, ${resolved} resolved`);
  const timeline = await api.all(`/alert-groups/${id}/timeline?order=asc`);
  const told = timeline.filter(({ event }: Json) => TOLD.includes(event)).length;
  const replies = repliesTo(bridge, root.message_id).length;
  if (replies > told) throw new Error(`${replies} replies tell of ${told} events of #${group.number}`);
  const { items } = await api.get(`/alert-groups/${id}/deliveries`);
  const [delivery] = items;
  if (delivery.possible_duplicate) throw new Error(`#${group.number} may stand there twice`);
  return shows && replies === told && delivery.state === 'delivered';
}
