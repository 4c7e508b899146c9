/** A parsed webhook body, and the parser from its bytes (ingestion §4). */
import { hash } from 'node:crypto';
import { type Micros, parseInstant } from '../../runtime/clock.ts';
import type { Labels } from '../model.ts';
import {
  ANNOTATION_BOUNDS,
  boundMap,
  cleanText,
  cutText,
  InvalidBody,
  integerAt,
  LABEL_BOUNDS,
  LARGE_BODY,
  LONGEST_GENERATOR_URL,
  LONGEST_GROUP_KEY,
  listAt,
  MOST_ALERTS,
  MOST_TRUNCATED,
  objectAt,
  optionalTextAt,
  scanBody,
  statusAt,
  stringMapAt,
  textAt,
  tooMany,
} from './body.ts';
import { computeFingerprint, groupKeyHash } from './identity.ts';

/** One body, validated and normalised. Shared by every Stored Snapshot with the same bytes; never mutated. */
export interface Snapshot {
  /** Cut when it is long. */
  readonly groupKey: string;
  /** Identity of the whole groupKey within an Integration. */
  readonly groupKeyHash: string;
  readonly status: 'firing' | 'resolved';
  /** Each fingerprint once, in the order of the last mention. */
  readonly entries: readonly SnapshotEntry[];
  /** How many entries are `resolved`. */
  readonly resolvedCount: number;
  /** Alerts the sender cut off. */
  readonly truncatedAlerts: number;
  readonly notificationReason: string | null;
  /** Equal for bodies that list the same Alerts in the same states. */
  readonly alertSet: string;
  /** Equal for bodies with the same content, whichever replica of the sender wrote them. */
  readonly digest: string;
  /** It takes long to process: stored apart from others (ingestion §4.3). */
  readonly isLarge: boolean;
}

/** With so many entries a Snapshot is large however few bytes they take. */
export const MANY_ENTRIES = 2_000;

export interface SnapshotEntry {
  readonly fingerprint: string;
  readonly status: 'firing' | 'resolved';
  /** Cut to µs. */
  readonly startsAt: Micros;
  /** As received, without Static labels; cut when they are many or long, and so are the annotations. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly generatorUrl: string | null;
  /** Equal for entries with the same content. */
  readonly digest: string;
}

export type ParsedBody =
  | { readonly ok: true; readonly snapshot: Snapshot }
  /** `error` names the place: `alerts[3].startsAt: not an RFC 3339 time`. */
  | { readonly ok: false; readonly error: string };

/** Reads a stored body. Never throws: what cannot be read is an answer (ingestion §4.2). */
export function parseSnapshot(body: Uint8Array): ParsedBody {
  const steps = parseSteps(body);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same for a large body, in steps of some ten milliseconds, with a pause between two. */
export async function parseInSteps(body: Uint8Array, pause: () => Promise<unknown>): Promise<ParsedBody> {
  const steps = parseSteps(body);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pause();
  }
}

function* parseSteps(body: Uint8Array): Generator<void, ParsedBody> {
  if (body.length >= LARGE_BODY) {
    const { problem } = scanBody(body);
    if (problem !== null) return { ok: false, error: problem };
    yield;
  }
  const text = decode(body);
  if (text === null) return { ok: false, error: 'body: not UTF-8' };
  if (body.length >= LARGE_BODY) yield;
  const json = parseJson(text);
  if (json === undefined) return { ok: false, error: 'body: not JSON' };
  try {
    const snapshot = yield* readSnapshot(json, cleanerFor(text), body.length >= LARGE_BODY);
    return { ok: true, snapshot };
  } catch (error) {
    if (error instanceof InvalidBody) return { ok: false, error: error.message };
    throw error;
  }
}

function decode(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    // Invalid UTF-8, or longer than the longest string: it cannot be JSON.
    return null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A syntax error, or nesting beyond what the parser takes; the caller reports both as "not JSON".
    return undefined;
  }
}

type Clean = (text: string) => string;

/** U+0000 and unpaired surrogates can enter only through `\u` escapes; without one every text is taken as it is. */
function cleanerFor(text: string): Clean | null {
  return text.includes('\\u') ? cleanText : null;
}

/** Entries read in one step: with as many labels as a large body may have in an object, some 50 ms. */
const STEP_ENTRIES = 50;

