/** Link rules and Lookup tables as a process keeps them for its renders. */
import {
  type CellReader,
  cellReader,
  type LinkConfiguration,
  type LinkSource,
  readyRules,
} from '../../actors/links/configuration.ts';
import { type Clock, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { shareNext } from '../../runtime/share-next.ts';
import { compareKeys } from '../postgres/locks.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inSnapshot } from '../postgres/transaction.ts';
import { type LinkRuleRow, storedRule } from './link-rules.ts';
import type { LookupTableRow } from './lookup-tables.ts';

/** A read without an answer for longer is left behind, as a look at the configuration is. */
const SHARED_FOR = 1.5 * SECOND;

interface KeptTable {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly cells: CellReader;
}

interface Picture {
  /** Of `configuration_versions` at that moment. */
  readonly version: number;
  readonly tables: readonly KeptTable[];
  readonly configuration: LinkConfiguration;
}

const NOTHING: Picture = { version: 0, tables: [], configuration: { rules: [], tables: new Map() } };

/** Links of a process as it keeps them. */
export interface StoredLinks extends LinkSource {
  /** Reads again unless {@link current} is of that version or a later one. */
  reach(version: number): Promise<void>;
}

/**
 * Reload it once before anything asks for `current`. Rows of a table are read again only when that table was saved.
 */
export function createLinkSource(sql: Sql, clock: Clock): StoredLinks {
  let present = NOTHING;
  const read = async () => {
    const found = await inSnapshot(sql, (tx) => readPicture(tx, present.tables));
    // A read that was left behind may end after a later one.
    if (found.version >= present.version) present = found;
  };
  const reload = shareNext(read, { clock, longest: SHARED_FOR });
  return {
    reload,
    current: () => present.configuration,
    async reach(version) {
      if (present.version < version) await reload();
    },
  };
}

async function readPicture(tx: Transaction, kept: readonly KeptTable[]): Promise<Picture> {
  const [versions] = await tx<{ links: number }[]>`select links from configuration_versions`;
  if (!versions) throw new Error('configuration_versions has no row: the schema is incomplete');
  const rules = await tx<LinkRuleRow[]>`select * from link_rules order by name collate "C", created_at, id`;
  const tables = await readTables(tx, kept);
  const byName = new Map(tables.map(({ name, cells }) => [name, cells]));
  return {
    version: versions.links,
    tables,
    configuration: {
      rules: readyRules(rules.map(storedRule), byName),
      tables: byName,
    },
  };
}

async function readTables(tx: Transaction, kept: readonly KeptTable[]): Promise<readonly KeptTable[]> {
  const known = new Map(kept.map((table) => [`${table.id}/${table.version}`, table]));
  const listed = await tx<Omit<KeptTable, 'cells'>[]>`select id, version, name from lookup_tables`;
  const same = listed.flatMap(({ id, version }) => known.get(`${id}/${version}`) ?? []);
  const held = new Set(same.map(({ id }) => id));
  const tables = [...same];
  // One at a time: a table may be a megabyte, and few of them change at once.
  for (const { id } of listed) {
    if (held.has(id)) continue;
    const [row] = await tx<LookupTableRow[]>`select * from lookup_tables where id = ${id}`;
    if (row) tables.push({ id, version: row.version, name: row.name, cells: cellsOf(row) });
  }
  return tables.sort((left, right) => compareKeys(left.name, right.name));
}

function cellsOf({ columns, entries: rows }: LookupTableRow): CellReader {
  return cellReader({ columns, rows });
}
