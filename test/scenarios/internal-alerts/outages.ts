/**
 * internal-alerts §9, rows 13 and 15 to 18: the outgoing heartbeat, and the notices during and after outages of Tocsin
 * itself. Row 14 needs two replicas: `test/cluster/leader.test.ts`.
 */
import { expect } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { startHeartbeatReceiver } from '../../fakes/heartbeat-receiver.ts';
import type { Json } from '../../harness/api.ts';
import { until } from '../../harness/until.ts';
import { backdateSignOfLife } from '../by-hand.ts';
import { casesOf } from '../case.ts';
import type { Scenario } from '../scenario.ts';

const { cases, row } = casesOf('internal-alerts');
export const OUTAGES = cases;

async function notices(s: Scenario, name?: string): Promise<Json[]> {
  const caller = name === undefined ? s.admin : await s.people.named(name);
  const { status, body } = await caller.call('GET', '/system-notices');
  expect(status).toBe(200);
  return body.items;
}

const outagesOf = async (s: Scenario, number: number) =>
  (await s.timeline(number)).filter(({ system_event: event }) => event === 'service_unavailable');

row(13, 'the outgoing heartbeat is one request a minute, and its failures are shown', async (s) => {
  const receiver = await startHeartbeatReceiver();
  const set = (url: string | null) => s.organize({ outgoing_heartbeat: { url, proxy: { enabled: false } } });
  const shown = async () => (await s.admin.get('/system-status')).outgoing_heartbeat;
  /** Moves to a moment, and resolves with the result that is shown after the next request. */
  const next = async (moment: string, status: number) => {
    receiver.answerWith(status);
    const before = receiver.requests.length;
    await s.at(moment);
    await until('the next heartbeat', async () => (await shown()).last_attempt_at === s.instant(moment));
    expect(receiver.requests).toHaveLength(before + 1);
    return shown();
  };
  try {
    await set(receiver.url);
    await until('the first heartbeat', async () => (await shown()).last_ok);
    expect(receiver.requests).toEqual(['GET /beat Tocsin/1.4.2']);
    expect(await next('t1', 503)).toMatchObject({
      last_ok: false,
      last_error: expect.stringContaining('503'),
    });
    await s.at('t1:30');
    expect(await next('t2', 302)).toMatchObject({
      last_ok: false,
      last_error: expect.stringContaining('elsewhere.example'),
    });
    expect(await next('t3', 200)).toMatchObject({ last_ok: true, last_error: null });
    expect(s.logged('outgoing_heartbeat_failed')).toHaveLength(2);
    expect(s.logged('outgoing_heartbeat_recovered')).toHaveLength(1);
  } finally {
    await set(null);
    await receiver.close();
  }
});

row(15, 'the notice that no replica leads is for Admins', async (s) => {
  const ann = await s.people.named('Ann');
  expect(ann.id).toBeDefined();
  await until('a Leader that is silent', async () => {
    // What it wrote on the way here may arrive late.
    await backdateSignOfLife(s.world.sql, s.world.clock.now() - 2 * MINUTE - 1);
    return (await notices(s)).length > 0;
  });
  expect(await notices(s)).toMatchObject([{ kind: 'no_replica_leading', audience: 'admins', until: null }]);
  expect(await notices(s, 'Ann')).toEqual([]);
  await backdateSignOfLife(s.world.sql, s.world.clock.now());
  expect(await notices(s)).toEqual([]);
});

row(
  16,
  'an outage of ten minutes is a downtime, recorded once for each open Alert Group',
  async (s) => {
    await s.play('t0 +X1 & +Xb; t1');
    expect(await s.sender().heartbeat()).toBe(204);
    await s.downUntil('t11');
    const { recovery } = await s.admin.get('/system-status');
    expect(recovery).toMatchObject({
      active: true,
      period_from: s.instant('t1'),
      period_to: s.instant('t11'),
    });
    expect(await notices(s, 'Ann')).toMatchObject([
      { kind: 'recovering_after_downtime', audience: 'all', since: s.instant('t11') },
    ]);
    for (const number of [1, 2]) {
      expect(await outagesOf(s, number)).toHaveLength(1);
      await s.shows(number, { status: 'firing' });
    }
    expect(await s.internalAlerts(s.sender().id)).toEqual([]);
    await s.at('t27');
    expect(await notices(s, 'Ann')).toEqual([]);
  },
  { integration: { heartbeat: { enabled: true, timeout_seconds: 1_800 } } },
);

row(17, 'an outage of one minute is no downtime', async (s) => {
  await s.play('t0 +X1; t1');
  await s.downUntil('t2');
  expect(await notices(s)).toEqual([]);
  expect(await outagesOf(s, 1)).toEqual([]);
  expect(s.logged('downtime_recorded')).toEqual([]);
});

row(
  17,
  'an outage of one minute makes no Heartbeat lost, and a sender that stays silent is lost one timeout after it',
  async (s) => {
    const lost = async () => (await s.internalAlerts(s.sender().id)).length;
    await s.at('t50s', 10 * SECOND);
    expect(await s.sender().heartbeat()).toBe(204);
    await s.at('t60s');
    await s.downUntil('t120s');
    expect(await lost()).toBe(0);
    await s.at('t130s', 10 * SECOND);
    expect(await s.sender().heartbeat()).toBe(204);
    await s.at('t140s', 10 * SECOND);
    await s.downUntil('t200s');
    await s.at('t239s', 10 * SECOND);
    expect(await lost()).toBe(0);
    await s.at('t241s');
    expect(await lost()).toBe(1);
    expect(await s.sender().heartbeat()).toBe(204);
    await s.at('t280s', 10 * SECOND);
    expect(await lost()).toBe(0);
    await s.at('t282s');
    expect(await lost()).toBe(1);
  },
  { integration: { heartbeat: { enabled: true, timeout_seconds: 40 } } },
);

row(18, 'System status is for Admins, notices are for everybody', async (s) => {
  const ann = await s.people.named('Ann');
  expect((await ann.call('GET', '/system-status')).status).toBe(403);
  expect((await ann.call('GET', '/system-notices')).status).toBe(200);
});
