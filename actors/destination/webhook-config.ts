/** What an Admin writes for a webhook of either mode: checks, warnings, templates (webhooks §1.1, §1.2, §4.1). */
import type { Micros } from '../../runtime/clock.ts';
import { secretsData } from '../templates/data.ts';
import {
  type Effort,
  literalParts,
  namedReferences,
  parseTemplate,
  plainFormat,
  type RenderedTemplate,
  renderTemplate,
  type Template,
} from '../templates/index.ts';

export interface WebhookHeader {
  readonly name: string;
  readonly value: string;
}

/** URL and header values are templates that read Secrets. */
export interface EventsConfig {
  readonly url: string;
  readonly headers: readonly WebhookHeader[];
}

export interface ConfigError {
  /** RFC 6901, below the Destination. */
  readonly pointer: string;
  readonly code:
    | 'required'
    | 'invalid_format'
    | 'too_long'
    | 'duplicate'
    | 'reserved'
    | 'template_syntax'
    | 'unknown_function';
  readonly detail: string;
  readonly line?: number;
  readonly column?: number;
}

export interface ConfigWarning {
  readonly kind: 'literal_credential';
  readonly field: string;
}

/** Of a URL, and of the value of a header. */
export const TEMPLATE_BYTES = 4096;
/** What `now` says while a configuration is checked, so that a check depends on nothing else. */
export const DRY_RUN_AT: Micros = 0;
export const MOST_HEADERS = 50;
/** What a header may hold when it is sent. */
export const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const RESERVED = new Set([
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'content-length',
  'host',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** Whether a text can be the name of a header. */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Headers that the service sets itself, however they are written; in events mode also `Content-Type`. */
export function isReservedHeader(name: string): boolean {
  return RESERVED.has(name.toLowerCase());
}

/** As it is stored: URL and header names without surrounding blanks. */
export function normalisedEvents(events: EventsConfig): EventsConfig {
  return {
    url: events.url.trim(),
    headers: events.headers.map(({ name, value }) => ({ name: name.trim(), value })),
  };
}

/** Everything that is wrong with a normalised configuration, at most one item a field. */
export function eventsErrors(events: EventsConfig): readonly ConfigError[] {
  const effort = { steps: 0 };
  const errors: (ConfigError | null)[] = [urlError(events.url, effort)];
  if (events.headers.length > MOST_HEADERS) {
    errors.push(problem('/events/headers', 'too_long', `At most ${MOST_HEADERS} headers are possible.`));
  }
  const seen = new Set<string>();
  for (const [index, { name, value }] of events.headers.entries()) {
    const pointer = `/events/headers/${index}`;
    errors.push(nameError(name, `${pointer}/name`, seen), valueError(value, `${pointer}/value`, effort));
    seen.add(name.toLowerCase());
  }
  return errors.filter((error) => error !== null);
}

/** Credentials that are written out instead of being read from a Secret. Never blocks a save. */
export function eventsWarnings(events: EventsConfig): readonly ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const url = parseSecretTemplate(events.url);
  if (url.ok && urlHoldsLiteral(url.template))
    warnings.push({ kind: 'literal_credential', field: '/events/url' });
  for (const [index, { name, value }] of events.headers.entries()) {
    const literal = name.toLowerCase() === 'authorization' && value !== '' && !readsSecret(value);
    if (literal) warnings.push({ kind: 'literal_credential', field: `/events/headers/${index}/value` });
  }
  return warnings;
}

/** Whether a rendered URL may be called: absolute, http or https, with a host. */
export function callableUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.hostname !== '' ? url : null;
}

function urlError(url: string, effort: Effort): ConfigError | null {
  if (url === '') return problem('/events/url', 'required', 'Give the URL that events are posted to.');
  const rendered = dryRun(url, '/events/url', effort);
  if (typeof rendered !== 'string') return rendered;
  if (callableUrl(rendered)) return null;
  return {
    ...problem('/events/url', 'invalid_format', 'This must become an absolute http or https URL.'),
    ...WHOLE_VALUE,
  };
}

function nameError(name: string, pointer: string, seen: ReadonlySet<string>): ConfigError | null {
  const folded = name.toLowerCase();
  if (name === '') return problem(pointer, 'required', 'Give the name of the header.');
  if (!isHeaderName(name))
    return problem(pointer, 'invalid_format', 'This is not the name of an HTTP header.');
  if (folded === 'content-type' || isReservedHeader(name))
    return problem(pointer, 'reserved', 'The service sets this header itself.');
  if (seen.has(folded)) return problem(pointer, 'duplicate', 'This header is in the list already.');
  return null;
}

function valueError(value: string, pointer: string, effort: Effort): ConfigError | null {
  const rendered = dryRun(value, pointer, effort);
  if (typeof rendered !== 'string') return rendered;
  if (!/[\r\n\0]/.test(rendered)) return null;
  return { ...problem(pointer, 'invalid_format', 'A header value has no line breaks.'), ...WHOLE_VALUE };
}

