/** Users in Postgres: the stores behind actors/access/user.ts for Admins, and behind people's own profiles. */
import type { People, Profiles } from '../../actors/access/ports.ts';
import {
  type FoundUsers,
  foldLogin,
  type NewSetupLink,
  type NewUser,
  type User,
  type UserDecision,
  type UserFields,
  type UserFilter,
  type UserStore,
  type UserUpdate,
} from '../../actors/access/user.ts';
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { allOf } from '../alert-groups/filters.ts';
import { rerenderNaming } from '../delivery/rerender.ts';
import type { Sql } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction, unlessViolated } from '../postgres/transaction.ts';
import { createOwnPasswords, createPasswordLinks, replaceSetupLink } from './passwords.ts';
import { createTotpEnrolments, type TotpEnrolmentDeps } from './second-factors.ts';
import { endSessionsOf } from './sessions.ts';
import { likePattern, lockUser, mayLose, readUser, type UserRow, userOf } from './user-rows.ts';
import {
  addSetupLink,
  convertToLocal,
  disable,
  enable,
  releaseLate,
  remove,
  resetTotp,
} from './user-status.ts';

const LOGIN_RULE = 'users_login';

export function createUserStore(sql: Sql, appendAudit: AppendAudit): UserStore {
  const change = <Result>(author: Authorship, run: (made: Change) => Promise<Result>): Promise<Result> =>
    inTransaction(sql, (tx) => run({ tx, appendAudit, author }));

  return {
    page: (filter, after, limit) => readPage(sql, filter, after, limit),
    read: (id) => readUser(sql, id),

    create: (fields, link, author) =>
      unlessViolated(LOGIN_RULE, 'name_taken', () => change(author, (made) => create(made, fields, link))),

    update: (id, decide, author) => change(author, (made) => update(made, id, decide)),

    async disable(id, author) {
      const outcome = await change(author, (made) => disable(made, id));
      if (outcome.outcome === 'switched') await releaseLate(sql, id, 'owner_disabled', author.at);
      return outcome;
    },

    enable: (id, author) => change(author, (made) => enable(made, id)),

    async remove(id, isCurrent, author) {
      const outcome = await change(author, (made) => remove(made, id, isCurrent));
      if (outcome === 'removed') await releaseLate(sql, id, 'owner_deleted', author.at);
      return outcome;
    },

    resetTotp: (id, author) => change(author, (made) => resetTotp(made, id)),
    convertToLocal: (id, link, author) => change(author, (made) => convertToLocal(made, id, link)),
    addSetupLink: (id, link, author) => change(author, (made) => addSetupLink(made, id, link)),
  };
}

async function readPage(
  sql: Sql,
  { q, roles, statuses, sources }: UserFilter,
  after: readonly [string, string] | null,
  limit: number,
): Promise<FoundUsers> {
  const conditions = [sql`true`];
  if (q !== null) {
    const pattern = likePattern(q);
    conditions.push(sql`(name ilike ${pattern} or login ilike ${pattern} or email ilike ${pattern})`);
  }
  if (roles.length > 0) conditions.push(sql`role = any(${[...roles]})`);
  if (statuses.length > 0) conditions.push(sql`status = any(${[...statuses]})`);
  if (sources.length > 0) conditions.push(sql`source = any(${[...sources]})`);
  if (after) {
    conditions.push(sql`(lower(name) collate "C", id collate "C") > (${after[0]}::text, ${after[1]}::text)`);
  }
  // index: users_by_name
  const rows = await sql<(UserRow & { lower_name: string })[]>`
    select *, lower(name) as lower_name from users
    where ${allOf(sql, conditions)}
    order by lower(name) collate "C", id collate "C"
    limit ${limit + 1}`;
  const last = rows.slice(0, limit).at(-1);
  return {
    users: rows.slice(0, limit).map(userOf),
    next: rows.length > limit && last ? [last.lower_name, last.id] : null,
  };
}

