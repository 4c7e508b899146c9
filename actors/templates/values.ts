/**
 * What a template computes with (templates §3). A plain string is untrusted, which is what nearly everything that comes
 * from outside is; only {@link Trusted} text is printed without escaping (templates §7).
 */
import type { Micros } from '../../runtime/clock.ts';
import { compareBytes } from '../text.ts';

export type TemplateValue =
  | null
  | boolean
  /** int, 64 bits with sign. */
  | bigint
  /** float. */
  | number
  /** string that a format must escape. */
  | string
  | Trusted
  | TemplateList
  | TemplateMap
  | TemplateObject
  | TemplateTime
  | TemplateDuration
  | TemplateMention;

/** A string that is printed as it is. */
export class Trusted {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a list of this kind can do besides being a list. */
export type ListKind = 'alerts' | 'pairs' | 'plain';

export class TemplateList {
  readonly items: readonly TemplateValue[];
  readonly kind: ListKind;
  readonly weight: Weight;

  constructor(items: readonly TemplateValue[], kind: ListKind = 'plain') {
    this.items = items;
    this.kind = kind;
    this.weight = weigh(items);
  }
}

/**
 * How a map answers for a key that it lacks: label maps with an empty string, those a template makes with nil, those
 * whose names are configured (Secrets, extracted values) with an error. Secrets are never shown as a whole.
 */
export type MapKind = 'labels' | 'dict' | 'secrets' | 'extracted';

export class TemplateMap {
  readonly entries: Readonly<Record<string, TemplateValue>>;
  readonly kind: MapKind;
  readonly weight: Weight;
  /** Whether the keys were written by whoever wrote the template. */
  readonly trustedKeys: boolean;
  #keys: readonly string[] | null = null;

  constructor(entries: Readonly<Record<string, TemplateValue>>, kind: MapKind, trustedKeys = false) {
    this.entries = entries;
    this.kind = kind;
    this.trustedKeys = trustedKeys;
    this.weight = kind === 'dict' ? weighMap(entries, trustedKeys) : REFERENCE;
  }

  /** Undefined for a key that the map lacks. */
  get(key: string): TemplateValue | undefined {
    return Object.hasOwn(this.entries, key) ? this.entries[key] : undefined;
  }

  /** Bytewise. */
  get keys(): readonly string[] {
    this.#keys ??= Object.keys(this.entries).sort(compareBytes);
    return this.#keys;
  }

  keyValue(key: string): TemplateValue {
    return this.trustedKeys ? new Trusted(key) : key;
  }
}

/** Something with fields of its own type; they are printed in the order in which they stand here. */
export class TemplateObject {
  readonly typeName: string;
  readonly fields: Readonly<Record<string, TemplateValue>>;

  constructor(typeName: string, fields: Readonly<Record<string, TemplateValue>>) {
    this.typeName = typeName;
    this.fields = fields;
  }
}

export class TemplateTime {
  /** Since 1970. */
  readonly nanos: bigint;
  /** A name of the IANA database. */
  readonly zone: string;

  constructor(nanos: bigint, zone: string) {
    this.nanos = nanos;
    this.zone = zone;
  }

  static of(at: Micros, zone: string): TemplateTime {
    return new TemplateTime(BigInt(at) * 1000n, zone);
  }
}

/** Represents a missing time: year 1. */
export const ZERO_TIME = new TemplateTime(-62_135_596_800_000_000_000n, 'UTC');

export class TemplateDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A Mention in the syntax of the messenger. */
export class TemplateMention {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What limits and output safety need to know of a value without walking through it again. */
export interface Weight {
  readonly bytes: number;
  /** Lists and maps around the innermost value. */
  readonly depth: number;
  readonly trusted: boolean;
}

/** Something that belongs to the data: it costs a template nothing to point at it. */
const REFERENCE: Weight = { bytes: 16, depth: 1, trusted: false };

export function weightOf(value: TemplateValue): Weight {
  if (typeof value === 'string') return { bytes: Buffer.byteLength(value), depth: 0, trusted: false };
  if (value instanceof Trusted) return { bytes: Buffer.byteLength(value.text), depth: 0, trusted: true };
  if (value instanceof TemplateList || value instanceof TemplateMap) return value.weight;
  if (value instanceof TemplateObject) return REFERENCE;
  return { bytes: 8, depth: 0, trusted: value !== null };
}

/** Whether a value is printed as it is. Go prints nil as `<nil>`, which no format may take for markup. */
export function isTrusted(value: TemplateValue): boolean {
  if (value === null || typeof value === 'string' || value instanceof TemplateObject) return false;
  return value instanceof TemplateList || value instanceof TemplateMap ? value.weight.trusted : true;
}

function weigh(items: readonly TemplateValue[]): Weight {
  let [bytes, depth, trusted] = [2, 0, true];
  for (const item of items) {
    const weight = weightOf(item);
    bytes += weight.bytes + 1;
    depth = Math.max(depth, weight.depth);
    trusted &&= weight.trusted;
  }
  return { bytes, depth: depth + 1, trusted };
}

function weighMap(entries: Readonly<Record<string, TemplateValue>>, trustedKeys: boolean): Weight {
  const { bytes, depth, trusted } = weigh(Object.values(entries));
  const keyBytes = Object.keys(entries).reduce((sum, key) => sum + Buffer.byteLength(key), 0);
  return { bytes: bytes + keyBytes, depth, trusted: trusted && trustedKeys };
}

/** What a map answers for a key that it lacks; a text says why it is an error. */
export function absent(map: TemplateMap, key: string): { readonly value: TemplateValue } | string {
  if (map.kind === 'secrets') return `there is no Secret ${key}`;
  if (map.kind === 'extracted') return `there is no value ${key}`;
  return { value: map.kind === 'labels' ? '' : null };
}

/** The text of a string; null for any other value. */
export function textOf(value: TemplateValue): string | null {
  if (typeof value === 'string') return value;
  return value instanceof Trusted ? value.text : null;
}

/** templates §3: false, 0, "", nil and empty lists and maps are false. */
export function isTrue(value: TemplateValue): boolean {
  if (value instanceof Trusted) return value.text !== '';
  if (value instanceof TemplateList) return value.items.length > 0;
  if (value instanceof TemplateMap) return value.keys.length > 0;
  if (value instanceof TemplateDuration) return value.nanos !== 0n;
  // NaN is no zero.
  return typeof value === 'number' ? value !== 0 : Boolean(value);
}

/** The name of a type as errors show it. */
export function typeName(value: TemplateValue): string {
  if (value === null) return 'nil';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  if (typeof value === 'string' || value instanceof Trusted) return 'string';
  if (value instanceof TemplateList) return 'list';
  if (value instanceof TemplateMap) return 'map';
  if (value instanceof TemplateTime) return 'time';
  if (value instanceof TemplateDuration) return 'duration';
  if (value instanceof TemplateMention) return 'Mention';
  return value.typeName;
}