/** The place of a mistake that only the rendered value has. */
export const WHOLE_VALUE = { line: 1, column: 1 } as const;

/** Renders with `example-<name>` for every Secret, whether or not it exists. */
function dryRun(source: string, pointer: string, effort: Effort): string | ConfigError {
  if (Buffer.byteLength(source) > TEMPLATE_BYTES) {
    return problem(pointer, 'too_long', `At most ${TEMPLATE_BYTES} bytes are possible.`);
  }
  const parsed = parseSecretTemplate(source);
  if (!parsed.ok) {
    const { code, message, line, column } = parsed.error;
    return { pointer, code, detail: message, line, column };
  }
  const examples = Object.fromEntries([...parsed.reads.keys()].map((name) => [name, `example-${name}`]));
  const rendered = renderSecretTemplate(parsed.template, examples, DRY_RUN_AT, effort);
  if (rendered.ok) return rendered.text;
  const { code, message, line, column } = rendered.error;
  return { pointer, code, detail: message, line, column };
}

function readsSecret(source: string): boolean {
  const parsed = parseSecretTemplate(source);
  return parsed.ok && parsed.reads.size > 0;
}

/** Stands for an action in a URL while its literal parts are judged. */
const MARKER = 'q7Action7q';

/** Whether the user information or a query parameter of a URL is written out, even in part. */
export function urlHoldsLiteral(template: Template): boolean {
  const marked = literalParts(template).map((part) => part ?? MARKER);
  const url = callableUrl(marked.join(''));
  if (!url) return false;
  const values = url.search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1 || pair.length));
  return [url.username, url.password, ...values].some((value) => value.replaceAll(MARKER, '') !== '');
}

function problem(pointer: string, code: ConfigError['code'], detail: string): ConfigError {
  return { pointer, code, detail };
}

/** Templates of webhook URLs and header values in events mode: of data they see Secrets and nothing else (webhooks §1.1). */
export interface SecretTemplateError {
  /** `invalid_format`: a Secret is read in a form that is not allowed. */
  readonly code: 'template_syntax' | 'unknown_function' | 'invalid_format';
  readonly message: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
}

export type ParsedSecretTemplate =
  | {
      readonly ok: true;
      readonly template: Template;
      /** The Secrets that it reads by name, with the place that reads each first. */
      readonly reads: ReadonlyMap<string, Pick<SecretTemplateError, 'line' | 'column'>>;
    }
  | { readonly ok: false; readonly error: SecretTemplateError };

/** Reads a template. The first mistake in it is the answer. */
export function parseSecretTemplate(source: string): ParsedSecretTemplate {
  const parsed = parseTemplate('webhook_request', source, ['mention']);
  if (!parsed.ok) return parsed;
  const references = namedReferences(parsed.template, 'Secrets');
  if (!references.ok) return { ok: false, error: { ...references.error, code: 'invalid_format' } };
  return { ok: true, template: parsed.template, reads: references.places };
}

/**
 * Fills in Secrets. There are no Lookup tables, no Mentions and no zone but UTC here.
 * @param effort of all parts of one request
 */
export function renderSecretTemplate(
  template: Template,
  secrets: Readonly<Record<string, string>>,
  now: Micros,
  effort: Effort,
): RenderedTemplate {
  return renderTemplate(template, secretsData(secrets), {
    format: plainFormat,
    now,
    zone: 'UTC',
    lookup: () => '',
    mention: () => null,
    effort,
  });
}

/** In the order in which they are checked and shown. */
export const REQUEST_ROLES = ['create', 'update', 'open_thread', 'reply_in_thread'] as const;
export type RequestRole = (typeof REQUEST_ROLES)[number];

/** Roles whose answers values can be taken from. */
export const EXTRACTING_ROLES = ['create', 'open_thread'] as const satisfies readonly RequestRole[];

/** A value that is taken from an answer and read later as `.Response.<name>`. */
export interface ExtractionRule {
  readonly name: string;
  /** JSONPath. */
  readonly path: string;
}

export interface RequestTemplate {
  /** As written: method and URL, headers, a blank line, the body. */
  readonly request: string;
  /** Of create and open_thread. */
  readonly extract: readonly ExtractionRule[];
}

export type TemplateConfig = {
  readonly [Role in RequestRole]: Role extends 'create' | 'update' ? RequestTemplate : RequestTemplate | null;
};

/** The same before anybody looked at it. */
export type TemplateDraft = Readonly<Record<RequestRole, RequestTemplate | null>>;

/** Names of values that a role may read: those of rules whose answers have come before. */
export function readableValues(config: TemplateDraft, role: RequestRole): ReadonlySet<string> {
  const before: Readonly<Record<RequestRole, readonly RequestRole[]>> = {
    create: [],
    update: ['create'],
    open_thread: ['create'],
    reply_in_thread: ['create', 'open_thread'],
  };
  const rules = before[role].flatMap((earlier) => config[earlier]?.extract ?? []);
  return new Set(rules.map(({ name }) => name));
}
