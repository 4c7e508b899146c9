/** Fields and methods of values (templates §3). */
import { Refusal } from '../failure.ts';
import { duration, list, none, one, type TemplateFunction, text, time } from '../functions/define.ts';
import { between } from '../functions/numbers.ts';
import { formatTime, type WallTime, WEEKDAYS, wallTime } from '../text/time.ts';
import {
  absent,
  TemplateDuration,
  TemplateList,
  TemplateMap,
  TemplateObject,
  TemplateTime,
  type TemplateValue,
  textOf,
  typeName,
  ZERO_TIME,
} from '../values.ts';

export type Member =
  | { readonly kind: 'value'; readonly value: TemplateValue }
  | { readonly kind: 'method'; readonly method: TemplateFunction }
  /** `detail` says what is wrong. */
  | { readonly kind: 'none'; readonly detail: string };

export function memberOf(value: TemplateValue, name: string): Member {
  if (value instanceof TemplateObject) {
    const field = Object.hasOwn(value.fields, name) ? value.fields[name] : undefined;
    return field === undefined ? noField(value, name) : { kind: 'value', value: field };
  }
  if (value instanceof TemplateMap) return memberOfMap(value, name);
  const method = methodOf(value, name);
  return method ? { kind: 'method', method } : noField(value, name);
}

/** A label wins over a method of the same name. */
function memberOfMap(map: TemplateMap, name: string): Member {
  const entry = map.get(name);
  if (entry !== undefined) return { kind: 'value', value: entry };
  const method = map.kind === 'labels' ? own(LABEL_METHODS, name) : null;
  if (method) return { kind: 'method', method: method(map) };
  const missing = absent(map, name);
  return typeof missing === 'string' ? { kind: 'none', detail: missing } : { kind: 'value', ...missing };
}

function noField(value: TemplateValue, name: string): Member {
  const field = JSON.stringify(name);
  const detail = value === null ? `nil has no field ${field}` : `no field ${field} in ${typeName(value)}`;
  return { kind: 'none', detail };
}

function methodOf(value: TemplateValue, name: string): TemplateFunction | null {
  if (value instanceof TemplateTime) return own(TIME_METHODS, name)?.(value) ?? null;
  if (value instanceof TemplateDuration) return own(DURATION_METHODS, name)?.(value) ?? null;
  if (!(value instanceof TemplateList)) return null;
  if (value.kind === 'alerts') return own(ALERTS_METHODS, name)?.(value) ?? null;
  return value.kind === 'pairs' ? (own(PAIRS_METHODS, name)?.(value) ?? null) : null;
}

type Methods<T> = Readonly<Record<string, (subject: T) => TemplateFunction>>;

function own<T>(methods: Methods<T>, name: string): ((subject: T) => TemplateFunction) | null {
  return Object.hasOwn(methods, name) ? (methods[name] ?? null) : null;
}

/** `alertname` first, then by name. */
function labelNames({ keys }: TemplateMap): readonly string[] {
  return keys.includes('alertname') ? ['alertname', ...keys.filter((key) => key !== 'alertname')] : keys;
}

function pairs(labels: TemplateMap): TemplateList {
  const items = labelNames(labels).map(
    (name) => new TemplateObject('Pair', { Name: name, Value: labels.get(name) ?? null }),
  );
  return new TemplateList(items, 'pairs');
}

function without(labels: TemplateMap, names: TemplateList): TemplateMap {
  const removed = new Set(names.items.map((name) => textOf(name)));
  const kept = labels.keys.filter((name) => !removed.has(name));
  return new TemplateMap(Object.fromEntries(kept.map((name) => [name, labels.get(name) ?? null])), 'labels');
}

const LABEL_METHODS: Methods<TemplateMap> = {
  SortedPairs: (labels) => none(() => pairs(labels)),
  Names: (labels) => none(() => new TemplateList(labelNames(labels))),
  Values: (labels) =>
    none(() => new TemplateList(labelNames(labels).map((name) => labels.get(name) ?? null))),
  Remove: (labels) => one(list, (names) => without(labels, names)),
};

const withStatus = (status: string) => (alerts: TemplateList) =>
  none(() => {
    const hasStatus = (alert: TemplateValue) =>
      alert instanceof TemplateObject && textOf(alert.fields.Status ?? null) === status;
    return new TemplateList(alerts.items.filter(hasStatus), 'alerts');
  });

const ALERTS_METHODS: Methods<TemplateList> = {
  Firing: withStatus('firing'),
  Resolved: withStatus('resolved'),
};

const fieldOfAll = (name: string) => (objects: TemplateList) =>
  none(
    () =>
      new TemplateList(
        objects.items.map((pair) => (pair instanceof TemplateObject ? (pair.fields[name] ?? null) : null)),
      ),
  );

const PAIRS_METHODS: Methods<TemplateList> = { Names: fieldOfAll('Name'), Values: fieldOfAll('Value') };

const wallNumber = (name: keyof WallTime) => (at: TemplateTime) => none(() => BigInt(wallTime(at)[name]));

const DAY = 86_400_000_000_000n;
/** Beyond, calendars of programs end. */
const FARTHEST = 100_000_000n * DAY;

const TIME_METHODS: Methods<TemplateTime> = {
  Format: (at) => one(text, (layout) => formatTime(at, layout)),
  Unix: (at) => none(() => floorDivide(at.nanos, 1_000_000_000n)),
  UnixMilli: (at) => none(() => floorDivide(at.nanos, 1_000_000n)),
  UTC: (at) => none(() => new TemplateTime(at.nanos, 'UTC')),
  IsZero: (at) => none(() => at.nanos === ZERO_TIME.nanos),
  Year: wallNumber('year'),
  Month: wallNumber('month'),
  Day: wallNumber('day'),
  Hour: wallNumber('hour'),
  Minute: wallNumber('minute'),
  Second: wallNumber('second'),
  Weekday: (at) => none(() => WEEKDAYS[wallTime(at).weekday] ?? ''),
  Before: (at) => one(time, (other) => at.nanos < other.nanos),
  After: (at) => one(time, (other) => at.nanos > other.nanos),
  Equal: (at) => one(time, (other) => at.nanos === other.nanos),
  Sub: (at) => one(time, (other) => between(at, other)),
  Add: (at) => one(duration, (span) => shifted(at, span.nanos)),
};

function shifted(at: TemplateTime, by: bigint): TemplateTime {
  const nanos = at.nanos + by;
  if (nanos > FARTHEST || nanos < -FARTHEST) throw new Refusal('the time is too far away');
  return new TemplateTime(nanos, at.zone);
}

const inUnits = (unit: number) => (span: TemplateDuration) => none(() => Number(span.nanos) / unit);

const DURATION_METHODS: Methods<TemplateDuration> = {
  Seconds: inUnits(1e9),
  Minutes: inUnits(60e9),
  Hours: inUnits(3600e9),
};

function floorDivide(value: bigint, by: bigint): bigint {
  return value >= 0n || value % by === 0n ? value / by : value / by - 1n;
}
