/** What a request is rendered with: the Alert Group or Storm, the moment, or the example (webhooks §4.2, §4.3, §6). */
import { createHash } from 'node:crypto';
import { SECOND } from '../../../runtime/clock.ts';
import type { RequestRole, RequestTemplate } from '../../destination/webhook-config.ts';
import type { MessageSettings } from '../../messages/index.ts';
import {
  type TemplateAlert,
  type TemplateGroup,
  type TemplateStorm,
  type WebhookMention,
  type WebhookTelling,
  webhookData,
  webhookStormData,
} from '../../templates/data.ts';
import {
  type MentionTarget,
  plainFormat,
  type RenderContext,
  type TemplateValue,
} from '../../templates/index.ts';
import {
  type PartRendering,
  parsePart,
  parseRequest,
  type RequestRendering,
  type RequestTemplates,
  renderPart,
  renderRequest,
  requestText,
} from './request-template.ts';

export type ToldSubject =
  | { readonly kind: 'group'; readonly group: TemplateGroup }
  | { readonly kind: 'storm'; readonly storm: TemplateStorm };

/** What a request tells besides its subject, Secrets and extracted values. */
export type Telling = Omit<WebhookTelling, 'secrets' | 'response'>;

export type TellingSettings = Pick<MessageSettings, 'publicUrl' | 'zone' | 'now' | 'lookup' | 'monotonic'>;

/** An update: Quiet, of no event. */
export const UPDATE: Telling = { event: '', text: '', notify: false, mentions: [], final: '' };

export function dataOf(
  subject: ToldSubject,
  telling: WebhookTelling,
  { zone, publicUrl }: TellingSettings,
): TemplateValue {
  return subject.kind === 'group'
    ? webhookData(subject.group, telling, zone)
    : webhookStormData(subject.storm, telling, publicUrl);
}

export function contextOf({ zone, now, lookup, monotonic }: TellingSettings): RenderContext {
  const limits = { lookedUp: new Set<string>(), effort: { steps: 0 }, ...(monotonic ? { monotonic } : {}) };
  return { format: plainFormat, zone, now, lookup, mention: mentionText, ...limits };
}

/** A request as people may see it: no Secret, and examples for what answers gave. */
export function shownRequest(
  template: RequestTemplate,
  subject: ToldSubject,
  telling: Telling,
  settings: TellingSettings,
): RequestRendering {
  const parsed = parseRequest(template.request, null);
  if (!parsed.ok) return parsed;
  const shown = standIns(parsed.request, () => '[redacted]', exampleValue);
  return renderRequest(
    parsed.request,
    dataOf(subject, { ...telling, ...shown }, settings),
    contextOf(settings),
  );
}

/** One part of a request by itself, in the same way. */
export function shownPart(
  source: string,
  subject: ToldSubject,
  telling: Telling,
  settings: TellingSettings,
): PartRendering {
  const parsed = parsePart({ source, line: 1, column: 1 }, null);
  if (!parsed.ok) return parsed;
  const shown = standIns(parsed, () => '[redacted]', exampleValue);
  const data = dataOf(subject, { ...telling, ...shown }, settings);
  return renderPart({ ...parsed, line: 1, column: 1 }, data, contextOf(settings));
}

/**
 * The state that an update would bring about, without Secrets and extracted values: changing those sends nothing
 * (webhooks §4.5). A request that cannot be rendered has one, too, so that a create is not followed by its failure.
 */
export function updateHash(
  update: RequestTemplate,
  subject: ToldSubject,
  telling: Telling,
  settings: TellingSettings,
): string {
  const shown = shownRequest(update, subject, telling, settings);
  const text = shown.ok ? requestText(shown.rendered) : `cannot be rendered: ${shown.error.message}`;
  return createHash('sha256').update(text).digest('base64url');
}

/** What requests are tried on before they are saved, and shown with in previews (webhooks §4.2, §6). */
const STARTED_AT = 1_760_000_000 * SECOND;

export const EXAMPLE_MENTIONS: readonly WebhookMention[] = [
  { type: 'everyone', everyone: 'channel' },
  { type: 'group', name: 'sre' },
  { type: 'user', name: 'Ann', id: 'SR000000000000', login: 'ann' },
];

/** An Alert Group that depends on nothing: whether a configuration can be saved is the same today and tomorrow. */
export const EXAMPLE_GROUP: TemplateGroup = {
  number: 1,
  title: 'ApiErrors',
  summary: '5xx rate above 2 %',
  status: 'firing',
  route: 'Default route',
  severityLevel: 'critical',
  urgent: true,
  startedAt: STARTED_AT,
  url: 'https://tocsin.example.org/alert-groups/AG000000000000',
  reopenCount: 0,
  owner: null,
  alerts: ['billing-7f', 'billing-9c'].map(exampleAlert),
  groupLabels: { alertname: 'ApiErrors' },
  commonLabels: { alertname: 'ApiErrors', cluster: 'prod-1', namespace: 'billing', severity: 'critical' },
  commonAnnotations: {
    summary: '5xx rate above 2 %',
    runbook_url: 'https://runbooks.example.org/api-errors',
  },
  externalUrl: 'https://tocsin.example.org',
};

function exampleAlert(pod: string): TemplateAlert {
  return {
    fingerprint: pod,
    status: 'firing',
    labels: { alertname: 'ApiErrors', cluster: 'prod-1', namespace: 'billing', pod, severity: 'critical' },
    annotations: { summary: '5xx rate above 2 %' },
    startsAt: STARTED_AT,
    endsAt: null,
    generatorUrl: 'https://prometheus.example.org/graph?g0.expr=up',
  };
}

/** Stand-ins of all that a request reads of Secrets and answers. */
export function standIns(
  { secrets, values }: Pick<RequestTemplates, 'secrets' | 'values'>,
  secret: (name: string) => string,
  value: (name: string) => string,
): Pick<WebhookTelling, 'secrets' | 'response'> {
  return {
    secrets: Object.fromEntries([...secrets.keys()].map((name) => [name, secret(name)])),
    response: Object.fromEntries(values.map((name) => [name, value(name)])),
  };
}

export function exampleValue(name: string): string {
  return `example-${name}`;
}

/** A Loud request, with one Mention of each kind. */
export function exampleTelling(role: RequestRole): Omit<WebhookTelling, 'secrets' | 'response'> {
  const isReply = role === 'open_thread' || role === 'reply_in_thread';
  return {
    event: isReply ? 'alerts_added' : '',
    text: isReply ? '2 new alerts' : '',
    notify: true,
    mentions: EXAMPLE_MENTIONS,
    final: '',
  };
}

/** What `mention` gives in a request: plain text, whatever the receiver makes of it (webhooks §4.3). */
export function mentionText(target: MentionTarget): string {
  switch (target.type) {
    case 'everyone':
      return `@${target.everyone}`;
    case 'group':
      return target.name;
    case 'user':
      return `@${target.login}`;
    case 'owner':
      return '';
  }
}
