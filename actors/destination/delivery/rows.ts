/**
 * The deliveries that a Destination holds in memory: those with something to do, bounded, and those that were needed
 * lately. All others are in storage and read when a message concerns them.
 */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { type Subject, subjectText } from '../../channels/calls.ts';
import { createQueue, type Due, type Queue } from '../queue.ts';
import { type Delivery, deliveryKey, type Flight, isWanted } from './delivery.ts';
import type { DeliveryPage } from './ports.ts';
import { nextWork, placeOf, rootWork, type Work, waitsSince } from './work.ts';

/** Deliveries with work in memory beyond which further ones are left to storage. */
export const MOST_WANTED = 10_000;
/** With fewer, those are loaded; and how many at once. */
export const PAGE_DELIVERIES = 5_000;
/** Deliveries kept though nothing is to be done about them. */
const MOST_IDLE = 2_000;
/** Longer than any commit takes: a read of storage may not show later changes yet. */
const COMMIT_HORIZON: Micros = 30 * SECOND;

export interface MessageRows {
  readonly byKey: Map<string, Delivery>;
  /** By Connection: one that makes everything wait holds up no other. */
  readonly agendas: Map<string, Queue>;
  /** Keys of the events on an agenda, which have a bound of their own. */
  readonly lines: Set<string>;
  /** Keys of what is being sent, by the number of the call; by the key itself for events, whose calls are counted each. */
  readonly flights: Map<number | string, string>;
  /** Deliveries without work, by when they were used last. */
  readonly idle: Map<string, Micros>;
  /** Until when edits of a group wait for the answer to a press; by subject. */
  readonly pressed: Map<string, Micros>;
  /** Subjects that were looked for in storage together and are at no target here, until they get a delivery. */
  absent: Set<string>;
  /** Calls that may be begun together, by how quickly the last ones were answered. */
  pace: number;
  /** Keys of those told how the Destination is now, while others are still told page by page. */
  readonly told: Set<string>;
  /** Deliveries with work are in storage alone. */
  overflow: boolean;
}

export function messageRows({ deliveries, more }: DeliveryPage): MessageRows {
  const rows: MessageRows = {
    byKey: new Map(),
    agendas: new Map(),
    lines: new Set(),
    flights: new Map(),
    idle: new Map(),
    pressed: new Map(),
    absent: new Set(),
    pace: CALLS_AT_ONCE,
    told: new Set(),
    overflow: false,
  };
  for (const delivery of deliveries) hold(rows, delivery, 0);
  rows.overflow ||= more;
  return rows;
}

/**
 * Takes in all there is about some subjects. What is not there stays known as absent: nobody but this Destination makes
 * a delivery, and what it makes is in memory until its commit shows.
 */
export function takeSubjects(
  rows: MessageRows,
  asked: readonly string[],
  found: readonly Delivery[],
  now: Micros,
): void {
  takeRead(rows, found, now);
  const there = new Set(found.map(({ subject }) => subjectText(subject)));
  rows.absent = new Set(asked.filter((subject) => !there.has(subject)));
}

/** Takes in what was read; what is in memory is newer. */
export function takeRead(rows: MessageRows, deliveries: readonly Delivery[], now: Micros): void {
  for (const delivery of deliveries) {
    const known = rows.byKey.get(deliveryKey(delivery));
    hold(rows, known ?? delivery, now);
  }
}

export function takeDeliveries(rows: MessageRows, page: DeliveryPage, now: Micros): void {
  rows.overflow = false;
  takeRead(rows, page.deliveries, now);
  if (!page.more) unpark(rows, now);
  rows.overflow ||= page.more;
}

/** What was parked lately: its commit may be too young for the page. */
function unpark(rows: MessageRows, now: Micros): void {
  for (const key of [...rows.idle.keys()]) {
    const delivery = rows.byKey.get(key);
    if (delivery && isWanted(delivery)) hold(rows, delivery, now);
  }
}

