/**
 * What a change makes of a condition, and what has to be told of it (internal-alerts §2.1.5, §2.1.9). Every Snapshot of
 * one alert is received later than the one before, whatever the clocks of those who record them say.
 */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Labels } from '../model.ts';
import { internalLabels, type ToldAlert } from './body.ts';
import type { AlertedEntity, InternalAlertChange, InternalAlertName } from './effects.ts';

/** How one condition stands; one that never began is not raised and was told at 0. */
export interface Condition {
  readonly fingerprint: string;
  readonly name: InternalAlertName;
  readonly entityId: PublicId | null;
  readonly raised: boolean;
  /** Of the last raise. */
  readonly extras: Labels;
  readonly labels: Labels;
  readonly date: string;
  /** Start of the last firing, µs. */
  readonly since: Micros;
  /** Receipt of the last Snapshot, µs. */
  readonly toldAt: Micros;
}

/** What Internal alerts say of an entity that exists. */
export interface LiveEntity extends AlertedEntity {
  /** Empty for all but Integrations. */
  readonly staticLabels: Labels;
}

/** A Snapshot to be stored, with the condition that it leaves. */
export interface Telling {
  readonly condition: Condition;
  readonly alert: ToldAlert;
  /** µs. */
  readonly receivedAt: Micros;
}

/**
 * What a recorded change leads to; null when the condition stands like that already.
 * @param entity null for an alert about the installation
 */
export function afterChange(
  condition: Condition,
  change: InternalAlertChange,
  entity: LiveEntity | null,
): Telling | null {
  if (change.change === 'resolve') return afterEnd(condition, change.at);
  return raise(condition, entity, { extras: change.labels ?? {}, date: change.date ?? '' }, change.at);
}

/** An entity was renamed, or its Static labels were changed: what is raised about it says so, the firing goes on. */
export function afterEdit(condition: Condition, entity: LiveEntity, at: Micros): Telling | null {
  return condition.raised ? raise(condition, entity, condition, at) : null;
}

/** The condition or its entity is gone. */
export function afterEnd(condition: Condition, changedAt: Micros): Telling | null {
  if (!condition.raised) return null;
  const { name, entityId, extras, date } = condition;
  const at = laterThanTold(condition, changedAt);
  return {
    condition: { ...condition, raised: false, toldAt: at },
    alert: { name, entity: entityId && { id: entityId, name: '' }, extras, date, status: 'resolved', at },
    receivedAt: at,
  };
}

function raise(
  condition: Condition,
  entity: LiveEntity | null,
  said: Pick<Condition, 'extras' | 'date'>,
  changedAt: Micros,
): Telling | null {
  const { name, raised } = condition;
  const { date } = said;
  const extras = name === 'SvcHeartbeatLost' ? (entity?.staticLabels ?? {}) : said.extras;
  const labels = internalLabels({ name, entity, extras });
  if (raised && date === condition.date && isSame(labels, condition.labels)) return null;
  const at = laterThanTold(condition, changedAt);
  const since = raised ? condition.since : at;
  return {
    condition: { ...condition, raised: true, extras, labels, date, since, toldAt: at },
    alert: { name, entity, extras, date, status: 'firing', at: since },
    receivedAt: at,
  };
}

function laterThanTold({ toldAt }: Condition, at: Micros): Micros {
  return Math.max(at, toldAt + 1);
}

function isSame(left: Labels, right: Labels): boolean {
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name]);
}
