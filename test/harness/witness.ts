/**
 * A witness in the database: triggers of the test's own note, inside every commit of actors, which connection writes,
 * for which shards and under which epochs; and every raise of an epoch. What it saw is judged afterwards.
 */
import type { Sql } from '../../storage/postgres/records.ts';

/** What the engine's connection of a replica is called. */
const COMMITS = 'tocsin commits ';

const INSTALL = `
  create schema witness;
  create table witness.commits (
    seq bigint generated always as identity, shard smallint, epoch bigint, owner text, application text
  );
  create table witness.raises (
    seq bigint generated always as identity, shard smallint, epoch bigint, before bigint, owner text, application text
  );
  create index on witness.raises (shard);
  create function witness.commit_seen() returns trigger language plpgsql as $$
  begin
    insert into witness.commits (shard, epoch, owner, application)
    select distinct shard, s.epoch, s.owner, current_setting('application_name')
    from written join shards s using (shard);
    return null;
  end $$;
  create function witness.raise_seen() returns trigger language plpgsql as $$
  begin
    insert into witness.raises (shard, epoch, before, owner, application)
    select n.shard, n.epoch, o.epoch, n.owner, current_setting('application_name')
    from after_raise n join before_raise o using (shard);
    return null;
  end $$;
  create trigger witness_insert after insert on actors
    referencing new table as written for each statement execute function witness.commit_seen();
  create trigger witness_update after update on actors
    referencing new table as written for each statement execute function witness.commit_seen();
  create trigger witness_raise after update on shards
    referencing old table as before_raise new table as after_raise
    for each statement execute function witness.raise_seen();
`;

/** Times of commits, ms since the epoch. */
const COMMITTED = `extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000`;

export interface Takeover {
  /** From the given moment to the first commit of another replica for a shard of the one that went, ms; null: none. */
  readonly firstCommitMs: number | null;
  /** To the raise of the last of its shards by others, ms; null while one is left. */
  readonly allRaisedMs: number | null;
  readonly shards: number;
}

export class Witness {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Once a database; what it sees from then on can be asked by any other of its kind. */
  static async install(sql: Sql): Promise<Witness> {
    await sql.unsafe(INSTALL);
    // Who holds what before the first raise that it sees.
    await sql`
      insert into witness.raises (shard, epoch, before, owner)
      select shard, epoch, epoch - 1, owner from shards`;
    return new Witness(sql);
  }

  /** How many commits for a shard it saw. */
  async count(): Promise<number> {
    const [row] = await this.#sql<{ count: number }[]>`select count(*)::int as count from witness.commits`;
    return row!.count;
  }

  /** One sentence each, about whatever must never be; empty when all is well. */
  async violations(): Promise<string[]> {
    const found = await Promise.all([
      this.#sql<Finding[]>`
        select shard, epoch, string_agg(distinct application, ', ') as says from witness.commits
        group by shard, epoch having count(distinct application) > 1`,
      this.#sql<Finding[]>`
        select shard, epoch, application || ' wrote for ' || coalesce(owner, 'nobody') as says from witness.commits
        where application is distinct from ${COMMITS} || split_part(owner, '/', 1)
        group by shard, epoch, application, owner`,
      this.#sql<Finding[]>`
        select shard, epoch, 'committed after epoch ' || newest as says from (
          select shard, epoch, max(epoch) over (
            partition by shard order by pg_xact_commit_timestamp(xmin), seq
          ) as newest from witness.commits
        ) c where epoch < newest`,
      // Commit times are of the microsecond; two of one shard in the same one cannot be told apart.
      this.#sql<Finding[]>`
        select c.shard, c.epoch, 'committed by ' || c.application || ' after epoch ' || r.epoch || ' was raised' as says
        from witness.commits c join witness.raises r on r.shard = c.shard and r.epoch > c.epoch
        where pg_xact_commit_timestamp(c.xmin) > pg_xact_commit_timestamp(r.xmin)`,
      this.#sql<Finding[]>`
        select shard, epoch, 'raised from ' || before as says from witness.raises where epoch <> before + 1`,
    ]);
    return found.flat().map(({ shard, epoch, says }) => `shard ${shard}, epoch ${epoch}: ${says}`);
  }

  /** How the shards that a replica held at a moment came to others after it. @param at ms since the epoch */
  async takeover(replicaId: string, at: number): Promise<Takeover> {
    const [row] = await this.#sql<Takeover[]>`
      with raised as (
        select shard, epoch, owner, ${this.#sql.unsafe(COMMITTED)} as at from witness.raises
      ), held as (
        select * from (
          select distinct on (shard) shard, epoch, owner from raised where at <= ${at} order by shard, epoch desc
        ) newest where split_part(owner, '/', 1) = ${replicaId}
      ), next as (
        select held.shard, min(raised.at) as at from held
        left join raised on raised.shard = held.shard and raised.epoch > held.epoch group by held.shard
      ), first as (
        select min(${this.#sql.unsafe(COMMITTED.replace('xmin', 'c.xmin'))}) as at
        from witness.commits c join held on held.shard = c.shard and c.epoch > held.epoch
      )
      select (select at from first)::float8 - ${at}::float8 as "firstCommitMs",
        case when bool_and(at is not null) then max(at)::float8 - ${at}::float8 end as "allRaisedMs",
        count(*)::int as shards
      from next`;
    return row!;
  }

  /** When shards changed hands, oldest first: from whom to whom, ms since the epoch. */
  async moves(): Promise<{ shard: number; at: number; to: string }[]> {
    return this.#sql<{ shard: number; at: number; to: string }[]>`
      select shard, (${this.#sql.unsafe(COMMITTED)})::float8 as at, split_part(owner, '/', 1) as to
      from witness.raises order by 2, epoch`;
  }
}

interface Finding {
  readonly shard: number;
  readonly epoch: number;
  readonly says: string;
}
