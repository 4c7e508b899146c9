/** Names that the editor of templates completes (templates §4, §6, §8). */
import type { TemplateKind } from '../api/configuration.ts';

/** Functions as they are called, by what they are for. The subject comes last, where `|` puts it. */
const SIGNATURES: readonly (readonly string[])[] = [
  ['and a b …', 'or a b …', 'not a', 'eq a b …', 'ne a b', 'lt a b', 'le a b', 'gt a b', 'ge a b'],
  ['default d v', 'coalesce v …', 'ternary a b cond', 'empty v'],
  ['print v …', 'println v …', 'printf format v …', 'quote v …', 'squote v …'],
  [
    'toUpper s',
    'toLower s',
    'title s',
    'trim s',
    'trimSpace s',
    'trimAll cut s',
    'trimPrefix p s',
    'trimSuffix p s',
  ],
  [
    'contains sub s',
    'hasPrefix p s',
    'hasSuffix p s',
    'replace old new s',
    'repeat n s',
    'trunc n s',
    'ellipsis n s',
  ],
  ['indent n s', 'nindent n s', 'splitList sep s', 'join sep list'],
  ['match re s', 'regexMatch re s', 'regexFind re s', 'regexFindAll re n s', 'regexQuoteMeta s'],
  ['reReplaceAll re repl s', 'regexReplaceAll re repl s', 'regexReplaceAllLiteral re repl s'],
  [
    'html v …',
    'js v …',
    'urlquery v …',
    'urlUnescape s',
    'urlPathEscape s',
    'queryParam name url',
    'safeUrl u',
    'safeHtml s',
  ],
  ['toString v', 'toInt v', 'toFloat v', 'toBool v', 'toJson v'],
  ['add a b …', 'sub a b …', 'mul a b …', 'div a b …', 'mod a b …', 'max a b …', 'min a b …'],
  [
    'len x',
    'index x i …',
    'slice x i j',
    'list v …',
    'stringSlice s …',
    'first list',
    'last list',
    'rest list',
    'initial list',
  ],
  [
    'reverse list',
    'uniq list',
    'sortAlpha list',
    'has v list',
    'concat list …',
    'until n',
    'untilStep a b step',
    'seq first step last',
  ],
  ['dict k v …', 'get k map', 'hasKey k map', 'keys map', 'values map'],
  ['now', 'since t', 'date layout t', 'tz zone t', 'humanizeDuration x', 'lookup table key column'],
];

const OF_MESSAGES = [
  'mention "all"',
  'mention "channel"',
  'mention "here"',
  'mention "owner"',
  'mention "group" name',
];
/** A link has nobody to mention, and a request mentions those that it is given. */
const MENTION: Readonly<Record<TemplateKind, readonly string[]>> = {
  root_message: OF_MESSAGES,
  line: OF_MESSAGES,
  ack_timeout_notice: OF_MESSAGES,
  link_rule: [],
  webhook_request: ['mention target'],
};

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

/** Functions that a kind has, as they are called. */
export function signaturesOf(kind: TemplateKind): readonly (readonly string[])[] {
  return [...SIGNATURES, MENTION[kind]].filter((group) => group.length > 0);
}

/** The same for completing: each name once, with what it is given. */
export function functionsOf(
  kind: TemplateKind,
): readonly { readonly name: string; readonly takes: string }[] {
  const taken = new Map<string, string>();
  for (const signature of signaturesOf(kind).flat()) {
    const [name = '', ...operands] = signature.split(' ');
    if (!taken.has(name)) taken.set(name, operands.join(' '));
  }
  return [...taken].map(([name, takes]) => ({ name, takes }));
}

const OF_A_MESSAGE = [
  {
    name: 'firing',
    text: '{{ range .Alerts.Firing }}\n* {{ .Annotations.summary | default .Labels.alertname }}\n{{- end }}',
  },
  { name: 'runbook', text: '{{ with .CommonAnnotations.runbook_url }}Runbook: {{ . }}{{ end }}' },
  {
    name: 'owner',
    text: '{{ if .AlertGroup.Owner }}{{ mention "owner" }}{{ else }}{{ mention "here" }}{{ end }}',
  },
  { name: 'since', text: '{{ since .AlertGroup.StartedAt | humanizeDuration }}' },
] as const;

/** Pieces that people often want in a template of a kind. One of a request is right for a Storm summary, too. */
export const SNIPPETS = {
  root_message: OF_A_MESSAGE,
  ack_timeout_notice: OF_A_MESSAGE,
  line: [
    { name: 'labels', text: '{{ range .Labels.SortedPairs }}{{ .Name }}={{ .Value }} {{ end }}' },
    { name: 'resolved', text: '{{ if eq .Status "resolved" }}(resolved){{ end }}' },
    { name: 'since', text: '{{ since .StartsAt | humanizeDuration }}' },
  ],
  link_rule: [
    { name: 'runbook', text: '{{ .CommonAnnotations.runbook_url }}' },
    { name: 'query', text: 'https://wiki.example.org/search?q={{ urlquery .AlertGroup.Title }}' },
  ],
  webhook_request: [
    {
      name: 'json',
      text: `{{ if .Storm }}{{ dict "title" .Storm.Route "url" .Storm.URL | toJson }}
{{- else }}{{ dict "title" .AlertGroup.Title "url" .AlertGroup.URL | toJson }}{{ end }}`,
    },
    { name: 'mentions', text: '{{ range .Mentions }}{{ mention . }} {{ end }}' },
    { name: 'resolved', text: '{{ if eq .Status "resolved" }}resolved{{ else }}firing{{ end }}' },
  ],
} as const satisfies Readonly<
  Record<TemplateKind, readonly { readonly name: string; readonly text: string }[]>
>;

/** What a preview has to know besides the template. */
export interface PreviewedTemplate {
  /** A saved Route: its recent Snapshots are the samples, and its language is that of the texts. */
  readonly routeId?: string | null;
  readonly language?: 'en' | 'ru';
  /** In the units of the format. */
  readonly lengthLimit?: number;
}
