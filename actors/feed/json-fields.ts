/**
 * Reads fields of a decoded webhook body, naming the place of what is wrong. Written by hand: this runs for every new
 * body, and the places are part of what people see (ingestion §4.2).
 */
import type { Labels } from '../model.ts';

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

/** 0 for a field that is absent or null. */
export function nonNegativeIntegerAt(value: unknown, place: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidBody(place, 'not an integer of 0 or more');
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
