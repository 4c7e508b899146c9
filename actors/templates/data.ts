/** What templates read (templates §8). */
import type { Micros } from '../../runtime/clock.ts';
import type { AlertState, GroupStatus, Labels, SeverityLevel } from '../model.ts';
import type { MentionTarget } from './types.ts';
import {
  TemplateList,
  TemplateMap,
  TemplateObject,
  TemplateTime,
  type TemplateValue,
  Trusted,
  ZERO_TIME,
} from './values.ts';

/** An Alert Group and all that a template may know of it. */
export interface TemplateGroup {
  readonly number: number;
  readonly title: string;
  readonly summary: string | null;
  readonly status: GroupStatus;
  /** Name of the Route. */
  readonly route: string;
  readonly severityLevel: SeverityLevel;
  readonly urgent: boolean;
  readonly startedAt: Micros;
  /** Of its page. */
  readonly url: string;
  readonly reopenCount: number;
  /** Display name. */
  readonly owner: string | null;
  /** In any order. */
  readonly alerts: readonly TemplateAlert[];
  readonly groupLabels: Labels;
  readonly commonLabels: Labels;
  readonly commonAnnotations: Labels;
  /** The public URL of the installation. */
  readonly externalUrl: string;
}

export interface TemplateAlert {
  readonly fingerprint: string;
  readonly status: AlertState;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: Micros;
  /** Null while it fires. */
  readonly endsAt: Micros | null;
  readonly generatorUrl: string | null;
}

/** What a Link rule is evaluated for: the whole group, or the Alerts with one value of a label. */
export interface LinkSubject {
  /** The common labels, or those of the first Alert with that value. */
  readonly labels: Labels;
  /** Empty for the whole group. */
  readonly value: string;
}

const MOST_ALERTS = 1_000;

/** Data of a root_message and an ack_timeout_notice. @param zone of all times */
export function groupData(group: TemplateGroup, zone: string): TemplateValue {
  return new TemplateObject('Data', groupFields(group, zone));
}

/** Data of a line: the Alert itself, with the group beside its fields. */
export function lineData(group: TemplateGroup, alert: TemplateAlert, zone: string): TemplateValue {
  const fields = { ...alertFields(alert, zone), AlertGroup: alertGroup(group, zone) };
  return new TemplateObject('Alert', fields);
}

/** All Link rules read the same of a group; making it anew for each value of a label takes most of their time. */
const fieldsOfGroups = new WeakMap<TemplateGroup, { readonly zone: string; readonly fields: GroupFields }>();
type GroupFields = ReturnType<typeof groupFields>;

/** Data of a Link rule's template. */
export function linkRuleData(group: TemplateGroup, subject: LinkSubject, zone: string): TemplateValue {
  const known = fieldsOfGroups.get(group);
  const { fields: ofGroup } = known?.zone === zone ? known : { fields: groupFields(group, zone) };
  fieldsOfGroups.set(group, { zone, fields: ofGroup });
  const fields = { ...ofGroup, Labels: labelMap(subject.labels), Value: subject.value };
  return new TemplateObject('Data', fields);
}

/** Data of an events-mode webhook: its Secrets and nothing else. */
export function secretsData(secrets: Readonly<Record<string, string>>): TemplateValue {
  return new TemplateObject('Data', { Secrets: new TemplateMap(secrets, 'secrets') });
}

/** What a request of a template-mode webhook tells besides the Alert Group (webhooks §4.3). */
export interface WebhookTelling {
  readonly secrets: Readonly<Record<string, string>>;
  /** What was extracted from earlier answers. */
  readonly response: Readonly<Record<string, string>>;
  /** The lifecycle event of a reply and its text; both empty in other requests. */
  readonly event: string;
  readonly text: string;
  readonly notify: boolean;
  readonly mentions: readonly WebhookMention[];
  /** In the last update of a message: that it is not updated any more. Otherwise empty. */
  readonly final: string;
}

export type WebhookMention = Exclude<MentionTarget, { readonly type: 'owner' }>;

/** What a request tells of a Storm (webhooks §4.6). */
export interface TemplateStorm {
  /** Name of the Route. */
  readonly route: string;
  readonly alertGroupCount: number;
  readonly urgentCount: number;
  /** It is over. */
  readonly final: boolean;
  /** The Route's list of Alert Groups. */
  readonly url: string;
}

