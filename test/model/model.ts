/**
 * The rules of ingestion (ingestion §6, §7) and of applying a Snapshot (alert-groups §2) written once more, as
 * plainly as they can be said: a function from everything that was received to what must be shown after each
 * Snapshot. It looks back over the whole list instead of keeping anything up to date, and shares no code with the
 * actors.
 */
import type { AlertPicture, GroupPicture, Picture } from './picture.ts';
import type { Entry, Received } from './story.ts';

const SECOND = 1_000_000;
const GONE_MIN_ABSENCE = 300 * SECOND;
const REOPEN_WINDOW = 900 * SECOND;
const STALE_AFTER = 25 * 3_600 * SECOND;

export interface Settings {
  /** duplicate_window, µs. */
  readonly window: number;
  /** Organization.instance_labels. */
  readonly instanceLabels: readonly string[];
}

/** What must be shown after each Snapshot, in order. */
export function expected(received: readonly Received[], settings: Settings): Picture[] {
  const heard = placeInWindows(received, settings.window);
  const names = [...new Set(received.flatMap(({ entries }) => entries.map(({ name }) => name)))];
  const lives = livesOf(names, heard, settings);
  return picturesOf(heard, lives, settings);
}

/** A Snapshot and what it is to its feed's duplicate window (ingestion §6.1). */
interface Heard extends Received {
  readonly kind: 'opens' | 'same' | 'early' | 'late';
  /** Start of the window that is current after it. */
  readonly windowStart: number;
  /** Start of the window that was current before it. */
  readonly lastWindowStart: number;
  /**
   * Its window holds a cut list, its own included. A list that calls the group resolved is never cut
   * (ingestion §6.4).
   */
  readonly windowIsCut: boolean;
  /** The time when it arrives: nothing was received later so far. */
  readonly now: number;
  /** It ends what it does not name, too (ingestion §6.2). Known once everything before it is. */
  endsUnnamed: boolean;
}

function placeInWindows(received: readonly Received[], window: number): Heard[] {
  const heard: Heard[] = [];
  for (const one of received) {
    const before = heard.findLast(({ feed }) => feed === one.feed);
    const start = before?.windowStart ?? Number.NEGATIVE_INFINITY;
    const kind = kindOf(one.at, start, window);
    const isCut = one.cut && !one.over && kind !== 'late';
    heard.push({
      ...one,
      kind,
      windowStart: kind === 'opens' ? one.at : start,
      lastWindowStart: start,
      windowIsCut: isCut || (kind !== 'opens' && before?.windowIsCut === true),
      now: Math.max(one.at, heard.at(-1)?.now ?? one.at),
      endsUnnamed: false,
    });
  }
  return heard;
}

function kindOf(at: number, start: number, window: number): Heard['kind'] {
  if (at >= start + window) return 'opens';
  if (at >= start) return 'same';
  return at > start - window ? 'early' : 'late';
}

type EndedBy = 'own_entry' | 'group_wide' | 'gone' | 'stale';

/** One firing of an Alert, from the Snapshot that began it. */
interface Firing {
  /** Index of the Snapshot that began it. */
  readonly began: number;
  startsAt: number;
  text: string;
  /** What it remembers of the firing before. */
  readonly endedBefore: number | null;
  end: { readonly index: number; readonly at: number; readonly by: EndedBy; readonly start: number } | null;
}

/** What a Snapshot did to an Alert. */
interface Change {
  fired?: true;
  continued?: true;
  annotated?: true;
  /** It said something new of it as firing. */
  told?: true;
  ended?: Exclude<EndedBy, 'stale'>;
  /** It was stale by then, since this moment. */
  stale?: number;
}

interface Life {
  /** By index of the Snapshot; null before it first fires. */
  readonly shown: readonly (Omit<AlertPicture, 'group'> | null)[];
  readonly changes: readonly Change[];
  readonly labels: Entry['labels'];
}

/** An Alert's life as it is told so far. */
interface Telling extends Life {
  hear(one: Heard): void;
  /** The start that a feed listed last, as of `now`; null once it has ended or long missed it itself, or it is stale. */
  unsaid(feed: string, now: number): number | null;
  /** The newest start that a feed has ended, or long missed, itself. */
  said(feed: string): number;
}

