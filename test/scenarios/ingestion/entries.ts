/** ingestion §15, rows 1 to 12, 23 to 26 and 36 to 38: what an entry of a Snapshot means. */
import { expect } from 'vitest';
import { casesOf } from '../case.ts';
import { LAB, Lab } from './lab.ts';
import { expectReplayChangesNothing } from './replaying.ts';

const { cases, row: add } = casesOf('ingestion');
export const ENTRIES = cases;

/** Row 29 holds of each: what was processed is replayed without effect. */
function row(number: number, title: string, run: (lab: Lab) => Promise<void>): void {
  const andAgain = async (lab: Lab) => {
    await run(lab);
    if (number <= 22) await expectReplayChangesNothing(lab);
  };
  add(number, title, (s) => andAgain(new Lab(s)), LAB);
}

/** Row 4, on which others build. */
const FOUR = 'T [A+ B+]; +60 [A- B+]';

row(1, 'entries fire with the Static labels', async (lab) => {
  await lab.plays('T [A+ B+]');
  expect(await lab.states()).toEqual(['A: firing', 'B: firing']);
  for (const { labels } of (await lab.alerts()).values()) expect(labels.cluster).toBe('b');
  expect(lab.last()).toMatchObject({ fired: 2 });
});

row(2, 'the same bytes again move only last_seen_at', async (lab) => {
  await lab.plays('T [A+ B+]');
  const before = await lab.events();
  await lab.at(15);
  await lab.post(lab.sent[0]!);
  expect(await lab.events()).toEqual(before);
  for (const { last_seen_at: at } of (await lab.alerts()).values()) expect(lab.since(at)).toBe(15);
  expect((await lab.integration()).snapshot_count).toBe(2);
});

row(3, 'two alike repeats teach the interval of their route path', async (lab) => {
  await lab.plays('T [A+]; +600 R [A+]');
  expect(await lab.learned()).toEqual({ '{}/{team="db"}': null });
  await lab.plays('+1200 R [A+]');
  expect(await lab.events()).toEqual(['+0 created']);
  const { items } = await lab.s.admin.get(`/integrations/${lab.sender.id}/alertmanager-routes`);
  expect(items).toMatchObject([
    {
      route_path: '{}/{team="db"}',
      learned_repeat_interval_seconds: 600,
      resolve_by_absence_after_seconds: 1800,
    },
  ]);
});

row(4, 'a resolved entry resolves', async (lab) => {
  await lab.plays(FOUR);
  expect(await lab.states()).toEqual(['A: resolved +60 resolved', 'B: firing']);
});

row(5, 'repeated resolves are nothing', async (lab) => {
  await lab.plays(`${FOUR}; +120 [A- B+]; +240 [A- B+]`);
  expect(await lab.states()).toEqual(['A: resolved +60 resolved', 'B: firing']);
  expect(await lab.events()).toEqual(['+0 created', '+60 alert_resolved']);
  expect(await lab.counter('svc_ingest_resolved_dropped_total')).toBe(0);
});

row(6, 'a resolve of what never fired is dropped and counted', async (lab) => {
  await lab.plays('T [B+]; +60 [C- B+]');
  expect(await lab.states()).toEqual(['B: firing']);
  expect(await lab.counter('svc_ingest_resolved_dropped_total')).toBe(1);
});

row(7, 'a re-sent resolve of an earlier firing does not end the next one', async (lab) => {
  await lab.plays(`${FOUR}; +300 [A+1 B+]; +360 [A- B+]`);
  expect(await lab.events()).toEqual(['+0 created', '+60 alert_resolved', '+300 alert_replaced']);
  expect(await lab.states()).toEqual(['A: firing', 'B: firing']);
});

row(8, 'an old copy within the window after a resolve is ignored', async (lab) => {
  await lab.plays(`${FOUR}; +90 [A+ B+]`);
  expect(await lab.states()).toEqual(['A: resolved +60 resolved', 'B: firing']);
});

row(9, 'after the duplicate window the same start fires anew', async (lab) => {
  await lab.plays(`${FOUR}; +120 [A+ B+]; +600 [A- B+]`);
  expect(await lab.events()).toEqual([
    '+0 created',
    '+60 alert_resolved',
    '+120 alert_replaced',
    '+600 alert_resolved',
  ]);
  expect(await lab.states()).toEqual(['A: resolved +600 resolved', 'B: firing']);
});

