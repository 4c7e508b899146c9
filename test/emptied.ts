/** Empties tables between tests. */
import type { Sql } from '../storage/postgres/records.ts';

/**
 * What `truncate … cascade` does, for tables with few rows: a new file for every table and index, and plans made anew by
 * every session, cost more than what is tested. No trigger hears of it, either way.
 */
export async function empty(sql: Sql, ...tables: readonly string[]): Promise<void> {
  const names = tables.map((table) => `'${table}'::regclass`).join(', ');
  await sql.unsafe(`
    do $$
    declare emptied regclass;
    begin
      -- The tables that refer to them are emptied, too; their foreign keys need not look.
      set local session_replication_role = replica;
      for emptied in
        with recursive referring (id) as (
          select named::oid from unnest(array[${names}]) as named
          union
          select conrelid from pg_constraint join referring on confrelid = id where contype = 'f'
        )
        select id from referring
      loop
        execute format('delete from %s', emptied);
      end loop;
    end $$`);
}
