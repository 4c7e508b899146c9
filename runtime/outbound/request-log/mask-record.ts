/** What of a request may be kept and shown (outbound-http §4.5): secrets go first, then everything that looks like one. */
import { cutToBytes, isSensitiveName, type Mask, maskUrl, REDACTED } from '../../secrets/masking.ts';
import type { HeaderList } from '../client.ts';
import { maskJsonMembers } from './mask-json.ts';
import type { RecordedMessage } from './record.ts';

export const SHOWN_BODY_BYTES = 16_384;
/** Characters of a longer body that are looked at: masking mostly makes a text shorter. */
const LOOKED_AT = 4 * SHOWN_BODY_BYTES;
/** Forms of a secret are at most this much longer than itself: a character is up to `%2526%252339%253B`. */
const LONGEST_FORM = 17;
/** Shapes of tokens that are known whatever their value are not longer. */
const LONGEST_SHAPE = 256;

const HIDDEN_WHOLE = new Set(['cookie', 'set-cookie', 'x-telegram-bot-api-secret-token']);
const AUTHORIZATIONS = new Set(['authorization', 'proxy-authorization']);
const SHOWN_OF_SIGNATURE = 8;
/** None counts as text, too. */
const TEXT_TYPE = /^($|text\/|application\/([\w.+-]*json|[\w.+-]*xml|x-www-form-urlencoded)\b)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** A bot's token is a part of its paths. */
const BOT_PATH = /\/bot[^/]*(?::|%3A)[^/]*\//gi;

export interface RecordMask {
  url(url: URL): string;
  message(headers: HeaderList, body: Buffer | null): RecordedMessage;
}

/**
 * @param secrets every secret of the owner
 * @param mask made of the same secrets
 * @param secretHeaders in small letters: a value that is too short to be looked for elsewhere is hidden there
 */
export function createRecordMask(
  secrets: readonly string[],
  mask: Mask,
  secretHeaders: ReadonlySet<string> = new Set(),
): RecordMask {
  const longest = Math.max(0, ...secrets.map((secret) => secret.length));
  const overlap = Math.max(LONGEST_SHAPE, longest * LONGEST_FORM);

  const bodyText = (body: Buffer, type: string): Pick<RecordedMessage, 'body' | 'bodyTruncated'> => {
    const most = LOOKED_AT + overlap;
    const isWhole = body.length <= most;
    const masked = maskBody(mask(body.subarray(0, most).toString('utf8')), type);
    // A secret that the first cut went through is not known by its beginning, so nothing near that cut is shown.
    const safe = isWhole ? masked : masked.slice(0, Math.max(0, masked.length - overlap));
    const shown = cutToBytes(safe, SHOWN_BODY_BYTES);
    return { body: shown, bodyTruncated: !isWhole || shown.length < masked.length };
  };

  return {
    url: (url) => maskUrl(url, mask).replace(BOT_PATH, `/bot${REDACTED}/`),
    message(headers, body) {
      const type = headerOf(headers, 'content-type') ?? '';
      // Answers are never decoded.
      const isText =
        TEXT_TYPE.test(type) && /^(identity)?$/i.test(headerOf(headers, 'content-encoding') ?? '');
      const bodyBytes = body?.length ?? 0;
      const text = body === null || bodyBytes === 0 || !isText ? NO_TEXT : bodyText(body, type);
      return {
        headers: headers.map(([name, value]) => {
          const shown = headerValue(name, value, mask);
          return [name, shown === value && secretHeaders.has(name.toLowerCase()) ? REDACTED : shown];
        }),
        bodyBytes,
        ...text,
      };
    },
  };
}

const NO_TEXT = { body: null, bodyTruncated: false } as const;

function headerOf(headers: HeaderList, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1].trim();
}

function headerValue(name: string, value: string, mask: Mask): string {
  const folded = name.toLowerCase();
  if (AUTHORIZATIONS.has(folded)) {
    const scheme = /^([A-Za-z][\w-]*) +\S/.exec(value)?.[1];
    return scheme === undefined ? REDACTED : `${scheme} ${REDACTED}`;
  }
  if (folded === 'webhook-signature') return signatures(value);
  if (HIDDEN_WHOLE.has(folded) || isSensitiveName(name)) return REDACTED;
  return mask(value);
}

/** Enough of each signature to tell one from another. */
function signatures(value: string): string {
  return value
    .split(' ')
    .map((entry) => {
      const comma = entry.indexOf(',');
      return `${entry.slice(0, comma + 1 + SHOWN_OF_SIGNATURE)}…`;
    })
    .join(' ');
}

function maskBody(text: string, type: string): string {
  if (FORM_TYPE.test(type)) return maskForm(text);
  return /^\s*[[{]/.test(text) ? maskJsonMembers(text) : text;
}

function maskForm(text: string): string {
  return text
    .split('&')
    .map((field) => {
      const [name = ''] = field.split('=', 1);
      return field.includes('=') && isSensitiveName(decodedName(name)) ? `${name}=${REDACTED}` : field;
    })
    .join('&');
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // A lone percent sign: the name is meant as it stands.
    return name;
  }
}
