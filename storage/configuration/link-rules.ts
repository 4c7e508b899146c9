/** Link rules in Postgres: the store behind actors/links/ports.ts. */
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import { EXPLORE_TABLE } from '../../actors/links/configuration.ts';
import {
  type IsCurrent,
  type LinkRuleFields,
  type LinkRuleRemoval,
  type LinkRuleSaving,
  type LinkRuleStore,
  type LinkRuleUpdate,
  MOST_LINK_RULES,
  type StoredLinkRule,
} from '../../actors/links/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { jsonText, textArray } from '../postgres/bulk-parameters.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction } from '../postgres/transaction.ts';

export function createLinkRuleStore(sql: Sql, appendAudit: AppendAudit): LinkRuleStore {
  const change = <Result>(author: Authorship, run: (made: Change) => Promise<Result>): Promise<Result> =>
    inTransaction(sql, async (tx) => {
      await lockLinks(tx);
      return run({ tx, appendAudit, author });
    });

  return {
    async page(after, limit) {
      const [createdAt, id] = after ?? [0, ''];
      // Few rows, all of which are looked at.
      const rows = await sql<LinkRuleRow[]>`
        select * from link_rules
        where (created_at, id) > (${createdAt}, ${id})
        order by created_at, id
        limit ${limit + 1}`;
      return { items: rows.slice(0, limit).map(storedRule), more: rows.length > limit };
    },

    read: (id) => readRule(sql, id),
    create: (fields, reads, author) => change(author, (made) => createRule(made, fields, reads)),
    update: (id, isCurrent, fields, reads, author) =>
      change(author, (made) => updateRule(made, id, isCurrent, fields, reads)),
    remove: (id, isCurrent, author) => change(author, (made) => removeRule(made, id, isCurrent)),
  };
}

/** Rules and the tables they read change one after the other, so that no rule is saved while its table goes. */
export async function lockLinks(tx: Transaction): Promise<void> {
  await tx`lock table link_rules in share row exclusive mode`;
}

export interface LinkRuleRow {
  readonly id: PublicId;
  readonly version: number;
  readonly builtin: boolean;
  readonly name: string;
  readonly matchers: LinkRuleFields['matchers'];
  readonly scope: LinkRuleFields['scope'];
  readonly url_template: string;
  readonly created_at: Micros;
}

export function storedRule(row: LinkRuleRow): StoredLinkRule {
  const { id, version, builtin, name, matchers, scope, url_template, created_at: createdAt } = row;
  return { id, version, builtin, fields: { name, matchers, scope, url_template }, createdAt };
}

/** Adds a rule under an id of its own. */
export async function insertRule(
  tx: Transaction,
  rule: {
    readonly fields: LinkRuleFields;
    readonly reads: readonly string[];
    readonly builtin: boolean;
    readonly at: Micros;
  },
): Promise<PublicId> {
  const id = newPublicId('KR');
  const { fields, reads, builtin, at } = rule;
  await tx`
    insert into link_rules (
      id, version, builtin, name, matchers, scope, url_template, reads_tables, created_at
    )
    values (
      ${id}, 1, ${builtin}, ${fields.name}, ${jsonText(fields.matchers)}::text::jsonb,
      ${jsonText(fields.scope)}::text::jsonb, ${fields.url_template}, ${textArray(reads)}::text[], ${at}
    )`;
  return id;
}

async function createRule(
  { tx, appendAudit, author }: Change,
  fields: LinkRuleFields,
  reads: readonly string[],
): Promise<LinkRuleSaving> {
  const obstacle = await obstacleTo(tx, fields.name, null);
  if (obstacle) return { outcome: obstacle };
  const table = await missingTable(tx, reads);
  if (table !== null) return { outcome: 'no_table', table };
  const id = await insertRule(tx, { fields, reads, builtin: false, at: author.at });
  const entry = { action: 'link_rule.created', resourceId: id, resourceName: fields.name };
  await appendAudit(tx, auditEntry(author, { ...entry, diff: auditDiff(null, fields) }));
  return { outcome: 'saved', rule: await requireRule(tx, id) };
}

async function updateRule(
  { tx, appendAudit, author }: Change,
  id: PublicId,
  isCurrent: (version: number) => boolean,
  fields: LinkRuleFields,
  reads: readonly string[],
): Promise<LinkRuleUpdate> {
  const current = await readRule(tx, id);
  if (!current) return { outcome: 'unknown' };
  if (!isCurrent(current.version)) return { outcome: 'stale' };
  const obstacle = await obstacleTo(tx, fields.name, id);
  if (obstacle) return { outcome: obstacle };
  const others = current.builtin ? reads.filter((name) => name !== EXPLORE_TABLE) : reads;
  const table = await missingTable(tx, others);
  if (table !== null) return { outcome: 'no_table', table };
  const diff = auditDiff(current.fields, fields);
  if (diff.length === 0) return { outcome: 'unchanged', rule: current };
  await tx`
    update link_rules set
      version = version + 1,
      name = ${fields.name},
      matchers = ${jsonText(fields.matchers)}::text::jsonb,
      scope = ${jsonText(fields.scope)}::text::jsonb,
      url_template = ${fields.url_template},
      reads_tables = ${textArray(reads)}::text[]
    where id = ${id}`;
  const entry = { action: 'link_rule.updated', resourceId: id, resourceName: fields.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'saved', rule: await requireRule(tx, id) };
}

async function removeRule(
  { tx, appendAudit, author }: Change,
  id: PublicId,
  isCurrent: IsCurrent,
): Promise<LinkRuleRemoval> {
  const rule = await readRule(tx, id);
  if (!rule) return 'unknown';
  if (isCurrent && !isCurrent(rule.version)) return 'stale';
  if (rule.builtin) return 'builtin';
  await tx`delete from link_rules where id = ${id}`;
  const entry = { action: 'link_rule.deleted', resourceId: id, resourceName: rule.fields.name };
  await appendAudit(tx, auditEntry(author, entry));
  return 'removed';
}

async function obstacleTo(
  sql: Sql | Transaction,
  name: string,
  of: PublicId | null,
): Promise<'too_many' | 'name_taken' | null> {
  const [held] = await sql<{ count: number; is_taken: boolean }[]>`
    select
      count(*)::integer as count,
      coalesce(bool_or(name = ${name} and id is distinct from ${of}), false) as is_taken
    from link_rules`;
  if (of === null && (held?.count ?? 0) >= MOST_LINK_RULES) return 'too_many';
  return held?.is_taken ? 'name_taken' : null;
}

async function missingTable(tx: Transaction, names: readonly string[]): Promise<string | null> {
  if (names.length === 0) return null;
  const [missing] = await tx<{ name: string }[]>`
    select name from unnest(${textArray(names)}::text[]) with ordinality as wanted (name, place)
    where not exists (select 1 from lookup_tables t where t.name = wanted.name)
    order by place limit 1`;
  return missing?.name ?? null;
}

async function readRule(sql: Sql | Transaction, id: PublicId): Promise<StoredLinkRule | null> {
  const [row] = await sql<LinkRuleRow[]>`select * from link_rules where id = ${id}`;
  return row ? storedRule(row) : null;
}

async function requireRule(tx: Transaction, id: PublicId): Promise<StoredLinkRule> {
  const rule = await readRule(tx, id);
  if (!rule) throw new Error(`Link rule ${id} was just stored and yet is not there`);
  return rule;
}
