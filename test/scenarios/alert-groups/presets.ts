/** alert-groups §11, rows 56 and 57: Snooze presets, on the days when clocks change. */
import { expect } from 'vitest';
import type { Micros } from '../../../runtime/clock.ts';
import { casesOf } from '../case.ts';
import type { Scenario } from '../scenario.ts';

const { cases, row } = casesOf('alert-groups');
export const PRESETS = cases;

/** Before all instants of these rows. */
export const PRESETS_BEGIN: Micros = Date.UTC(2027, 2, 26) * 1000;

async function presetsAt(s: Scenario, now: string): Promise<Record<string, string>> {
  await s.world.passTo(Date.parse(now) * 1000);
  const ann = await s.people.named('Ann');
  const { body } = await ann.call('GET', '/snooze-presets');
  return Object.fromEntries(body.items.map(({ preset, until }: Record<string, string>) => [preset, until]));
}

async function workdayStarts(s: Scenario, at: string): Promise<void> {
  await s.organize({ workday_start: at, week_start: 'monday', time_zone: 'Europe/Berlin' });
}

row(56, 'tomorrow and the start of the week', async (s) => {
  await workdayStarts(s, '09:00');
  expect(await presetsAt(s, '2027-03-26T10:00:00+01:00')).toEqual({
    tomorrow: '2027-03-27T08:00:00Z',
    week_start: '2027-03-29T07:00:00Z',
  });
});

row(57, 'a start that clocks skip, and one that occurs twice', async (s) => {
  await workdayStarts(s, '02:30');
  expect(await presetsAt(s, '2027-03-28T00:00:00+01:00')).toMatchObject({ tomorrow: '2027-03-28T01:00:00Z' });
  expect(await presetsAt(s, '2027-10-30T12:00:00+02:00')).toMatchObject({ tomorrow: '2027-10-31T00:30:00Z' });
});
