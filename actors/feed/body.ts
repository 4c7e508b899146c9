/** Reads webhook bodies within bounds: bytes are scanned first, fields name the place of an error (ingestion §4). */
import { hash } from 'node:crypto';
import type { Labels } from '../model.ts';

/**
 * Entries of one Snapshot. 10,000 with 16 MiB of text take the process about 200 MB while they are processed, which
 * fits into the 512 MiB of the shipped limits beside what is in memory anyway.
 */
export const MOST_ALERTS = 10_000;

/** Largest value of the column that stores it. */
export const MOST_TRUNCATED = 2_147_483_647;

/** Lengths are in UTF-16 code units. */
export const LONGEST_GROUP_KEY = 4_096;
export const LONGEST_GENERATOR_URL = 8_192;

export interface MapBounds {
  readonly entries: number;
  readonly name: number;
  readonly value: number;
  /** Of all names and values together. */
  readonly total: number;
}

export const LABEL_BOUNDS: MapBounds = { entries: 256, name: 1_024, value: 4_096, total: 32_768 };
export const ANNOTATION_BOUNDS: MapBounds = { entries: 256, name: 1_024, value: 16_384, total: 65_536 };

const LONGEST_REASON = 500;

/** Why the processing of a Snapshot failed, as its `processing_error`: one line that every column takes. */
export function failureReason(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return `processing: ${said.slice(0, LONGEST_REASON).replace(/[\p{Control}\p{Surrogate}]/gu, '\uFFFD')}`;
}

/** Name of the entry that counts the entries left out; it replaces the sender's own entry of that name. */
export const LEFT_OUT = '…';

/**
 * The text, or its beginning with a mark that gives its length and digest: texts that differ stay different when they
 * are cut, so that no Alerts, groups or Alert Groups are merged.
 */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const digest = hash('sha256', text, 'hex').slice(0, 16);
  const last = text.charCodeAt(longest - 1);
  const isSplit = last >= 0xd800 && last <= 0xdbff;
  const kept = text.slice(0, isSplit ? longest - 1 : longest);
  // Copied: a slice would keep the whole text in memory.
  return Buffer.from(`${kept}… [cut: ${text.length} characters, sha256 ${digest}]`).toString();
}

/** The map itself when it is within bounds. Otherwise entries in the received order, as long as there is room. */
export function boundMap(map: Labels, bounds: MapBounds): Labels {
  let entries = 0;
  let total = 0;
  let isLong = false;
  for (const name in map) {
    const value = map[name] as string;
    entries++;
    total += name.length + value.length;
    if (name.length > bounds.name || value.length > bounds.value) isLong = true;
  }
  if (!isLong && entries <= bounds.entries && total <= bounds.total) return map;
  return cutMap(map, bounds);
}

function cutMap(map: Labels, bounds: MapBounds): Labels {
  const kept: [string, string][] = [];
  const leftOut: [string, string][] = [];
  let room = bounds.total;
  for (const [name, value] of Object.entries(map)) {
    const entry: [string, string] = [cutText(name, bounds.name), cutText(value, bounds.value)];
    const size = entry[0].length + entry[1].length;
    if (kept.length === bounds.entries || size > room || name === LEFT_OUT) leftOut.push([name, value]);
    else {
      kept.push(entry);
      room -= size;
    }
  }
  if (leftOut.length > 0) {
    const digest = hash('sha256', JSON.stringify(leftOut), 'hex').slice(0, 16);
    kept.push([LEFT_OUT, `[${leftOut.length} left out, sha256 ${digest}]`]);
  }
  return Object.fromEntries(kept);
}

/** What {@link cutText} and the migration of older texts leave at the end of a cut text. */
const MARK = /… \[cut: \d+ characters(?:, sha256 [0-9a-f]{16})?\]$/;
const LONGEST_MARK = 64;

function isWithin(text: string, longest: number): boolean {
  return text.length <= longest || (text.length <= longest + LONGEST_MARK && MARK.test(text));
}

/**
 * Applies the present bound to a stored text: earlier releases stored texts of any length. A text that was already cut
 * is returned unchanged.
 */
export function boundStoredText(text: string, longest: number): string {
  return isWithin(text, longest) ? text : cutText(text, longest);
}

/** {@link boundStoredText} for names and values. Returns the same map when nothing is too long; drops no entry. */
export function boundStoredMap(map: Labels, { name: longestName, value: longestValue }: MapBounds): Labels {
  for (const name in map) {
    if (isWithin(name, longestName) && isWithin(map[name] as string, longestValue)) continue;
    const entries = Object.entries(map);
    return Object.fromEntries(
      entries.map(([key, value]) => [
        boundStoredText(key, longestName),
        boundStoredText(value, longestValue),
      ]),
    );
  }
  return map;
}

/**
 * Bytes from which a body is large: it is scanned before it is parsed, processed one at a time, and its attempts are
 * counted. A smaller body takes at most some 50 MB once parsed, for any content.
 */
export const LARGE_BODY = 1024 * 1024;

/** Objects, arrays, members and elements: 100 for each of as many Alerts as a Snapshot may have. */
const MOST_VALUES = 100 * MOST_ALERTS;
const DEEPEST = 64;
/**
 * Most members of one object of a large body: four times as many labels as are stored. An object of a million members
 * would take seconds to parse and to cut.
 */
const MOST_MEMBERS = 1_024;

