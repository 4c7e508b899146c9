/** routes §12, rows 1 to 3, 6 to 8 and 17 to 20: which Route takes an Alert, and what a change does to Alert Groups. */
import { expect } from 'vitest';
import type { Json } from '../../harness/api.ts';
import { casesOf } from '../case.ts';
import type { Scenario } from '../scenario.ts';

const { cases, row } = casesOf('routes');
export const TAKING = cases;

const CRITICAL = [{ label: 'severity', op: '=', value: 'critical' }];
const TEAM = [{ label: 'team', op: '=', value: 'x' }];

/** Routes A (critical) before B (team x), both before R. */
async function twoRoutes(s: Scenario): Promise<{ a: Json; b: Json }> {
  const a = await s.addRoute('A', { matchers: CRITICAL });
  const b = await s.addRoute('B', { matchers: TEAM });
  await s.takeFirst(b);
  await s.takeFirst(a);
  return { a, b };
}

const both = (alertname: string) => ({ alertname, severity: 'critical', team: 'x' });

/** Alerts of the Integration by fingerprint, as the Alerts view shows them. */
async function alertsView(s: Scenario): Promise<Map<string, Json>> {
  const items = await s.admin.all(`/integrations/${s.sender().id}/alerts`);
  return new Map(items.map((alert) => [alert.fingerprint, alert]));
}

row(1, 'the first Route that matches takes an Alert', async (s) => {
  await twoRoutes(s);
  s.sender().call('U1', both('U'));
  await s.play('t0 +U1');
  await s.shows(1, { route: 'A' });
});

row(2, 'a new order counts for new Alerts', async (s) => {
  const { b } = await twoRoutes(s);
  s.sender().call('U1', both('U'));
  s.sender().call('V1', both('V'));
  await s.play('t0 +U1; t1');
  await s.takeFirst(b);
  await s.play('t1 I/V: +V1');
  await s.shows(1, { route: 'A' });
  await s.shows(2, { route: 'B' });
});

row(3, 'what no Route takes goes to the Default route', async (s) => {
  await s.edit((route) => ({ ...route, matchers: TEAM }));
  await s.play('t0 +X1');
  await s.shows(1, { route: 'Default' });
});

row(6, 'a missing label is not equal to a value', async (s) => {
  const route = await s.addRoute('NotProd', { matchers: [{ label: 'env', op: '!=', value: 'prod' }] });
  await s.takeFirst(route);
  await s.play('t0 +X1');
  await s.shows(1, { route: 'NotProd' });
});

row(7, 'severity none, P5 and missing', async (s) => {
  const sender = s.sender();
  sender.call('U1', { alertname: 'U', severity: 'none' });
  sender.call('V1', { alertname: 'V', severity: 'P5' });
  sender.call('W1', { alertname: 'W' });
  await s.play('t0 +U1 & +V1 & +W1');
  const alerts = await alertsView(s);
  const severity = (name: string) => [alerts.get(name)?.severity_level, alerts.get(name)?.severity_raw];
  expect(severity('U1')).toEqual(['info', null]);
  expect(severity('V1')).toEqual(['warning', 'P5']);
  expect(severity('W1')).toEqual(['info', null]);
});

row(8, 'a missing label of the key is empty', async (s) => {
  s.sender().call('U1', { alertname: 'U', n: '1' });
  s.sender().call('U2', { alertname: 'U', n: '2' });
  await s.play('t0 +U1 & +U2');
  expect(await s.count()).toBe(1);
  expect((await s.group(1)).group_labels).toEqual({ alertname: 'U', cluster: '' });
});

row(17, 'a Route with open Alert Groups is deleted once they are moved', async (s) => {
  await s.play('t0 +X1 & +Xb; t1');
  const path = `/routes/${s.route.id}`;
  const refused = await s.admin.call('DELETE', path);
  expect([refused.status, refused.body.open_alert_group_count]).toEqual([409, 2]);
  expect(String(refused.body.type)).toMatch(/route-has-open-alert-groups$/);
  expect(await s.admin.post(`${path}/move-open-alert-groups`)).toEqual({ moved: 2 });
  await s.world.settle();
  expect((await s.admin.call('DELETE', path)).status).toBe(204);
});

row(18, 'a deletion meets an Alert that fires: either order', async (s) => {
  const sender = s.sender();
  const body = sender.snapshot('G', ['+X1'], s.world.clock.now());
  const [posted, deleted] = await Promise.all([
    sender.post(body),
    s.admin.call('DELETE', `/routes/${s.route.id}`),
  ]);
  await s.world.settle();
  expect(posted).toBe(202);
  const { route } = await s.view(1);
  if (deleted.status === 409) {
    expect([deleted.body.open_alert_group_count, route]).toEqual([1, 'R']);
  } else {
    expect([deleted.status, route]).toEqual([204, 'Default']);
  }
});

row(19, 'a Route made urgent changes urgency and nothing else', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2');
  await s.edit((route) => ({ ...route, urgent: true }));
  await s.shows(1, { urgent: true, status: 'acknowledged', owner: 'Ann' });
  await s.tells(1, ['t1 acknowledged Q']);
});

row(
  20,
  'another key counts for Alerts that are grouped afterwards',
  async (s) => {
    await s.play('t0 +X1; t1');
    await s.edit((route) => ({ ...route, group_key: ['alertname', 'cluster'] }));
    await s.play('t2 ^X1; t3 +X2');
    await s.tells(1, ['t2 alert_continued Q']);
    await s.shows(1, { counts: '1/0' });
    await s.shows(2, { counts: '1/0' });
    expect((await s.group(2)).group_labels).toEqual({ alertname: 'X', cluster: 'a' });
  },
  { route: { group_key: ['alertname'] } },
);
