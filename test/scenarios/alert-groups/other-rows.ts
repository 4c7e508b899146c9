/** alert-groups §11, the other rows: Storms, who may do what, bulk, titles, statistics, Routes that change. */
import { expect } from 'vitest';
import { casesOf } from '../case.ts';
import { answerText } from '../scenario.ts';

const { cases, row } = casesOf('alert-groups');
export const OTHER_ROWS = cases;

row(50, 'a Storm holds what is not Urgent', async (s) => {
  const sender = s.sender();
  const urgent = new Set([22, 25, 28]);
  for (let n = 1; n <= 30; n++) {
    const severity = urgent.has(n) ? 'critical' : 'warning';
    sender.call(`G${n}`, { alertname: `G${n}`, cluster: 'a', severity });
    await s.play(`t${n}s I/g${n}: +G${n}`);
  }
  expect(await s.count()).toBe(30);
  await s.play('t35s I/g23: -G23; t36s I/g24: -G24');
  const held = async () => {
    const numbers: number[] = [];
    for (let n = 1; n <= 30; n++) {
      const { status, next_notice: next } = await s.view(n);
      if (status === 'firing' && next === null) numbers.push(n);
    }
    return numbers;
  };
  const route = async () =>
    (await s.admin.get(`/routes/${s.route.id}`)) as { storm: unknown; storm_active: boolean };
  // 20 are posted as always, the Urgent ones too; of the other seven, two have resolved.
  expect(await held()).toEqual([21, 26, 27, 29, 30]);
  expect(await route()).toMatchObject({
    storm_active: true,
    storm: { since: s.instant('t21s'), alert_group_count: 10 },
  });
  // c(t) falls to 20 when the tenth `created` is a minute old, at 70 s; 300 s later the Storm is over.
  await s.play('t369s');
  expect(await route()).toMatchObject({ storm_active: true });
  await s.play('t370s');
  expect(await route()).toMatchObject({ storm_active: false, storm: null });
  expect(await held()).toEqual([]);
  // Their ack timeout starts with their own Publication.
  for (const n of [21, 26, 27, 29, 30]) await s.shows(n, { next_notice: 'ack_timeout t21:10' });
  for (const n of [23, 24]) await s.shows(n, { status: 'resolved' });
});

row(51, 'a Service account owns nothing, and does the rest', async (s) => {
  await s.play('t0 +X1; t1 Rob acknowledges; t2 Rob snoozes no end; t3 Rob resolves fixed');
  expect(s.answers).toEqual(['409 owner_must_be_user', 'done', 'done']);
  await s.tells(1, ['t2 snoozed Q', 't3 resolved Q', 't3 note_added Q']);
  const told = await s.lifecycle();
  const rob = (await s.people.named('Rob')).id;
  expect(told.slice(1).map(({ actor }) => [actor.kind, actor.id])).toEqual([
    ['service_account', rob],
    ['service_account', rob],
    ['service_account', rob],
  ]);
  expect(told.at(-1)?.note).toMatchObject({ body: 'fixed', author: { kind: 'service_account', id: rob } });
});

row(52, 'a viewer may do nothing', async (s) => {
  await s.play('t0 +X1; t1 Vic acknowledges');
  expect(s.answers[0]).toMatch(/^403/);
  await s.tells(1, []);
  expect(await s.audit()).toEqual([]);
  const { id } = await s.group(1);
  expect(s.logged('command_refused')).toMatchObject([
    { command: 'acknowledge', group: id, code: 'forbidden' },
  ]);
});

row(53, 'of two Acknowledges at once one is a takeover', async (s) => {
  await s.play('t0 +X1; t1');
  const people = ['Ann', 'Bob'];
  // Both are known before, so that the two requests leave together.
  for (const name of people) await s.people.named(name);
  const answers = await Promise.all(people.map((name) => s.command(name, 'acknowledge')));
  expect(answers.map(answerText)).toEqual(['done', 'done']);
  await s.tells(1, ['t1 acknowledged Q', 't1 takeover L [previous_owner]']);
  const takeover = (await s.lifecycle()).at(-1);
  await s.shows(1, { owner: takeover?.owner.name });
  expect([takeover?.owner.name, takeover?.previous_owner.name].sort()).toEqual(people);
});

