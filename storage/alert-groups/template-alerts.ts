/** The Alerts of an Alert Group as templates read them (templates §8). */
import type { TemplateAlerts } from '../../actors/previews/ports.ts';
import type { TemplateAlert } from '../../actors/templates/data.ts';
import type { Sql } from '../records.ts';

/** Alerts that a template can see. */
const MOST = 1_000;

export function createTemplateAlerts(sql: Sql): TemplateAlerts {
  return {
    // Index: group_alerts_pkey.
    of: (groupId) => sql<TemplateAlert[]>`
      select
        a.fingerprint, a.state as status, a.labels, a.annotations, a.starts_at as "startsAt",
        a.resolved_at as "endsAt", a.generator_url as "generatorUrl"
      from group_alerts a
      join alert_groups g on g.id = a.group_id and not g.details_removed
      where a.group_id = ${groupId}
      order by (a.state <> 'firing'), a.starts_at desc, a.fingerprint collate "C"
      limit ${MOST}`,
  };
}
