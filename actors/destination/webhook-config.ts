/** What an Admin writes for an events-mode webhook: its checks, its warnings, its templates (webhooks §1.1, §1.2). */
import type { Micros } from '../../runtime/clock.ts';
import { type Effort, literalParts, type Template } from '../templates/index.ts';
import { parseSecretTemplate, renderSecretTemplate } from './secret-template.ts';

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
  return problem('/events/url', 'invalid_format', 'This must become an absolute http or https URL.');
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
  return problem(pointer, 'invalid_format', 'A header value has no line breaks.');
}

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
  const examples = Object.fromEntries(parsed.reads.map((name) => [name, `example-${name}`]));
  const rendered = renderSecretTemplate(parsed.template, examples, DRY_RUN_AT, effort);
  if (rendered.ok) return rendered.text;
  const { code, message, line, column } = rendered.error;
  return { pointer, code, detail: message, line, column };
}

function readsSecret(source: string): boolean {
  const parsed = parseSecretTemplate(source);
  return parsed.ok && parsed.reads.length > 0;
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