row(10, 'a newer start without a resolve is a Continuation', async (lab) => {
  await lab.plays('T [A+]; +60 [A+1]');
  expect(await lab.events()).toEqual(['+0 created', '+60 alert_continued']);
  expect((await lab.alerts()).get('A')).toMatchObject({ state: 'firing', starts_at: '2026-10-03T09:59:00Z' });
});

row(11, 'an older start moves nothing back, and its resolve ends nothing', async (lab) => {
  await lab.plays('T [A+1]; +60 [A+]');
  expect((await lab.alerts()).get('A')?.starts_at).toBe('2026-10-03T09:59:00Z');
  await lab.plays('+600 [A- B+]; +660 [B+]');
  expect(await lab.states()).toEqual(['A: firing', 'B: firing']);
  await lab.plays('+900 [B+]');
  expect(await lab.states()).toEqual(['A: resolved +900 gone', 'B: firing']);
});

row(12, 'a resolve that the Continuation overtook is nothing, however late', async (lab) => {
  await lab.plays('T [A+]; +300 [A+1]; +301 [A-]; +600 [A-]');
  expect(await lab.events()).toEqual(['+0 created', '+300 alert_continued']);
  expect(await lab.states()).toEqual(['A: firing']);
});

row(36, 'a lagging instance that repeats an earlier firing and its end changes nothing', async (lab) => {
  await lab.plays('T [A+]; +60 [A-]; +120 [A+1]; +180 [A+]; +181 [A-]; +600 [A+1]');
  expect(await lab.events()).toEqual(['+0 created', '+60 resolved', '+120 reopened']);
  expect(await lab.states()).toEqual(['A: firing']);
  expect((await lab.alerts()).get('A')?.starts_at).toBe('2026-10-03T09:59:00Z');
});

row(37, 'a final notification with an older start ends the firing before the next start', async (lab) => {
  await lab.plays('T [A+]; +60 [A+1]; +120 Z [A-]');
  await lab.at(35_999);
  expect(await lab.states()).toEqual(['A: firing']);
  await lab.plays('+36000 [A+2]');
  const continued = '+60 alert_continued';
  expect(await lab.events()).toEqual(['+0 created', continued, '+36000 resolved', '+36000 reopened']);
  expect((await lab.s.lifecycle(1))[2]).toMatchObject({ reason: 'gone' });
  expect((await lab.alerts()).get('A')).toMatchObject({ state: 'firing', starts_at: '2026-10-03T10:00:00Z' });
});

row(
  38,
  'final notifications of two groups with older starts end the firing before the next start',
  async (lab) => {
    await lab.plays('T K1 [A+1]; T K2 [A+1]; +120 K1 Z [A-]; +120 K2 Z [A-]');
    await lab.at(35_999);
    expect(await lab.states()).toEqual(['A: firing']);
    await lab.plays('+36000 K1 [A+2]');
    expect(await lab.events()).toEqual(['+0 created', '+36000 resolved', '+36000 reopened']);
  },
);

row(23, 'a label that the Alert carries wins over a Static label', async (lab) => {
  lab.labels('A', { alertname: 'DiskFull', instance: 'db-a', cluster: 'a' });
  await lab.plays('T [A+]');
  expect((await lab.alerts()).get('A')).toMatchObject({
    labels: { cluster: 'a' },
    static_label_warnings: ['cluster'],
  });
});

row(24, 'a body that is no Snapshot fails alone', async (lab) => {
  expect(await lab.sender.post('not json')).toBe(202);
  await lab.s.world.settle();
  await lab.plays('+1 [A+]');
  expect(await lab.states()).toEqual(['A: firing']);
  expect(await lab.counter('svc_ingest_failed_snapshots_total')).toBe(1);
  const { items } = await lab.s.admin.get(`/stored-snapshots?integration=${lab.sender.id}`);
  expect(items.map(({ state }: { state: string }) => state)).toEqual(['processed', 'failed']);
});

row(25, 'annotations that differ are published once', async (lab) => {
  lab.summary('A', 'x');
  await lab.plays('T [A+]');
  lab.summary('A', 'y');
  await lab.plays('+60 [A+]');
  expect(await lab.events()).toEqual(['+0 created', '+60 annotations_changed']);
});

row(26, 'a Snapshot without alerts is processed', async (lab) => {
  await lab.plays('T []');
  const { items } = await lab.s.admin.get(`/stored-snapshots?integration=${lab.sender.id}`);
  expect(items).toMatchObject([{ state: 'processed', alert_count: 0 }]);
});