function livesOf(names: readonly string[], heard: readonly Heard[], settings: Settings): Map<string, Life> {
  const lives = new Map(names.map((name) => [name, lifeAmongAll(name, heard, settings)]));
  heard.forEach((one, index) => {
    const before = heard.slice(0, index).filter(({ feed }) => feed === one.feed);
    one.endsUnnamed = one.over && one.kind !== 'late' && saysMore(one, before, lives);
    for (const life of lives.values()) life.hear(one);
  });
  return lives;
}

/**
 * A final notification speaks for what it leaves out when it names nothing, or ends an Alert that its feed lists or misses,
 * or did until it ended elsewhere, and whose start the feed never called over.
 */
function saysMore(one: Heard, before: readonly Heard[], lives: ReadonlyMap<string, Telling>): boolean {
  const isNew = ({ name, firing, start }: Entry) => {
    const life = lives.get(name);
    const listed = life?.unsaid(one.feed, one.now) ?? null;
    if (firing || !life || listed === null || start < listed || listed <= life.said(one.feed)) return false;
    return !before.some((other) => other.kind !== 'late' && calledOver(entryOf(other, name), listed));
  };
  return one.entries.length === 0 || one.entries.some(isNew);
}

function calledOver(entry: Entry | undefined, start: number): boolean {
  return entry !== undefined && !entry.firing && entry.start >= start;
}

/** Feeds that never mention an Alert have no part in its life, but that time passes with what they say. */
function lifeAmongAll(name: string, heard: readonly Heard[], settings: Settings): Telling {
  const isLong = (heard.at(-1)?.now ?? 0) > STALE_AFTER;
  const feeds = new Set(heard.filter((one) => isLong || entryOf(one, name)).map(({ feed }) => feed));
  const life = lifeOf(
    name,
    heard.filter(({ feed }) => feeds.has(feed)),
    settings,
  );
  const shown: Life['shown'][number][] = [];
  const changes: Change[] = [];
  return {
    ...{ shown, changes, unsaid: life.unsaid, said: life.said },
    get labels() {
      return life.labels;
    },
    hear(one) {
      if (feeds.has(one.feed)) life.hear(one);
      changes.push(feeds.has(one.feed) ? (life.changes.at(-1) ?? {}) : {});
      shown.push(life.shown.at(-1) ?? null);
    },
  };
}

