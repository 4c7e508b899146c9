import type { AnyTransitionDefinition } from 'xstate';
import type { Micros } from '../clock.ts';
import type { Address } from './address.ts';
import type { Turn } from './definition.ts';
import { type NamedTransition, nameTransition } from './machine.ts';

/** How many messages of an actor are remembered. */
const KEPT = 50;

/** Numbers that stand for one message: when, its commit, what was said and done, and twice four counts of effects. */
const SLOTS = 5;

/** Kinds of effects of one turn that are counted; a multiple of {@link COUNTS_PER_SLOT}. */
const MOST_EFFECTS = 8;
const COUNTS_PER_SLOT = 4;
/** A higher count is remembered as this. Four of them fit into one number. */
export const MOST_COUNTED = 2 ** 13 - 1;

/** A message that an actor was given, without what it said, and what it did. */
export interface RecentMessage {
  /** Of its turn. */
  readonly at: Micros;
  /** When the commit of the turn was stored; null while it is under way. */
  readonly committedAt: Micros | null;
  readonly type: string;
  /** Kind of the actor that sent it; null when it came from outside (HTTP, a wake-up, ingestion). */
  readonly from: string | null;
  /** State of its machine afterwards, as XState writes it; null before the machine began. */
  readonly state: unknown;
  /** Events that its machine took, in order. */
  readonly events: readonly string[];
  /** Transitions that its machine took, in order: at most eight. */
  readonly transitions: readonly NamedTransition[];
  /** What the turn asked for, by kind and type: at most eight of them. */
  readonly effects: readonly CountedEffect[];
}

/** Effects of one turn that are alike. */
export interface CountedEffect {
  /** A message to an actor, rows written with the commit, or a side effect after it. */
  readonly kind: 'send' | 'record' | 'perform';
  readonly type: string;
  /** Kind of the actors that a message went to; null for other effects. */
  readonly to: string | null;
  /** At most {@link MOST_COUNTED}. */
  readonly count: number;
}

/** A turn as {@link RecentMessages.note} takes it. */
export interface NotedTurn {
  readonly at: Micros;
  /** Id of the batch that it belongs to. */
  readonly batch: number;
  /** Type of the message. */
  readonly type: string;
  readonly from: Address | null;
  /** State of the machine afterwards. */
  readonly value: unknown;
  readonly taken: readonly AnyTransitionDefinition[];
  readonly turn: Pick<Turn<unknown>, 'sends' | 'records' | 'performs'>;
}

/** What the owner of an actor tells of it without a turn. */
export interface Told {
  /** The newest first. */
  readonly messages: readonly RecentMessage[];
  /** How many messages wait in memory, without those that wait in the inbox, too; null: an earlier release has it. */
  readonly waiting: number | null;
}

/**
 * Asks the owner of an actor what it tells of it by the road of all asks; answered by the engine and never seen by the
 * actor. The previous release asks without `tells`.
 */
export const RECENT = { type: '@recent', tells: 'waiting' } as const;

/** The answer to {@link RECENT}: who asks without `tells` takes the messages alone. */
export function replyOfRecent(asked: object, told: Told): unknown {
  return 'tells' in asked ? told : told.messages;
}

/** The way back: the previous release gives the messages alone, one before it no commits, transitions and effects. */
export function readRecent(reply: unknown): Told {
  const { messages, waiting } = Array.isArray(reply) ? { messages: reply, waiting: null } : (reply as Told);
  const nothing = { committedAt: null, transitions: [], effects: [] };
  return { messages: messages.map((message) => ({ ...nothing, ...message })), waiting };
}

/** One of the things that are remembered of a message. */
type Part =
  | Partial<Pick<RecentMessage, 'type' | 'from' | 'state'>>
  | { readonly transition: NamedTransition }
  | { readonly effect: Omit<CountedEffect, 'count'> };

/** The program has far fewer. */
const MOST_PARTS = 10_000;
/** Which parts occur together is decided by what comes from outside, too: about 1 MB. */
const MOST_SEQUENCES = 20_000;
/** Those of type, sender and state alone have room when transitions and effects have none. */
const MOST_WITH_STATES = MOST_SEQUENCES + MOST_PARTS;

const parts: Part[] = [{}];

