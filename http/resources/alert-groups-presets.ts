/** Ends of the Snooze presets (Alert Group chapter §6.4, api §12). */
import * as v from 'valibot';
import { isTimeZone, presetEnd, SNOOZE_PRESETS } from '../../actors/alert-group/presets.ts';
import { formatInstant } from '../../runtime/clock.ts';
import { type Operation, operation } from '../operation.ts';
import { invalid } from '../problem.ts';
import { TAG } from './alert-groups-deps.ts';
import { SnoozePresetsShape } from './alert-groups-shapes.ts';
import { noSuchZone, zoneOf } from './alert-groups-snooze.ts';

export function presetOperations(): readonly Operation[] {
  return [
    operation({
      id: 'listSnoozePresets',
      method: 'GET',
      path: '/snooze-presets',
      tag: TAG,
      summary: 'Say when each Snooze preset would end',
      needs: 'alert-groups:read',
      query: v.object({ time_zone: v.optional(v.string()) }),
      answers: { 200: { description: 'The presets', schema: SnoozePresetsShape } },
      async handle(call) {
        const { time_zone: asked } = call.query;
        if (asked !== undefined && !isTimeZone(asked)) return invalid([noSuchZone('/query/time_zone')]);
        const timeZone = asked ?? zoneOf(call);
        const { organization } = call.directory;
        const week = { ...organization, timeZone };
        const items = SNOOZE_PRESETS.map((preset) => ({
          preset,
          until: formatInstant(presetEnd(preset, call.now, week)),
        }));
        const { workdayStart, weekStart } = organization;
        return {
          status: 200,
          body: { time_zone: timeZone, workday_start: workdayStart, week_start: weekStart, items },
        };
      },
    }),
  ];
}