/** Rows F1 to F8 and R1 to R5, group-wide resolve and absence for one Alert (ingestion §6.2, §6.3). */
function lifeOf(name: string, heard: readonly Heard[], { window }: Settings): Telling {
  const shown: (Omit<AlertPicture, 'group'> | null)[] = [];
  const changes: Change[] = [];
  const firings: Firing[] = [];
  let labels: Entry['labels'] = {};
  const feeds = [...new Set(heard.map(({ feed }) => feed))];
  return {
    ...{ shown, changes, hear },
    unsaid: (feed, now) => unsaidOf(feed, name, heard.slice(0, shown.length), firings, now),
    said: (feed) => saidOf(feed, name, heard.slice(0, shown.length), firings),
    get labels() {
      return labels;
    },
  };

  function hear(one: Heard): void {
    const index = shown.length;
    const { kind, at } = one;
    const change: Change = {};
    const entry = entryOf(one, name);
    const start = entry?.start ?? 0;
    const before = firings.at(-1);
    if (before?.end === null) endByClock(before);
    if (entry?.firing && kind !== 'late') listed(entry, before);
    const firing = firings.at(-1);
    if (firing?.end === null) end(firing);
    changes.push(change);
    shown.push(firing ? shownOf(firing, name, heard, index) : null);

    /** Receipt of the newest Snapshot before this one that said something new of it as firing. */
    function lastTold(): number {
      const told = heard.slice(0, index).filter((_, before) => changes[before]?.told === true);
      return Math.max(Number.NEGATIVE_INFINITY, ...told.map((other) => other.at));
    }

    function begin(endedBefore: number | null, text: string): void {
      firings.push({ began: index, startsAt: start, text, endedBefore, end: null });
      labels = entry?.labels ?? labels;
      change.fired = true;
      change.told = true;
    }

    function listed({ text }: Entry, firing: Firing | undefined): void {
      if (firing === undefined || firing.end !== null) {
        const last = firing?.end ?? null;
        const isOldCopy = last !== null && start <= last.start;
        if (last && isOldCopy && last.by === 'own_entry' && at < last.at + window) return;
        if (last && isOldCopy && at <= last.at) return;
        begin(isOldCopy ? null : (last?.start ?? null), text);
        return;
      }
      if (start <= (firing.endedBefore ?? Number.NEGATIVE_INFINITY)) return;
      if (start > firing.startsAt && isOverBefore(firing)) {
        change.ended = 'gone';
        begin(firing.startsAt, text);
        return;
      }
      if (start > firing.startsAt) change.continued = true;
      firing.startsAt = Math.max(firing.startsAt, start);
      if (at < lastTold() || saysAgain(name, heard, index, firing)) return;
      change.told = true;
      if (text !== firing.text) change.annotated = true;
      firing.text = text;
    }

    /** What its feeds called over with an older start, and said nothing since, is stale after a while. */
    function endByClock(present: Firing): void {
      const { began } = present;
      const before = heard[index - 1]?.now ?? 0;
      const left = feeds.filter((feed) => presenceIn(feed, name, heard, index - 1, began, before) !== null);
      if (left.some((feed) => presenceIn(feed, name, heard, index - 1, began, one.now) !== null)) return;
      const since = Math.max(...left.map((feed) => lastHeard(feed, heard, index - 1))) + STALE_AFTER;
      present.end = { index, at: since, by: 'stale', start: present.startsAt };
      change.stale = since;
    }

    /** The sender's last word was that all is over, with an older start of this firing; no group lists it since. */
    function isOverBefore({ began, endedBefore }: Firing): boolean {
      if (kind === 'early') return false;
      const own = presenceIn(one.feed, name, heard, index - 1, began, one.now);
      if (own === null || own.olderEnd === null || start <= own.start) return false;
      if (endedBefore !== null && own.olderEnd <= endedBefore) return false;
      const since = own.missedSince ?? one.lastWindowStart;
      if (since >= one.windowStart || at - since < GONE_MIN_ABSENCE) return false;
      return feeds.every((feed) => {
        const other = feed === one.feed ? null : presenceIn(feed, name, heard, index - 1, began, one.now);
        if (other === null) return true;
        if (other.olderEnd === null || (endedBefore !== null && other.olderEnd <= endedBefore)) return false;
        return at - other.olderEndAt >= GONE_MIN_ABSENCE;
      });
    }

    function end(present: Firing): void {
      const by = endedBy(present);
      if (!by) return;
      present.end = { index, at, by, start: by === 'own_entry' ? start : present.startsAt };
      change.ended = by;
    }

    function endedBy(present: Firing): Change['ended'] | null {
      if (entry && !entry.firing && start >= present.startsAt) {
        const tolerance = kind === 'late' ? 0 : window;
        const own = presenceIn(one.feed, name, heard, index - 1, present.began, one.now);
        const isListedSince = kind === 'late' && own !== null && at <= own.window;
        if (
          !isListedSince &&
          at > Math.max(lastTold(), ...heardFromListing(present, kind === 'late')) - tolerance
        ) {
          return 'own_entry';
        }
      }
      if (kind === 'late') return null;
      if (
        one.endsUnnamed &&
        !entry &&
        presenceIn(one.feed, name, heard, index - 1, present.began, one.now) !== null
      ) {
        const isListedLater = heardFromListing(present, false).some((other) => other > at);
        if (!isListedLater) return 'group_wide';
      }
      const isAbsent = feeds.every(
        (feed) => presenceIn(feed, name, heard, index, present.began, one.now) === null,
      );
      return isAbsent ? 'gone' : null;
    }

    /** Newest receipts of the feeds that list it: they may have repeated themselves without a word. */
    function heardFromListing({ began }: Firing, withOwn: boolean): number[] {
      const listing = feeds.filter((feed) => {
        const presence = presenceIn(feed, name, heard, index - 1, began, one.now);
        return presence !== null && presence.missedSince === null && (withOwn || feed !== one.feed);
      });
      return listing.map((feed) => lastHeard(feed, heard, index - 1));
    }
  }
}

/** The Snapshots of a firing, as far as they were received: up to its end, or until the next one took its place. */
function spanOf(firings: readonly Firing[], which: number, heard: readonly Heard[]) {
  const { began = 0, end = null } = firings[which] ?? {};
  const until = end?.index ?? firings[which + 1]?.began;
  // One that was stale, or over before, was so when the Snapshot came.
  const isWithIt = end !== null && end.by !== 'stale';
  const last = until === undefined ? heard.length - 1 : until - (isWithIt ? 0 : 1);
  return { began, last, endedAt: until === undefined ? null : (heard[until]?.now ?? null) };
}

