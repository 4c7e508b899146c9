/** What a change makes of a condition, and the Snapshot that tells of it (internal-alerts §2.1, §2.2). */
import { formatInstant, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { computeFingerprint } from '../feed/identity.ts';
import type { Labels } from '../model.ts';
import {
  type AlertedEntity,
  entityKindOf,
  INTERNAL_ALERTS,
  type InternalAlertChange,
  type InternalAlertName,
} from './registry.ts';

/** State of one condition; one that never began is not raised and was stored at 0. */
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
 * What a recorded change leads to; null when the condition is in that state already.
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

/** An entity was renamed, or its Static labels were changed: its raised alerts are updated, the firing continues. */
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

/** State of an Internal alert. */
export interface ToldAlert {
  readonly name: InternalAlertName;
  /** With its present name; null for an alert about the installation. */
  readonly entity: AlertedEntity | null;
  /** Static labels, `template`. */
  readonly extras: Labels;
  /** `YYYY-MM-DD` for an alert about a date, else empty. */
  readonly date: string;
  readonly status: 'firing' | 'resolved';
  /** Of the raise that began the firing, or of the resolve, µs. */
  readonly at: Micros;
}

const NEVER = '0001-01-01T00:00:00Z';

/** Identity of an Internal alert: its name and the id of its entity, and nothing that may change. */
export function internalFingerprint(name: InternalAlertName, entityId: PublicId | null): string {
  return computeFingerprint(identityOf(name, entityId));
}

/** The group of a sender that all Internal alerts of one name belong to. */
export function internalGroupKey(name: InternalAlertName): string {
  return `{}/{tocsin="internal"}:{alertname="${name}"}`;
}

/** Labels of a raise, as Routes and people see them; a label of the registry wins over an extra one. */
export function internalLabels(alert: Pick<ToldAlert, 'name' | 'entity' | 'extras'>): Labels {
  const { entity } = alert;
  const named = entity ? { [`${entityKindOf(entity.id)}_name`]: entity.name } : {};
  return { ...withoutName(alert), ...named };
}

export function internalAlertBody(alert: ToldAlert, runbooks: Runbooks): string {
  const { name, entity, status, at } = alert;
  const isFiring = status === 'firing';
  const labels = isFiring ? internalLabels(alert) : withoutName(alert);
  const annotations = isFiring ? annotationsOf(alert, runbooks) : {};
  return JSON.stringify({
    version: '4',
    groupKey: internalGroupKey(name),
    truncatedAlerts: 0,
    status,
    receiver: 'tocsin',
    groupLabels: { alertname: name },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: '',
    alerts: [
      {
        status,
        labels,
        annotations,
        startsAt: toTheMicrosecond(at),
        endsAt: NEVER,
        generatorURL: '',
        fingerprint: internalFingerprint(name, entity?.id ?? null),
      },
    ],
  });
}

function withoutName({ name, entity, extras }: Pick<ToldAlert, 'name' | 'entity' | 'extras'>): Labels {
  const { severity } = INTERNAL_ALERTS[name];
  const registered = { ...identityOf(name, entity?.id ?? null), severity };
  if (!entity) return { ...extras, ...registered };
  // A Static label may not stand in for the name either.
  const { [`${entityKindOf(entity.id)}_name`]: _, ...others } = extras;
  return { ...others, ...registered };
}

function identityOf(name: InternalAlertName, entityId: PublicId | null): Labels {
  return entityId === null ? { alertname: name } : { alertname: name, [entityKindOf(entityId)]: entityId };
}

function annotationsOf({ name, entity, date }: ToldAlert, runbooks: Runbooks): Labels {
  const kind = entity && entityKindOf(entity.id);
  const said = INTERNAL_ALERTS[name].says({ kind, name: entity?.name ?? '', date });
  const url = runbookUrl(runbooks, name);
  return url === null ? { ...said } : { ...said, runbook_url: url };
}

/** Six digits always, as the reference shows it. */
function toTheMicrosecond(at: Micros): string {
  const [whole = '', fraction = ''] = formatInstant(at).slice(0, -1).split('.');
  return `${whole}.${fraction.padEnd(6, '0')}Z`;
}

/** Where the runbook of an alert about Tocsin itself is (internal-alerts §2.2). */

export interface Runbooks {
  /** Null for no links. */
  readonly base: string | null;
  /** Of the running build; null for the pages that Tocsin serves itself, which are those of its build. */
  readonly version: string | null;
}

/** Null when alerts carry no link. */
export function runbookUrl({ base, version }: Runbooks, alertname: string): string | null {
  if (base === null || base === '') return null;
  const root = base.replace(/\/+$/, '');
  if (version === null) return `${root}/runbooks/${alertname}`;
  return `${root}/${editionOf(version)}/operations/runbooks/${alertname}/`;
}

const DEVELOPMENT = '0.0.0';

/** Documentation is published by major and minor version. */
function editionOf(version: string): string {
  const numbers = /^(\d+)\.(\d+)\.\d+/.exec(version);
  if (!numbers || numbers[0] === DEVELOPMENT) return 'latest';
  return `${numbers[1]}.${numbers[2]}`;
}
