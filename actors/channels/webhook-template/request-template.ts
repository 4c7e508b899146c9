/** A request as templates that can be rendered, and their texts (webhooks §4.2, §4.3). */
import type { RequestRole } from '../../destination/webhook-config.ts';
import {
  namedReferences,
  parseTemplate,
  type RenderContext,
  renderTemplate,
  type Template,
  type TemplateValue,
} from '../../templates/index.ts';
import { type RequestTextError, splitRequest, type TextPart } from './request-text.ts';

export interface TemplatePart {
  readonly template: Template;
  readonly readsSecret: boolean;
  /** Where it begins in the text of the request. */
  readonly line: number;
  readonly column: number;
}

export interface RequestTemplates {
  readonly method: string;
  readonly url: TemplatePart;
  readonly headers: readonly { readonly name: string; readonly value: TemplatePart }[];
  readonly body: TemplatePart | null;
  /** The Secrets that it reads by name, with the place in the text of the request that reads each first. */
  readonly secrets: ReadonlyMap<string, RequestPlace>;
  /** Names of the extracted values that it reads. */
  readonly values: readonly string[];
}

export type RequestPlace = Pick<RequestTextError, 'line' | 'column'>;

export type ParsedRequest =
  | { readonly ok: true; readonly request: RequestTemplates }
  | { readonly ok: false; readonly error: RequestTextError };

export interface RenderedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Empty: none. */
  readonly body: string;
}

export type RequestRendering =
  | { readonly ok: true; readonly rendered: RenderedRequest }
  | { readonly ok: false; readonly error: RequestTextError };

/** @param readable names of extracted values that may be read; null: any */
export function parseRequest(text: string, readable: ReadonlySet<string> | null): ParsedRequest {
  const split = splitRequest(text);
  if (!split.ok) return split;
  const { method, url, headers, body } = split.parts;
  const secrets = new Map<string, RequestPlace>();
  const values = new Set<string>();
  const parse = (part: TextPart): TemplatePart => {
    const reads = parsePart(part, readable);
    if (!reads.ok) throw new Unparsable(reads.error);
    const { template } = reads;
    for (const [name, place] of reads.secrets) if (!secrets.has(name)) secrets.set(name, place);
    for (const name of reads.values) values.add(name);
    const { line, column } = part;
    return { template, readsSecret: reads.secrets.size > 0, line, column };
  };
  try {
    const parts = {
      method,
      url: parse(url),
      headers: headers.map(({ name, value }) => ({ name, value: parse(value) })),
      body: body && parse(body),
    };
    return { ok: true, request: { ...parts, secrets, values: [...values] } };
  } catch (error) {
    if (error instanceof Unparsable) return { ok: false, error: error.error };
    throw error;
  }
}

/** Every part with the same data; the first mistake is the answer. */
export function renderRequest(
  request: RequestTemplates,
  data: TemplateValue,
  context: RenderContext,
): RequestRendering {
  const { method, url, headers, body } = request;
  try {
    const text = (part: TemplatePart) => {
      const result = renderPart(part, data, context);
      if (!result.ok) throw new Unparsable(result.error);
      return result.text;
    };
    const rendered = {
      method,
      url: text(url),
      headers: headers.map(({ name, value }) => [name, text(value)] as const),
      body: body ? text(body) : '',
    };
    return { ok: true, rendered };
  } catch (error) {
    if (error instanceof Unparsable) return { ok: false, error: error.error };
    throw error;
  }
}

/** In the layout in which requests are written. */
export function requestText({ method, url, headers, body }: RenderedRequest): string {
  const head = [`${method} ${url}`, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n');
  return body === '' ? head : `${head}\n\n${body}`;
}

export function placedText(error: Omit<RequestTextError, 'code'>, role: RequestRole): string {
  return `${placeText(error, role)}: ${error.message}`;
}

export function placeText({ line, column }: RequestPlace, role: RequestRole): string {
  return `${role}, line ${line}, column ${column}`;
}

export type ParsedPart =
  | {
      readonly ok: true;
      readonly template: Template;
      /** Places are those in the whole text. */
      readonly secrets: ReadonlyMap<string, RequestPlace>;
      readonly values: readonly string[];
    }
  | { readonly ok: false; readonly error: RequestTextError };

export function parsePart(part: TextPart, readable: ReadonlySet<string> | null): ParsedPart {
  const refused = (error: RequestTextError) => ({ ok: false, error: inText(part, error) }) as const;
  const parsed = parseTemplate('webhook_request', part.source);
  if (!parsed.ok) return refused(parsed.error);
  const { template } = parsed;
  const secrets = namedReferences(template, 'Secrets');
  if (!secrets.ok) return refused({ ...secrets.error, code: 'invalid_format' });
  const values = namedReferences(template, 'Response');
  if (!values.ok) return refused({ ...values.error, code: 'invalid_format' });
  const unknown = values.names.find((name) => readable !== null && !readable.has(name));
  if (unknown === undefined) {
    const places = new Map([...secrets.places].map(([name, place]) => [name, inText(part, place)]));
    return { ok: true, template, secrets: places, values: values.names };
  }
  const message = `no extraction rule gives ${unknown} before this request is sent`;
  const place = values.places.get(unknown) ?? { line: 1, column: 1 };
  return refused({ code: 'invalid_format', message, ...place });
}

export type PartRendering =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: RequestTextError };

export function renderPart(
  part: Pick<TemplatePart, 'template' | 'line' | 'column'>,
  data: TemplateValue,
  context: RenderContext,
): PartRendering {
  const rendered = renderTemplate(part.template, data, context);
  return rendered.ok ? rendered : { ok: false, error: inText(part, rendered.error) };
}

/** A place within a part, as a place in the whole text. */
function inText<Placed extends RequestPlace>(part: RequestPlace, placed: Placed): Placed {
  const { line, column } = placed;
  return {
    ...placed,
    line: part.line + line - 1,
    column: line === 1 ? part.column + column - 1 : column,
  };
}

class Unparsable extends Error {
  override readonly name = 'Unparsable';
  readonly error: RequestTextError;

  constructor(error: RequestTextError) {
    super(error.message);
    this.error = error;
  }
}