export interface ScannedBody {
  /** Why the body is refused, naming the place; null when it may be read. It may still be no JSON. */
  readonly problem: string | null;
  /** Text of the last top-level `groupKey`; null when there is none that is a string. */
  readonly groupKey: string | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

/** Accepts any bytes. For input that is not JSON the counts are meaningless, and the parser refuses it afterwards. */
export function scanBody(body: Uint8Array): ScannedBody {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let depth = 0;
  /** By depth: members of the object that is open there so far; NaN for an array. */
  const members = new Array<number>(DEEPEST + 1).fill(Number.NaN);
  let values = 0;
  let alerts = 0;
  let isInAlerts = false;
  /** Whether something was met since the array of alerts was opened. */
  let isEmpty = true;
  let field = '';
  let text: readonly [start: number, end: number] = [0, 0];
  let isGroupKeyNext = false;
  let groupKey: readonly [start: number, end: number] | null = null;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte <= SPACE) continue;
    if (isInAlerts && depth === 2 && byte !== CLOSE_ARRAY) isEmpty = false;
    switch (byte) {
      case QUOTE: {
        const end = endOfText(bytes, index);
        if (depth === 1) {
          text = [index, end + 1];
          if (isGroupKeyNext) groupKey = text;
        }
        isGroupKeyNext = false;
        index = end;
        break;
      }
      case COLON:
        if (depth === 1) {
          field = bytes.toString('latin1', ...text);
          isGroupKeyNext = field === '"groupKey"';
        }
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth++;
        values++;
        if (depth > DEEPEST) return tooMuch(`body: nested deeper than ${DEEPEST} levels`);
        members[depth] = byte === OPEN_OBJECT ? 1 : Number.NaN;
        if (depth === 2 && byte === OPEN_ARRAY && field === '"alerts"') {
          isInAlerts = true;
          isEmpty = true;
        }
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        if (isInAlerts && depth === 2) {
          isInAlerts = false;
          if (!isEmpty) alerts++;
        }
        depth--;
        break;
      case COMMA:
        values++;
        if (isInAlerts && depth === 2) alerts++;
        members[depth] = (members[depth] as number) + 1;
        if ((members[depth] as number) > MOST_MEMBERS) {
          const place = isInAlerts ? `alerts[${alerts}]` : 'body';
          return tooMuch(`${place}: an object of more than ${MOST_MEMBERS} members`);
        }
        break;
    }
  }
  if (alerts > MOST_ALERTS) return tooMuch(`alerts: ${tooMany(alerts)}`);
  if (values > MOST_VALUES) return tooMuch(`body: more than ${MOST_VALUES} values`);
  return { problem: null, groupKey: groupKey && textIn(bytes, groupKey) };
}

export function tooMany(alerts: number): string {
  return `${alerts} alerts, and a Snapshot has ${MOST_ALERTS} at most`;
}

function tooMuch(problem: string): ScannedBody {
  return { problem, groupKey: null };
}

/** Index of the closing quotation mark; the last byte when there is none. */
function endOfText(bytes: Buffer, start: number): number {
  for (let end = start; ; ) {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end === -1) return bytes.length - 1;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

function textIn(bytes: Buffer, [start, end]: readonly [start: number, end: number]): string | null {
  try {
    const text: unknown = JSON.parse(bytes.toString('utf8', start, end));
    return typeof text === 'string' ? cleanText(text) : null;
  } catch {
    // Not JSON: the error is reported by the code that parses the whole body.
    return null;
  }
}

/** A body that is no Snapshot; the message is the Snapshot's `processing_error`. */
export class InvalidBody extends Error {
  override readonly name = 'InvalidBody';

  constructor(place: string, problem: string) {
    super(`${place}: ${problem}`);
  }
}

export function objectAt(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw refused(value, place, 'not an object');
}

export function listAt(value: unknown, place: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw refused(value, place, 'not an array');
}

export function textAt(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  throw refused(value, place, 'not a string');
}

/** Null for a field that is absent or null. */
export function optionalTextAt(value: unknown, place: string): string | null {
  return value === undefined || value === null ? null : textAt(value, place);
}

/** From 0 to `most`; 0 for a field that is absent or null. */
export function integerAt(value: unknown, place: string, most: number): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new InvalidBody(place, `not an integer from 0 to ${most}`);
}

/**
 * U+0000 and unpaired surrogates, which no column takes, replaced. Under the `u` flag \p{Surrogate} matches those only.
 */
export function cleanText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

export function statusAt(value: unknown, place: string): 'firing' | 'resolved' {
  if (value === 'firing' || value === 'resolved') return value;
  throw refused(value, place, 'neither "firing" nor "resolved"');
}

/** The object itself when every value is a string. */
export function stringMapAt(value: unknown, place: string): Labels {
  const map = objectAt(value, place);
  for (const name in map) {
    if (typeof map[name] !== 'string') throw new InvalidBody(`${place}.${shown(name)}`, 'not a string');
  }
  return map as Labels;
}

const SHOWN_NAME = 100;

/** A name chosen by the sender, made fit for one line of text. */
function shown(name: string): string {
  return name.slice(0, SHOWN_NAME).replace(/[\p{Control}\p{Surrogate}]/gu, '\uFFFD');
}

function refused(value: unknown, place: string, otherwise: string): InvalidBody {
  return new InvalidBody(place, value === undefined || value === null ? 'missing' : otherwise);
}
