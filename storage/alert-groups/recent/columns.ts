/** Recent Alert Groups in columns of numbers, with their words and label pairs numbered once. */
import type { GroupStatus, Labels, ResolveReason, SeverityLevel } from '../../../actors/model.ts';
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';

interface Name {
  /** Number of each value of this label. */
  readonly codes: Map<string, number>;
  /** The same values in the order in which they came, and their numbers. */
  readonly values: string[];
  readonly numbers: number[];
}

/** Labels of groups: each pair of name and value is kept once and known by a number. */
export class LabelPairs {
  /** Of all names and values together. */
  characters = 0;
  /** How many pairs there are. */
  count = 0;
  readonly #names = new Map<string, Name>();

  /** The numbers of a group's labels. */
  add(labels: Labels): readonly number[] {
    return Object.entries(labels).map(([name, value]) => this.#add(name, value));
  }

  /** Every value that this label ever had, with the number of the pair. Both lists only grow. */
  of(label: string): { readonly values: readonly string[]; readonly numbers: readonly number[] } {
    return this.#names.get(label) ?? NONE;
  }

  find(label: string, value: string): number | undefined {
    return this.#names.get(label)?.codes.get(value);
  }

  #add(label: string, value: string): number {
    let name = this.#names.get(label);
    if (name === undefined) {
      name = { codes: new Map(), values: [], numbers: [] };
      this.#names.set(label, name);
      this.characters += label.length;
    }
    const known = name.codes.get(value);
    if (known !== undefined) return known;
    this.characters += value.length;
    name.codes.set(value, this.count);
    name.values.push(value);
    name.numbers.push(this.count);
    return this.count++;
  }
}

const NONE = { values: [], numbers: [] };

/** Texts that many groups share, each kept once and known by a number. Numbers are never used anew. */
class Words {
  /** Of all texts together. */
  characters = 0;
  readonly #codes = new Map<string, number>();

  get count(): number {
    return this.#codes.size;
  }

  /** The number of a text, new or not. */
  add(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    this.characters += text.length;
    this.#codes.set(text, this.#codes.size);
    return this.#codes.size - 1;
  }

  /** Undefined for a text that no group ever had. */
  find(text: string): number | undefined {
    return this.#codes.get(text);
  }
}

/** What is read of `alert_groups`. */
export interface RecentRow {
  readonly number: number;
  readonly status: GroupStatus;
  readonly route_id: PublicId;
  readonly owner_id: PublicId | null;
  readonly severity_level: SeverityLevel;
  readonly integration_ids: readonly PublicId[];
  readonly started_at: Micros;
  readonly last_changed_at: Micros;
  readonly resolved_at: Micros | null;
  readonly resolved_by: 'user' | 'system' | null;
  readonly resolve_reason: ResolveReason | null;
  readonly is_reopened: boolean;
  readonly is_snoozed_without_end: boolean;
  readonly unclaimed: boolean;
  readonly delivery_problem: boolean;
  readonly common_labels: Labels;
  /** Title and summary in small letters, as the server makes them. */
  readonly small_title: string;
  readonly small_summary: string | null;
}

export const STATUS_BIT: Readonly<Record<GroupStatus, number>> = {
  firing: 1,
  acknowledged: 2,
  snoozed: 4,
  resolved: 8,
};
export const OPEN_BITS = STATUS_BIT.firing | STATUS_BIT.acknowledged | STATUS_BIT.snoozed;

/** What is true of a group, as bits of `flags`. */
export const FLAG = { reopened: 1, snoozedNoEnd: 2, unclaimed: 4, deliveryProblem: 8 } as const;

/** Between title and summary: a character that no text of the database has. */
export const BETWEEN_TEXTS = '\0';

const FIRST_ROOM = 1_024;
/** Bytes of a number, which count as characters. */
const OF_EACH_LABEL = 8;

/** Groups at places 0 to `size` - 1, in no order. A place means another group once one is removed. */
export class Columns {
  size = 0;
  number = new Float64Array(FIRST_ROOM);
  startedAt = new Float64Array(FIRST_ROOM);
  changedAt = new Float64Array(FIRST_ROOM);
  /** 0 for an open group. */
  resolvedAt = new Float64Array(FIRST_ROOM);
  /** One bit of {@link STATUS_BIT}. */
  status = new Uint8Array(FIRST_ROOM);
  flags = new Uint8Array(FIRST_ROOM);
  route = new Int32Array(FIRST_ROOM);
  owner = new Int32Array(FIRST_ROOM);
  severity = new Int32Array(FIRST_ROOM);
  resolvedBy = new Int32Array(FIRST_ROOM);
  reason = new Int32Array(FIRST_ROOM);
  /** Number of the set of Integrations, in `sets`. */
  integrations = new Int32Array(FIRST_ROOM);
  readonly labels: (readonly number[])[] = [];
  readonly text: string[] = [];
  /** Ids and other words; what is not there is the empty word. */
  readonly words = new Words();
  readonly pairs = new LabelPairs();
  readonly sets: (readonly number[])[] = [];
  readonly #setCodes = new Words();
  readonly #places = new Map<number, number>();
  /** Of the texts, and what the numbers of labels take. */
  #ownCharacters = 0;