/** Parts of one sort by number, so that a message is remembered as numbers. */
class Parts<Key> {
  readonly #codes = new Map<Key, number>();
  readonly #describe: (key: Key) => Part;

  constructor(describe: (key: Key) => Part) {
    this.#describe = describe;
  }

  code(key: Key): number {
    const known = this.#codes.get(key);
    if (known !== undefined) return known;
    if (parts.length >= MOST_PARTS) return 0;
    const code = parts.push(this.#describe(key)) - 1;
    this.#codes.set(key, code);
    return code;
  }
}

const types = new Parts<string>((type) => ({ type }));
const senders = new Parts<string | null>((from) => ({ from }));
/** As JSON. */
const states = new Parts<string>((text) => ({ state: JSON.parse(text) as unknown }));
const transitions = new Parts<AnyTransitionDefinition>((taken) => ({ transition: nameTransition(taken) }));
const records = new Parts<string>((type) => ({ effect: { kind: 'record', type, to: null } }));
const performs = new Parts<string>((type) => ({ effect: { kind: 'perform', type, to: null } }));
/** By kind of the receiver. */
const sends = new Map<string, Parts<string>>();

/** Mostly a turn sends to actors of one kind. */
let latestKind = '';
let latestSends: Parts<string> | null = null;

function sendsTo(kind: string): Parts<string> {
  if (kind === latestKind && latestSends !== null) return latestSends;
  let known = sends.get(kind);
  if (known === undefined) {
    known = new Parts((type) => ({ effect: { kind: 'send', type, to: kind } }));
    sends.set(kind, known);
  }
  latestKind = kind;
  latestSends = known;
  return known;
}

/** Sequences of parts by number: each is a shorter one and a part. 0 is empty, a negative one was cut. */
class Sequences {
  readonly #codes = new Map<number, number>();
  readonly #shorter: number[] = [0];
  readonly #last: number[] = [0];
  /** Of each sequence the part that it was continued by last, and to what: mostly it is the same again. */
  readonly #latestPart: number[] = [-1];
  readonly #latest: number[] = [0];