/** What a feed says of the newest firing that it listed at all, as of the end of that or of `now`. */
function unsaidOf(
  feed: string,
  name: string,
  heard: readonly Heard[],
  firings: readonly Firing[],
  now: number,
): number | null {
  for (const which of [...firings.keys()].reverse()) {
    const { began, last, endedAt } = spanOf(firings, which, heard);
    const span = heard.slice(began, last + 1);
    if (span.some((one) => one.feed === feed && one.kind !== 'late' && entryOf(one, name)?.firing))
      return presenceIn(feed, name, heard, last, began, endedAt ?? now)?.start ?? null;
  }
  return null;
}

/** Of all Snapshots of a feed with which it said or showed that a start is over, the newest start. */
function saidOf(feed: string, name: string, heard: readonly Heard[], firings: readonly Firing[]): number {
  const starts = firings.flatMap((_, which) => {
    const { began, last } = spanOf(firings, which, heard);
    return heard.slice(0, last + 1).flatMap((one, index) => {
      if (index < began || one.feed !== feed) return [];
      const before = presenceIn(feed, name, heard, index - 1, began, one.now);
      return before && presenceIn(feed, name, heard, index, began, one.now) === null ? [before.start] : [];
    });
  });
  return Math.max(Number.NEGATIVE_INFINITY, ...starts);
}

function shownOf(
  firing: Firing,
  name: string,
  heard: readonly Heard[],
  index: number,
): Omit<AlertPicture, 'group'> {
  const { startsAt, text, endedBefore, end, began } = firing;
  if (end) {
    const ended = { endedStart: end.start, resolvedAt: end.at, resolvedBy: end.by };
    return { state: 'resolved', startsAt, text, ...ended, presences: {} };
  }
  const presences: Record<string, 'listed' | number> = {};
  for (const feed of new Set(heard.slice(0, index + 1).map((one) => one.feed))) {
    const presence = presenceIn(feed, name, heard, index, began, heard[index]?.now ?? 0);
    if (presence !== null) presences[feed] = presence.missedSince ?? 'listed';
  }
  const unresolved = { endedStart: endedBefore, resolvedAt: null, resolvedBy: null };
  return { state: 'firing', startsAt, text, ...unresolved, presences };
}

interface Presence {
  /** The newest start that the feed listed. */
  readonly start: number;
  /** Window in which it was listed last, or may have been. */
  readonly window: number;
  readonly missedSince: number | null;
  /**
   * A Snapshot that opened a window listed it since anything else was said that may count as older than an end: its
   * first listing, an end named by an early or late Snapshot, or an older start. Only then a repeat tells nothing.
   */
  readonly settled: boolean;
  /** The older start that a Snapshot of a resolved group named, if it was not listed since. */
  readonly olderEnd: number | null;
  /** Receipt of that Snapshot. */
  readonly olderEndAt: number;
}

/**
 * What a feed says of a firing after a Snapshot, `now` when time has passed since (ingestion §6.3, §6.6): null when it does not
 * list it and counts no miss of it.
 */
function presenceIn(
  feed: string,
  name: string,
  heard: readonly Heard[],
  index: number,
  began: number,
  now: number,
): Presence | null {
  let presence: Presence | null = null;
  for (let at = began; at <= index; at++) {
    const one = heard[at];
    if (one?.feed !== feed) continue;
    presence = presenceAfter(unlessStale(presence, one.now - lastHeard(feed, heard, at - 1)), one, name);
  }
  return unlessStale(presence, now - lastHeard(feed, heard, index));
}

/** Without a Heartbeat only what the feed called over with an older start is ever stale (ingestion §6.6). */
function unlessStale(presence: Presence | null, silence: number): Presence | null {
  return presence?.olderEnd != null && silence > STALE_AFTER ? null : presence;
}

/** Newest receipt of a feed up to a Snapshot. */
function lastHeard(feed: string, heard: readonly Heard[], index: number): number {
  return Math.max(...heard.slice(0, index + 1).map((one) => (one.feed === feed ? one.at : 0)));
}