function* readSnapshot(
  json: unknown,
  cleaner: Clean | null,
  isLargeBody: boolean,
): Generator<void, Snapshot> {
  const fields = objectAt(json, 'body');
  const groupKey = cleaned(textAt(fields.groupKey, 'groupKey'), cleaner);
  const status = statusAt(fields.status, 'status');
  const alerts = listAt(fields.alerts, 'alerts');
  if (alerts.length > MOST_ALERTS) throw new InvalidBody('alerts', tooMany(alerts.length));
  const truncatedAlerts = integerAt(fields.truncatedAlerts, 'truncatedAlerts', MOST_TRUNCATED);
  const reason = optionalTextAt(fields.notification_reason, 'notification_reason');
  const byFingerprint = new Map<string, SnapshotEntry>();
  for (let index = 0; index < alerts.length; index++) {
    if (index % STEP_ENTRIES === STEP_ENTRIES - 1) yield;
    const entry = readEntry(alerts[index], `alerts[${index}]`, cleaner);
    // The last mention counts, and takes the last place.
    byFingerprint.delete(entry.fingerprint);
    byFingerprint.set(entry.fingerprint, entry);
  }
  const entries = [...byFingerprint.values()];
  yield;
  return {
    groupKey: cutText(groupKey, LONGEST_GROUP_KEY),
    groupKeyHash: groupKeyHash(groupKey),
    status,
    entries,
    resolvedCount: entries.reduce((count, entry) => count + (entry.status === 'resolved' ? 1 : 0), 0),
    truncatedAlerts,
    notificationReason: reason,
    alertSet: digestOf(entries.map(({ fingerprint, status }) => `${fingerprint} ${status}`).sort()),
    digest: snapshotDigest(status, truncatedAlerts, entries),
    isLarge: isLargeBody || entries.length >= MANY_ENTRIES,
  };
}

function readEntry(json: unknown, place: string, cleaner: Clean | null): SnapshotEntry {
  const fields = objectAt(json, place);
  const status = statusAt(fields.status, `${place}.status`);
  const received = stringMapAt(fields.labels, `${place}.labels`);
  const startsAt = timeAt(textAt(fields.startsAt, `${place}.startsAt`), `${place}.startsAt`);
  const endsAt = optionalTextAt(fields.endsAt, `${place}.endsAt`);
  if (endsAt !== null) timeAt(endsAt, `${place}.endsAt`);
  const annotations =
    fields.annotations === undefined || fields.annotations === null
      ? {}
      : boundMap(
          cleanedMap(stringMapAt(fields.annotations, `${place}.annotations`), cleaner),
          ANNOTATION_BOUNDS,
        );
  const generatorUrl = optionalTextAt(fields.generatorURL, `${place}.generatorURL`);
  const fingerprint = optionalTextAt(fields.fingerprint, `${place}.fingerprint`);
  const entry = {
    fingerprint: fingerprint ? identityOf(cleaned(fingerprint, cleaner)) : computeFingerprint(received),
    status,
    startsAt,
    labels: boundMap(cleanedMap(received, cleaner), LABEL_BOUNDS),
    annotations,
    generatorUrl: generatorUrl ? linkOf(cleaned(generatorUrl, cleaner)) : null,
  };
  return { ...entry, digest: entryDigest(entry) };
}

/** Null for one that is too long: cut, it would lead somewhere else. */
function linkOf(url: string): string | null {
  return url.length <= LONGEST_GENERATOR_URL ? url : null;
}

function timeAt(text: string, place: string): Micros {
  const at = parseInstant(text);
  if (at === null) throw new InvalidBody(place, 'not an RFC 3339 time');
  return at;
}

function cleaned(text: string, cleaner: Clean | null): string {
  return cleaner === null ? text : cleaner(text);
}

function cleanedMap(labels: Labels, cleaner: Clean | null): Labels {
  if (cleaner === null) return labels;
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [cleaner(name), cleaner(value)]));
}

const DIGEST_LENGTH = 22;

function entryDigest(entry: Omit<SnapshotEntry, 'digest'>): string {
  return digestOf([
    entry.status,
    entry.startsAt,
    sorted(entry.labels),
    sorted(entry.annotations),
    entry.generatorUrl,
  ]);
}

/** Longest fingerprint that is stored unchanged: rows are indexed by it, and an index entry is bounded. */
const LONGEST_FINGERPRINT = 255;

/** A longer fingerprint is as good an identity by its digest. */
function identityOf(fingerprint: string): string {
  if (fingerprint.length <= LONGEST_FINGERPRINT) return fingerprint;
  return `sha256:${hash('sha256', fingerprint, 'hex')}`;
}

function snapshotDigest(status: string, truncatedAlerts: number, entries: readonly SnapshotEntry[]): string {
  const digests = entries.map((entry) => `${entry.fingerprint} ${entry.digest}`).sort();
  return digestOf([status, truncatedAlerts, digests]);
}

function sorted(labels: Labels): string[] {
  return Object.keys(labels)
    .sort()
    .flatMap((name) => [name, labels[name] ?? '']);
}

/** 132 bits of SHA-256 in base64url: enough that equal means same. */
function digestOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, DIGEST_LENGTH);
}
