/** Names that the editor of templates completes (templates §4, §6, §8). */
import type { TemplateKind } from '../api/links.ts';

export const FUNCTIONS: readonly string[] = (
  'and or not eq ne lt le gt ge len index slice print println printf html js urlquery ' +
  'toUpper toLower title trim trimSpace trimAll trimPrefix trimSuffix contains hasPrefix hasSuffix replace repeat ' +
  'trunc ellipsis indent nindent quote squote splitList join match regexMatch regexFind regexFindAll ' +
  'regexQuoteMeta reReplaceAll regexReplaceAll regexReplaceAllLiteral urlUnescape urlPathEscape queryParam safeUrl ' +
  'safeHtml default empty coalesce ternary toString toInt toFloat toBool toJson add sub mul div mod max min list ' +
  'stringSlice first last rest initial reverse uniq sortAlpha has concat until untilStep seq dict get hasKey keys ' +
  'values now since date tz humanizeDuration lookup mention'
).split(' ');

export const ACTIONS: readonly string[] = 'if else end with range break continue define template block'.split(
  ' ',
);

const GROUP = [
  '.AlertGroup',
  ...'Number Title Summary Status Route SeverityLevel Urgent StartedAt URL ReopenCount Owner'
    .split(' ')
    .map((name) => `.AlertGroup.${name}`),
];
const ALERT = '.Status .Labels .Annotations .StartsAt .EndsAt .GeneratorURL .Fingerprint'.split(' ');
const ALERTS =
  '.Status .Alerts .Alerts.Firing .Alerts.Resolved .GroupLabels .CommonLabels .CommonAnnotations .ExternalURL'.split(
    ' ',
  );

const REQUEST = [
  ...'.Event .Text .Notify .Mentions .Final .Secrets .Response .Storm'.split(' '),
  ...'Route AlertGroupCount UrgentCount Final URL'.split(' ').map((name) => `.Storm.${name}`),
];

const FIELDS: Readonly<Record<TemplateKind, readonly string[]>> = {
  root_message: [...GROUP, ...ALERTS],
  ack_timeout_notice: [...GROUP, ...ALERTS],
  line: [...ALERT, ...GROUP],
  link_rule: ['.Labels', '.Value', ...GROUP, ...ALERTS],
  webhook_request: [...GROUP, ...ALERTS, ...REQUEST],
};

/** Fields of the data of a kind, and what Alerts within `range .Alerts` have. */
export function fieldsOf(kind: TemplateKind): readonly string[] {
  return [...new Set([...FIELDS[kind], ...ALERT])];
}

/** A link has nobody to mention. */
export function functionsOf(kind: TemplateKind): readonly string[] {
  return kind === 'link_rule' ? FUNCTIONS.filter((name) => name !== 'mention') : FUNCTIONS;
}
