/** When a Snooze ends, as a request says it (Alert Group chapter §6.4). */
import * as v from 'valibot';
import { isTimeZone, presetEnd, SNOOZE_PRESETS } from '../../actors/alert-group/presets.ts';
import { DAY, formatInstant, type Micros, parseInstant } from '../../runtime/clock.ts';
import type { Call } from '../operation.ts';
import type { FieldError } from '../problem.ts';

const MAX_AHEAD = 3650 * DAY;

export const SnoozeInput = v.object({
  until: v.nullish(
    v.pipe(
      v.string(),
      v.check((text) => parseInstant(text) !== null, 'invalid_format'),
      v.transform((text) => parseInstant(text) as Micros),
    ),
  ),
  no_end: v.nullish(v.literal(true, 'invalid_format')),
  preset: v.nullish(v.picklist(SNOOZE_PRESETS)),
  time_zone: v.nullish(v.string()),
});

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