  /** The sequence with one part more. It is cut where there is no room: what counts belong to is told by their order. */
  with(sequence: number, part: number, most = MOST_SEQUENCES): number {
    if (sequence < 0) return sequence;
    if (this.#latestPart[sequence] === part) return this.#latest[sequence] ?? 0;
    const key = sequence * MOST_PARTS + part;
    let code = this.#codes.get(key);
    if (code === undefined) {
      code = this.#last.length;
      if (code >= most) return -sequence;
      this.#codes.set(key, code);
      this.#shorter.push(sequence);
      this.#last.push(part);
      this.#latestPart.push(-1);
      this.#latest.push(0);
    }
    this.#latestPart[sequence] = part;
    this.#latest[sequence] = code;
    return code;
  }

  parts(sequence: number): Part[] {
    const found: Part[] = [];
    for (let rest = Math.abs(sequence); rest > 0; rest = this.#shorter[rest] ?? 0)
      found.push(parts[this.#last[rest] ?? 0] ?? {});
    return found.reverse();
  }
}

const sequences = new Sequences();

/**
 * Effects of the turn that is noted: their sorts and types, how many there are of each, and how many of them. An array
 * that is emptied for each turn would be allocated for each.
 */
const sorts = new Array<Parts<string>>(MOST_EFFECTS).fill(records);
const foundTypes = new Array<string>(MOST_EFFECTS).fill('');
const counts = new Array<number>(MOST_EFFECTS).fill(0);
let found = 0;

function count(sort: Parts<string>, type: string): void {
  for (let place = 0; place < found; place++) {
    if (foundTypes[place] !== type || sorts[place] !== sort) continue;
    counts[place] = Math.min((counts[place] ?? 0) + 1, MOST_COUNTED);
    return;
  }
  if (found === MOST_EFFECTS) return;
  sorts[found] = sort;
  foundTypes[found] = type;
  counts[found++] = 1;
}

function countEffects(turn: NotedTurn['turn']): void {
  found = 0;
  for (const { to, message } of turn.sends) count(sendsTo(to.kind), message.type);
  for (const { type } of turn.records) count(records, type);
  for (const { type } of turn.performs) count(performs, type);
}

/** Four of the counts as one number. */
function packedCounts(first: number): number {
  let packed = 0;
  for (let place = Math.min(first + COUNTS_PER_SLOT, found) - 1; place >= first; place--)
    packed = packed * (MOST_COUNTED + 1) + (counts[place] ?? 0);
  return packed;
}

/**
 * The last messages that an actor in memory was given: a ring of numbers, 40 bytes a message. Nothing of it is stored:
 * a commit writes no byte more for it.
 */
export class RecentMessages {
  readonly #slots: number[] = [];
  #next = 0;
  /** The value that was noted last: while the machine stays where it is, nothing is written anew. */
  #value: unknown;
  #state = 0;

  note({ at, batch, type, from, value, taken, turn }: NotedTurn): void {
    if (this.#slots.length === 0 || !isSameState(value, this.#value)) {
      this.#value = value;
      this.#state = states.code(JSON.stringify(value ?? null));
    }
    let sequence = sequences.with(0, types.code(type), MOST_WITH_STATES);
    sequence = sequences.with(sequence, senders.code(from?.kind ?? null), MOST_WITH_STATES);
    sequence = sequences.with(sequence, this.#state, MOST_WITH_STATES);
    for (const transition of taken) sequence = sequences.with(sequence, transitions.code(transition));
    countEffects(turn);
    for (let place = 0; place < found; place++) {
      const effect = (sorts[place] ?? records).code(foundTypes[place] ?? '');
      // Without a place for it the sequence ends: those behind it would be read with its count.
      sequence = effect === 0 ? -Math.abs(sequence) : sequences.with(sequence, effect);
    }
    this.#slots[this.#next] = at;
    this.#slots[this.#next + 1] = pending(batch);
    this.#slots[this.#next + 2] = sequence;
    this.#slots[this.#next + 3] = packedCounts(0);
    this.#slots[this.#next + 4] = packedCounts(COUNTS_PER_SLOT);
    this.#next = (this.#next + SLOTS) % (SLOTS * KEPT);
  }

  /** The commit of the batch was stored. */
  committed(batch: number, at: Micros): void {
    const slots = this.#slots;
    for (let age = 1; age * SLOTS <= slots.length; age++) {
      const place = this.#placeOf(age) + 1;
      const commit = slots[place] ?? 0;
      if (commit >= 0) return;
      if (commit === pending(batch)) slots[place] = at;
    }
  }

  /** The newest first. */
  list(): RecentMessage[] {
    const length = this.#slots.length / SLOTS;
    return Array.from({ length }, (_, older) => this.#message(this.#placeOf(older + 1)));
  }

  clear(): void {
    this.#slots.length = 0;
    this.#next = 0;
    this.#value = undefined;
  }

  /** Where a message begins; the newest has the age 1. */
  #placeOf(age: number): number {
    const { length } = this.#slots;
    return (this.#next - SLOTS * age + length) % length;
  }

  #message(place: number): RecentMessage {
    const [at = 0, commit = 0, sequence = 0, ...packed] = this.#slots.slice(place, place + SLOTS);
    const message = { type: '', from: null, state: null };
    const transitions: NamedTransition[] = [];
    const effects: CountedEffect[] = [];
    for (const part of sequences.parts(sequence)) {
      if ('transition' in part) transitions.push(part.transition);
      else if ('effect' in part) effects.push({ ...part.effect, count: countAt(packed, effects.length) });
      else Object.assign(message, part);
    }
    const events = transitions.map(({ event }) => event).filter((event) => event !== 'always');
    return { at, committedAt: commit < 0 ? null : commit, ...message, events, transitions, effects };
  }
}

/** XState writes a state within others anew with each transition. */
function isSameState(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  let count = 0;
  for (const name in one) {
    if (!isSameState(one[name as keyof typeof one], other[name as keyof typeof other])) return false;
    count++;
  }
  for (const _ in other) count--;
  return count === 0;
}

function countAt(packed: readonly number[], place: number): number {
  const four = packed[Math.floor(place / COUNTS_PER_SLOT)] ?? 0;
  return Math.floor(four / (MOST_COUNTED + 1) ** (place % COUNTS_PER_SLOT)) % (MOST_COUNTED + 1);
}

/** In the place of the moment of the commit. Batches count from 1 on, and those of large turns downwards from -1. */
function pending(batch: number): number {
  return -Math.abs(batch);
}
