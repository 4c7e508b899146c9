/** The Snapshot that tells of an Internal alert, in the shape that Alertmanager sends (internal-alerts §2.1.3, §2.2). */
import { formatInstant, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { computeFingerprint } from '../feed/fingerprint.ts';
import type { Labels } from '../model.ts';
import type { AlertedEntity, InternalAlertName } from './effects.ts';
import { entityKindOf, INTERNAL_ALERTS } from './registry.ts';
import { type Runbooks, runbookUrl } from './runbook.ts';

/** How an Internal alert stands. */
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
