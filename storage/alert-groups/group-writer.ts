/** Writes Alert Groups, Slots, Timeline entries and Notes; a broken uniqueness rule becomes a conflict. */
import type {
  GroupRow,
  GroupSaved,
  NoteAdded,
  SlotMoved,
  TimelineAdded,
} from '../../actors/alert-group/effects.ts';
import { type ContestedAlerts, slotKey } from '../../actors/alert-group/ports.ts';
import { isLifecycle, type TimelineEntry } from '../../actors/alert-group/reading/timeline.ts';
import { ConflictError, type RecordedEffect } from '../../runtime/actor/index.ts';
import { wordArray } from '../postgres/bulk-parameters.ts';
import { compareKeys } from '../postgres/locks.ts';
import type { RecordWriter, Transaction } from '../postgres/records.ts';

/**
 * One statement a batch, and one more when it creates groups or opens them again. A Slot that another group has is
 * refused and marked, so that the next try looks up whose it is.
 */
export function createGroupWriter(contested: ContestedAlerts): RecordWriter {
  return {
    types: ['group.saved'],
    async write(tx, effects, numbers) {
      const saved = effects as readonly GroupSaved[];
      const opening = saved.filter(({ opened }) => opened);
      if (opening.length > 0) await requireLiveRoutes(tx, opening);
      const latest = new Map(saved.map(({ row }) => [row.id, row]));
      const rows = [...latest.values()].map((row) => columns(row, numbers));
      await upsert(tx, rows, () => {
        for (const row of rows) {
          if (rank(row) === 1)
            contested.mark(slotKey({ routeId: row.original_route_id, keyHash: row.key_hash }));
        }
      });
    },
  };
}

/**
 * Holds the Routes of groups that open against deletion until the commit (routes §5 rule 6, §8).
 * @throws {ConflictError} when one is deleted; the next try goes to the Default route, and an Unresolve is refused
 */
async function requireLiveRoutes(tx: Transaction, opening: readonly GroupSaved[]): Promise<void> {
  const ids = [...new Set(opening.map(({ row }) => row.routeId))];
  const live = await tx`
    select id from routes
    where id = any(${wordArray(ids)}::text[]) and deleted_at is null
    order by id for share`;
  if (live.length < ids.length) throw new ConflictError('an Alert Group was to be open on a deleted Route');
}

function columns(row: GroupRow, numbers: ReadonlyMap<string, number>) {
  const number = row.number ?? numbers.get(row.id);
  if (number === undefined) throw new Error(`Alert Group ${row.id} has no number`);
  const movedFrom = row.routeId === row.originalRouteId ? null : row.originalRouteId;
  return {
    id: row.id,
    number,
    title: row.title,
    summary: row.summary,
    status: row.status,
    route_id: row.routeId,
    original_route_id: row.originalRouteId,
    moved_from_route_id: movedFrom,
    key_hash: row.keyHash,
    group_labels: row.groupLabels,
    common_labels: row.commonLabels,
    common_annotations: row.commonAnnotations,
    integration_ids: row.integrationIds,
    severity_level: row.severityLevel,
    owner_id: row.ownerId,
    snoozed_by: row.snoozedBy,
    snooze_until: row.snoozeUntil,
    started_at: row.startedAt,
    resolved_at: row.resolvedAt,
    last_changed_at: row.lastChangedAt,
    resolved_by: row.resolvedBy,
    resolver: row.resolver,
    resolve_reason: row.resolveReason,
    resolve_reason_text: row.resolveReasonText,
    reopen_count: row.reopenCount,
    firing_alert_count: row.firingAlertCount,
    resolved_alert_count: row.resolvedAlertCount,
    unclaimed: row.unclaimed,
    next_notice_at: row.nextNoticeAt,
    reminder_pending: row.reminderPending,
    delivery_problem: row.deliveryProblem,
    in_grace: row.inGrace,
    first_acknowledged_at: row.firstAcknowledgedAt,
    first_acknowledged_by: row.firstAcknowledgedBy,
    first_published_at: row.firstPublishedAt,
    firing_again_after: row.firingAgainAfter,
    replaced_label: row.replacedLabel,
    alerts_started_at: row.alertsStartedAt,
    runbook_url: row.runbookUrl,
    dashboard_url: row.dashboardUrl,
    source_url: row.sourceUrl,
  };
}

