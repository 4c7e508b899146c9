/** One user, for reading and for a change. */
import type { User } from '../actors/access/user.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { type UserRow, userOf } from './access-rows.ts';
import { hasOtherAdmin } from './last-admin.ts';
import type { Sql, Transaction } from './records.ts';

/** Deleted ones too. */
export async function readUser(sql: Sql | Transaction, id: PublicId): Promise<User | null> {
  const [row] = await sql<UserRow[]>`select * from users where id = ${id}`;
  return row ? userOf(row) : null;
}

/** A user who is not deleted, for a change of it. */
export async function lockUser(tx: Transaction, id: PublicId): Promise<User | null> {
  const [row] = await tx<UserRow[]>`
    select * from users where id = ${id} and status <> 'deleted' for update`;
  return row ? userOf(row) : null;
}

/** Whether this user may stop being an active Admin. */
export async function mayLose(tx: Transaction, { id, role, status }: User): Promise<boolean> {
  return role !== 'admin' || status !== 'active' || hasOtherAdmin(tx, id);
}