row(54, 'bulk Acknowledge answers for each', async (s) => {
  for (const name of ['A1', 'B1', 'C1']) await s.play(`t0 I/${name}: +${name}`);
  await s.play('t1 Ann acknowledges #2; t2 I/C1: -C1');
  const ids = await Promise.all([1, 2, 3].map(async (number) => (await s.group(number)).id));
  const bob = await s.people.named('Bob');
  const answer = await bob.call('POST', '/alert-groups/bulk-commands', {
    command: 'acknowledge',
    alert_group_ids: [...ids, 'AG000000000000'],
  });
  await s.world.settle();
  expect(answer.status).toBe(200);
  expect(answer.body.results).toMatchObject([
    { alert_group_id: ids[0], outcome: 'done', code: null },
    { alert_group_id: ids[1], outcome: 'skipped', code: 'owned_by_other', message: 'skipped: owned by Ann' },
    { alert_group_id: ids[2], outcome: 'refused', code: 'already_resolved' },
    { alert_group_id: 'AG000000000000', number: null, outcome: 'failed', code: 'not_found' },
  ]);
});

row(55, 'a Snooze says exactly one end, in the future', async (s) => {
  await s.play('t0 +X1; t10');
  const bodies = [{}, { until: s.instant('t9') }, { until: s.instant('t20'), no_end: true }];
  const refused = [];
  for (const body of bodies) refused.push(await s.command('Ann', 'snooze', 1, body));
  const { id } = await s.group(1);
  const ann = await s.people.named('Ann');
  refused.push(
    await ann.call('POST', '/alert-groups/bulk-commands', { command: 'snooze', alert_group_ids: [id] }),
  );
  expect(refused.map(({ status, body }) => [status, body.errors[0].code, body.errors[0].pointer])).toEqual([
    [422, 'one_of_required', ''],
    [422, 'out_of_range', '/until'],
    [422, 'one_of_required', ''],
    [422, 'required', '/snooze'],
  ]);
  await s.tells(1, []);
});

row(58, 'the title is the common alertname until there is none, then the key for good', async (s) => {
  const r2 = await s.addRoute('R2', { group_key: ['cluster'], matchers: [] });
  await s.takeFirst(r2);
  await s.play('t0 +L1');
  await s.shows(1, { title: 'L', route: 'R2' });
  await s.play('t1 +H1');
  await s.shows(1, { title: 'cluster=a' });
  await s.play('t2 -L1');
  await s.shows(1, { title: 'cluster=a', counts: '1/1' });
});

row(60, 'statistics of three Alert Groups', async (s) => {
  for (const name of ['A1', 'B1', 'C1']) await s.play(`t0 I/${name}: +${name}`);
  await s.play(
    't5 Ann acknowledges #1; t10 I/A1: -A1; t15 Ann acknowledges #2; t20 I/B1: -B1; t30 I/C1: -C1',
  );
  const period = `from=${s.instant('t0')}&to=${s.instant('t60')}`;
  const { items } = await s.admin.get(`/alert-group-statistics?group_by=route&${period}&route=${s.route.id}`);
  expect(items).toMatchObject([
    {
      subject: { id: s.route.id },
      alert_group_count: 3,
      time_to_acknowledge: { count: 2, median_seconds: 600 },
      time_to_resolve: { count: 3, median_seconds: 1200 },
    },
  ]);
});

row(62, 'no edit of Routes changes where an Alert fires', async (s) => {
  await s.play('t0 +X1; t1');
  const r2 = await s.addRoute('R2');
  await s.takeFirst(r2);
  await s.play('t2 I/H: +X1; t3 !X1; t9 !X1');
  await s.tells(1, []);
  await s.play('t20 I/H: !X1; t25');
  await s.tells(1, ['t15 ack_timeout 1 L [ack_timeout]']);
  await s.play('t26 I/H: !X1');
  expect((await s.events()).at(-1)).toBe('t26 resolved Q');
  await s.shows(1, { resolution: 'system gone', route: 'R' });
  expect(await s.count()).toBe(1);
});

row(63, 'an Alert fires again where it resolved, while that Alert Group is open', async (s) => {
  await s.play('t0 +X1 & +X2; t1 -X1; t2');
  const r2 = await s.addRoute('R2');
  await s.takeFirst(r2);
  await s.play('t3 +X1');
  await s.tells(1, ['t1 alert_resolved Q', 't3 alerts_added L [new_alerts]']);
  expect(await s.count()).toBe(1);
});