function presenceAfter(presence: Presence | null, one: Heard, name: string): Presence | null {
  const entry = entryOf(one, name);
  if (entry?.firing && one.kind !== 'late') {
    const start = Math.max(entry.start, presence?.start ?? entry.start);
    const settled = presence?.settled || (one.kind === 'opens' && (presence?.olderEnd ?? null) === null);
    return { start, window: one.windowStart, missedSince: null, settled, olderEnd: null, olderEndAt: 0 };
  }
  if (presence === null) return null;
  const isOver = entry ? !entry.firing && entry.start >= presence.start : one.endsUnnamed;
  if (one.kind === 'late') {
    const isNews = entry && isOver && presence.missedSince !== null && one.at > presence.window;
    return isNews ? { ...presence, settled: false } : presence;
  }
  if (one.kind === 'early') return { ...presence, settled: presence.settled && !isOver };
  if (isOver) return null;
  const said =
    entry && one.over ? { ...presence, settled: false, olderEnd: entry.start, olderEndAt: one.at } : presence;
  // A cut list may have left it out for its length, so it counts as listed there until a whole list misses it.
  if (one.windowIsCut) return presence.missedSince === null ? { ...said, window: one.windowStart } : said;
  if (presence.window === one.windowStart) return said;
  const since = presence.missedSince ?? one.windowStart;
  const isGone = since < one.windowStart && one.at - since >= GONE_MIN_ABSENCE;
  return isGone ? null : { ...said, missedSince: since };
}

/** Whether a feed says of a listed Alert what it said last: a repeat tells nothing (ingestion §5.1 rule 1). */
function saysAgain(name: string, heard: readonly Heard[], index: number, { began }: Firing): boolean {
  const one = heard[index];
  const now = one && entryOf(one, name);
  if (!one || !now) return false;
  const before = presenceIn(one.feed, name, heard, index - 1, began, one.now);
  if (before === null || before.missedSince !== null || !before.settled) return false;
  const last = heard
    .slice(began, index)
    .filter(({ feed, kind }) => feed === one.feed && kind !== 'late')
    .flatMap((other) => entryOf(other, name) ?? [])
    .findLast(({ firing }) => firing);
  return last?.start === now.start && last.text === now.text;
}

function entryOf({ entries }: Received, name: string): Entry | undefined {
  return entries.find((entry) => entry.name === name);
}

interface Group {
  readonly name: string;
  readonly key: string;
  open: boolean;
  /** Before this it may reopen. */
  reopensUntil: number;
  /** Of the present Snapshot. */
  events: string[];
}

