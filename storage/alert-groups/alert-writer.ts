/** Writes the Alerts of Alert Groups: one statement a kind of change and batch. */
import type { AlertsSaved, AlertsSeen, TailsAdopted } from '../../actors/alert-group/effects.ts';
import type { ContestedAlerts } from '../../actors/alert-group/ports.ts';
import { type GroupAlert, keyOf } from '../../actors/alert-group/rows.ts';
import { numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import { compareKeys } from '../postgres/locks.ts';
import type { RecordWriter, Transaction } from '../postgres/records.ts';
import { together } from '../postgres/transaction.ts';
import { orConflict } from './group-writer.ts';

/** An Alert that fires elsewhere already is refused and marked, so that the next try looks up where. */
export function createAlertWriter(contested: ContestedAlerts): RecordWriter {
  return {
    types: ['alerts.saved', 'alerts.seen', 'tails.adopted'],
    *parts(effects) {
      const changes = effects as readonly (AlertsSaved | AlertsSeen | TailsAdopted)[];
      const rows = inOrder(changes.filter((change) => change.type === 'alerts.saved'));
      for (let from = 0; from < rows.length; from += ROWS_OF_PART) {
        yield rows
          .slice(from, from + ROWS_OF_PART)
          .map(({ groupId, alert }): AlertsSaved => ({ type: 'alerts.saved', groupId, alerts: [alert] }));
      }
      const others = changes.filter((change) => change.type !== 'alerts.saved');
      if (others.length > 0) yield others;
    },
    async write(tx, effects) {
      const changes = effects as readonly (AlertsSaved | AlertsSeen | TailsAdopted)[];
      const saved = changes.filter((change) => change.type === 'alerts.saved');
      const seen = changes.filter((change) => change.type === 'alerts.seen');
      const adopted = changes.filter((change) => change.type === 'tails.adopted');
      if (saved.length > 0) await save(tx, saved, contested);
      if (seen.length > 0) await see(tx, seen);
      if (adopted.length > 0) await adopt(tx, adopted);
    },
  };
}

interface Saved {
  readonly groupId: AlertsSaved['groupId'];
  readonly alert: GroupAlert;
}

async function save(
  tx: Transaction,
  effects: readonly AlertsSaved[],
  contested: ContestedAlerts,
): Promise<void> {
  const rows = inOrder(effects);
  const markFiring = () => {
    for (const { alert } of rows) if (alert.state === 'firing') contested.mark(keyOf(alert));
  };
  const parts: Saved[][] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    parts.push(rows.slice(from, from + ROWS_AT_ONCE));
  // Handed to the driver at once and in order: writers after this one rely on it.
  await orConflict(() => together(...parts.map((part) => upsert(tx, part.map(columns)))), markFiring);
}

/**
 * Each Alert as it was saved last. Ended firings first: within one statement an Alert must leave one group before it
 * fires in the next (group_alerts_firing).
 */
function inOrder(effects: readonly AlertsSaved[]): Saved[] {
  const latest = new Map<string, Saved>();
  for (const { groupId, alerts } of effects) {
    for (const alert of alerts) latest.set(`${groupId} ${keyOf(alert)}`, { groupId, alert });
  }
  return [...latest.values()].sort((left, right) => rank(left) - rank(right) || inLockOrder(left, right));
}

/** Of a large commit: some 300 kB of Alerts with many labels. */
const ROWS_OF_PART = 200;

/** So that no statement takes as long as the server lets one take, however many Alerts a Snapshot lists. */
const ROWS_AT_ONCE = 2_000;

/** The columns of group_alerts_firing: another replica may be writing the same Alerts. */
function inLockOrder({ alert: left }: Saved, { alert: right }: Saved): number {
  return (
    compareKeys(left.report.fingerprint, right.report.fingerprint) ||
    compareKeys(left.integrationId, right.integrationId)
  );
}

function rank({ alert }: Saved): number {
  return alert.state === 'resolved' ? 0 : 1;
}

function columns({ groupId, alert }: Saved) {
  const { report } = alert;
  return {
    group_id: groupId,
    integration_id: alert.integrationId,
    fingerprint: report.fingerprint,
    position: alert.position,
    state: alert.state,
    route_id: alert.routeId,
    labels: report.labels,
    annotations: report.annotations,
    generator_url: report.generatorUrl,
    severity_level: report.severityLevel,
    severity_raw: report.severityRaw,
    label_conflicts: report.labelConflicts,
    starts_at: alert.startsAt,
    ended_start: alert.endedStart,
    last_seen_at: alert.lastSeenAt,
    resolved_at: alert.resolvedAt,
    resolved_by: alert.resolvedBy,
    moved_to: alert.movedTo,
    feeds: alert.feeds,
    sender_groups: alert.senderGroups,
  };
}

/**
 * A feed that repeats itself moves only its own time. When it stops listing an Alert, or the firing ends, that time is
 * kept as when the Alert was seen last: the rows of feeds are written after these, and still say what they heard before.
 *
 * `continued_at` is left out: only replicas of the release before read and write it, and its migration may not take it
 * from them (operations §3 rule 2). The next release drops it.
 */
async function upsert(tx: Transaction, rows: readonly ReturnType<typeof columns>[]): Promise<void> {
  await tx`
    insert into group_alerts (
      group_id, integration_id, fingerprint, position, state, route_id, labels, annotations, generator_url,
      severity_level, severity_raw, label_conflicts, starts_at, ended_start, last_seen_at,
      resolved_at, resolved_by, moved_to, feeds, sender_groups
    )
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as a (
      group_id text, integration_id text, fingerprint text, position integer, state text, route_id text,
      labels jsonb, annotations jsonb, generator_url text, severity_level text, severity_raw text,
      label_conflicts text[], starts_at bigint, ended_start bigint, last_seen_at bigint,
      resolved_at bigint, resolved_by text, moved_to text, feeds jsonb, sender_groups text[]
    )
    on conflict (group_id, integration_id, fingerprint) do update set
      state = excluded.state, route_id = excluded.route_id, labels = excluded.labels,
      annotations = excluded.annotations, generator_url = excluded.generator_url,
      severity_level = excluded.severity_level, severity_raw = excluded.severity_raw,
      label_conflicts = excluded.label_conflicts, starts_at = excluded.starts_at,
      ended_start = excluded.ended_start,
      last_seen_at = case when group_alerts.feeds = excluded.feeds then excluded.last_seen_at else greatest(
        excluded.last_seen_at,
        (
          select max(least(f.last_received_at, excluded.resolved_at))
          from jsonb_each(group_alerts.feeds) as said (feed, presence)
          join feeds f on f.key = said.feed
          where said.presence ->> 'state' = 'listed'
            and (excluded.feeds -> said.feed ->> 'state') is distinct from 'listed'
        )
      ) end,
      resolved_at = excluded.resolved_at, resolved_by = excluded.resolved_by, moved_to = excluded.moved_to,
      feeds = excluded.feeds, sender_groups = excluded.sender_groups`;
}

async function see(tx: Transaction, effects: readonly AlertsSeen[]): Promise<void> {
  const rows = effects.flatMap(({ groupId, integrationId, fingerprints, at }) =>
    fingerprints.map((fingerprint) => ({ groupId, integrationId, fingerprint, at })),
  );
  await tx`
    update group_alerts a set last_seen_at = s.at
    from (
      select group_id, integration_id, fingerprint, max(at) as at
      from unnest(
        ${wordArray(rows.map(({ groupId }) => groupId))}::text[],
        ${wordArray(rows.map(({ integrationId }) => integrationId))}::text[],
        ${textArray(rows.map(({ fingerprint }) => fingerprint))}::text[],
        ${numberArray(rows.map(({ at }) => at))}::bigint[]
      ) as seen (group_id, integration_id, fingerprint, at)
      group by group_id, integration_id, fingerprint
    ) s
    where a.group_id = s.group_id and a.integration_id = s.integration_id
      and a.fingerprint = s.fingerprint and a.last_seen_at < s.at`;
}

async function adopt(tx: Transaction, effects: readonly TailsAdopted[]): Promise<void> {
  const rows = effects.flatMap(({ fromGroupId, toGroupId, tails }) =>
    tails.map((tail) => ({ ...tail, fromGroupId, toGroupId })),
  );
  await tx`
    update group_alerts a set moved_to = t.to_group_id
    from unnest(
      ${wordArray(rows.map(({ fromGroupId }) => fromGroupId))}::text[],
      ${wordArray(rows.map(({ toGroupId }) => toGroupId))}::text[],
      ${wordArray(rows.map(({ integrationId }) => integrationId))}::text[],
      ${textArray(rows.map(({ fingerprint }) => fingerprint))}::text[]
    ) as t (from_group_id, to_group_id, integration_id, fingerprint)
    where a.group_id = t.from_group_id and a.integration_id = t.integration_id
      and a.fingerprint = t.fingerprint and a.moved_to is not null`;
}
