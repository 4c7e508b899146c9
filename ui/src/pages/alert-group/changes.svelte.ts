/** What changed in an Alert Group since the signed-in person last looked at it in this browser (ui §4 rule 14). */
import type { GroupStatus, SeverityLevel, TimelineEntry, UserRef } from '../../api/shapes.ts';
import type { I18n } from '../../i18n/i18n.svelte.ts';
import { keepLook, type LookStore, lastLook } from '../../state/last-looks.ts';

/** Kinds of entries that have a `sequence`: all but what Destinations did. */
export const CHANGING_KINDS = ['status', 'alerts', 'notes', 'timers', 'system'] as const;
/** Authors of Notes that are named. */
const NAMED = 3;

export interface ChangesDeps {
  readonly storage: LookStore;
  readonly userId: string;
  readonly groupId: string;
  /** Whether nobody can see this tab. */
  isHidden(): boolean;
}

interface Loaded {
  /** Newest first, of every kind in {@link CHANGING_KINDS}. */
  readonly entries: readonly TimelineEntry[];
  readonly hasMore: boolean;
}

export type Changes = ReturnType<typeof createChanges>;

/**
 * A look begins when the tab is in sight and the Timeline is there, and ends when the tab is hidden. What came between
 * two looks are the changes; what arrives during a look is seen as it arrives. Own deeds are no changes.
 */
export function createChanges({ storage, userId, groupId, isHidden }: ChangesDeps) {
  let seen = lastLook(storage, userId, groupId);
  let loaded: Loaded | null = null;
  let isLooking = false;
  /** The changes are the entries above `from` and up to `to`. */
  let found = $state.raw<(Loaded & { readonly from: number; readonly to: number }) | null>(null);

  const isChange = (entry: TimelineEntry): boolean =>
    found !== null &&
    entry.sequence !== undefined &&
    entry.sequence > found.from &&
    entry.sequence <= found.to &&
    !isOf(entry, userId);

  function look() {
    if (loaded === null || isHidden()) return;
    const to = Math.max(seen ?? 0, ...loaded.entries.map(({ sequence }) => sequence ?? 0));
    if (!isLooking && seen !== null && to > seen) found = { ...loaded, from: seen, to };
    if (!isLooking || to !== seen) keepLook(storage, userId, groupId, to);
    seen = to;
    isLooking = true;
  }

  return {
    isChange,
    /** Newest first. */
    get entries(): readonly TimelineEntry[] {
      return found === null ? [] : found.entries.filter(isChange);
    },
    /** Null without changes. */
    get summary(): ChangeSummary | null {
      if (found === null || !found.entries.some(isChange)) return null;
      const { from, to, hasMore } = found;
      const within = found.entries.filter(({ sequence }) => sequence !== undefined && sequence <= to);
      const oldest = Math.min(...within.map(({ sequence }) => sequence ?? 0));
      return summarize(within, from, userId, hasMore && oldest > from + 1);
    },
    /** The Timeline was read. */
    arrived(entries: readonly TimelineEntry[], hasMore: boolean) {
      loaded = { entries, hasMore };
      look();
    },
    /** The tab was hidden or shown. */
    visibilityChanged() {
      if (isHidden()) isLooking = false;
      else look();
    },
  };
}

export interface ChangeSummary {
  /** Alerts by how they ended up: each is counted once. */
  readonly added: number;
  readonly firingAgain: number;
  readonly resolved: number;
  /** Null when it is the same as before, or the reader's own doing. */
  readonly status: GroupStatus | null;
  /** Undefined when it is the same as before; null when there is none any more. */
  readonly owner: UserRef | null | undefined;
  /** Whether it rose to Urgent. */
  readonly urgent: boolean;
  /** The level that it rose to last; null when it did not. */
  readonly severity: SeverityLevel | null;
  readonly annotations: boolean;
  readonly notes: number;
  /** Names, each once, the newest Note first. */
  readonly authors: readonly string[];
  /** Entries that none of these counts. */
  readonly others: number;
  /** Not all changes were loaded: there are more than these. */
  readonly isPart: boolean;
}

/**
 * @param entries newest first, all with a `sequence`
 * @param from the changes are those above it
 */
