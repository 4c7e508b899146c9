/** routes §12, rows 21 to 28: the preview of a Group key, and suggested Routes. */
import { expect } from 'vitest';
import type { Json } from '../../harness/api.ts';
import { casesOf } from '../case.ts';
import type { Scenario } from '../scenario.ts';

const { cases, row } = casesOf('routes');
export const ADVICE = cases;

const DISK = [{ label: 'alertname', op: '=', value: 'Disk' }];
const KEY = ['alertname', 'cluster'];

/** Two Disk alerts with cluster a, two without. */
async function fourDisks(s: Scenario): Promise<void> {
  const sender = s.sender();
  for (const [name, cluster] of [
    ['D1', 'a'],
    ['D2', 'a'],
    ['D3', null],
    ['D4', null],
  ] as const) {
    sender.call(name, { alertname: 'Disk', n: name, ...(cluster && { cluster }) });
  }
  await s.play('t0 +D1 & +D2 & +D3 & +D4');
}

const preview = (s: Scenario, body: Json) => s.admin.call('POST', '/group-key-previews', body);

row(21, 'a preview for Matchers that are not saved', async (s) => {
  await s.edit((route) => ({ ...route, matchers: [{ label: 'alertname', op: '=', value: 'None' }] }));
  await fourDisks(s);
  const { status, body } = await preview(s, {
    route_id: null,
    matchers: DISK,
    proposed_group_key: KEY,
    period_seconds: 600,
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    period_seconds: 600,
    truncated: false,
    current: null,
    proposed: {
      alert_group_count: 2,
      examples: [
        { group_key_values: { alertname: 'Disk', cluster: '' }, alert_count: 2 },
        { group_key_values: { alertname: 'Disk', cluster: 'a' }, alert_count: 2 },
      ],
    },
  });
});

row(22, 'a preview for a saved Route compares', async (s) => {
  await s.edit((route) => ({ ...route, matchers: DISK, group_key: ['alertname'] }));
  await fourDisks(s);
  const { body } = await preview(s, {
    route_id: s.route.id,
    proposed_group_key: KEY,
    period_seconds: 600,
  });
  expect([body.current.alert_group_count, body.proposed.alert_group_count]).toEqual([1, 2]);
});

row(23, 'a preview stops at 10,000 Alerts', async (s) => {
  const sender = s.sender();
  const startsAt = s.instant('t0');
  const entry = (n: number) => ({
    status: 'firing' as const,
    labels: { alertname: 'Many', n: String(n) },
    startsAt,
    fingerprint: `many-${n}`,
  });
  const post = (key: string, alerts: readonly ReturnType<typeof entry>[]) =>
    sender.post({ groupKey: `{}:{alertname="${key}"}`, status: 'firing', alerts });
  expect(
    await post(
      'Many',
      Array.from({ length: 10_000 }, (_, n) => entry(n)),
    ),
  ).toBe(202);
  expect(await post('One more', [entry(10_000)])).toBe(202);
  await s.world.settle();
  const { body } = await preview(s, {
    route_id: s.route.id,
    proposed_group_key: ['n'],
    period_seconds: 600,
  });
  expect([body.truncated, body.proposed.alert_group_count]).toEqual([true, 10_000]);
});

row(24, 'a preview needs a Route or Matchers, within what is kept', async (s) => {
  const neither = await preview(s, { route_id: null, proposed_group_key: KEY });
  expect([neither.status, neither.body.errors[0]]).toMatchObject([
    422,
    { code: 'one_of_required', pointer: '' },
  ]);
  const tooLong = await preview(s, {
    route_id: s.route.id,
    proposed_group_key: KEY,
    period_seconds: 365 * 86_400,
  });
  expect([tooLong.status, tooLong.body.errors[0]]).toMatchObject([
    422,
    { code: 'out_of_range', pointer: '/period_seconds' },
  ]);
});

const suggested = async (s: Scenario): Promise<string[]> => {
  const { body } = await s.admin.call('GET', '/route-suggestions');
  return body.items.map(({ id }: Json) => id);
};

const accept = (s: Scenario, id: string, body: Json = {}) =>
  s.admin.call('POST', `/route-suggestions/${id}/accept`, body);

/** No Route and no Heartbeat but what the row speaks of. */
const HEARTBEAT = { integration: { heartbeat: { enabled: true, timeout_seconds: 300 } } } as const;

row(
  25,
  'heartbeat_lost is suggested while only the Default route would take it',
  async (s) => {
    expect(await suggested(s)).toContain('heartbeat_lost');
    const made = await accept(s, 'heartbeat_lost');
    expect([made.status, made.body.position]).toEqual([201, 0]);
    expect(await suggested(s)).not.toContain('heartbeat_lost');
    const again = await accept(s, 'heartbeat_lost');
    expect([again.status, again.body.code]).toEqual([409, 'suggestion_obsolete']);
    await s.admin.call('DELETE', `/routes/${made.body.id}`);
  },
  HEARTBEAT,
);

row(
  26,
  'internal_alerts goes below the Route that takes one already',
  async (s) => {
    const lost = await accept(s, 'heartbeat_lost');
    expect(await suggested(s)).toEqual(['internal_alerts']);
    const made = await accept(s, 'internal_alerts', { destination_ids: [s.destination.id] });
    expect([made.status, made.body.position]).toEqual([201, 1]);
    for (const { body } of [lost, made]) await s.admin.call('DELETE', `/routes/${body.id}`);
  },
  HEARTBEAT,
);

row(27, 'internal_alerts needs a Destination', async (s) => {
  const refused = await accept(s, 'internal_alerts', { destination_ids: [] });
  expect([refused.status, refused.body.errors[0]]).toMatchObject([
    422,
    { code: 'required', pointer: '/destination_ids' },
  ]);
  expect((await s.admin.call('DELETE', `/destinations/${s.destination.id}`)).status).toBe(204);
  const obsolete = await accept(s, 'internal_alerts', { destination_ids: [s.destination.id] });
  expect([obsolete.status, obsolete.body.code]).toEqual([409, 'suggestion_obsolete']);
});

row(
  28,
  'a dismissal is the matter of one user',
  async (s) => {
    const [zoe, ann] = [await s.people.named('Zoe'), await s.people.named('Ann')];
    const dismissed = await zoe.call('POST', '/route-suggestions/heartbeat_lost/dismiss');
    expect(dismissed.status).toBe(204);
    const { body: hers } = await zoe.call('GET', '/route-suggestions');
    expect(hers.items.map(({ id }: Json) => id)).not.toContain('heartbeat_lost');
    const { body: others } = await ann.call('GET', '/route-suggestions');
    expect(others.items.map(({ id }: Json) => id)).toContain('heartbeat_lost');
  },
  HEARTBEAT,
);
