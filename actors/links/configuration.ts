/** Link rules and Lookup tables as renders use them: one picture, replaced as a whole when something is saved. */
import type { CellReader } from './lookup-table.ts';
import type { LinkRule } from './rules.ts';

export interface LinkConfiguration {
  /** By name, then by creation. */
  readonly rules: readonly LinkRule[];
  /** By name. */
  readonly tables: ReadonlyMap<string, CellReader>;
}

/** Hands out the present {@link LinkConfiguration}. A save reloads it before it is answered. */
export interface LinkSource {
  current(): LinkConfiguration;
  /** Resolves when {@link current} shows what is stored now. */
  reload(): Promise<void>;
}

/** One cell; empty when the table, the row or the column does not exist. */
export function cellOf(
  { tables }: Pick<LinkConfiguration, 'tables'>,
  table: string,
  key: string,
  column: string,
): string {
  return tables.get(table)?.(key, column) ?? '';
}
