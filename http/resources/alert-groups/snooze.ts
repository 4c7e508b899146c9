/** When a Snooze ends, as a request says it, and the presets (alert-groups §6.4). */
import * as v from 'valibot';
import { presetEnd, SNOOZE_PRESETS } from '../../../actors/alert-group/commands/snooze-presets.ts';
import { isTimeZone } from '../../../actors/wall-clock.ts';
import { DAY, formatInstant, type Micros } from '../../../runtime/clock.ts';
import { type Call, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { requiredInstant } from '../../schema/fields.ts';
import { SnoozePresetsShape } from './shapes.ts';
import { TAG } from './shared.ts';

const MAX_AHEAD = 3650 * DAY;

export const SnoozeInput = d.named(
  'SnoozeInput',
  v.object({
    until: d.described(v.nullish(requiredInstant), 'A time in the future, at most 3,650 days away.'),
    no_end: d.described(v.nullish(v.literal(true, 'invalid_format')), '`true`: without end.'),
    preset: d.described(
      v.nullish(v.picklist(SNOOZE_PRESETS)),
      '`tomorrow`: the start of the next workday; `week_start`: the start of the next week.',
    ),
    time_zone: d.described(
      v.nullish(v.string()),
      'IANA time zone of the preset. Left out: yours, else that of the Organization.',
    ),
  }),
  'When a Snooze ends: exactly one of `until`, `no_end` and `preset`.',
);

type Snooze = v.InferOutput<typeof SnoozeInput>;
type Asking = Pick<Call<unknown, unknown>, 'now' | 'directory' | 'identity'>;

/** The instant (null: without end), or all that is 422 about the request. */
export function snoozeEnd(
  { until, no_end: noEnd, preset, time_zone: zone }: Snooze,
  call: Asking,
): { readonly until: Micros | null } | { readonly errors: readonly FieldError[] } {
  const { now } = call;
  const errors: FieldError[] = [];
  const given = [until, noEnd, preset].filter((value) => value !== undefined && value !== null);
  if (given.length !== 1) {
    errors.push({
      pointer: '',
      code: 'one_of_required',
      detail: 'Say exactly one of until, no_end and preset.',
    });
  }
  if (typeof until === 'number' && (until <= now || until > now + MAX_AHEAD)) {
    errors.push({
      pointer: '/until',
      code: 'out_of_range',
      detail: `Choose a time after now, at most until ${formatInstant(now + MAX_AHEAD)}.`,
    });
  }
  if (typeof zone === 'string' && !preset) {
    errors.push({
      pointer: '/time_zone',
      code: 'unsupported',
      detail: 'A time zone only goes with a preset.',
    });
  } else if (typeof zone === 'string' && !isTimeZone(zone)) {
    errors.push(noSuchZone('/time_zone'));
  }
  if (errors.length > 0) return { errors };
  if (!preset) return { until: until ?? null };
  const { organization } = call.directory;
  const timeZone = zone ?? zoneOf(call);
  return { until: presetEnd(preset, now, { ...organization, timeZone }) };
}

/** The caller's zone, else the Organization's; always that for Service accounts. */
export function zoneOf({ identity, directory }: Pick<Asking, 'identity' | 'directory'>): string {
  return identity?.user?.timeZone ?? directory.organization.timeZone;
}

export function noSuchZone(pointer: string): FieldError {
  return { pointer, code: 'invalid_format', detail: 'This is no time zone of the IANA database.' };
}

/** Ends of the Snooze presets (alert-groups §6.4, api §12). */
export function presetOperations(): readonly Operation[] {
  return [
    operation({
      id: 'listSnoozePresets',
      method: 'GET',
      path: '/snooze-presets',
      tag: TAG,
      summary: 'Say when each Snooze preset would end',
      description: 'First `tomorrow`, then `week_start`, by the workday of the Organization.',
      needs: 'alert-groups:read',
      query: v.object({
        time_zone: d.optionalText('IANA time zone. Left out: yours, else that of the Organization.'),
      }),
      answers: { 200: { description: 'The presets', schema: SnoozePresetsShape } },
      refusals: [[422, 'validation-failed', '']],
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
