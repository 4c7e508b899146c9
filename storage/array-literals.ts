/**
 * PostgreSQL array literals for multi-row statements on hot paths. The driver passes a text through as it is, while it
 * would serialise an array element by element several times slower.
 */

export function numberArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`;
}

/** Of texts that need no quoting: ids, hashes in base32, words. Never of anything a person or a sender chose. */
export function wordArray(values: readonly string[]): string {
  return `{${values.join(',')}}`;
}

export function textArray(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'null' : quoted(value))).join(',')}}`;
}

/** Of bytea given in hexadecimal. */
export function byteaArray(hexadecimal: readonly string[]): string {
  return `{${hexadecimal.map((value) => `"\\\\x${value}"`).join(',')}}`;
}

const SPECIAL = /["\\]/g;

function quoted(value: string): string {
  return `"${value.replace(SPECIAL, '\\$&')}"`;
}
