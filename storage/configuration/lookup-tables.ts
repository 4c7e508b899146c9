/** Lookup tables in Postgres: the store behind actors/links/ports.ts. */
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import type { AuditChange } from '../../actors/effects.ts';
import { entryOf } from '../../actors/links/configuration.ts';
import type {
  IsCurrent,
  LinkRuleRef,
  LookupRow,
  LookupTableDecision,
  LookupTableFields,
  LookupTableRemoval,
  LookupTableStore,
  LookupTableUpdate,
  StoredLookupTable,
} from '../../actors/links/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { jsonText } from '../postgres/bulk-parameters.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction, unlessViolated } from '../postgres/transaction.ts';
import { lockLinks } from './link-rules.ts';

const NAME_RULE = 'lookup_tables_name';

export function createLookupTableStore(sql: Sql, appendAudit: AppendAudit): LookupTableStore {
  const change = <Result>(author: Authorship, run: (made: Change) => Promise<Result>): Promise<Result> =>
    inTransaction(sql, async (tx) => {
      await lockLinks(tx);
      return run({ tx, appendAudit, author });
    });

  return {
    page: (after, limit) => readPage(sql, after, limit),
    read: (id) => readTable(sql, id),

    create: (fields, author) =>
      unlessViolated(NAME_RULE, 'name_taken', () => change(author, (made) => createTable(made, fields))),

    update: (id, decide, author) =>
      unlessViolated(NAME_RULE, { outcome: 'name_taken' }, () =>
        change(author, (made) => updateTable(made, id, decide)),
      ),

    remove: (id, isCurrent, author) => change(author, (made) => removeTable(made, id, isCurrent)),
  };
}

export interface LookupTableRow {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly description: string;
  readonly columns: readonly string[];
  readonly entries: readonly LookupRow[];
  readonly created_at: Micros;
}

export function storedTable(row: LookupTableRow): StoredLookupTable {
  const { id, version, name, description, columns, entries: rows, created_at: createdAt } = row;
  return { id, version, fields: { name, description, columns, rows }, createdAt };
}

/** Bytes of rows, as they are stored, after which a page ends: 50 tables may be 50 MiB as JSON. */
const PAGE_BYTES = 1024 * 1024;

async function readPage(sql: Sql, after: string | null, limit: number) {
  // index: lookup_tables_name. Sizes are known without reading the rows.
  const rows = await sql<(LookupTableRow & { listed: number })[]>`
    with listed as (
      select id, name, pg_column_size(entries) as size from lookup_tables
      where ${after === null} or name collate "C" > ${after ?? ''}
      order by name collate "C"
      limit ${limit + 1}
    ), measured as (
      select
        id,
        sum(size) over (order by name collate "C") - size as before,
        count(*) over ()::integer as listed
      from listed
    )
    select t.*, m.listed from measured m join lookup_tables t using (id)
    where m.before < ${PAGE_BYTES}
    order by t.name collate "C"`;
  const items = rows.slice(0, limit).map(storedTable);
  return { items, more: (rows[0]?.listed ?? 0) > items.length };
}

async function createTable(
  { tx, appendAudit, author }: Change,
  fields: LookupTableFields,
): Promise<StoredLookupTable> {
  const id = newPublicId('TB');
  await tx`
    insert into lookup_tables (id, version, name, description, columns, entries, created_at)
    values (
      ${id}, 1, ${fields.name}, ${fields.description}, ${jsonText(fields.columns)}::text::jsonb,
      ${jsonText(fields.rows)}::text::jsonb, ${author.at}
    )`;
  const entry = { action: 'lookup_table.created', resourceId: id, resourceName: fields.name };
  await appendAudit(tx, auditEntry(author, { ...entry, ...auditedChange(null, fields) }));
  return { id, version: 1, fields, createdAt: author.at };
}

