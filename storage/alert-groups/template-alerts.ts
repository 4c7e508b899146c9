/** The Alerts of an Alert Group as templates read them (templates §8). */
import type { TemplateAlerts } from '../../actors/previews/ports.ts';
import type { TemplateAlert } from '../../actors/templates/data.ts';
import { textArray } from '../array-literals.ts';
import type { Sql } from '../records.ts';

/** Alerts that a template can see. */
const MOST = 1_000;

export function createTemplateAlerts(sql: Sql): TemplateAlerts {
  /** Index: group_alerts_pkey. */
  const select = (groupId: string) => sql`
    select
      a.fingerprint, a.state as status, a.labels, a.annotations, a.starts_at as "startsAt",
      a.resolved_at as "endsAt", a.generator_url as "generatorUrl"
    from group_alerts a
    join alert_groups g on g.id = a.group_id and not g.details_removed
    where a.group_id = ${groupId}`;
  return {
    of: (groupId) => sql<TemplateAlert[]>`
      ${select(groupId)}
      order by (a.state <> 'firing'), a.starts_at desc, a.fingerprint collate "C"
      limit ${MOST}`,
    named: (groupId, fingerprints) => sql<TemplateAlert[]>`
      ${select(groupId)} and a.fingerprint = any(${textArray([...fingerprints])}::text[])
      limit ${MOST}`,
  };
}
