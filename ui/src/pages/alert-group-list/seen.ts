/**
 * What a person has seen of the list in this browser (ui §3). A look lasts from one press, key or turn of the wheel on
 * the list to the next, until none has come for {@link LOOK_MS}. Rows that were there at the last of them are seen when
 * the look is over: whoever reads keeps the marks, and a list that is open all night has all of the night marked in the
 * morning.
 */
import { createStore } from '@xstate/store';
import type { AlertGroup } from '../../api/shapes.ts';
import { mirror } from '../../state/resource.svelte.ts';

const LOOK_MS = 15 * 60_000;
/** Signs of a person that are closer together count once, ms. */
const SIGN_EVERY_MS = 5_000;
/** Groups that fired again and whose count is kept, the latest. */
const MOST_REOPENED = 500;

type Row = Pick<AlertGroup, 'id' | 'started_at' | 'last_changed_at' | 'reopen_count' | 'owner'>;

interface Rows {
  /** Begin of the newest row, by the clock of the service; ms since the epoch. */
  readonly newest: number;
  /** How often groups had been opened again, by id. */
  readonly reopened: readonly (readonly [id: string, count: number])[];
}

export interface Seen {
  /** Rows of the looks that are over; null before the first one: then nothing is new. */
  readonly before: Rows | null;
  /** The look that lasts: its last sign, ms since the epoch, and the rows that were there. */
  readonly look: { readonly at: number; readonly rows: Rows } | null;
}

const NOTHING: Seen = { before: null, look: null };

/** With the look in `before` when it is over. */
function settled({ before, look }: Seen, now: number): Seen {
  if (look === null || now - look.at < LOOK_MS) return { before, look };
  return { before: joined(before, look.rows), look: null };
}

/** After a sign that somebody looks at these rows. */
export function looked(seen: Seen, rows: readonly Row[], now: number): Seen {
  const { before, look } = settled(seen, now);
  return { before, look: { at: now, rows: joined(look?.rows ?? null, of(rows)) } };
}

/** After a person said that they have seen these rows. */
export function dismissed(seen: Seen, rows: readonly Row[], now: number): Seen {
  const { before, look } = looked(seen, rows, now);
  return { before: joined(before, look?.rows ?? of(rows)), look: null };
}

/** Ids of the groups that began, or were opened again, after what was seen. One's own group is never new. */
export function newAmong(rows: readonly Row[], seen: Seen, now: number, userId: string): ReadonlySet<string> {
  const { before } = settled(seen, now);
  if (before === null) return new Set();
  const known = new Map(before.reopened);
  const isNew = (row: Row) => {
    if (row.owner?.id === userId) return false;
    if (Date.parse(row.started_at) > before.newest) return true;
    const count = known.get(row.id);
    if (count !== undefined || row.reopen_count === 0) return row.reopen_count > (count ?? 0);
    // It was never seen opened again, and may have been so before: not when nothing has changed since.
    return Date.parse(row.last_changed_at) > before.newest;
  };
  return new Set(rows.filter(isNew).map(({ id }) => id));
}

function of(rows: readonly Row[]): Rows {
  return {
    newest: Math.max(0, ...rows.map(({ started_at }) => Date.parse(started_at))),
    reopened: rows
      .filter(({ reopen_count }) => reopen_count > 0)
      .map(({ id, reopen_count }) => [id, reopen_count] as const)
      .slice(0, MOST_REOPENED),
  };
}

/** Of one group the later count. */
function joined(one: Rows | null, later: Rows): Rows {
  const reopened = new Map(later.reopened);
  for (const [id, count] of one?.reopened ?? []) if (!reopened.has(id)) reopened.set(id, count);
  return {
    newest: Math.max(one?.newest ?? 0, later.newest),
    reopened: [...reopened].slice(0, MOST_REOPENED),
  };
}

export type SeenStore = ReturnType<typeof createSeen>;

/** What this person has seen, kept in the browser and shared by its tabs. */
export function createSeen(storage: Storage, userId: string) {
  const key = `tocsin.seen.${userId}`;
  const store = createStore({
    context: read(storage, key) ?? NOTHING,
    on: { changed: (_, event: { seen: Seen }) => event.seen },
  });
  const view = mirror(store);
  const change = (how: (seen: Seen) => Seen) => {
    const seen = how(read(storage, key) ?? store.getSnapshot().context);
    store.trigger.changed({ seen });
    try {
      storage.setItem(key, JSON.stringify(seen));
    } catch {
      // A full or closed storage: the marks last as long as the page.
    }
  };
  let signAt = Number.NEGATIVE_INFINITY;
  let shown: ReadonlySet<string> = new Set();

  return {
    /** The same set for as long as the same groups are new: no row is drawn anew for it. */
    newAmong(rows: readonly Row[], now: number): ReadonlySet<string> {
      const found = newAmong(rows, view.current, now, userId);
      if (found.size !== shown.size || [...found].some((id) => !shown.has(id))) shown = found;
      return shown;
    },
    /** A sign that somebody looks at these rows. */
    sign(rows: readonly Row[]) {
      const now = Date.now();
      if (now - signAt < SIGN_EVERY_MS) return;
      signAt = now;
      change((seen) => looked(seen, rows, now));
    },
    dismiss: (rows: readonly Row[]) => change((seen) => dismissed(seen, rows, Date.now())),
    /** Another tab changed what is kept. */
    refresh: (changed: string | null) => {
      const seen = changed === key ? read(storage, key) : null;
      if (seen !== null) store.trigger.changed({ seen });
    },
  };
}

/** What is stored; null when that is nothing, foreign or broken. */
function read(storage: Storage, key: string): Seen | null {
  try {
    const stored: unknown = JSON.parse(storage.getItem(key) ?? 'null');
    if (!isRecord(stored)) return null;
    const { look } = stored;
    const rows = isRecord(look) ? asRows(look.rows) : null;
    const at = isRecord(look) && typeof look.at === 'number' ? look.at : 0;
    return { before: asRows(stored.before), look: rows && { at, rows } };
  } catch {
    // Closed storage or foreign content.
    return null;
  }
}

function asRows(value: unknown): Rows | null {
  if (!isRecord(value) || typeof value.newest !== 'number' || !Array.isArray(value.reopened)) return null;
  const reopened = value.reopened.filter(isCount).slice(0, MOST_REOPENED);
  return { newest: value.newest, reopened };
}

function isCount(value: unknown): value is readonly [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
