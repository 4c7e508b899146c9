/** What "Copy as a test" gives for an Alert Group, played by the whole service (ui §12.1). */
import { expect, test } from 'vitest';
import { Scenario } from './scenario.ts';
import { useWorld } from './world.ts';

const world = useWorld();

/** Of the UI, which is checked with the types of a browser: these are what the test needs of it. */
const ofUi = <Module>(name: string): Promise<Module> =>
  import(/* @vite-ignore */ new URL(`../../ui/src/pages/machines/${name}.ts`, import.meta.url).href);
const { asTest } = await ofUi<{ asTest(kind: string, tried: object): string }>('as-test');
const { parseHappening, rehearse } = await ofUi<{
  parseHappening(text: string): object | null;
  rehearse(kind: string, happenings: readonly object[]): object;
}>('rehearse');

const copied = (events: readonly string[]) =>
  asTest(
    'alert_group',
    rehearse(
      'alert_group',
      events.flatMap((text) => parseHappening(text) ?? []),
    ),
  );

test.each([
  { events: ['t1 acknowledge', 't2 join', 't3 alerts_resolve', 't4 reopen'], ends: 'acknowledged' },
  { events: ['t1 acknowledge', 't2 snooze {"until":null}', 't3 note'], ends: 'snoozed' },
  { events: ['t1 snooze', 't61 snooze_end', 't62 resolve', 't63 unresolve'], ends: 'firing' },
  {
    events: ['t0 publish', 't15 notice_due', 't45 notice_due', 't46 resolve', 't61 grace_end'],
    ends: 'resolved',
  },
  { events: ['t0 publish', 't1 acknowledge', 't241 notice_due', 't242 still_on_it'], ends: 'acknowledged' },
  { events: ['t1 snooze', 't2 join', 't3 alerts_resolve', 't18 window_end'], ends: 'resolved' },
])('$events end as $ends, as they did in the browser', async ({ events, ends }) => {
  const [, script = '', status] = /play\('(.*)'\);\n.*status: '(\w+)'/.exec(copied(events)) ?? [];
  expect(status).toBe(ends);
  const scenario = await Scenario.open(world());
  await scenario.play(script);
  await scenario.shows(1, { status: ends });
  await scenario.close();
});

test.each([
  { played: 't0 +X1; t1 Ann snoozes until t61; t2', events: ['t1 snooze', 't2 snooze_end'], ends: 'snoozed' },
  { played: 't0 +X1; t1 -X1; t2 +X2', events: ['t1 alerts_resolve', 't2 join'], ends: 'firing' },
])('$events end as $ends in the service, and are copied as no scenario', async ({ played, events, ends }) => {
  const scenario = await Scenario.open(world());
  await scenario.play(played);
  await scenario.shows(1, { status: ends });
  await scenario.close();
  expect(copied(events)).not.toContain('s.play');
});