/** Which Alert Groups Alerts fire in and what these record (ingestion §7; alert-groups §2, §3.1). */
function picturesOf(
  heard: readonly Heard[],
  lives: ReadonlyMap<string, Life>,
  settings: Settings,
): Picture[] {
  const groups: Group[] = [];
  const homes = new Map<string, Group>();
  return heard.map((one, index) => {
    const now = Math.max(...heard.slice(0, index + 1).map(({ at }) => at));
    const changed = (wanted: (change: Change) => boolean) =>
      [...lives.keys()].filter((name) => wanted(lives.get(name)?.changes[index] ?? {}));
    for (const group of groups) group.events = [];
    const silent = changed((change) => change.stale !== undefined);
    for (const at of new Set(silent.map(staleSince).sort((earlier, later) => earlier - later)))
      endByClock(at);
    const fired = changed((change) => change.fired === true);
    const firesAnew = changed((change) => change.fired === true && change.ended !== undefined);
    const others = (name: string) => !firesAnew.includes(name) && !silent.includes(name);
    const firedBefore = new Map(groups.map((group) => [group, firingIn(group, index - 1).filter(others)]));
    for (const group of groups) resolve(group, now, firesAnew, firedBefore.get(group) ?? []);
    const keys = new Set(fired.map((name) => keyOf(name)));
    const targets = new Map([...keys].map((key) => [key, targetFor(key, one.at)]));
    for (const group of groups) {
      const here = (name: string) => homes.get(name) === group;
      note(group, 'annotations_changed', changed((change) => change.annotated === true).filter(here));
      note(group, 'alert_continued', changed((change) => change.continued === true).filter(here));
    }
    for (const [key, target] of targets) {
      fire(
        target,
        fired.filter((name) => keyOf(name) === key),
        firedBefore.get(target) ?? [],
      );
    }
    const ended = changed((change) => change.ended !== undefined).filter((name) => !firesAnew.includes(name));
    for (const group of groups) resolve(group, now, ended, firingIn(group, index));
    return { alerts: alertsAt(index), groups: groupsNow() };

    function staleSince(name: string): number {
      return lives.get(name)?.changes[index]?.stale ?? 0;
    }

    function endByClock(at: number): void {
      for (const group of groups) {
        const left = firingIn(group, index - 1).filter(
          (name) => !silent.includes(name) || staleSince(name) >= at,
        );
        const over = left.filter((name) => staleSince(name) === at);
        if (over.length === 0) continue;
        note(group, over.length < left.length ? 'alert_resolved stale' : 'resolved stale', over);
        if (over.length < left.length) continue;
        group.open = false;
        group.reopensUntil = at + REOPEN_WINDOW;
      }
    }

    function keyOf(name: string): string {
      return lives.get(name)?.labels.alertname ?? '';
    }

    function firingIn(group: Group, at: number): string[] {
      return [...homes].flatMap(([name, home]) =>
        home === group && lives.get(name)?.shown[at]?.state === 'firing' ? [name] : [],
      );
    }

    /** The open group of the key, else the last one while it may reopen, else a new one. */
    function targetFor(key: string, at: number): Group {
      const last = groups.findLast((group) => group.key === key);
      if (last && (last.open || at < last.reopensUntil)) return last;
      const ordinal = groups.filter((group) => group.key === key).length + 1;
      const made = { name: `${key}#${ordinal}`, key, open: false, reopensUntil: 0, events: [] };
      groups.push(made);
      return made;
    }

    function fire(group: Group, names: readonly string[], before: readonly string[]): void {
      for (const name of names) homes.set(name, group);
      if (!group.open) note(group, group.reopensUntil === 0 ? 'created' : 'reopened', names);
      else {
        const labels = new Map(names.map((name) => [name, replacedLabel(name, before)]));
        for (const label of new Set(labels.values())) {
          const replacing = names.filter((name) => labels.get(name) === label);
          if (label !== null) note(group, `alert_replaced ${label}`, replacing);
        }
        note(
          group,
          'alerts_added',
          names.filter((name) => labels.get(name) === null),
        );
      }
      group.open = true;
    }

    /** The first Instance label in which an Alert differs from one that fired and is otherwise the same. */
    function replacedLabel(name: string, before: readonly string[]): string | null {
      const labels = lives.get(name)?.labels ?? {};
      const { instanceLabels } = settings;
      for (const other of before.map((one) => lives.get(one)?.labels ?? {})) {
        const all = [...new Set([...Object.keys(labels), ...Object.keys(other)])];
        const differing = all.filter((label) => labels[label] !== other[label]);
        const isInstance = differing.every((label) => instanceLabels.includes(label));
        if (differing.length === 0 || !isInstance) continue;
        return instanceLabels.find((label) => differing.includes(label)) ?? null;
      }
      return null;
    }

    function resolve(group: Group, at: number, names: readonly string[], firing: readonly string[]): void {
      const ended = names.filter((name) => homes.get(name) === group);
      if (ended.length === 0) return;
      const byAbsence = ended.filter((name) => lives.get(name)?.changes[index]?.ended === 'gone');
      const said = ended.filter((name) => !byAbsence.includes(name));
      if (firing.length > 0) {
        note(group, 'alert_resolved resolved', said);
        note(group, 'alert_resolved gone', byAbsence);
        return;
      }
      note(group, `resolved ${byAbsence.length > 0 ? 'gone' : 'resolved'}`, ended);
      group.open = false;
      group.reopensUntil = at + REOPEN_WINDOW;
    }
  });

  function alertsAt(index: number): Picture['alerts'] {
    const alerts: Record<string, AlertPicture> = {};
    for (const [name, { shown }] of lives) {
      const alert = shown[index];
      if (alert) alerts[name] = { ...alert, group: homes.get(name)?.name ?? '' };
    }
    return alerts;
  }

  function groupsNow(): Picture['groups'] {
    const now: Record<string, GroupPicture> = {};
    for (const { name, open, events } of groups) now[name] = { open, events };
    return now;
  }
}

function note({ events }: Group, event: string, names: readonly string[]): void {
  if (names.length > 0) events.push(`${event} ${[...names].sort().join(' ')}`);
}
