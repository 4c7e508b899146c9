/** What requests are tried on before they are saved, and shown with in previews (webhooks §4.2, §6). */
import { SECOND } from '../../../runtime/clock.ts';
import type { TemplateAlert, TemplateGroup, WebhookMention, WebhookTelling } from '../../templates/data.ts';
import type { RequestRole } from './configuration.ts';
import type { RequestTemplates } from './request-template.ts';

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
    secrets: Object.fromEntries(secrets.map((name) => [name, secret(name)])),
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