  /** Characters in memory. */
  get characters(): number {
    return this.words.characters + this.#setCodes.characters + this.pairs.characters + this.#ownCharacters;
  }

  /** Words, sets and pairs in memory, those of groups that are gone included. */
  get entries(): number {
    return this.words.count + this.#setCodes.count + this.pairs.count;
  }

  /** Takes a group in, or over what is known of it. */
  put(row: RecentRow): void {
    const known = this.#places.get(row.number);
    const place = known ?? this.size++;
    if (known === undefined) {
      if (this.size > this.number.length) this.#grow();
      this.#places.set(row.number, place);
      this.number[place] = row.number;
    } else this.#ownCharacters -= this.#charactersAt(place);
    this.startedAt[place] = row.started_at;
    this.changedAt[place] = row.last_changed_at;
    this.resolvedAt[place] = row.resolved_at ?? 0;
    this.status[place] = STATUS_BIT[row.status];
    this.flags[place] =
      (row.is_reopened ? FLAG.reopened : 0) |
      (row.is_snoozed_without_end ? FLAG.snoozedNoEnd : 0) |
      (row.unclaimed ? FLAG.unclaimed : 0) |
      (row.delivery_problem ? FLAG.deliveryProblem : 0);
    this.route[place] = this.words.add(row.route_id);
    this.owner[place] = this.words.add(row.owner_id ?? '');
    this.severity[place] = this.words.add(row.severity_level);
    this.resolvedBy[place] = this.words.add(row.resolved_by ?? '');
    this.reason[place] = this.words.add(row.resolve_reason ?? '');
    this.integrations[place] = this.#setOf(row.integration_ids);
    this.labels[place] = this.pairs.add(row.common_labels);
    this.text[place] =
      row.small_summary === null ? row.small_title : row.small_title + BETWEEN_TEXTS + row.small_summary;
    this.#ownCharacters += this.#charactersAt(place);
  }

  /** The last group takes the place of the one that goes. */
  remove(number: number): void {
    const place = this.#places.get(number);
    if (place === undefined) return;
    const last = --this.size;
    this.#ownCharacters -= this.#charactersAt(place);
    this.#places.delete(number);
    if (place !== last) {
      for (const column of this.#numeric()) column[place] = column[last]!;
      this.labels[place] = this.labels[last]!;
      this.text[place] = this.text[last]!;
      this.#places.set(this.number[place]!, place);
    }
    this.labels.length = last;
    this.text.length = last;
  }

  #charactersAt(place: number): number {
    return this.text[place]!.length + this.labels[place]!.length * OF_EACH_LABEL;
  }

  #setOf(ids: readonly PublicId[]): number {
    const before = this.#setCodes.count;
    const code = this.#setCodes.add(ids.join());
    if (code === before) this.sets.push(ids.map((id) => this.words.add(id)));
    return code;
  }

  #numeric() {
    return [
      this.number,
      this.startedAt,
      this.changedAt,
      this.resolvedAt,
      this.status,
      this.flags,
      this.route,
      this.owner,
      this.severity,
      this.resolvedBy,
      this.reason,
      this.integrations,
    ];
  }

  #grow(): void {
    const room = this.number.length * 2;
    this.number = filled(new Float64Array(room), this.number);
    this.startedAt = filled(new Float64Array(room), this.startedAt);
    this.changedAt = filled(new Float64Array(room), this.changedAt);
    this.resolvedAt = filled(new Float64Array(room), this.resolvedAt);
    this.status = filled(new Uint8Array(room), this.status);
    this.flags = filled(new Uint8Array(room), this.flags);
    this.route = filled(new Int32Array(room), this.route);
    this.owner = filled(new Int32Array(room), this.owner);
    this.severity = filled(new Int32Array(room), this.severity);
    this.resolvedBy = filled(new Int32Array(room), this.resolvedBy);
    this.reason = filled(new Int32Array(room), this.reason);
    this.integrations = filled(new Int32Array(room), this.integrations);
  }
}

function filled<Column extends { set(from: Column): void }>(wider: Column, column: Column): Column {
  wider.set(column);
  return wider;
}
