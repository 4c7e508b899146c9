/** ingestion §15, rows 27 to 33, 39 and 41 to 44: what is refused, deleted, replayed, proven alive, and sent by others. */
import { request } from 'node:http';
import { expect } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { casesOf } from '../case.ts';
import type { ScenarioOptions } from '../scenario.ts';
import { LAB, Lab } from './lab.ts';
import { expectReplayChangesNothing } from './replaying.ts';

const { cases, row: add } = casesOf('ingestion');
export const PATHS = cases;

function row(number: number, title: string, run: (lab: Lab) => Promise<void>, options = LAB): void {
  add(number, title, (s) => run(new Lab(s)), options);
}

const WITH_HEARTBEAT: ScenarioOptions = {
  ...LAB,
  integration: { heartbeat: { enabled: true, timeout_seconds: 300 } },
};

/** Announces a body that is never sent; the status code. */
function announce(url: string, bytes: number, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/ingest`, {
      method: 'POST',
      headers: { ...headers, 'content-length': bytes },
    });
    sent.on('response', (answer) => {
      resolve(answer.statusCode ?? 0);
      sent.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
  });
}

row(27, 'a body above the limit is refused unread, after the token', async (lab) => {
  const { ingestUrl } = lab.s.world.running;
  const token = { authorization: `Bearer ${lab.sender.token}` };
  expect(await announce(ingestUrl, 16_777_217, token)).toBe(413);
  expect(await announce(ingestUrl, 16_777_217, {})).toBe(401);
  const { items } = await lab.s.admin.get(`/stored-snapshots?integration=${lab.sender.id}`);
  expect(items).toEqual([]);
});

row(28, 'deleting the Integration ends its Alerts and its tokens', async (lab) => {
  await lab.plays('T [A+ B+]');
  await lab.at(60);
  await lab.s.deleteIntegration('I');
  expect(await lab.states()).toEqual([
    'A: resolved +60 integration_deleted',
    'B: resolved +60 integration_deleted',
  ]);
  expect(await lab.sender.post(lab.sent[0]!)).toBe(401);
});

row(29, 'a replay changes nothing, counts nothing, and is audited', async (lab) => {
  await lab.plays('T [A+ B+]; +60 [A- B+]; +120 [A+ B+]; +600 [A- B+]; +700 Z []');
  await expectReplayChangesNothing(lab);
});

/** Two repeats after five minutes each; the last Snapshot is at +600. Heartbeats every minute, except in a gap. */
async function silentAfterRepeats(lab: Lab, until: number, gap?: readonly [from: number, to: number]) {
  await lab.plays('T [A+]');
  for (let second = 0; second <= until; second += 60) {
    await lab.at(second, 10 * SECOND);
    if (second === 300 || second === 600) await lab.post(lab.body(['R'], ['A+']));
    const isSilent = gap && second > gap[0] && second < gap[1];
    if (!isSilent) expect(await lab.sender.heartbeat()).toBe(204);
  }
}

/** When A resolved, after the last Snapshot, s. */
async function staleAfter(lab: Lab): Promise<number> {
  const alert = (await lab.alerts()).get('A');
  expect(alert).toMatchObject({ state: 'resolved', resolve_reason: 'stale' });
  return lab.since(alert?.resolved_at) - 600;
}

row(
  30,
  'a group that falls silent under a live Heartbeat goes stale',
  async (lab) => {
    await silentAfterRepeats(lab, 1_560);
    const after = await staleAfter(lab);
    expect(after).toBeGreaterThanOrEqual(900);
    expect(after).toBeLessThanOrEqual(930);
  },
  WITH_HEARTBEAT,
);

row(
  31,
  'time without a Heartbeat does not count',
  async (lab) => {
    const state = async () => (await lab.integration()).heartbeat.state;
    await silentAfterRepeats(lab, 840, [600, 1_200]);
    expect(await state()).toBe('live');
    await lab.at(930, 10 * SECOND);
    expect(await state()).toBe('lost');
    await lab.at(1_200, 10 * SECOND);
    expect(await lab.sender.heartbeat()).toBe(204);
    await lab.s.world.settle();
    expect(await state()).toBe('live');
    for (let second = 1_260; second <= 2_160; second += 60) {
      await lab.at(second, 10 * SECOND);
      await lab.sender.heartbeat();
    }
    const after = await staleAfter(lab);
    expect(after).toBeGreaterThanOrEqual(1_500);
    expect(after).toBeLessThanOrEqual(1_530);
  },
  WITH_HEARTBEAT,
);

row(32, 'without a Heartbeat nothing goes stale', async (lab) => {
  await lab.plays('T [A+]; +300 R [A+]; +600 R [A+]');
  await lab.at(30 * 3_600);
  expect(await lab.states()).toEqual(['A: firing']);
});

async function staleAfterFinalNotification(lab: Lab): Promise<void> {
  await lab.plays('T [A+1]; +120 Z [A-]');
  await lab.at(90_119);
  expect(await lab.states()).toEqual(['A: firing']);
  await lab.at(90_150);
  const { resolve_reason, resolved_at } = (await lab.alerts()).get('A') ?? {};
  expect(resolve_reason).toBe('stale');
  expect(lab.since(resolved_at)).toBeGreaterThanOrEqual(90_120);
  expect(await lab.events()).toEqual(['+0 created', `+${lab.since(resolved_at)} resolved`]);
}

row(
  39,
  'what a final notification named with an older start is stale after a day',
  staleAfterFinalNotification,
);

row(
  39,
  'it is stale after a day too while the Heartbeat waits for its first signal',
  staleAfterFinalNotification,
  WITH_HEARTBEAT,
);

/** Sends the sequence under Heartbeats: every minute of `live`, and with every Snapshot. */
async function playsUnderHeartbeat(lab: Lab, sequence: string, live: (second: number) => boolean) {
  const statements = sequence
    .split(';')
    .map((text) => [Number(/\+(\d+)/.exec(text)?.[1] ?? 0), text] as const);
  const end = statements.at(-1)?.[0] ?? 0;
  for (let minute = 0; minute <= end; minute += 60) {
    const next = minute + 60;
    await lab.at(minute, 10 * SECOND);
    if (live(minute)) expect(await lab.sender.heartbeat()).toBe(204);
    for (const [second, text] of statements) {
      if (second < minute || second >= next) continue;
      await lab.at(second, 10 * SECOND);
      expect(await lab.sender.heartbeat()).toBe(204);
      await lab.plays(text);
    }
  }
}

const DB_PATH = '{}/{team="db"}';

row(
  41,
  'a restart of the sender teaches nothing, however many groups it sends again',
  async (lab) => {
    const all = (second: number) => `+${second} K1 [A+]; +${second} K3 [B+]`;
    const sequence = [0, 75, 3_675, 7_275].map(all).join('; ');
    await playsUnderHeartbeat(lab, sequence, () => true);
    expect(await lab.states()).toEqual(['A: firing', 'B: firing']);
    expect(await lab.events()).toEqual(['+0 created', '+0 alert_replaced']);
    expect(await lab.learned()).toEqual({ [DB_PATH]: 3_600 });
  },
  WITH_HEARTBEAT,
);

row(
  42,
  'restarts at no rhythm teach nothing',
  async (lab) => {
    const sequence = 'T [A+]; +75 [A+]; +200 [A+]; +420 [A+]; +510 [A+]; +4110 [A+]';
    await playsUnderHeartbeat(lab, sequence, () => true);
    expect(await lab.events()).toEqual(['+0 created']);
    expect(await lab.learned()).toEqual({ [DB_PATH]: null });
  },
  WITH_HEARTBEAT,
);

row(43, 'a post that is repeated because its answer was lost teaches nothing', async (lab) => {
  await lab.plays('T [A+]; +600 [A+]; +660 [A+]; +1200 [A+]');
  expect(await lab.learned()).toEqual({ [DB_PATH]: null });
  await lab.plays('+1800 [A+]');
  expect(await lab.learned()).toEqual({ [DB_PATH]: 600 });
});

row(
  44,
  'restarts at a rhythm teach nothing while each takes longer than the Heartbeat may',
  async (lab) => {
    const sequence = 'T [A+]; +400 [A+]; +800 [A+]; +1200 [A+]; +4800 [A+]';
    await playsUnderHeartbeat(lab, sequence, (second) => second > 1_200);
    expect(await lab.events()).toEqual(['+0 created']);
    expect(await lab.learned()).toEqual({ [DB_PATH]: null });
  },
  WITH_HEARTBEAT,
);

row(33, 'a Grafana body is a Snapshot', async (lab) => {
  const body = {
    version: '1',
    groupKey: '{}:{alertname="CPU"}',
    status: 'firing',
    truncatedAlerts: 0,
    orgId: 1,
    title: '[FIRING:1] CPU',
    state: 'alerting',
    message: 'CPU is high',
    receiver: 'tocsin',
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'CPU', instance: 'web-1' },
        annotations: {},
        startsAt: '2026-10-03T12:00:00+02:00',
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: 'http://grafana/alerting/grafana/abc/view',
        fingerprint: 'c0ffee',
        silenceURL: 'http://grafana/silence',
        dashboardURL: '',
        panelURL: '',
        imageURL: '',
        values: { B: 44.2 },
        valueString: '[ var=B value=44.2 ]',
      },
    ],
  };
  expect(await lab.sender.post(JSON.stringify(body))).toBe(202);
  await lab.s.world.settle();
  const [alert] = (await lab.alerts()).values();
  expect(alert).toMatchObject({ state: 'firing', fingerprint: 'c0ffee', starts_at: '2026-10-03T10:00:00Z' });
  const { items } = await lab.s.admin.get(`/stored-snapshots?integration=${lab.sender.id}`);
  expect(items).toMatchObject([{ state: 'processed', alert_count: 1 }]);
});
