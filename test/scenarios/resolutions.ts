/** Every resolution of an Alert as the database saw it committed, also of those that fired again since. */
import type { Micros } from '../../runtime/clock.ts';
import type { Sql } from '../../storage/postgres/records.ts';

export interface Resolution {
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly by: string;
  readonly at: Micros;
}

/** From now on the database notes them. */
export async function noteResolutions(sql: Sql): Promise<void> {
  await sql`
    create table noted_resolutions (
      place bigint generated always as identity,
      integration_id text not null, fingerprint text not null, labels jsonb not null, by text not null, at bigint not null
    )`;
  await sql`
    create function note_resolution() returns trigger language plpgsql as $$
    begin
      insert into noted_resolutions (integration_id, fingerprint, labels, by, at)
      values (new.integration_id, new.fingerprint, new.labels, new.resolved_by, new.resolved_at);
      return null;
    end $$`;
  await sql`
    create trigger note_new after insert on group_alerts
    for each row when (new.resolved_at is not null) execute function note_resolution()`;
  await sql`
    create trigger note_change after update on group_alerts
    for each row when (new.resolved_at is not null and new.resolved_at is distinct from old.resolved_at)
    execute function note_resolution()`;
}

/** In the order in which they were committed. */
export function notedResolutions(sql: Sql, integrationId: string): Promise<Resolution[]> {
  return sql<Resolution[]>`
    select fingerprint, labels, by, at from noted_resolutions
    where integration_id = ${integrationId} order by at, place`;
}