async function create(made: Change, fields: NewUser, link: NewSetupLink): Promise<User> {
  const { tx, appendAudit, author } = made;
  const id = newPublicId('SR');
  const [row] = await tx<UserRow[]>`
    insert into users (id, version, login, login_folded, name, email, role, source, status, created_at)
    values (
      ${id}, 1, ${fields.login}, ${foldLogin(fields.login)}, ${fields.name}, ${fields.email}, ${fields.role},
      'local', 'active', ${author.at}
    )
    returning *`;
  if (!row) throw new Error('an insert gives its row');
  await replaceSetupLink(tx, id, link, author.at);
  const { name, login, email, role } = fields;
  const diff = auditDiff(null, { name, login, email, role });
  await appendAudit(
    tx,
    auditEntry(author, { action: 'user.created', resourceId: id, resourceName: name, diff }),
  );
  return userOf(row);
}

async function update<Refusal>(
  made: Change,
  id: PublicId,
  decide: (current: User) => UserDecision<Refusal>,
): Promise<UserUpdate<Refusal>> {
  const { tx, author } = made;
  const current = await lockUser(tx, id);
  if (!current) return { outcome: 'unknown' };
  const decision = decide(current);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  const { name, email, role } = decision.save;
  const isPromoted = role !== current.role;
  if (name === current.name && email === current.email && !isPromoted) {
    return { outcome: 'unchanged', user: current };
  }
  if (isPromoted && current.roleLocked) return { outcome: 'role_locked' };
  if (isPromoted && !(await mayLose(tx, current))) return { outcome: 'last_admin' };
  const [row] = await tx<UserRow[]>`
    update users set version = version + 1, name = ${name}, email = ${email}, role = ${role}
    where id = ${id}
    returning *`;
  if (!row) throw new Error('the user is locked');
  if (isPromoted) await endSessionsOf(tx, id, 'role_changed', author.at);
  await recordUpdate(made, current, decision.save);
  if (name !== current.name) await rerenderNaming(tx, id, author.at);
  return { outcome: 'saved', user: userOf(row) };
}

/** The Role has an entry of its own, so that a look for those finds all. */
async function recordUpdate(
  { tx, appendAudit, author }: Change,
  current: User,
  { name, email, role }: UserFields,
): Promise<void> {
  const about = { resourceId: current.id, resourceName: name };
  const diff = auditDiff({ name: current.name, email: current.email }, { name, email });
  if (diff.length > 0) await appendAudit(tx, auditEntry(author, { action: 'user.updated', ...about, diff }));
  const roleDiff = auditDiff({ role: current.role }, { role });
  if (roleDiff.length > 0) {
    await appendAudit(tx, auditEntry(author, { action: 'user.role_changed', ...about, diff: roleDiff }));
  }
}

/** What people store about themselves, in Postgres. */
export function createPeople(deps: TotpEnrolmentDeps): People {
  const { sql, appendAudit } = deps;
  return {
    profiles: createProfiles(sql, appendAudit),
    ownPasswords: createOwnPasswords(sql, appendAudit),
    passwordLinks: createPasswordLinks(sql, appendAudit),
    enrolments: createTotpEnrolments(deps),
  };
}

/** People change their own profile (access §4.3). */
function createProfiles(sql: Sql, appendAudit: AppendAudit): Profiles {
  return {
    update: (id, fieldsOf, author) =>
      inTransaction(sql, async (tx) => {
        const current = await lockUser(tx, id);
        if (!current) throw new Error('the caller of a request exists');
        const { name, timeZone, language } = fieldsOf(current);
        const diff = auditDiff(
          { name: current.name, time_zone: current.timeZone, language: current.language },
          { name, time_zone: timeZone, language },
        );
        if (diff.length === 0) return current;
        const [row] = await tx<UserRow[]>`
          update users set version = version + 1, name = ${name}, time_zone = ${timeZone}, language = ${language}
          where id = ${id}
          returning *`;
        if (!row) throw new Error('the user is locked');
        const entry = { action: 'user.profile_updated', resourceId: id, resourceName: name, diff };
        await appendAudit(tx, auditEntry(author, entry));
        if (name !== current.name) await rerenderNaming(tx, id, author.at);
        return userOf(row);
      }),
  };
}