/** Data of a template-mode webhook about an Alert Group. */
export function webhookData(group: TemplateGroup, telling: WebhookTelling, zone: string): TemplateValue {
  const fields = { ...groupFields(group, zone), ...tellingFields(telling), Storm: null };
  return new TemplateObject('Data', { ...fields, Final: telling.final });
}

/** The same about a Storm: it has no Alert Group and no Alerts. */
export function webhookStormData(
  storm: TemplateStorm,
  telling: WebhookTelling,
  externalUrl: string,
): TemplateValue {
  return new TemplateObject('Data', {
    AlertGroup: null,
    Status: storm.final ? 'resolved' : 'firing',
    Alerts: new TemplateList([], 'alerts'),
    GroupLabels: labelMap({}),
    CommonLabels: labelMap({}),
    CommonAnnotations: labelMap({}),
    ExternalURL: new Trusted(externalUrl),
    Receiver: '',
    ...tellingFields(telling),
    Storm: new TemplateObject('Storm', {
      Route: storm.route,
      AlertGroupCount: BigInt(storm.alertGroupCount),
      UrgentCount: BigInt(storm.urgentCount),
      Final: storm.final,
      URL: new Trusted(storm.url),
    }),
    Final: telling.final,
  });
}

function tellingFields(telling: WebhookTelling): Record<string, TemplateValue> {
  return {
    Response: new TemplateMap(telling.response, 'extracted'),
    Secrets: new TemplateMap(telling.secrets, 'secrets'),
    Event: telling.event,
    Text: telling.text,
    Notify: telling.notify,
    Mentions: new TemplateList(telling.mentions.map(mentionObject)),
  };
}

function mentionObject(target: WebhookMention): TemplateObject {
  const { type } = target;
  return new TemplateObject('Mention', {
    Type: type,
    Everyone: type === 'everyone' ? target.everyone : '',
    Name: type === 'everyone' ? '' : target.name,
    ID: type === 'user' ? target.id : '',
    Login: type === 'user' ? target.login : '',
  });
}

/** As messages list Alerts: firing ones first, the newest first. */
export function inMessageOrder(alerts: readonly TemplateAlert[]): TemplateAlert[] {
  return alerts.toSorted(
    (left, right) =>
      Number(left.status !== 'firing') - Number(right.status !== 'firing') ||
      right.startsAt - left.startsAt ||
      (left.fingerprint < right.fingerprint ? -1 : 1),
  );
}

function groupFields(group: TemplateGroup, zone: string): Record<string, TemplateValue> {
  const alerts = inMessageOrder(group.alerts).slice(0, MOST_ALERTS);
  const isFiring = group.alerts.some(({ status }) => status === 'firing');
  return {
    AlertGroup: alertGroup(group, zone),
    Status: isFiring ? 'firing' : 'resolved',
    Alerts: new TemplateList(
      alerts.map((alert) => new TemplateObject('Alert', alertFields(alert, zone))),
      'alerts',
    ),
    GroupLabels: labelMap(group.groupLabels),
    CommonLabels: labelMap(group.commonLabels),
    CommonAnnotations: labelMap(group.commonAnnotations),
    ExternalURL: new Trusted(group.externalUrl),
    // Templates that were written for another program may read it.
    Receiver: '',
  };
}

function alertGroup(group: TemplateGroup, zone: string): TemplateObject {
  return new TemplateObject('AlertGroup', {
    Number: BigInt(group.number),
    Title: group.title,
    Summary: group.summary ?? '',
    Status: group.status,
    Route: group.route,
    SeverityLevel: group.severityLevel,
    Urgent: group.urgent,
    StartedAt: TemplateTime.of(group.startedAt, zone),
    URL: new Trusted(group.url),
    ReopenCount: BigInt(group.reopenCount),
    Owner: group.owner ?? '',
  });
}

function alertFields(alert: TemplateAlert, zone: string): Record<string, TemplateValue> {
  const isWeb = /^https?:\/\//i.test(alert.generatorUrl ?? '');
  return {
    Status: alert.status,
    Labels: labelMap(alert.labels),
    Annotations: labelMap(alert.annotations),
    StartsAt: TemplateTime.of(alert.startsAt, zone),
    EndsAt: alert.endsAt === null ? ZERO_TIME : TemplateTime.of(alert.endsAt, zone),
    GeneratorURL: isWeb ? (alert.generatorUrl ?? '') : '',
    Fingerprint: alert.fingerprint,
  };
}

function labelMap(labels: Labels): TemplateMap {
  return new TemplateMap(labels, 'labels');
}