/** Puts a delivery where it belongs. */
export function hold(rows: MessageRows, delivery: Delivery, now: Micros): void {
  const key = deliveryKey(delivery);
  const before = rows.byKey.get(key);
  const agenda = agendaOf(rows, delivery.connectionId);
  if (before?.call && before.call.call !== delivery.call?.call) {
    rows.flights.delete(flightName(before, before.call));
  }
  if (delivery.events && !isWanted(delivery)) {
    rows.byKey.delete(key);
    agenda.put(key, null);
    rows.lines.delete(key);
    return;
  }
  rows.byKey.set(key, delivery);
  if (delivery.call) rows.flights.set(flightName(delivery, delivery.call), key);
  if (delivery.events) {
    const work = nextWork(delivery);
    agenda.put(key, dueOf(delivery, work));
    if (work) rows.lines.add(key);
    else rows.lines.delete(key);
    return;
  }
  rows.absent.delete(subjectText(delivery.subject));
  const isKnown = before !== undefined && isWanted(before) && !rows.idle.has(key);
  const isParked = isWanted(delivery) && !delivery.call && !isKnown && !hasRoom(rows, delivery);
  rows.overflow ||= isParked;
  const work = isParked ? null : nextWork(delivery, rows.pressed.get(subjectText(delivery.subject)));
  agenda.put(key, dueOf(delivery, work));
  rows.idle.delete(key);
  if (isParked || !isWanted(delivery)) rows.idle.set(key, now);
}

function flightName(delivery: Delivery, { call }: Flight): number | string {
  return delivery.events ? deliveryKey(delivery) : call;
}

function dueOf(delivery: Delivery, work: Work | null): Due | null {
  if (!work) return null;
  const { urgent, subject, number, tries, events } = delivery;
  const root = rootWork(delivery);
  return {
    urgent,
    dueAt: work.dueAt,
    since: waitsSince(delivery, work),
    kind: placeOf(work),
    // The summary of a Storm precedes its groups.
    number: subject.kind === 'storm' ? 0 : (number ?? Number.POSITIVE_INFINITY),
    probeSince: root?.since ?? null,
    // An event may be the probe before a wait of our own ends.
    probeAt: events && !tries.exact ? 0 : (root?.dueAt ?? 0),
  };
}

/** While others wait in storage nobody comes before them, but for the Urgent. */
function hasRoom(rows: MessageRows, { urgent }: Delivery): boolean {
  if (urgent) return waiting(rows) < 2 * MOST_WANTED;
  return !rows.overflow && waiting(rows) < MOST_WANTED;
}

/** Forgets what is not needed any more. */
export function forgetIdle(rows: MessageRows, now: Micros): void {
  for (const [key, usedAt] of rows.idle) {
    if (rows.idle.size <= MOST_IDLE || usedAt > now - COMMIT_HORIZON) return;
    rows.idle.delete(key);
    rows.byKey.delete(key);
  }
}

export function wantsDeliveries(rows: MessageRows): boolean {
  return rows.overflow && waiting(rows) < PAGE_DELIVERIES;
}

/** Keys of the deliveries that wait or are being sent. */
export function wantedKeys(rows: MessageRows): string[] {
  return [...rows.byKey.keys()].filter((key) => !rows.idle.has(key));
}

export function find(rows: MessageRows, subject: Subject, target: number): Delivery | undefined {
  return rows.byKey.get(deliveryKey({ subject, target }));
}

/** Whether nothing has to be read about a subject. */
export function knowsOf(rows: MessageRows, subject: Subject, target: number): boolean {
  return find(rows, subject, target) !== undefined || rows.absent.has(subjectText(subject));
}

export function holdsMessage({ byKey }: MessageRows, messageId: string): boolean {
  return [...byKey.values()].some(({ message }) => message?.id === messageId);
}

export function publicationsBefore(rows: MessageRows, subject: Subject, target: number): number {
  let most = 0;
  for (let earlier = 1; earlier < target; earlier++) {
    most = Math.max(most, find(rows, subject, earlier)?.publication ?? 0);
  }
  return most;
}

function agendaOf(rows: MessageRows, connectionId: string | null): Queue {
  const known = rows.agendas.get(connectionId ?? '');
  if (known) return known;
  const agenda = createQueue();
  rows.agendas.set(connectionId ?? '', agenda);
  return agenda;
}

/** Messages that wait on the agendas. */
function waiting({ agendas, lines }: MessageRows): number {
  let size = -lines.size;
  for (const agenda of agendas.values()) size += agenda.size;
  return size;
}

/** Calls of a messenger Destination under way at once (delivery §3 rule 6); its sender keeps to it. */
export const CALLS_AT_ONCE = 4;

const MOST_BEGUN = 40;

/** Nothing is begun much sooner than it is made: from its commit to its answer no call should take longer than this. */
const QUICK: Micros = SECOND / 2;

/** One more with each quick answer; half as many when one took long or did not come. */
export function learnPace(rows: MessageRows, { startedAt }: Flight, at: Micros, isAnswered: boolean): void {
  const isQuick = isAnswered && at - startedAt <= QUICK;
  rows.pace = isQuick
    ? Math.min(MOST_BEGUN, rows.pace + 1)
    : Math.max(CALLS_AT_ONCE, Math.floor(rows.pace / 2));
}
