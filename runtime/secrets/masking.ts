/** Keeps secrets out of everything that people or machines read later (secrets §9). Runs before any shortening. */
import { Hiding } from './hiding.ts';

export const REDACTED = '[redacted]';

/** Values shorter than this are masked only where a field is known to hold one. */
const SHORTEST_MASKED = 4;

const SENSITIVE_NAME = /token|secret|password|passwd|apikey|authorization|signature|credential/;

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/svc_(pat|sat|int)_[A-Za-z0-9_-]+/g, REDACTED],
  [/whsec_[A-Za-z0-9+/=_-]+/g, REDACTED],
  [/\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]+/gi, `$1 ${REDACTED}`],
  [/\b\d{6,12}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g, REDACTED],
  // The signed data of a button: whoever has it can press.
  [/\bAQ[A-Za-z0-9_-]{53}(?![A-Za-z0-9_-])/g, REDACTED],
  // What a person sends to a bot: whoever has the token, until it is used, can link an account of theirs.
  [
    /((?:\bstart|\/link)(?:@\w{1,64})?(?:[=\s+]|%20|\\[nrt]|\\u[0-9a-f]{4}){1,64})[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/gi,
    `$1${REDACTED}`,
  ],
];

/** The scheme is looked at last: before, a long word would be read again from each of its letters. */
const URL_USER = /:\/\/(?<=[a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/?#@]+@/gi;

/** A part of whatever the last net takes out. None of it is written otherwise in JSON. */
const MARKS = /svc_|whsec_|bearer|basic|start|\/link|\d:[a-z0-9_-]{35}|aq[a-z0-9_-]{53}|:\/\/[^\s/?#@]+@/i;

/** Replaces secrets in one text. */
export type Mask = (text: string) => string;

/**
 * Makes a mask for known values in every form in which they travel: verbatim; escaped for JSON, HTML or a URL, however
 * often and each character for itself, since no two programs escape the same ones; and in base64, whatever was encoded
 * with them. A secret inside another one leaves no tail. The shapes of tokens and user information of URLs are masked
 * besides, whatever their value. The work grows with the text, whatever it and the secrets hold.
 */
export function createMask(secrets: readonly string[]): Mask {
  const parts = secrets.flatMap((secret) => [secret, ...keyOfBot(secret), ...requestTarget(secret)]);
  const known = [...new Set(parts.map((part) => part.trim()))].filter(isLongEnough);
  let hiding: Hiding | null = null;
  return (text) => {
    hiding ??= new Hiding(known);
    return maskShapes(hiding.hide(text, REDACTED));
  };
}

/** The last net: things that look like secrets, and user information of URLs. */
export function maskShapes(text: string): string {
  let masked = text.replace(URL_USER, `://${REDACTED}@`);
  for (const [shape, replacement] of SHAPES) masked = masked.replace(shape, replacement);
  return masked;
}

/** Whether there may be something to mask in a text, or in JSON: far quicker than to look for each shape. */
export function mayHoldShapes(text: string): boolean {
  return MARKS.test(text);
}

/**
 * A URL for people: no user information, no values of query parameters with sensitive names.
 * @param mask runs first: a secret may hold what separates parameters
 */
export function maskUrl(url: URL, mask: Mask = maskShapes): string {
  const user = url.username === '' && url.password === '' ? '' : `${REDACTED}@`;
  const shown = mask(`${url.protocol}//${user}${url.host}${url.pathname}${url.search}`);
  const start = shown.indexOf('?');
  if (start < 0) return shown;
  const query = shown
    .slice(start + 1)
    .split('&')
    .map((pair) => {
      const name = pair.split('=', 1)[0] ?? '';
      return isSensitiveName(name) && pair.includes('=') ? `${name}=${REDACTED}` : pair;
    })
    .join('&');
  return shown.slice(0, start) + (query === '' ? '' : `?${query}`);
}

/** Whether a header, parameter or member of this name usually holds a secret (outbound-http §4.5). */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE_NAME.test(name.toLowerCase().replace(/[-_]/g, ''));
}

/** Cuts to at most `limit` bytes of UTF-8, never inside a character. */
export function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return text;
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8');
}

function isLongEnough(secret: string): boolean {
  return secret.length >= SHORTEST_MASKED;
}

/** A bot's token names the bot first, which is no secret: what follows the colon opens it, alone as well. */
function keyOfBot(secret: string): readonly string[] {
  return /^\d+:(.+)$/.exec(secret.trim())?.slice(1) ?? [];
}

/** A secret may be a whole address: its host may be shown, the rest is what whoever answers there calls it by. */
function requestTarget(secret: string): readonly string[] {
  const text = secret.trim();
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return [];
  return urlSecrets(new URL(text));
}

/** The parts of a URL whose whole is a secret, as receivers tell them back; the host is not among them. */
export function urlSecrets({
  pathname,
  search,
  hash,
  username,
  password,
  searchParams,
}: URL): readonly string[] {
  const segments = pathname.split('/');
  const parts = [pathname + search, pathname, search.slice(1), hash, username, password, ...segments];
  const values = [...searchParams].map(([, value]) => value);
  return [...parts, ...parts.map(percentDecoded), ...values].filter((part) => part.length > 1);
}

/** A lone percent sign means itself. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Credentials that an Admin wrote out in a configuration are shown to its readers, but not in logs (secrets §9). */
const PARAMETER = /([?&]([^=&?#\s]{1,256})=)([^&#\s]+)/g;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):[ \t]*(\S.*)$/gm;
/** What holds no credential itself: a scheme, and a template that reads one. */
const READS_SECRET = /^(?:[A-Za-z]+ +)?\{\{[^{}]*\.Secrets[^{}]*\}\}$/;

/** The same value with every text in it, and every header in it, fit for a log line. */
export function maskLiterals(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(maskLiterals);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, maskLiterals(inner)] as const);
  const fields = Object.fromEntries(entries);
  const { name, value: said } = fields;
  // A header; what else has a name and a value has more besides.
  if (entries.length !== 2 || typeof name !== 'string' || typeof said !== 'string') return fields;
  return { ...fields, value: shown(name, said) };
}

/** A URL, a request with its headers, or any other text. */
function maskText(text: string): string {
  return maskShapes(text)
    .replace(PARAMETER, (_, before: string, name: string, said: string) => before + shown(name, said))
    .replace(HEADER_LINE, (line: string, name: string, said: string) =>
      shown(name, said) === said ? line : `${name}: ${REDACTED}`,
    );
}

function shown(name: string, said: string): string {
  return said === '' || !isSensitiveName(name) || READS_SECRET.test(said.trim()) ? said : REDACTED;
}