/**
 * Resolved rows come first: within one statement a slot must be free before the next group takes it
 * (alert_groups_open_slot).
 */
async function upsert(
  tx: Transaction,
  rows: readonly ReturnType<typeof columns>[],
  onConflict: () => void,
): Promise<void> {
  const ordered = [...rows].sort((left, right) => rank(left) - rank(right) || inLockOrder(left, right));
  await orConflict(
    () => tx`
    insert into alert_groups (
      id, number, title, summary, status, route_id, original_route_id, moved_from_route_id, key_hash,
      group_labels, common_labels, common_annotations, integration_ids, severity_level, owner_id, snoozed_by,
      snooze_until, started_at, resolved_at, last_changed_at, resolved_by, resolver, resolve_reason,
      resolve_reason_text, reopen_count, firing_alert_count, resolved_alert_count, unclaimed, delivery_problem,
      in_grace, next_notice_at, reminder_pending, first_acknowledged_at, first_published_at, firing_again_after,
      replaced_label, alerts_started_at, runbook_url, dashboard_url, source_url, first_acknowledged_by
    )
    select * from json_to_recordset(${JSON.stringify(ordered)}::text::json) as g (
      id text, number bigint, title text, summary text, status text, route_id text, original_route_id text,
      moved_from_route_id text, key_hash text, group_labels jsonb, common_labels jsonb,
      common_annotations jsonb, integration_ids text[], severity_level text, owner_id text, snoozed_by jsonb,
      snooze_until bigint, started_at bigint, resolved_at bigint, last_changed_at bigint, resolved_by text,
      resolver jsonb, resolve_reason text, resolve_reason_text text, reopen_count integer,
      firing_alert_count integer, resolved_alert_count integer, unclaimed boolean, delivery_problem boolean,
      in_grace boolean, next_notice_at bigint, reminder_pending boolean, first_acknowledged_at bigint,
      first_published_at bigint, firing_again_after bigint, replaced_label text, alerts_started_at bigint, runbook_url text,
      dashboard_url text, source_url text, first_acknowledged_by text
    )
    on conflict (id) do update set
      title = excluded.title, summary = excluded.summary, status = excluded.status,
      route_id = excluded.route_id, moved_from_route_id = excluded.moved_from_route_id,
      common_labels = excluded.common_labels, common_annotations = excluded.common_annotations,
      integration_ids = excluded.integration_ids, severity_level = excluded.severity_level,
      owner_id = excluded.owner_id, snoozed_by = excluded.snoozed_by, snooze_until = excluded.snooze_until,
      resolved_at = excluded.resolved_at, last_changed_at = excluded.last_changed_at,
      resolved_by = excluded.resolved_by, resolver = excluded.resolver,
      resolve_reason = excluded.resolve_reason, resolve_reason_text = excluded.resolve_reason_text,
      reopen_count = excluded.reopen_count, firing_alert_count = excluded.firing_alert_count,
      resolved_alert_count = excluded.resolved_alert_count, unclaimed = excluded.unclaimed,
      delivery_problem = excluded.delivery_problem, in_grace = excluded.in_grace,
      next_notice_at = excluded.next_notice_at, reminder_pending = excluded.reminder_pending,
      first_acknowledged_at = excluded.first_acknowledged_at,
      first_published_at = excluded.first_published_at, replaced_label = excluded.replaced_label,
      alerts_started_at = excluded.alerts_started_at, runbook_url = excluded.runbook_url, dashboard_url = excluded.dashboard_url,
      source_url = excluded.source_url,
      -- What retention took is gone; what a Reopen brings is new (organization §8 rule 4).
      details_removed = alert_groups.details_removed and excluded.status = 'resolved',
      first_acknowledged_by = coalesce(excluded.first_acknowledged_by, alert_groups.first_acknowledged_by)`,
    onConflict,
  );
}

type Columns = ReturnType<typeof columns>;

