/** Times and durations (templates §6). */
import { Refusal } from '../refusal.ts';
import { humanDuration } from '../text/duration.ts';
import { formatTime, zoneOf } from '../text/time.ts';
import { TemplateDuration, TemplateTime, type TemplateValue, typeName } from '../values.ts';
import { any, none, one, type TemplateFunction, text, time, two } from './define.ts';

/** Work of finding a zone by its name. */
const FINDING = 500;
const LONGEST = 2n ** 63n - 1n;

/** The time between two instants, as far as a duration reaches. */
export function between(later: TemplateTime, earlier: TemplateTime): TemplateDuration {
  return new TemplateDuration(fitting(later.nanos - earlier.nanos));
}

function fitting(nanos: bigint): bigint {
  if (nanos > LONGEST) return LONGEST;
  return nanos < -LONGEST ? -LONGEST - 1n : nanos;
}

function nanosOf(value: TemplateValue): bigint {
  if (value instanceof TemplateDuration) return value.nanos;
  if (typeof value === 'bigint') return fitting(value * 1_000_000_000n);
  if (typeof value === 'number' && Number.isFinite(value)) {
    const seconds = Math.trunc(value);
    return fitting(BigInt(seconds) * 1_000_000_000n + BigInt(Math.round((value - seconds) * 1e9)));
  }
  throw new Refusal(`argument 1 must be int, float or duration, not ${typeName(value)}`);
}

export const TIMES: Readonly<Record<string, TemplateFunction>> = {
  now: none(({ context }) => TemplateTime.of(context.now, context.zone)),
  since: one(time, (at, { context }) => between(TemplateTime.of(context.now, context.zone), at)),
  date: two(text, time, (layout, at) => formatTime(at, layout)),
  tz: two(text, time, (name, at, call) => {
    if (!call.zones.has(name)) call.spend(FINDING);
    call.zones.add(name);
    const zone = zoneOf(name);
    if (zone === null) throw new Refusal(`there is no zone ${JSON.stringify(name)}`);
    return new TemplateTime(at.nanos, zone);
  }),
  humanizeDuration: one(any, (value) => humanDuration(nanosOf(value))),
};
