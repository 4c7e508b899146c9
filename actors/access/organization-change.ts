/** What a save of the Organization's settings means, and everything that may be wrong with it (organization §3, §4). */
import type { Micros } from '../../runtime/clock.ts';
import type { Authorship } from '../audit.ts';
import type { Weekday } from '../directory.ts';
import { SEVERITY_LEVELS, type SeverityLevel } from '../model.ts';
import { type PasswordChange, type ProxyInput, proxyErrors } from '../proxy-config.ts';
import { codePoints } from '../text.ts';
import { isTimeZone } from '../wall-clock.ts';
import type { OrganizationView, StoredOrganization } from './organization.ts';

/** The settings as they arrive: what is left out keeps its value. */
export interface OrganizationInput extends Omit<StoredOrganization, 'workday_start' | 'week_start'> {
  readonly workday_start?: string | undefined;
  readonly week_start?: Weekday | undefined;
  readonly outgoing_heartbeat: {
    /** Null clears it. */
    readonly url?: string | null | undefined;
    readonly proxy: ProxyInput;
  };
}

interface SettingsError {
  readonly pointer: string;
  readonly code:
    | 'required'
    | 'invalid_format'
    | 'too_short'
    | 'too_long'
    | 'out_of_range'
    | 'duplicate'
    | 'retention_order';
  readonly detail: string;
}

const LONGEST_TEXT = 200;
const LONGEST_ZONE = 64;
const LONGEST_EMOJI = 8;
const LONGEST_URL = 2_000;
const MOST_VALUES = 200;
const MOST_LABELS = 50;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const COLOR = /^#[0-9a-fA-F]{6}$/;

/** Everything that is wrong, in the order of the fields. */
export function organizationErrors(
  input: OrganizationInput,
  current: Pick<OrganizationView, 'heartbeat'>,
): readonly SettingsError[] {
  return [
    ...nameErrors(input.name),
    ...zoneErrors(input.time_zone),
    ...labelErrors(input.severity_label),
    ...mappingErrors(input.severity_mapping),
    ...styleErrors(input.severity_styles),
    ...instanceLabelErrors(input.instance_labels),
    ...retentionErrors(input.retention),
    ...graceErrors(input.oidc_token_grace_seconds),
    ...urlErrors(input.outgoing_heartbeat.url),
    ...proxyErrors(input.outgoing_heartbeat.proxy, current.heartbeat.proxy).map((error) => ({
      ...error,
      pointer: `/outgoing_heartbeat${error.pointer}`,
    })),
  ];
}

/** What is stored of valid settings. */
export function changedSettings(input: OrganizationInput, current: StoredOrganization): StoredOrganization {
  const { outgoing_heartbeat: _, ...settings } = input;
  return {
    ...settings,
    name: input.name.trim(),
    workday_start: input.workday_start ?? current.workday_start,
    week_start: input.week_start ?? current.week_start,
    severity_styles: SEVERITY_LEVELS.flatMap((level) =>
      input.severity_styles
        .filter((style) => style.level === level)
        .map((style) => ({ ...style, color: style.color.toLowerCase() })),
    ),
  };
}

export function urlChange(url: string | null | undefined): PasswordChange {
  if (url === undefined) return { kind: 'keep' };
  return url === null ? { kind: 'clear' } : { kind: 'set', password: url };
}

function error(pointer: string, code: SettingsError['code'], detail: string): SettingsError {
  return { pointer, code, detail };
}

function nameErrors(name: string): SettingsError[] {
  const length = codePoints(name.trim());
  if (length === 0) return [error('/name', 'required', 'Give the Organization a name.')];
  return length > LONGEST_TEXT ? [tooLong('/name')] : [];
}

function zoneErrors(zone: string): SettingsError[] {
  if (zone.length <= LONGEST_ZONE && zone !== 'Local' && isTimeZone(zone)) return [];
  return [error('/time_zone', 'invalid_format', 'Name a zone of the IANA database, such as Europe/Berlin.')];
}

function labelErrors(label: string): SettingsError[] {
  if (label === '') return [error('/severity_label', 'required', 'Name the label that tells the severity.')];
  if (!LABEL_NAME.test(label)) return [notALabel('/severity_label')];
  return label.length > LONGEST_TEXT ? [tooLong('/severity_label')] : [];
}

function mappingErrors(mapping: OrganizationInput['severity_mapping']): SettingsError[] {
  const seen = new Set<string>();
  const errors = mapping.flatMap(({ value }, index) => {
    const pointer = `/severity_mapping/${index}/value`;
    const isRepeated = seen.has(value);
    seen.add(value);
    if (value.trim() === '') return [error(pointer, 'required', 'Enter the value of the label.')];
    if (codePoints(value) > LONGEST_TEXT) return [tooLong(pointer)];
    return isRepeated ? [error(pointer, 'duplicate', 'This value is mapped already.')] : [];
  });
  if (mapping.length <= MOST_VALUES) return errors;
  const many = error('/severity_mapping', 'too_long', `At most ${MOST_VALUES} values can be mapped.`);
  return [many, ...errors];
}

