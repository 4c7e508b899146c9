/** Reads the Audit log: people are named as they are called now, and erased ones stay erased (access §11, §7 rule 6). */
import type { AuditLogEntry, AuditLogQuery, AuditLogReader } from '../../actors/audit.ts';
import type { AuditChange } from '../../actors/effects.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { allOf, type Fragment } from '../alert-groups/filters.ts';
import { readOrganization } from '../configuration/organization.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inPlannedSnapshot } from '../postgres/transaction.ts';

export function createAuditLogReader(sql: Sql): AuditLogReader {
  return {
    list: (query, now) =>
      inPlannedSnapshot(sql, async (tx) => {
        const { settings } = await readOrganization(tx);
        const oldest = now - settings.retention.audit_log_days * DAY;
        const rows = await tx<EntryRow[]>`${auditLogStatement(tx, query, oldest)}`;
        const page = rows.slice(0, query.limit);
        const last = page.at(-1);
        const next = rows.length > query.limit && last ? ([last.at, last.id] as const) : null;
        return { items: page.map(entryOf), next };
      }),
  };
}

/**
 * One more than a page, newest first, with the people of today. Indexes: audit_log_by_resource, audit_log_by_actor,
 * audit_log_by_action, audit_log_by_resource_type; audit_log_pkey without any of these filters.
 */
export function auditLogStatement(sql: Sql | Transaction, query: AuditLogQuery, oldest: Micros): Fragment {
  return sql`
    with page as materialized (
      select * from audit_log where ${allOf(sql, conditionsOf(sql, query, oldest))}
      order by at desc, id desc limit ${query.limit + 1}
    )
    select
      page.*, coalesce(actor.name, account.name) as actor_name_now, subject.name as subject_name_now,
      subject.status as subject_status,
      (
        select jsonb_object_agg(field, jsonb_build_object('name', u.name, 'login', u.login))
        from unnest(${PEOPLE_IN_DETAILS}::text[]) field
        join users u on u.id = page.details #>> array[field, 'id'] and u.status = 'deleted'
      ) as erased_people
    from page
    left join users actor on actor.id = page.actor_id
    left join service_accounts account on account.id = page.actor_id
    left join users subject on subject.id = page.resource_id
    order by page.at desc, page.id desc`;
}

/** Members of details that may name a user. */
const PEOPLE_IN_DETAILS = ['owner', 'user'];

function conditionsOf(
  sql: Sql | Transaction,
  { from, to, actorId, action, resourceType, resourceId, after }: AuditLogQuery,
  oldest: Micros,
): Fragment[] {
  const conditions = [sql`at >= ${Math.max(oldest, from ?? oldest)}`];
  if (to !== null) conditions.push(sql`at < ${to}`);
  if (actorId !== null) conditions.push(sql`actor_id = ${actorId}`);
  if (action !== null) conditions.push(sql`action = ${action}`);
  if (resourceType !== null) conditions.push(sql`resource_type = ${resourceType}`);
  if (resourceId !== null) conditions.push(sql`resource_id = ${resourceId}`);
  if (after) conditions.push(sql`(at, id) < (${after[0]}::bigint, ${after[1]})`);
  return conditions;
}

interface EntryRow {
  readonly id: PublicId;
  readonly at: Micros;
  readonly actor_kind: AuditLogEntry['actor']['kind'];
  readonly actor_id: PublicId | null;
  readonly actor_name: string;
  readonly actor_name_now: string | null;
  readonly token_id: PublicId | null;
  readonly token_name: string | null;
  readonly transport: AuditLogEntry['transport'];
  readonly action: string;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  readonly subject_name_now: string | null;
  readonly subject_status: 'active' | 'disabled' | 'deleted' | null;
  readonly address: string | null;
  readonly diff: readonly AuditChange[];
  readonly details: Readonly<Record<string, unknown>>;
  /** What those members say now of users who were deleted. */
  readonly erased_people: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
}

function entryOf(row: EntryRow): AuditLogEntry {
  const isErased = row.subject_status === 'deleted';
  return {
    id: row.id,
    at: row.at,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name_now ?? row.actor_name },
    tokenId: row.token_id,
    tokenName: row.token_name,
    transport: row.transport,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    resourceName: isErased ? row.subject_name_now : row.resource_name,
    address: row.address,
    diff: isErased ? row.diff.map(withoutPerson) : row.diff,
    details: renamed(row),
  };
}

function renamed({ details, erased_people: erased }: EntryRow): EntryRow['details'] {
  if (erased === null) return details;
  const people = Object.entries(details).map(([field, value]) => [field, erasedPerson(value, erased[field])]);
  return Object.fromEntries(people);
}

/** Only what was told of the person is told now, under the made-up name. */
function erasedPerson(told: unknown, now: Readonly<Record<string, unknown>> | undefined): unknown {
  if (now === undefined || typeof told !== 'object' || told === null) return told;
  return Object.fromEntries(Object.entries(told).map(([key, value]) => [key, now[key] ?? value]));
}

const PERSONAL: ReadonlySet<string> = new Set(['/name', '/login', '/email']);

/** A change of an erased user without what named the person. */
function withoutPerson(change: AuditChange): AuditChange {
  if ('secret_changed' in change || !PERSONAL.has(change.pointer)) return change;
  const after = erased(change.after);
  return 'before' in change ? { ...change, before: erased(change.before), after } : { ...change, after };
}

function erased(value: unknown): unknown {
  return value === null ? null : '[erased]';
}
