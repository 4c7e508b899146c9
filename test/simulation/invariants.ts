import { addressText } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { Database, JournalEntry, SetAsideRecord } from './database.ts';
import type { ConflictMet } from './faults.ts';
import type { ToyRecord, ToyState, Work } from './toy.ts';
import type { Workload } from './workload.ts';

/** What the outside saw of one ask. */
export interface AskSeen {
  readonly id: string;
  readonly askedAt: Micros;
  readonly outcome: 'replied' | 'busy' | 'unavailable' | 'broken';
  /** Whether its effects were stored when the answer came. */
  readonly wasStored: boolean;
}

export interface Arrival {
  readonly begunAt: Micros;
  readonly answeredAt: Micros;
}

/** Everything that is known after a run. */
export interface Observation {
  readonly database: Database;
  readonly workload: Workload;
  /** Ids of the messages from outside that were stored before they were delivered. */
  readonly accepted: readonly string[];
  readonly asks: readonly AskSeen[];
  /** When storing each message from outside began, and when it was confirmed; for those whose order is kept. */
  readonly arrivals: ReadonlyMap<string, Arrival>;
  /** Ids performed, and whether they were stored by then. */
  readonly performed: readonly { readonly id: string; readonly wasStored: boolean }[];
  /** Commits of single messages that met a write conflict, in order. */
  readonly conflicts: readonly ConflictMet[];
  /** Wake-ups that an engine set aside, as it logged them. */
  readonly brokenWakes: readonly string[];
}

/** A request is given up after 5 s; a commit that had begun by then may have met a pause, and a database that was away. */
const FORGOTTEN = 60 * SECOND;

type Applied = Extract<ToyRecord, { type: 'applied' }>;
type Check = (seen: Observation) => Iterable<string>;

