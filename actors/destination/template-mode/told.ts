/** What a request tells: the Alert Group or Storm it is about, and the moment (webhooks §4.3). */
import { createHash } from 'node:crypto';
import type { MessageSettings } from '../../messages/index.ts';
import {
  type TemplateGroup,
  type TemplateStorm,
  type WebhookTelling,
  webhookData,
  webhookStormData,
} from '../../templates/data.ts';
import { plainFormat, type RenderContext, type TemplateValue } from '../../templates/index.ts';
import type { RequestTemplate } from './configuration.ts';
import { exampleValue, standIns } from './example.ts';
import { mentionText } from './mention-text.ts';
import {
  type PartRendering,
  parsePart,
  parseRequest,
  type RequestRendering,
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
