/** Takes the text of a request apart: method, URL, headers, body. Each part is a template of its own (webhooks §4.2). */
import {
  isHeaderName,
  isReservedHeader,
  MOST_HEADERS,
  TEMPLATE_BYTES,
} from '../../destination/webhook-config.ts';

/** A piece of the text and where it begins there; both 1-based, the column in code points. */
export interface TextPart {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

export interface RequestParts {
  /** In upper case. */
  readonly method: string;
  readonly url: TextPart;
  readonly headers: readonly { readonly name: string; readonly value: TextPart }[];
  readonly body: TextPart | null;
}

export interface RequestTextError {
  readonly code:
    | 'required'
    | 'invalid_format'
    | 'too_long'
    | 'duplicate'
    | 'reserved'
    | 'template_syntax'
    | 'unknown_function';
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

export type SplitRequest =
  | { readonly ok: true; readonly parts: RequestParts }
  | { readonly ok: false; readonly error: RequestTextError };

const TEXT_BYTES = 32_768;
const BODY_BYTES = 16_384;
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const FIRST_LINE = /^([A-Za-z]+)(?:([ \t]+)(.*))?$/;
const VERSION = /[ \t]HTTP\/\d+(\.\d+)?$/i;

/** Whether a text is meant as a whole request, not as one part of it. */
export function looksLikeRequest(text: string): boolean {
  const [, method = ''] = /^\s*([A-Za-z]+)[ \t]/.exec(text) ?? [];
  return METHODS.has(method.toUpperCase());
}

/** The first mistake is the answer. */
export function splitRequest(text: string): SplitRequest {
  try {
    return { ok: true, parts: split(text) };
  } catch (error) {
    if (error instanceof Unsplittable) return { ok: false, error: error.error };
    throw error;
  }
}

function split(text: string): RequestParts {
  if (Buffer.byteLength(text) > TEXT_BYTES) {
    throw refused('too_long', `A request has at most ${TEXT_BYTES} bytes.`, 1);
  }
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const nul = lines.findIndex((line) => line.includes('\0'));
  if (nul >= 0) {
    const column = points(lines[nul]?.split('\0', 1)[0] ?? '') + 1;
    throw refused('invalid_format', 'A request holds no NUL.', nul + 1, column);
  }
  const first = lines.findIndex((line) => !isBlank(line));
  if (first < 0)
    throw refused('required', 'Give the request: method and URL, headers, a blank line, the body.', 1);
  const blank = lines.findIndex((line, index) => index > first && isBlank(line));
  const headersEnd = blank < 0 ? lines.length : blank;
  const { method, url } = firstLine(lines[first] ?? '', first + 1);
  const headers = headersOf(lines.slice(first + 1, headersEnd), first + 2);
  return { method, url, headers, body: bodyOf(method, lines.slice(headersEnd + 1), headersEnd + 2) };
}

function firstLine(text: string, line: number): Pick<RequestParts, 'method' | 'url'> {
  const [, written = '', blanks = '', rest = ''] = FIRST_LINE.exec(text) ?? [];
  const method = written.toUpperCase();
  if (!METHODS.has(method)) {
    throw refused('invalid_format', 'A request begins with GET, POST, PUT, PATCH or DELETE and a URL.', line);
  }
  const column = written.length + blanks.length + 1;
  const source = rest.trim();
  if (source === '') throw refused('required', 'Give the URL after the method.', line, column);
  if (VERSION.test(source)) {
    throw refused(
      'invalid_format',
      'The first line is method and URL, without a version of HTTP.',
      line,
      column,
    );
  }
  if (Buffer.byteLength(source) > TEMPLATE_BYTES) {
    throw refused('too_long', `A URL has at most ${TEMPLATE_BYTES} bytes.`, line, column);
  }
  return { method, url: { source, line, column } };
}

function headersOf(lines: readonly string[], from: number): RequestParts['headers'] {
  const seen = new Set<string>();
  return lines.map((text, index) => {
    const line = from + index;
    const header = headerOf(text, line);
    const folded = header.name.toLowerCase();
    if (seen.has(folded)) throw refused('duplicate', 'This header is in the request already.', line);
    seen.add(folded);
    if (seen.size > MOST_HEADERS) {
      throw refused('too_long', `At most ${MOST_HEADERS} headers are possible.`, line);
    }
    return header;
  });
}

function headerOf(text: string, line: number): RequestParts['headers'][number] {
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(colon, 0));
  if (colon < 0 || !isHeaderName(name)) {
    throw refused('invalid_format', 'A header is a name, a colon and a value, in one line.', line);
  }
  if (isReservedHeader(name)) throw refused('reserved', 'The service sets this header itself.', line);
  const rest = text.slice(colon + 1);
  const column = colon + 2 + (rest.length - rest.trimStart().length);
  const source = rest.trim();
  if (Buffer.byteLength(source) > TEMPLATE_BYTES) {
    throw refused('too_long', `A header has at most ${TEMPLATE_BYTES} bytes.`, line, column);
  }
  return { name, value: { source, line, column } };
}

function bodyOf(method: string, lines: readonly string[], line: number): TextPart | null {
  const source = lines.join('\n').replace(/\n$/, '');
  if (source === '') return null;
  if (method === 'GET') throw refused('invalid_format', 'A GET has no body.', line);
  if (Buffer.byteLength(source) > BODY_BYTES) {
    throw refused('too_long', `A body has at most ${BODY_BYTES} bytes.`, line);
  }
  return { source, line, column: 1 };
}

function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

function points(text: string): number {
  return [...text].length;
}

class Unsplittable extends Error {
  override readonly name = 'Unsplittable';
  readonly error: RequestTextError;

  constructor(error: RequestTextError) {
    super(error.message);
    this.error = error;
  }
}

function refused(code: RequestTextError['code'], message: string, line: number, column = 1): Unsplittable {
  return new Unsplittable({ code, message, line, column });
}
