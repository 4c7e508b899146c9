/** What ends the hold of a Storm before the Storm ends, through the whole service (alert-groups §9, routes §8). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Scenario } from './scenario.ts';
import { useWorld } from './world.ts';

const world = useWorld();
/** One above the threshold of an On-call Route, and two more. */
const HELD = [21, 22, 23];

let s: Scenario;
beforeEach(async () => {
  s = await Scenario.open(world(), {});
  const sender = s.sender();
  for (let n = 1; n <= 23; n++) {
    sender.call(`G${n}`, { alertname: `G${n}`, cluster: 'a', severity: 'warning' });
    await s.play(`t${n}s I/g${n}: +G${n}`);
  }
  expect(await heldNow()).toEqual(HELD);
});

afterEach(() => s.close());

/** Alert Groups that are open and not published. */
async function heldNow(): Promise<number[]> {
  const held: number[] = [];
  for (const n of HELD) if ((await s.view(n)).next_notice === null) held.push(n);
  return held;
}

const pathOfRoute = () => `/routes/${s.route.id}`;
const storm = async () => {
  const { active_storms: storms } = await s.admin.get('/system-status');
  return storms;
};

test('an edit that makes them Urgent posts them at once, and the Storm goes on', async () => {
  await s.admin.change(pathOfRoute(), (route) => ({ ...route, urgent: true }));
  await s.play('t40s');
  expect(await heldNow()).toEqual([]);
  expect(await storm()).toMatchObject([{ route: { id: s.route.id }, alert_group_count: 3 }]);
});

test('moved to the Default route they are held no more; with its deletion the Storm ends', async () => {
  expect(await s.admin.post(`${pathOfRoute()}/move-open-alert-groups`)).toEqual({ moved: 23 });
  expect(await heldNow()).toEqual([]);
  expect((await s.admin.call('DELETE', pathOfRoute())).status).toBe(204);
  await s.play('t40s');
  expect(await storm()).toEqual([]);
});
