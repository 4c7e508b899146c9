/** One template on one sample, as previews show it (templates §10). */
import type { PublicId } from '../../runtime/public-id.ts';
import { renderLink } from '../links/evaluate.ts';
import {
  FORMATS,
  type GroupMessage,
  type Language,
  type MessageSettings,
  previewRoot,
} from '../messages/index.ts';
import { type RouteTemplateKind, TEMPLATE_LIMIT } from '../route/policy.ts';
import { groupData, lineData, type TemplateGroup } from '../templates/data.ts';
import {
  type MentionTarget,
  type OutputFormat,
  parseTemplate,
  plainFormat,
  type RenderContext,
  type RenderTimer,
  renderTemplate,
  type TemplateKind,
} from '../templates/index.ts';
import { codePoints } from '../text.ts';
import { builtinSource } from './builtin-sources.ts';
import { MOST_LINES } from './samples.ts';
import { LINK_RULE_TEMPLATE_LIMIT } from './template-checks.ts';

/** Characters of a source. */
const LIMITS = {
  root_message: TEMPLATE_LIMIT,
  line: TEMPLATE_LIMIT,
  ack_timeout_notice: TEMPLATE_LIMIT,
  link_rule: LINK_RULE_TEMPLATE_LIMIT,
  webhook_request: 32_768,
} as const satisfies Record<AskedPreview['kind'], number>;

export interface PreviewedSample {
  readonly group: TemplateGroup;
  /** As messages show it. */
  readonly message: () => GroupMessage;
}

/** Previews block the process for other requests, so a render timer is required. */
export type PreviewSettings = MessageSettings & {
  readonly monotonic: RenderTimer;
  readonly webhookRequest: RequestPreviewer;
};

/** A whole request of a webhook, or a part of one by itself; no Secret and no answer is shown (webhooks §6). */
export type RequestPreviewer = (
  template: string,
  group: TemplateGroup,
  settings: MessageSettings & { readonly monotonic: RenderTimer },
) => { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: PreviewError };

export interface Rendered {
  readonly output: string | null;
  readonly truncated: boolean;
  /** The built-in template, when that was asked for. */
  readonly source: string | null;
  readonly error: PreviewError | null;
}

export function previewSource(
  asked: AskedPreview,
  sample: PreviewedSample,
  settings: PreviewSettings,
): Rendered {
  const error = sourceError(asked);
  if (error) return failed(error);
  switch (asked.kind) {
    case 'root_message':
      return previewMessage(asked, sample, settings);
    case 'line':
    case 'ack_timeout_notice':
      return previewText(asked, asked.kind, sample.group, settings);
    case 'link_rule':
      return previewLink(asked, sample.group, settings);
    case 'webhook_request':
      return previewRequest(asked, sample.group, settings);
  }
}

const isOfRoute = (kind: AskedPreview['kind']): kind is RouteTemplateKind =>
  kind === 'root_message' || kind === 'line' || kind === 'ack_timeout_notice';

function sourceError({ kind, template }: AskedPreview): PreviewError | null {
  const limit = LIMITS[kind];
  const place = { line: null, column: null };
  if (template === '' && !isOfRoute(kind)) {
    return { code: 'required', message: 'There is no built-in template of this kind.', ...place };
  }
  if (codePoints(template) <= limit) return null;
  return { code: 'too_long', message: `A template of this kind has at most ${limit} characters.`, ...place };
}

/** The whole message; the built-in one is laid out by parts, its source only says the same. */
function previewMessage(
  asked: AskedPreview,
  { message }: PreviewedSample,
  settings: PreviewSettings,
): Rendered {
  const { template, format, lengthLimit } = asked;
  const source = template === '' ? builtinSource('root_message', settings.language) : null;
  const parsed = template === '' ? null : parseTemplate('root_message', template);
  if (parsed && !parsed.ok) return failed(parsed.error);
  const templates = { ...settings.templates, rootMessage: parsed?.template ?? null };
  const { text, truncated, failure } = previewRoot(
    format,
    message(),
    { ...settings, templates },
    lengthLimit,
  );
  return failure ? failed(failure.error) : { output: text, truncated, source, error: null };
}