export function summarize(
  entries: readonly TimelineEntry[],
  from: number,
  userId: string,
  isPart: boolean,
): ChangeSummary {
  const isNew = (entry: TimelineEntry) => (entry.sequence ?? 0) > from;
  const changes = entries.filter((entry) => isNew(entry) && !isOf(entry, userId));
  const alerts = countAlerts(entries.toReversed(), isNew);
  const { status, owner } = statusChange(entries, isNew, userId);
  const notes = changes.flatMap(({ note }) => note ?? []);
  const rises = changes.filter(({ event }) => event === 'urgency_raised' || event === 'severity_raised');
  const isTold = status !== null || owner !== undefined;
  const others = changes.filter((entry) => {
    if (entry.kind === 'notes' || alertsOf(entry) !== null || NAMED_EVENTS.has(entry.event ?? ''))
      return false;
    return entry.kind !== 'status' || !isTold;
  });
  return {
    ...alerts,
    status,
    owner,
    urgent: rises.some(({ event }) => event === 'urgency_raised'),
    severity: rises.find(({ to_severity_level: level }) => level)?.to_severity_level ?? null,
    annotations: changes.some(({ event }) => event === 'annotations_changed'),
    notes: notes.length,
    authors: [...new Set(notes.map(({ author }) => author.name))],
    others: others.length,
    isPart,
  };
}

function isOf({ actor }: TimelineEntry, userId: string): boolean {
  return actor.kind === 'user' && actor.id === userId;
}

/** Events with words of their own in the summary. */
const NAMED_EVENTS: ReadonlySet<string> = new Set([
  'urgency_raised',
  'severity_raised',
  'annotations_changed',
]);

const ALERTS_OF: ReadonlyMap<string, 'fired' | 'resolved'> = new Map([
  ['created', 'fired'],
  ['alerts_added', 'fired'],
  ['alert_replaced', 'fired'],
  ['reopened', 'fired'],
  ['alert_resolved', 'resolved'],
  ['resolved', 'resolved'],
]);

/** Whether the entry says that its Alerts fired or resolved; null when it says neither. */
function alertsOf({ event, fingerprints }: TimelineEntry): 'fired' | 'resolved' | null {
  if (!fingerprints?.length) return null;
  return ALERTS_OF.get(event ?? '') ?? null;
}

/** @param entries oldest first */
function countAlerts(entries: readonly TimelineEntry[], isNew: (entry: TimelineEntry) => boolean) {
  const everResolved = new Set<string>();
  const ended = new Map<string, 'added' | 'firingAgain' | 'resolved'>();
  for (const entry of entries) {
    const what = alertsOf(entry);
    for (const fingerprint of what === null ? [] : (entry.fingerprints ?? [])) {
      const isAgain = entry.event === 'reopened' || everResolved.has(fingerprint);
      if (what === 'resolved') everResolved.add(fingerprint);
      if (isNew(entry))
        ended.set(fingerprint, what === 'resolved' ? 'resolved' : isAgain ? 'firingAgain' : 'added');
    }
  }
  const counts = { added: 0, firingAgain: 0, resolved: 0 };
  for (const end of ended.values()) counts[end] += 1;
  return counts;
}

/** @param entries newest first */
function statusChange(
  entries: readonly TimelineEntry[],
  isNew: (entry: TimelineEntry) => boolean,
  userId: string,
): Pick<ChangeSummary, 'status' | 'owner'> {
  const all = entries.filter(({ kind }) => kind === 'status');
  const changes = all.filter(isNew);
  const [last, first] = [changes[0], changes.at(-1)];
  if (last === undefined || first === undefined || isOf(last, userId))
    return { status: null, owner: undefined };
  const status = last.to_status ?? null;
  const before = all[changes.length]?.owner ?? first.previous_owner ?? null;
  const owner = last.owner ?? null;
  return {
    status: status === first.from_status ? null : status,
    owner: status === 'resolved' || owner?.id === before?.id ? undefined : owner,
  };
}

/** The changes in words, what matters most first. */
export function changesText(summary: ChangeSummary, i18n: I18n): string {
  const { t } = i18n;
  const {
    added,
    firingAgain,
    resolved,
    status,
    owner,
    urgent,
    severity,
    annotations,
    notes,
    authors,
    others,
  } = summary;
  const names = authors.slice(0, NAMED).join(', ');
  const who = authors.length > NAMED ? `${names}, …` : names;
  return [
    ...(status === null ? [] : [t('changes.status', { status: i18n.word('status', status) })]),
    ...(urgent ? [t('changes.urgent')] : []),
    ...(severity === null ? [] : [t('changes.severity', { level: i18n.word('severity', severity) })]),
    ...(added > 0 ? [t('entry.alertsAdded', { count: added })] : []),
    ...(firingAgain > 0 ? [t('changes.firingAgain', { count: firingAgain })] : []),
    ...(resolved > 0 ? [t('entry.alertsResolved', { count: resolved })] : []),
    ...(owner === undefined ? [] : [owner ? t('changes.owner', { name: owner.name }) : t('changes.noOwner')]),
    ...(notes > 0 ? [t('changes.notes', { count: notes, who })] : []),
    ...(annotations ? [t('changes.annotations')] : []),
    ...(others > 0 ? [t('changes.others', { count: others })] : []),
    ...(summary.isPart ? [t('changes.part')] : []),
  ].join(' · ');
}