/** What must hold after every run, whatever went wrong in it. */
export const INVARIANTS: Readonly<Record<string, Check>> = {
  *'nothing waits any more'({ database }) {
    if (database.inboxRows.size > 0) yield `${database.inboxRows.size} inbox rows`;
    if (database.snapshots.size > 0) yield `${database.snapshots.size} stored messages from outside`;
    for (const [actor, row] of database.actors) if (row.wakeAt !== null) yield `${actor} waits for a wake-up`;
  },

  *'no message is applied twice'({ database }) {
    const seen = new Set<string>();
    for (const id of handled(database)) {
      if (seen.has(id)) yield id;
      seen.add(id);
    }
  },

  *'no message is lost'({ database, accepted }) {
    const done = new Set(handled(database));
    for (const id of accepted) if (!done.has(id)) yield `${id} from outside`;
    for (const { actor, sent } of applied(database)) {
      for (const { to, id } of sent) if (!done.has(id)) yield `${id} from ${actor} to ${to}`;
    }
  },

  *'order is kept from each sender to each receiver'({ database }) {
    const last = new Map<string, number>();
    for (const { record } of database.journal) {
      const message = messageOf(record);
      if (message === null || message.from === null) continue;
      const pair = `${message.from} to ${message.actor}`;
      const expected = (last.get(pair) ?? 0) + 1;
      if (message.n !== expected) yield `${pair}: ${message.n} where ${expected} was due`;
      last.set(pair, message.n);
    }
  },

  *'an actor gets messages from outside in the order of their arrival'({ database, arrivals }) {
    const latest = new Map<string, { readonly id: string; readonly begunAt: Micros }>();
    for (const { record } of database.journal) {
      const message = messageOf(record);
      const arrival = message === null || message.from !== null ? undefined : arrivals.get(message.id);
      if (message === null || arrival === undefined) continue;
      const before = latest.get(message.actor);
      if (before && arrival.answeredAt < before.begunAt) {
        yield `${message.actor}: ${message.id} after ${before.id}`;
      }
      if (!before || arrival.begunAt > before.begunAt)
        latest.set(message.actor, { id: message.id, ...arrival });
    }
  },

  *'state and rows say what the journal says'({ database }) {
    const byActor = new Map<string, string[]>();
    for (const { actor, id } of applied(database)) byActor.set(actor, [...(byActor.get(actor) ?? []), id]);
    for (const [actor, ids] of byActor) {
      const journaled = ids.join();
      const stored = database.actors.get(actor);
      const state = stored && (JSON.parse(stored.persisted) as ToyState).applied.join();
      if (state !== journaled) yield `state of ${actor}: ${state} instead of ${journaled}`;
      const rows = database.rows.get(actor)?.join();
      if (rows !== journaled) yield `rows of ${actor}: ${rows} instead of ${journaled}`;
    }
  },

  *'each committed wake-up fires exactly once, and not early'({ database }) {
    const armed = new Map<string, Micros>();
    for (const { record } of database.journal) {
      if (record.type === 'armed') {
        const replaced = `${record.actor} ${record.replaces}`;
        if (record.replaces !== null && !armed.delete(replaced)) yield `${replaced} replaced but not armed`;
        armed.set(`${record.actor} ${record.generation}`, record.at);
      }
      if (record.type !== 'woke') continue;
      const due = `${record.actor} ${record.generation}`;
      const at = armed.get(due);
      if (at === undefined) yield `${due} woken but not armed`;
      else if (at > record.now) yield `${due} woken ${at - record.now} µs early`;
      armed.delete(due);
    }
    for (const due of armed.keys()) yield `${due} never woken`;
  },

  *'no wake-up breaks its actor'({ brokenWakes }) {
    yield* brokenWakes;
  },

  *'only the newest owner of a shard commits'({ database }) {
    for (const [index, { epochs, newest }] of database.commits.entries()) {
      for (const [position, { shard, epoch }] of epochs.entries()) {
        if (epoch !== newest[position]) yield `commit ${index}: shard ${shard} under epoch ${epoch}`;
      }
    }
  },

  *'numbers have no gaps and no doubles'({ database }) {
    const numbers: number[] = [];
    for (const [actor, { persisted }] of database.actors) {
      const { hasClaimed, number } = JSON.parse(persisted) as ToyState;
      if (!hasClaimed) continue;
      if (number === null) yield `${actor} claimed a number and has none`;
      else numbers.push(number);
    }
    numbers.sort((a, b) => a - b);
    const wrong = numbers.findIndex((number, index) => number !== index + 1);
    if (wrong >= 0) yield `numbers given: ${numbers}`;
  },

  *'nothing is performed before its commit, nor twice'({ performed }) {
    const seen = new Set<string>();
    for (const { id, wasStored } of performed) {
      if (!wasStored) yield `${id} before its commit`;
      if (seen.has(id)) yield `${id} twice`;
      seen.add(id);
    }
  },

  *'an ask is answered after its commit, and a refused one has no effect'({ asks, database }) {
    const done = new Set(database.appliedIds);
    for (const { id, outcome, wasStored } of asks) {
      if (outcome === 'replied' && !wasStored) yield `${id} answered before its commit`;
      if ((outcome === 'busy' || outcome === 'broken') && done.has(id)) yield `${id} ${outcome} and applied`;
    }
  },

  *'a request that nobody waits for any more is not applied'({ asks, database }) {
    const askedAt = new Map(asks.map((ask) => [ask.id, ask.askedAt]));
    for (const { at, record } of database.journal) {
      const id = messageOf(record)?.id ?? '';
      const late = at - (askedAt.get(id) ?? at);
      if (late > FORGOTTEN) yield `${id} after ${late / SECOND} s`;
    }
  },

  *'a message that met write conflicts is tried again after growing pauses'({ conflicts }) {
    const tries = new Map<string, Micros[]>();
    for (const { who, at } of conflicts) tries.set(who, [...(tries.get(who) ?? []), at]);
    for (const [who, instants] of tries) {
      // The first try may have been in company; the second, alone, follows at once.
      for (let index = 2; index < instants.length; index++) {
        const pause = instants[index]! - instants[index - 1]!;
        if (pause < SECOND * 2 ** (index - 2)) yield `${who}: try ${index + 1} after ${pause} µs`;
      }
    }
  },

  *'only flawed messages are set aside'({ database, workload }) {
    for (const { record } of database.journal) {
      if (record.type !== 'dead_letter.recorded' && record.type !== 'snapshot.failed') continue;
      const { id } = (record as SetAsideRecord).message as Work;
      if (!workload.works.get(id)?.flaw) yield id;
    }
    for (const { id } of applied(database))
      if (workload.works.get(id)?.flaw) yield `${id} is flawed and applied`;
  },
};

/** All violations, as `invariant: what`. */
export function violations(seen: Observation): string[] {
  return Object.entries(INVARIANTS).flatMap(([name, check]) =>
    [...check(seen)].map((violation) => `${name}: ${violation}`),
  );
}

function applied(database: Database): Applied[] {
  return database.journal.flatMap(({ record }) => (record.type === 'applied' ? [record] : []));
}

/** Ids of the messages that were applied or set aside. */
function handled(database: Database): string[] {
  return database.journal.flatMap(({ record }) => messageOf(record)?.id ?? []);
}

function messageOf(
  record: JournalEntry['record'],
): { readonly id: string; readonly actor: string; readonly from: string | null; readonly n: number } | null {
  if (record.type === 'applied' || record.type === 'noted') return record;
  if (record.type !== 'dead_letter.recorded' && record.type !== 'snapshot.failed') return null;
  const { to, from, message } = record as SetAsideRecord;
  const { id, n } = message as Work;
  return { id, n, actor: addressText(to), from: from === null ? null : addressText(from) };
}
