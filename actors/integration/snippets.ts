/** Configuration to paste into a sender, rendered with a token that is shown once (ingestion §2.4). */
import { hash } from 'node:crypto';
import { readDocuments } from '../../runtime/documents.ts';
import { separatorsIn } from './rows.ts';

export interface SnippetFor {
  /** Name of the Integration, as people wrote it. */
  readonly name: string;
  /** The ingest listener as senders reach it, without a slash at the end. */
  readonly ingestUrl: string;
  readonly token: string;
}

interface Receiver {
  readonly receiver: string;
  readonly url: string;
  readonly token: string;
}

/** Every value becomes a double-quoted scalar. */
const render = readDocuments<{ alertmanager: Receiver; heartbeat: Receiver }>(
  `${import.meta.dirname}/snippets`,
  (value) => quoted(String(value)),
);

export function ingestEndpoint(ingestUrl: string): string {
  return `${ingestUrl}/api/v1/ingest`;
}

export function heartbeatEndpoint(ingestUrl: string): string {
  return `${ingestUrl}/api/v1/heartbeat`;
}

/** Alertmanager: a receiver for Snapshots and a first child route that repeats often enough to learn absence from. */
export function alertmanagerSnippet({ name, ingestUrl, token }: SnippetFor): string {
  return render('alertmanager', { receiver: `tocsin-${name}`, url: ingestEndpoint(ingestUrl), token });
}

/** Two documents: a Prometheus rule that always fires, and the Alertmanager part that sends it every minute. */
export function heartbeatSnippet({ name, ingestUrl, token }: SnippetFor): string {
  return render('heartbeat', {
    receiver: `tocsin-heartbeat-${name}`,
    url: heartbeatEndpoint(ingestUrl),
    token,
  });
}

/** Characters that JSON does not escape and YAML must not contain unescaped. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff]/g;

/** A YAML double-quoted scalar, safe for any text: JSON with the characters escaped that YAML does not allow. */
export function quoted(text: string): string {
  return withoutUnprintable(JSON.stringify(text));
}

/** Double-quoted scalars with the escape in place of each character that YAML does not allow in them. */
export function withoutUnprintable(quotedText: string): string {
  return quotedText.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The line to change in a sender whose repeat interval is too long (ingestion §10). */
const REPEAT = 'repeat_interval: 10m';

/**
 * The routes that lead to a route path, nested as in Alertmanager's configuration, with a repeat interval on the
 * last. A path that is not one of Alertmanager's gives the interval for the route at the top.
 */
export function routeSnippet(routePath: string): string {
  const routes = matchersIn(routePath);
  const lines = ['# Alertmanager: set it on the route that you have for this.', 'route:'];
  let indent = '  ';
  for (const matchers of routes) {
    lines.push(`${indent}routes:`, `${indent}  - matchers: [${matchers.map(asciiQuoted).join(', ')}]`);
    indent += '    ';
  }
  lines.push(`${indent}${REPEAT}`);
  return `${lines.join('\n')}\n`;
}

/** The matchers of each route below the top one. */
function matchersIn(routePath: string): readonly (readonly string[])[] {
  const segments = split(routePath, '/');
  if (!segments.every((segment) => segment.startsWith('{') && segment.endsWith('}'))) return [];
  return segments
    .slice(1)
    .map((segment) =>
      split(segment.slice(1, -1), ',').flatMap((matcher) => (matcher.trim() === '' ? [] : [matcher.trim()])),
    );
}

function split(text: string, separator: string): string[] {
  const places = separatorsIn(text, separator);
  return [0, ...places.map((place) => place + 1)].map((begin, part) => text.slice(begin, places[part]));
}

const LAST_OF_FOUR_DIGITS = 0xffff;

/** A YAML double-quoted scalar of ASCII alone: what a sender wrote can neither end it nor hide in it. */
function asciiQuoted(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > LAST_OF_FOUR_DIGITS
      ? `\\U${code.toString(16).padStart(8, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Integration tokens: what senders show with every Snapshot and Heartbeat (ingestion §2.3). */
const PREFIX = 'svc_int_';
const RANDOM_BYTES = 32;

/** A new value: the prefix and 256 random bits in unpadded base64url. Shown once and not stored. */
export function newIntegrationToken(random: (size: number) => Uint8Array): string {
  return PREFIX + Buffer.from(random(RANDOM_BYTES)).toString('base64url');
}

/** What is stored of a token. */
export function tokenHash(value: string): Buffer {
  return hash('sha256', value, 'buffer');
}