function previewText(
  asked: AskedPreview,
  kind: 'line' | 'ack_timeout_notice',
  group: TemplateGroup,
  settings: PreviewSettings,
): Rendered {
  const builtin = asked.template === '' ? builtinSource(kind, settings.language) : null;
  const parsed = parseTemplate(kind, builtin ?? asked.template);
  if (!parsed.ok) return failed(parsed.error);
  const { template } = parsed;
  const format = FORMATS[asked.format];
  const context = contextOf(settings, format);
  const data =
    kind === 'line'
      ? group.alerts.slice(0, MOST_LINES).map((alert) => lineData(group, alert, settings.zone))
      : [groupData(group, settings.zone)];
  const lines: string[] = [];
  for (const each of data) {
    const rendered = renderTemplate(template, each, context);
    if (!rendered.ok) return failed(rendered.error);
    if (rendered.text !== '') lines.push(withMentions(rendered.text));
  }
  return { ...shortened(lines, asked.lengthLimit, format.length), source: builtin, error: null };
}

/** Whole lines, as many as there is room for. */
function shortened(lines: readonly string[], limit: number | null, length: (text: string) => number) {
  const split = lines.join('\n').split('\n');
  let shown = split.length;
  const output = () => split.slice(0, shown).join('\n');
  while (limit !== null && shown > 0 && length(output()) > limit) shown--;
  return { output: output(), truncated: shown < split.length };
}

function previewLink(asked: AskedPreview, group: TemplateGroup, settings: PreviewSettings): Rendered {
  const parsed = parseTemplate('link_rule', asked.template);
  if (!parsed.ok) return failed(parsed.error);
  const subject = { labels: group.commonLabels, value: '' };
  const rendered = renderLink(parsed.template, group, subject, contextOf(settings, plainFormat));
  return rendered.ok ? whole(rendered.url ?? '') : failed(rendered.error);
}

function previewRequest(asked: AskedPreview, group: TemplateGroup, settings: PreviewSettings): Rendered {
  const shown = settings.webhookRequest(asked.template, group, settings);
  return shown.ok ? whole(shown.text) : failed(shown.error);
}

function whole(output: string): Rendered {
  return { output, truncated: false, source: null, error: null };
}

function contextOf({ now, zone, lookup, monotonic }: PreviewSettings, format: OutputFormat): RenderContext {
  const mention: RenderContext['mention'] = (target) => mentionText(target, format);
  return { format, now, zone, lookup, monotonic, mention, effort: { steps: 0 } };
}

/** Finishing takes every `@` its meaning; these are put in their place afterwards. No value can hold such marks. */
const MARKED = /\uE000(.*?)\uE001/gs;

function withMentions(output: string): string {
  return output.replace(MARKED, (_mark, name: string) => `@${name}`);
}

/** A preview notifies nobody. */
function mentionText(target: MentionTarget, format: OutputFormat): string {
  return `\uE000${format.escape(mentionName(target))}\uE001`;
}

function mentionName(target: MentionTarget): string {
  switch (target.type) {
    case 'everyone':
      return target.everyone;
    case 'owner':
      return 'owner';
    case 'group':
      return target.name;
    case 'user':
      return target.login;
  }
}

function failed(error: PreviewError): Rendered {
  return { output: null, truncated: false, source: null, error };
}

export interface AskedPreview {
  readonly kind: TemplateKind;
  /** Empty: the built-in one. */
  readonly template: string;
  readonly format: 'markdown' | 'html' | 'commonmark';
  readonly routeId: PublicId | null;
  /** At most one of both. */
  readonly sample: { readonly alertGroupId: PublicId | null; readonly storedSnapshotId: PublicId | null };
  readonly language: Language | null;
  /** As the format counts. */
  readonly lengthLimit: number | null;
}

export interface PreviewError {
  readonly code:
    | 'template_syntax'
    | 'unknown_function'
    | 'required'
    | 'too_long'
    | 'invalid_format'
    | 'duplicate'
    | 'reserved';
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}
