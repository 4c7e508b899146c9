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
 * Makes a mask for known values in every form in which they travel: verbatim, percent- and form-encoded, escaped for JSON
 * or HTML, or for one and then for another, each character for itself, since no two programs escape the same ones; and
 * base64, whatever was encoded with them. Longer values first, so that a secret inside another one leaves no tail. The shapes of tokens and user
 * information of URLs are masked besides, whatever their value.
 */
export function createMask(secrets: readonly string[]): Mask {
  const known = new Set(secrets.flatMap((secret) => [secret, ...requestTarget(secret)]));
  const longestFirst = [...known].filter(isLongEnough).sort((a, b) => b.length - a.length);
  const sought = longestFirst.map((secret) => ({
    secret,
    run: longestRun(secret),
    cores: base64Cores(secret),
  }));
  return (text) => {
    // Almost every text holds none of them, and looking for what no form changes is far cheaper than an expression.
    const present = sought.flatMap(({ secret, run, cores }) => [
      ...cores.filter((core) => text.includes(core)).map(base64Around),
      ...(text.includes(run) ? [anySpelling(secret)] : []),
    ]);
    if (present.length === 0) return maskShapes(text);
    return maskShapes(text.replace(new RegExp(present.join('|'), 'g'), REDACTED));
  };
}

/** The last net: things that look like secrets, and user information of URLs. */
export function maskShapes(text: string): string {
  // Looking for the sign is far cheaper than for every scheme that a long text might begin.
  let masked = text.includes('@') ? text.replace(URL_USER, `$1${REDACTED}@`) : text;
  for (const [shape, replacement] of SHAPES) masked = masked.replace(shape, replacement);
  return masked;
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
  return secret.trim().length >= SHORTEST_MASKED;
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

/** What no way of escaping touches. */
function longestRun(secret: string): string {
  return secret
    .split(/[^A-Za-z0-9]+/)
    .reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

const HTML_NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};
const JSON_LETTERS: Readonly<Record<string, string>> = {
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\b': 'b',
  '\f': 'f',
};

/** An escape may itself have been escaped for a URL, JSON or HTML: these are its parts, however they are written. */
const BACKSLASH = '(?:\\\\|%(?:25)?5[cC])(?:u005[cC])?';
const BEHIND_BACKSLASH = '(?<=[\\\\cC])';
const AMPERSAND = '(?:&(?:amp;)?|%(?:25)?26)';
const NUMBER_SIGN = '(?:#|%(?:25)?23)';
const SEMICOLON = '(?:;|%(?:25)?3[bB])';
/** A secret with an escaped backslash in it would match in ever more ways, each of which would be tried. */
const ESCAPED_BACKSLASH = /%(?:25)*5c|\\u005c/i;
/** JSON doubles backslashes, and again where JSON is put into JSON. */
const MOST_FOR_ONE = 8;

function anySpelling(secret: string): string {
  const text = secret.trim();
  const backslash = ESCAPED_BACKSLASH.test(text) ? '\\\\' : `(?:${BACKSLASH})`;
  // Backslashes belong to what follows them: two that could share a run between them would make every share be tried.
  const pieces = text.match(/\\*[^\\]|\\+$/gu) ?? [];
  return pieces.map((piece) => spellings(piece, backslash)).join('');
}

/** Source of an expression that matches backslashes and the character behind them, however they are written. */
function spellings(piece: string, backslash: string): string {
  const character = piece.replace(/^\\+/, '');
  const own = piece.length - character.length;
  const most = MOST_FOR_ONE * (own + 1);
  if (/^[A-Za-z0-9]?$/.test(character))
    return own === 0 ? character : `${backslash}{${own},${most}}${character}`;
  const bytes = [...Buffer.from(character, 'utf8')].map((byte) => `%(?:25)?${anyCase(byte, 2)}`).join('');
  const units = character.split('').map((unit) => `u${anyCase(unit.charCodeAt(0), 4)}`);
  const code = character.codePointAt(0) ?? 0;
  const name = HTML_NAMES[character];
  const numbers = `${NUMBER_SIGN}(?:0{0,4}${code}|[xX]0{0,4}${anyCase(code, 1)})`;
  const entity = `(?:${name === undefined ? '' : `${name}|`}${numbers})${SEMICOLON}`;
  const letter = JSON_LETTERS[character];
  const lettered = [
    units.join(`${backslash}{1,${MOST_FOR_ONE}}`),
    `u0026${entity}`,
    ...(letter === undefined ? [] : [letter]),
  ].join('|');
  const forms = [
    escapeRegExp(character),
    bytes,
    AMPERSAND + entity,
    `${BEHIND_BACKSLASH}(?:${lettered})`,
    ...(character === ' ' ? ['\\+'] : []),
  ].join('|');
  // URLs leave tabs and line ends out.
  return `(?:${backslash}{${own},${most}}(?:${forms}))${/[\t\r\n]/.test(character) ? '?' : ''}`;
}

/** A number in hexadecimal digits of either case. */
function anyCase(value: number, digits: number): string {
  const text = value.toString(16).padStart(digits, '0');
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Shorter ones would be found in what has nothing to do with the secret. */
const SHORTEST_CORE = 5;

/** What base64 makes of a secret for certain, wherever it begins in what is encoded. */
function base64Cores(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const cores = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const certain = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [certain, certain.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set(cores)].filter((core) => core.length >= SHORTEST_CORE);
}

/** With the characters that are the secret's in part, and the padding. */
function base64Around(core: string): string {
  return `[A-Za-z0-9+/_\\-]?${escapeRegExp(core)}[A-Za-z0-9+/_\\-]{0,2}={0,2}`;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
