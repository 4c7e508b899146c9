/** Every Internal alert there is, and what is recorded when its condition changes (internal-alerts §2.1, §2.3). */
import type { RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { hasPrefix, type IdPrefix, type PublicId } from '../../runtime/public-id.ts';
import type { Labels, SeverityLevel } from '../model.ts';

export const ENTITY_KINDS = ['integration', 'destination', 'route'] as const;
/** Also the label that carries the entity's id; its name is in `<kind>_name`. */
export type EntityKind = (typeof ENTITY_KINDS)[number];

export interface InternalAlertDefinition {
  /** The Severity level of its Alerts, whatever the Organization makes of severity labels. */
  readonly severity: Exclude<SeverityLevel, 'info'>;
  /** What it may be about; empty for an alert about the installation. */
  readonly about: readonly EntityKind[];
  /** Labels besides those that every Internal alert has, as the reference page names them. */
  readonly extras: readonly string[];
  /** When it is raised, and what resolves it: for the reference page. */
  readonly raisedWhile: string;
  readonly resolvedBy: string;
  says(subject: Subject): { readonly summary: string; readonly description: string };
}

/** What the texts of an alert speak of. */
export interface Subject {
  readonly kind: EntityKind | null;
  /** The entity's present name; empty without an entity. */
  readonly name: string;
  /** `YYYY-MM-DD`; empty unless the alert is about a date. */
  readonly date: string;
}

export const INTERNAL_ALERTS: Readonly<Record<InternalAlertName, InternalAlertDefinition>> = {
  SvcHeartbeatLost: {
    severity: 'critical',
    about: ['integration'],
    extras: ['the Static labels of the Integration'],
    raisedWhile: 'the Heartbeat of an Integration is lost',
    resolvedBy: 'the next signal; the Heartbeat turned off; the Integration deleted',
    says: ({ name }) => ({
      summary: `No Heartbeat from Integration ${name}`,
      description:
        `Nothing was heard from Integration ${name} within its Heartbeat timeout. New alerts may not arrive, and ` +
        'Alerts do not go Stale meanwhile. Check Alertmanager, its Heartbeat route and the network between.',
    }),
  },
  SvcDestinationBroken: {
    severity: 'critical',
    about: ['destination'],
    extras: [],
    raisedWhile: 'a Destination of any type is Broken',
    resolvedBy: 'a successful probe, check or test of the Destination; the Destination deleted',
    says: ({ name }) => ({
      summary: `Destination ${name} is Broken`,
      description:
        `Deliveries to Destination ${name} wait; its page says why. It is probed every five minutes and catches up ` +
        'by itself once it accepts again.',
    }),
  },
  SvcSnapshotTruncated: {
    severity: 'warning',
    about: ['integration'],
    extras: [],
    raisedWhile: 'a sender of an Integration cuts at least one of its groups',
    resolvedBy: 'no group cut any more; the Integration deleted',
    says: ({ name }) => ({
      summary: `Alertmanager cuts the Snapshots of Integration ${name}`,
      description:
        `Snapshots of Integration ${name} arrive without all of their alerts. Set max_alerts: 0 on the receiver. ` +
        'Until then Alerts that are not listed cannot resolve by absence.',
    }),
  },
  SvcTemplateError: {
    severity: 'warning',
    about: ['route', 'destination'],
    extras: ['template'],
    raisedWhile:
      'a message template of a Route, or a request template of a webhook Destination, failed when it was last rendered',
    resolvedBy: 'every failed template rendered again; a new version of the Route; the entity deleted',
    says: ({ kind, name }) =>
      kind === 'destination'
        ? {
            summary: `A request template of Destination ${name} fails`,
            description: `A request to Destination ${name} was not sent. The page of the Destination shows line and column.`,
          }
        : {
            summary: `A template of Route ${name} fails`,
            description:
              `Messages of Route ${name} use the Fallback template meanwhile. The page of the Route shows line and ` +
              'column.',
          },
  },
  SvcOIDCSecretExpiring: {
    severity: 'warning',
    about: [],
    extras: [],
    raisedWhile: 'OIDC is enabled and its client secret expires in less than 14 days, or has expired',
    resolvedBy: 'a date at least 14 days ahead, or none; OIDC disabled',
    says: ({ date }) => ({
      summary: `The OIDC client secret expires on ${date}`,
      description:
        'People who sign in through the identity provider cannot once the secret has expired. Issue a new one at the ' +
        'identity provider and enter it in Tocsin.',
    }),
  },
};

const PREFIXES: Readonly<Record<EntityKind, IdPrefix>> = {
  integration: 'NT',
  destination: 'DS',
  route: 'RT',
};

/** @throws for an id of something that Internal alerts are never about: a defect */
export function entityKindOf(id: PublicId): EntityKind {
  const kind = ENTITY_KINDS.find((candidate) => hasPrefix(id, PREFIXES[candidate]));
  if (!kind) throw new Error(`no Internal alert is about ${id}`);
  return kind;
}

/** The Severity level of an Alert of the built-in Integration; null for one that is not of the registry. */
export function internalSeverity(labels: Labels): SeverityLevel | null {
  const { alertname = '' } = labels;
  return Object.hasOwn(INTERNAL_ALERTS, alertname)
    ? INTERNAL_ALERTS[alertname as InternalAlertName].severity
    : null;
}

/** The closed list of internal-alerts §2.3. */
export const INTERNAL_ALERT_NAMES = [
  'SvcHeartbeatLost',
  'SvcDestinationBroken',
  'SvcSnapshotTruncated',
  'SvcTemplateError',
  'SvcOIDCSecretExpiring',
] as const;
export type InternalAlertName = (typeof INTERNAL_ALERT_NAMES)[number];

/** What the alert is about; which kind of entity that is follows from the name of the alert. */
export interface AlertedEntity {
  readonly id: PublicId;
  readonly name: string;
}

/** A condition began or ended. The same for a turn of an actor and for a transaction of a store. */
export interface InternalAlertChange {
  readonly change: 'raise' | 'resolve';
  readonly name: InternalAlertName;
  /** Null for an alert about the installation. */
  readonly entity: AlertedEntity | null;
  /**
   * Added to a raise: `template`. A label of the registry wins. The Static labels of SvcHeartbeatLost and the present
   * name of the entity need not be given: the commit reads them.
   */
  readonly labels?: Labels;
  /** What the text of SvcOIDCSecretExpiring names, `YYYY-MM-DD`. */
  readonly date?: string;
  /** When the condition changed, µs. */
  readonly at: Micros;
}

/**
 * Recorded by a turn, on transitions of the condition only. The commit stores it as a Snapshot of the built-in
 * Integration, which is processed like every other; nothing is stored about a deleted entity.
 */
export interface InternalAlertRecorded extends RecordedEffect, InternalAlertChange {
  readonly type: 'internal_alert.recorded';
}
