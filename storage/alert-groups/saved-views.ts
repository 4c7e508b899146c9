/** Saved views in Postgres: the store behind actors/alert-group/saved-views.ts. Changes of shared ones are audited. */
import {
  MOST_OWN_VIEWS,
  MOST_SHARED_VIEWS,
  type SavedViewFields,
  type SavedViewSaving,
  type SavedViewStore,
  type StoredSavedView,
} from '../../actors/alert-group/saved-views.ts';
import { auditDiff, auditEntry } from '../../actors/audit.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction } from '../postgres/transaction.ts';

export function createSavedViewStore(sql: Sql, appendAudit: AppendAudit): SavedViewStore {
  /** One change at a time, so that no limit is passed by two of them. */
  const inTurn = <Result>(run: (tx: Transaction) => Promise<Result>): Promise<Result> =>
    inTransaction(sql, async (tx) => {
      await tx`lock table saved_views in share row exclusive mode`;
      return run(tx);
    });

  return {
    async page(userId, after, limit) {
      const [createdAt, id] = after ?? [0, ''];
      // Few rows, all of which are looked at.
      const rows = await sql<SavedViewRow[]>`
        ${seenBy(sql, userId)} and (v.created_at, v.id) > (${createdAt}, ${id})
        order by v.created_at, v.id
        limit ${limit + 1}`;
      return { items: rows.slice(0, limit).map(storedView), more: rows.length > limit };
    },
    read: (userId, id) => readView(sql, userId, id),
    create: (userId, fields, author) =>
      inTurn((tx) => createView({ tx, appendAudit, author }, userId, fields)),
    update: (userId, id, decide, author) =>
      inTurn(async (tx) => {
        const current = await readView(tx, userId, id);
        if (!current) return { outcome: 'unknown' };
        const decision = decide(current);
        if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
        return updateView({ tx, appendAudit, author }, userId, current, decision.save);
      }),
    remove: (userId, id, decide, author) =>
      inTurn(async (tx) => {
        const current = await readView(tx, userId, id);
        if (!current) return 'unknown';
        const refusal = decide(current);
        if (refusal !== null) return refusal;
        await tx`delete from saved_views where id = ${id}`;
        await audit({ tx, appendAudit, author }, 'deleted', id, current.fields, null);
        return 'removed';
      }),
    setDefault: (userId, id) =>
      inTurn(async (tx) => {
        if (id !== null && !(await readView(tx, userId, id))) return false;
        await tx`delete from default_views where user_id = ${userId}`;
        if (id !== null) await tx`insert into default_views (user_id, view_id) values (${userId}, ${id})`;
        return true;
      }),
  };
}

interface SavedViewRow {
  readonly id: PublicId;
  readonly version: number;
  readonly owner_id: PublicId;
  readonly name: string;
  readonly query: string;
  readonly shared: boolean;
  readonly is_default: boolean;
  readonly created_at: Micros;
}

function storedView(row: SavedViewRow): StoredSavedView {
  const { id, version, name, query, shared, created_at: createdAt } = row;
  const fields = { name, query, shared };
  return { id, version, ownerId: row.owner_id, fields, isDefault: row.is_default, createdAt };
}

function seenBy(sql: Sql | Transaction, userId: PublicId) {
  return sql`
    select v.*, d.view_id is not null as is_default
    from saved_views v
    left join default_views d on d.view_id = v.id and d.user_id = ${userId}
    where (v.shared or v.owner_id = ${userId})`;
}

async function readView(
  sql: Sql | Transaction,
  userId: PublicId,
  id: PublicId,
): Promise<StoredSavedView | null> {
  const [row] = await sql<SavedViewRow[]>`${seenBy(sql, userId)} and v.id = ${id}`;
  return row ? storedView(row) : null;
}

async function createView(
  change: Change,
  userId: PublicId,
  fields: SavedViewFields,
): Promise<SavedViewSaving> {
  const { tx, author } = change;
  const obstacle = await obstacleTo(tx, userId, null, fields);
  if (obstacle) return { outcome: obstacle };
  const id = newPublicId('VW');
  await tx`
    insert into saved_views (id, version, owner_id, name, query, shared, created_at)
    values (${id}, 1, ${userId}, ${fields.name}, ${fields.query}, ${fields.shared}, ${author.at})`;
  await audit(change, 'created', id, null, fields);
  const view = { id, version: 1, ownerId: userId, fields, isDefault: false, createdAt: author.at };
  return { outcome: 'saved', view };
}

async function updateView(
  change: Change,
  userId: PublicId,
  current: StoredSavedView,
  fields: SavedViewFields,
): Promise<SavedViewSaving> {
  const { tx } = change;
  const { id, ownerId } = current;
  if (auditDiff(current.fields, fields).length === 0) return { outcome: 'saved', view: current };
  const obstacle = await obstacleTo(tx, ownerId, current, fields);
  if (obstacle) return { outcome: obstacle };
  await tx`
    update saved_views set
      version = version + 1, name = ${fields.name}, query = ${fields.query}, shared = ${fields.shared}
    where id = ${id}`;
  if (!fields.shared) {
    // Nobody else sees it from now on, and a deleted owner does not either.
    await tx`delete from default_views where view_id = ${id} and user_id <> ${ownerId}`;
    await tx`
      delete from saved_views
      where id = ${id} and owner_id in (select id from users where status = 'deleted')`;
  }
  await audit(change, 'updated', id, current.fields, fields);
  const isDefault = current.isDefault && (fields.shared || ownerId === userId);
  return { outcome: 'saved', view: { ...current, version: current.version + 1, fields, isDefault } };
}

async function obstacleTo(
  tx: Transaction,
  ownerId: PublicId,
  current: StoredSavedView | null,
  { name, shared }: SavedViewFields,
): Promise<'name_taken' | 'too_many' | 'too_many_shared' | null> {
  const [others] = await tx<{ is_taken: boolean; own: number; shared: number }[]>`
    select
      coalesce(bool_or(owner_id = ${ownerId} and name = ${name}), false) as is_taken,
      count(*) filter (where owner_id = ${ownerId})::integer as own,
      count(*) filter (where shared)::integer as shared
    from saved_views where id <> ${current?.id ?? ''}`;
  if (others?.is_taken) return 'name_taken';
  if (!current && (others?.own ?? 0) >= MOST_OWN_VIEWS) return 'too_many';
  const isNewlyShared = shared && !current?.fields.shared;
  return isNewlyShared && (others?.shared ?? 0) >= MOST_SHARED_VIEWS ? 'too_many_shared' : null;
}

/** What concerns one person alone is not audited. */
async function audit(
  { tx, appendAudit, author }: Change,
  verb: 'created' | 'updated' | 'deleted',
  id: PublicId,
  before: SavedViewFields | null,
  after: SavedViewFields | null,
): Promise<void> {
  if (!before?.shared && !after?.shared) return;
  const diff = after ? auditDiff(before, after) : [];
  const resourceName = (after ?? before)?.name ?? null;
  await appendAudit(
    tx,
    auditEntry(author, { action: `saved_view.${verb}`, resourceId: id, resourceName, diff }),
  );
}