async function updateTable<Refusal>(
  { tx, appendAudit, author }: Change,
  id: PublicId,
  decide: (current: StoredLookupTable) => LookupTableDecision<Refusal>,
): Promise<LookupTableUpdate<Refusal>> {
  const current = await readTable(tx, id);
  if (!current) return { outcome: 'unknown' };
  const decision = decide(current);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  const fields = decision.save;
  const change = auditedChange(current.fields, fields);
  if (change.diff.length === 0) return { outcome: 'unchanged', table: current };
  if (fields.name !== current.fields.name) {
    const linkRules = await readersOf(tx, current.fields.name);
    if (linkRules.length > 0) return { outcome: 'in_use', linkRules };
  }
  await tx`
    update lookup_tables set
      version = version + 1,
      name = ${fields.name},
      description = ${fields.description},
      columns = ${jsonText(fields.columns)}::text::jsonb,
      entries = ${jsonText(fields.rows)}::text::jsonb
    where id = ${id}`;
  const entry = { action: 'lookup_table.updated', resourceId: id, resourceName: fields.name };
  await appendAudit(tx, auditEntry(author, { ...entry, ...change }));
  return { outcome: 'saved', table: { ...current, version: current.version + 1, fields } };
}

async function removeTable(
  { tx, appendAudit, author }: Change,
  id: PublicId,
  isCurrent: IsCurrent,
): Promise<LookupTableRemoval> {
  const [table] = await tx<{ version: number; name: string }[]>`
    select version, name from lookup_tables where id = ${id}`;
  if (!table) return { outcome: 'unknown' };
  if (isCurrent && !isCurrent(table.version)) return { outcome: 'stale' };
  const linkRules = await readersOf(tx, table.name);
  if (linkRules.length > 0) return { outcome: 'in_use', linkRules };
  await tx`delete from lookup_tables where id = ${id}`;
  const entry = { action: 'lookup_table.deleted', resourceId: id, resourceName: table.name };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'removed' };
}

/** Few rules, all of which are looked at. */
async function readersOf(tx: Transaction, name: string): Promise<readonly LinkRuleRef[]> {
  return tx<LinkRuleRef[]>`
    select id, name from link_rules where ${name} = any(reads_tables) order by created_at, id`;
}

async function readTable(sql: Sql | Transaction, id: PublicId): Promise<StoredLookupTable | null> {
  const [row] = await sql<LookupTableRow[]>`select * from lookup_tables where id = ${id}`;
  return row ? storedTable(row) : null;
}

/** So many rows of a change are told; a table may have thousands. */
const AUDITED_ROWS = 100;

/** What a change did: of the rows those that differ, and how many there are. */
function auditedChange(before: LookupTableFields | null, after: LookupTableFields) {
  const plain = auditDiff(before && withoutRows(before), withoutRows(after));
  const keys = changedKeys(before, after);
  if (keys.length === 0) return { diff: plain, details: {} };
  const told = new Set(keys.slice(0, AUDITED_ROWS));
  const entries: AuditChange = {
    pointer: '/entries',
    ...(before ? { before: toldEntries(before, told) } : {}),
    after: toldEntries(after, told),
  };
  return { diff: [...plain, entries], details: { changed_entries: keys.length } };
}

function withoutRows({ name, description, columns }: LookupTableFields) {
  return { name, description, columns };
}

function changedKeys(before: LookupTableFields | null, after: LookupTableFields): readonly string[] {
  const written = (fields: LookupTableFields | null) =>
    new Map(fields?.rows.map((row) => [row[0], JSON.stringify([fields.columns, row])]));
  const old = written(before);
  const fresh = written(after);
  return [...new Set([...old.keys(), ...fresh.keys()])].filter((key) => old.get(key) !== fresh.get(key));
}

function toldEntries({ rows, columns }: LookupTableFields, keys: ReadonlySet<string>) {
  return rows.filter(([key]) => keys.has(key)).map((row) => entryOf(row, columns));
}