function styleErrors(styles: OrganizationInput['severity_styles']): SettingsError[] {
  const seen = new Set<SeverityLevel>();
  const errors = styles.flatMap(({ level, emoji, color }, index) => {
    const at = `/severity_styles/${index}`;
    const repeated = seen.has(level)
      ? [error(`${at}/level`, 'duplicate', 'This level has a style already.')]
      : [];
    seen.add(level);
    return [...repeated, ...emojiErrors(`${at}/emoji`, emoji), ...colorErrors(`${at}/color`, color)];
  });
  if (SEVERITY_LEVELS.every((level) => seen.has(level))) return errors;
  return [error('/severity_styles', 'required', 'Each level needs an emoji and a colour.'), ...errors];
}

function emojiErrors(pointer: string, emoji: string): SettingsError[] {
  if (emoji === '') return [error(pointer, 'required', 'Choose an emoji.')];
  return codePoints(emoji) > LONGEST_EMOJI ? [tooLong(pointer, LONGEST_EMOJI)] : [];
}

function colorErrors(pointer: string, color: string): SettingsError[] {
  return COLOR.test(color) ? [] : [error(pointer, 'invalid_format', 'Write a colour as #rrggbb.')];
}

function instanceLabelErrors(labels: readonly string[]): SettingsError[] {
  const seen = new Set<string>();
  const errors = labels.flatMap((label, index) => {
    const pointer = `/instance_labels/${index}`;
    const isRepeated = seen.has(label);
    seen.add(label);
    if (!LABEL_NAME.test(label)) return [notALabel(pointer)];
    return isRepeated ? [error(pointer, 'duplicate', 'This label is in the list already.')] : [];
  });
  if (labels.length <= MOST_LABELS) return errors;
  return [error('/instance_labels', 'too_long', `At most ${MOST_LABELS} labels are possible.`), ...errors];
}

/** The order of two periods is judged only when both are periods. */
function retentionErrors(retention: OrganizationInput['retention']): SettingsError[] {
  const errors = Object.entries(retention).flatMap(([field, days]) =>
    days < 1 ? [error(`/retention/${field}`, 'out_of_range', 'Keep it for at least one day.')] : [],
  );
  const { alert_details_days: details, alert_group_summaries_days: summaries } = retention;
  if (details < 1 || summaries < 1 || summaries >= details) return errors;
  const detail = 'Summaries are kept at least as long as details.';
  return [...errors, error('/retention/alert_group_summaries_days', 'retention_order', detail)];
}

function graceErrors(seconds: number): SettingsError[] {
  return seconds < 1
    ? [error('/oidc_token_grace_seconds', 'out_of_range', 'Allow at least one second.')]
    : [];
}

function urlErrors(url: string | null | undefined): SettingsError[] {
  const pointer = '/outgoing_heartbeat/url';
  if (url === undefined || url === null) return [];
  if (url === '') return [error(pointer, 'too_short', 'Leave it out to keep it, or send null to clear it.')];
  if (url.length > LONGEST_URL) return [tooLong(pointer, LONGEST_URL)];
  return isHttpUrl(url)
    ? []
    : [error(pointer, 'invalid_format', 'Write an address with http:// or https://.')];
}

/** User information is no part of what is requested; a service that wants it would be refused at every beat. */
function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function tooLong(pointer: string, limit = LONGEST_TEXT): SettingsError {
  return error(pointer, 'too_long', `At most ${limit} characters are possible.`);
}

function notALabel(pointer: string): SettingsError {
  return error(
    pointer,
    'invalid_format',
    'A label name has letters, digits and _, and begins with no digit.',
  );
}

/** What the settings of the Organization need from storage. Implemented in storage/configuration/organization.ts. */
export type OrganizationUpdate =
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'invalid'; readonly errors: readonly SettingsError[] }
  | { readonly outcome: 'unchanged'; readonly organization: OrganizationView }
  | {
      readonly outcome: 'saved';
      readonly organization: OrganizationView;
      /** The outgoing heartbeat begins anew. */
      readonly isUrlChanged: boolean;
      /** Something waits in the inboxes of Destinations, and perhaps of Routes. */
      readonly isUrgencyEdited: boolean;
    };

export interface OrganizationStore {
  read(): Promise<OrganizationView>;
  update(
    input: OrganizationInput,
    isCurrent: (version: number) => boolean,
    author: Authorship,
  ): Promise<OrganizationUpdate>;
  /** Values of the severity label of Alerts that were seen since an instant: most frequent first, then by value. */
  severityValues(since: Micros, limit: number): Promise<readonly SeverityCount[]>;
}

export interface SeverityCount {
  readonly value: string;
  /** Alerts, each of which may have fired in several Alert Groups. */
  readonly count: number;
}
