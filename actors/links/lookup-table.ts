/** Lookup tables as templates read them (messages §10). */
import type { LookupRow, LookupTableFields } from './ports.ts';

/** A row as people write it: cells by the names of their columns. */
export interface LookupEntry {
  readonly key: string;
  readonly values: Readonly<Record<string, string>>;
}

export function entryOf([key, ...cells]: LookupRow, columns: readonly string[]): LookupEntry {
  return { key, values: Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? ''])) };
}

/** The row of an entry that has every column. */
export function rowOf({ key, values }: LookupEntry, columns: readonly string[]): LookupRow {
  return [key, ...columns.map((name) => values[name] ?? '')];
}

/** A cell by key and column; empty when there is no such cell. Keys and names compare exactly. */
export type CellReader = (key: string, column: string) => string;

export function cellReader({ columns, rows }: Pick<LookupTableFields, 'columns' | 'rows'>): CellReader {
  const places = new Map(columns.map((name, index) => [name, index + 1]));
  const byKey = new Map(rows.map((row) => [row[0], row]));
  return (key, column) => {
    const place = places.get(column);
    return place === undefined ? '' : (byKey.get(key)?.[place] ?? '');
  };
}