/** The columns of alert_groups_open_slot: another replica may be opening groups in the same Slots. */
function inLockOrder(left: Columns, right: Columns): number {
  return (
    compareKeys(left.key_hash, right.key_hash) || compareKeys(left.original_route_id, right.original_route_id)
  );
}

function rank({ status, moved_from_route_id }: Columns): number {
  return status === 'resolved' || moved_from_route_id !== null ? 0 : 1;
}

const UNIQUE_VIOLATION = '23505';

/** The uniqueness rule that refused a statement; null for every other failure. */
export function violatedRule(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, constraint_name: rule } = error as { code?: unknown; constraint_name?: unknown };
  return code === UNIQUE_VIOLATION && typeof rule === 'string' ? rule : null;
}

/** Runs a statement; a refusal by a uniqueness rule becomes a {@link ConflictError}, which the engine retries. */
export async function orConflict<Result>(run: () => PromiseLike<Result>, on?: () => void): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const rule = violatedRule(error);
    if (rule === null) throw error;
    on?.();
    throw new ConflictError(`refused by ${rule}`, { cause: error });
  }
}

/**
 * A Slot moves only away from the group that it names, so that two who choose a new address for one Slot never both
 * succeed. Of several moves of one Slot in a batch the first one's origin and the last one's target count.
 */
export const movedSlots: RecordWriter = {
  types: ['slot.moved'],
  async write(tx, effects) {
    const merged = new Map<string, SlotMoved>();
    for (const moved of effects as readonly SlotMoved[]) {
      const key = `${moved.routeId} ${moved.keyHash}`;
      const first = merged.get(key);
      merged.set(key, first ? { ...moved, fromGroupId: first.fromGroupId } : moved);
    }
    // Groups of other replicas may move the same Slots.
    const rows = [...merged].sort(([left], [right]) => compareKeys(left, right)).map(([, moved]) => moved);
    const written = await tx`
      insert into slots as s (route_id, key_hash, group_id)
      select route_id, key_hash, group_id from unnest(
        ${wordArray(rows.map(({ routeId }) => routeId))}::text[],
        ${wordArray(rows.map(({ keyHash }) => keyHash))}::text[],
        ${wordArray(rows.map(({ groupId }) => groupId))}::text[]
      ) as m (route_id, key_hash, group_id)
      on conflict (route_id, key_hash) do update set group_id = excluded.group_id
      where (s.route_id, s.key_hash, s.group_id) in (
        select * from unnest(
          ${wordArray(rows.map(({ routeId }) => routeId))}::text[],
          ${wordArray(rows.map(({ keyHash }) => keyHash))}::text[],
          ${wordArray(rows.map(({ fromGroupId }) => fromGroupId ?? 'null'))}::text[]
        )
      )`;
    if (written.count < rows.length) throw new ConflictError('a Slot was moved by another Alert Group');
  },
};

/** Entries without a lifecycle event follow the lifecycle entries of the same instant. */
const LAST_PLACE = Number.MAX_SAFE_INTEGER;

export const addedEntries: RecordWriter = {
  types: ['timeline.added'],
  async write(tx, effects) {
    await tx`
      insert into timeline_entries (group_id, at, place, id, kind, entry)
      select * from json_to_recordset(${documentOf(effects)}::text::json)
        as e (group_id text, at bigint, place bigint, id text, kind text, entry jsonb)`;
  },
};

export const addedNotes: RecordWriter = {
  types: ['note.added'],
  async write(tx, effects) {
    await tx`
      insert into notes (group_id, at, place, id, entry)
      select group_id, at, place, id, entry from json_to_recordset(${documentOf(effects)}::text::json)
        as e (group_id text, at bigint, place bigint, id text, entry jsonb)`;
  },
};

function documentOf(effects: readonly RecordedEffect[]): string {
  const added = effects as readonly (TimelineAdded | NoteAdded)[];
  return JSON.stringify(
    added.map(({ groupId, entry }) => ({
      group_id: groupId,
      at: entry.at,
      place: placeOf(entry),
      id: entry.id,
      kind: entry.kind,
      entry,
    })),
  );
}

function placeOf(entry: TimelineEntry): number {
  return isLifecycle(entry) ? entry.sequence : LAST_PLACE;
}
