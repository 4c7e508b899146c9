/** What holds of every Alert Group, whatever happened to it (alert-groups §1). Judged by the rows. */
import { expect } from 'vitest';
import type { Sql } from '../../storage/postgres/records.ts';

/** Each gives the rows that break a rule. Checks and unique indexes of the schema are not said again. */
const RULES: Readonly<Record<string, string>> = {
  'an open Alert Group has a firing Alert': `
    select number from alert_groups g where status <> 'resolved'
      and not exists (select 1 from group_alerts a where a.group_id = g.id and a.state = 'firing')`,
  'a system-resolved one has none': `
    select number from alert_groups g where resolved_by = 'system'
      and exists (select 1 from group_alerts a where a.group_id = g.id and a.state = 'firing')`,
  'an Owner is an active User': `
    select number from alert_groups g join users u on u.id = g.owner_id where u.status <> 'active'`,
  'resolved by the system has a reason, by a person a resolver': `
    select number from alert_groups
    where (resolved_by = 'system' and resolve_reason is null) or (resolved_by = 'user' and resolver is null)`,
  'unclaimed only while firing': `select number from alert_groups where unclaimed and status <> 'firing'`,
  'the counts are those of the Alerts': `
    select number from alert_groups g
    join (
      select group_id, count(*) filter (where state = 'firing') as firing, count(*) filter (where state = 'resolved') as resolved
      from group_alerts group by group_id
    ) a on a.group_id = g.id
    where (firing_alert_count, resolved_alert_count) <> (a.firing, a.resolved)`,
  'the summary is that of a firing Alert': `
    select number from alert_groups g
    join (
      select group_id, array_agg(annotations ->> 'summary') filter (where annotations ->> 'summary' <> '') as said
      from group_alerts where state = 'firing' group by group_id
    ) a on a.group_id = g.id
    where (summary = any(said)) is not true and (summary is not null or said is not null)`,
  'an Alert fires in one Alert Group at most': `
    select integration_id from group_alerts where state = 'firing'
    group by integration_id, fingerprint having count(*) > 1`,
  'numbers have no gaps': `
    select max(number) from alert_groups having max(number) <> count(*)`,
  'sequences of a Timeline have no gaps': `
    select group_id from (
      select group_id, entry from timeline_entries union all select group_id, entry from notes
    ) all_entries
    where entry ? 'sequence'
    group by group_id
    having min((entry ->> 'sequence')::int) <> 1
      or max((entry ->> 'sequence')::int) <> count(*)
      or count(distinct entry ->> 'sequence') <> count(*)`,
  'times of a Timeline never decrease': `
    select group_id from (
      select group_id, at, lag(at) over (partition by group_id order by (entry ->> 'sequence')::int) as before
      from (select group_id, at, entry from timeline_entries union all select group_id, at, entry from notes) told
      where entry ? 'sequence'
    ) ordered
    where at < before`,
  'the counts of actors by state are those of the actors': `
    select kind, state from (
      select kind, state, change from actor_states
      union all
      select kind, coalesce(snapshot -> 'snapshot' -> 'value', snapshot -> 'value', 'null'), -1 from actors
    ) counted
    group by kind, state
    having sum(change) <> 0`,
  'no message was set aside': 'select receiver_kind, error from dead_letters',
};

/** @throws with the rule that does not hold and what breaks it */
export async function expectInvariants(sql: Sql): Promise<void> {
  const queries = Object.entries(RULES).map(
    ([rule, query]) => `(select '${rule}' as rule, to_jsonb(x) as row from (${query}) x)`,
  );
  const broken = await sql.unsafe(queries.join(' union all '));
  expect(broken.map((row) => JSON.stringify(row))).toEqual([]);
}
