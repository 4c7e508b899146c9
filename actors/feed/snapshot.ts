/** A webhook body as the service works with it, and the way there from the bytes (ingestion §4). */
import { hash } from 'node:crypto';
import { type Micros, parseInstant } from '../../runtime/clock.ts';
import type { Labels } from '../model.ts';
import { groupKeyHash } from './feed-key.ts';
import { computeFingerprint } from './fingerprint.ts';
import {
  InvalidBody,
  listAt,
  nonNegativeIntegerAt,
  objectAt,
  optionalTextAt,
  statusAt,
  stringMapAt,
  textAt,
} from './json-fields.ts';

/** One body, validated and normalised. Shared by every Stored Snapshot with the same bytes; never mutated. */
export interface Snapshot {
  readonly groupKey: string;
  /** Identity of the groupKey within an Integration. */
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
  /** Equal for bodies that say the same about the same Alerts, whichever replica of the sender wrote them. */
  readonly digest: string;
}

export interface SnapshotEntry {
  readonly fingerprint: string;
  readonly status: 'firing' | 'resolved';
  /** Cut to µs. */
  readonly startsAt: Micros;
  /** As received, without Static labels. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly generatorUrl: string | null;
  /** Equal for entries that say the same. */
  readonly digest: string;
}

export type ParsedBody =
  | { readonly ok: true; readonly snapshot: Snapshot }
  /** `error` names the place: `alerts[3].startsAt: not an RFC 3339 time`. */
  | { readonly ok: false; readonly error: string };

/** Reads a stored body. Never throws: what cannot be read is an answer (ingestion §4.2). */
export function parseSnapshot(body: Uint8Array): ParsedBody {
  const text = decode(body);
  if (text === null) return { ok: false, error: 'body: not UTF-8' };
  const json = parseJson(text);
  if (json === undefined) return { ok: false, error: 'body: not JSON' };
  try {
    return { ok: true, snapshot: readSnapshot(json, cleanerFor(text)) };
  } catch (error) {
    if (error instanceof InvalidBody) return { ok: false, error: error.message };
    throw error;
  }
}

function decode(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    // Invalid UTF-8, or longer than a string can be: either way nothing that JSON could be read from.
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
  return text.includes('\\u') ? clean : null;
}

/** Under the `u` flag \p{Surrogate} matches unpaired ones only. */
function clean(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

function readSnapshot(json: unknown, cleaner: Clean | null): Snapshot {
  const fields = objectAt(json, 'body');
  const groupKey = cleaned(textAt(fields.groupKey, 'groupKey'), cleaner);
  const status = statusAt(fields.status, 'status');
  const alerts = listAt(fields.alerts, 'alerts');
  const truncatedAlerts = nonNegativeIntegerAt(fields.truncatedAlerts, 'truncatedAlerts');
  const reason = optionalTextAt(fields.notification_reason, 'notification_reason');
  const byFingerprint = new Map<string, SnapshotEntry>();
  for (let index = 0; index < alerts.length; index++) {
    const entry = readEntry(alerts[index], `alerts[${index}]`, cleaner);
    // The last mention counts, and takes the last place.
    byFingerprint.delete(entry.fingerprint);
    byFingerprint.set(entry.fingerprint, entry);
  }
  const entries = [...byFingerprint.values()];
  return {
    groupKey,
    groupKeyHash: groupKeyHash(groupKey),
    status,
    entries,
    resolvedCount: entries.reduce((count, entry) => count + (entry.status === 'resolved' ? 1 : 0), 0),
    truncatedAlerts,
    notificationReason: reason,
    alertSet: digestOf(entries.map(({ fingerprint, status }) => `${fingerprint} ${status}`).sort()),
    digest: snapshotDigest(status, truncatedAlerts, entries),
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
      : cleanedMap(stringMapAt(fields.annotations, `${place}.annotations`), cleaner);
  const generatorUrl = optionalTextAt(fields.generatorURL, `${place}.generatorURL`);
  const fingerprint = optionalTextAt(fields.fingerprint, `${place}.fingerprint`);
  const entry = {
    fingerprint: fingerprint ? identityOf(cleaned(fingerprint, cleaner)) : computeFingerprint(received),
    status,
    startsAt,
    labels: cleanedMap(received, cleaner),
    annotations,
    generatorUrl: generatorUrl ? cleaned(generatorUrl, cleaner) : null,
  };
  return { ...entry, digest: entryDigest(entry) };
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

/** Longest fingerprint that is kept as it came; rows are found by it, and an index takes only so much. */
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
