/** Keeps secrets out of everything that people or machines read later (secrets §9). Runs before any shortening. */

export const REDACTED = '[redacted]';

/** Values shorter than this are masked only where a field is known to hold one. */
const SHORTEST_MASKED = 4;

const SENSITIVE_NAME = /token|secret|password|passwd|apikey|authorization|signature|credential/;

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/svc_(pat|sat|int)_[A-Za-z0-9_-]+/g, REDACTED],
  [/whsec_[A-Za-z0-9+/=_-]+/g, REDACTED],
  [/\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]+/gi, `$1 ${REDACTED}`],
  [/\b\d{6,12}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g, REDACTED],
];

/** A scheme is short: without that bound a long word would be read again from each of its letters. */
const URL_USER = /([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/?#@]+@/gi;

/** Replaces secrets in one text. */
export type Mask = (text: string) => string;

/**
 * Makes a mask for known values in every form in which they travel: verbatim, percent- and form-encoded,
 * JSON-escaped, base64. Longer values first, so that a secret inside another one leaves no tail. The shapes of
 * tokens and user information of URLs are masked besides, whatever their value.
 */
export function createMask(secrets: readonly string[]): Mask {
  const forms = new Set(secrets.filter((secret) => secret.length >= SHORTEST_MASKED).flatMap(formsOf));
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return (text) => {
    // Almost every text holds none of them, and looking for each is far cheaper than one expression for all.
    const present = longestFirst.filter((form) => text.includes(form));
    if (present.length === 0) return maskShapes(text);
    return maskShapes(text.replace(new RegExp(present.map(escapeRegExp).join('|'), 'g'), REDACTED));
  };
}

/** The last net: things that look like secrets, and user information of URLs. */
export function maskShapes(text: string): string {
  // Looking for the sign is far cheaper than for every scheme that a long text might begin.
  let masked = text.includes('@') ? text.replace(URL_USER, `$1${REDACTED}@`) : text;
  for (const [shape, replacement] of SHAPES) masked = masked.replace(shape, replacement);
  return masked;
}

/** A URL for people: no user information, no values of query parameters with sensitive names. */
export function maskUrl(url: URL): string {
  const query = url.search
    .slice(1)
    .split('&')
    .map((pair) => {
      const name = pair.split('=', 1)[0] ?? '';
      return isSensitiveName(name) && pair.includes('=') ? `${name}=${REDACTED}` : pair;
    })
    .join('&');
  const user = url.username === '' && url.password === '' ? '' : `${REDACTED}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}${query === '' ? '' : `?${query}`}`;
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

function formsOf(secret: string): string[] {
  const component = encodeURIComponent(secret);
  const strict = component.replace(/[!'()*~]/g, percentEncoded);
  const form = new URLSearchParams({ v: secret }).toString().slice(2);
  const path = encodeURI(secret);
  const encoded = [component, strict, form, path].flatMap((text) => [text, lowerHex(text)]);
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replace(/[\u007f-\uffff]/g, unicodeEscape);
  // Whoever logs a JSON body as a text of its own JSON escapes it twice.
  const twice = JSON.stringify(json).slice(1, -1);
  const bytes = Buffer.from(secret, 'utf8');
  const base64 = bytes.toString('base64');
  return [
    secret,
    ...encoded,
    json,
    twice,
    json.replaceAll('/', '\\/'),
    ascii,
    ascii.replaceAll('/', '\\/'),
    base64,
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function lowerHex(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (encoded) => encoded.toLowerCase());
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
