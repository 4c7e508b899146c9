/**
 * Searches texts for expressions and counts the work, which depends on the expression and the text alone
 * (templates §9).
 */
import type { Matcher, RE2JS } from 're2js';
import { compileProgram } from './regex.ts';

/** Takes steps of about a hundred nanoseconds each as work is done. Throws to have the rest left undone. */
export type Spend = (steps: number) => void;

export interface SearchRegex {
  /** Whether there is a match that starts at `from` or behind it. */
  has(text: string, from: number, spend: Spend): boolean;
  /** The first match that starts at `from` or behind it; null when there is none. */
  find(text: string, from: number, spend: Spend): SearchMatch | null;
}

export interface SearchMatch {
  readonly start: number;
  readonly end: number;
  /** Of a group by its number or name; null when there is no such group or it took no part. */
  readonly group: (name: string) => string | null;
}

/** Bound of what is compiled, as `sizeOf` counts it; the program that comes out is bounded besides. */
const MOST_WRITTEN_OUT = 15_000;

/**
 * Steps of compiling: for any expression, for a character of the source, for a part of what `sizeOf` counts, for an
 * instruction of the program.
 */
const COMPILED = 1_500;
const CHARACTER_COMPILED = 25;
const PART_COMPILED = 10;
const INSTRUCTION_COMPILED = 20;
/** Of reading a Unicode class, and a character of a range whose other cases are looked up. */
const PROPERTY_READ = 1_500;
const CHARACTER_FOLDED = 2 / 3;
/** Of the automaton's alphabet, for a bound of a character class; every instruction has its class. */
const BOUND_SORTED = 1 / 3;
/** Of a character that leads to a state that is known; so many are paid for together. */
const CHARACTER_READ = 1 / 8;
const PAID_AT_ONCE = 1_000;
/** Of a transition that is made, for an instruction of its two states and for a class of the alphabet. */
const INSTRUCTION_STEPPED = 1;
const CLASS_STEPPED = 1 / 16;
const TRANSITION = 5;
/** Of finding where a match is, for an instruction that is alive at a character, and for a group of it. */
const INSTRUCTION_RUN = 1 / 8;
const GROUP_RUN = 1 / 64;
/** Of starting a run: the engine clears a bit for an instruction and a character, unless these are too many. */
const RUN = 12;
const BIT_CLEARED = 1 / 2_000;
const MOST_CLEARED = 262_144;

/**
 * Compiles an expression that is not anchored.
 * @returns the expression, or why there is none
 */
export function compileSearch(expression: string, spend: Spend): SearchRegex | string {
  spend(COMPILED + expression.length * CHARACTER_COMPILED);
  const { written, properties, folded } = sizeOf(expression);
  if (written > MOST_WRITTEN_OUT) return 'expression is too large';
  spend(written * PART_COMPILED + properties * PROPERTY_READ + folded * CHARACTER_FOLDED);
  const program = compileProgram(expression);
  if (typeof program === 'string') return program;
  spend(program.programSize() * INSTRUCTION_COMPILED);
  return new Search(program, spend);
}

/** What the engine's automaton is to this module. */
type Automaton = ReturnType<RE2JS['re2']>['dfa'];

interface State {
  /** Instructions that are alive. */
  readonly nfaStates: readonly number[];
  /** Whether a match ended before the character that led here. */
  readonly isMatch: boolean;
  readonly next: readonly (State | null)[] | null;
  readonly nextAnchored: readonly (State | null)[] | null;
}

/** Whether matches may start at every character, or at none any more. */
const SEARCHING = 0;
const FOLLOWING = 1;
/** The character behind the last one. */
const END = -1;

class Search implements SearchRegex {
  readonly #program: RE2JS;
  readonly #automaton: Automaton;

  constructor(program: RE2JS, spend: Spend) {
    this.#program = program;
    const engine = program.re2();
    let bounds = 0;
    for (const { runes } of engine.prog.inst) bounds += runes.length;
    spend(bounds * BOUND_SORTED);
    this.#automaton = engine.dfa;
    // What it looks for first, the automaton has found.
    engine.prefilter = null;
  }

  has(text: string, from: number, spend: Spend): boolean {
    return this.#look(text, from, false, spend) !== null;
  }

  find(text: string, from: number, spend: Spend): SearchMatch | null {
    const alive = this.#look(text, from, true, spend);
    if (alive === null) return null;
    const bits = Math.min(this.#program.programSize() * text.length, MOST_CLEARED);
    const starting = RUN + bits * BIT_CLEARED;
    spend(starting + alive * INSTRUCTION_RUN);
    const matcher = this.#program.matcher(text);
    if (!matcher.find(from)) throw new Error('the automaton and the engine disagree');
    const groups = matcher.groupCount();
    let isRun = false;
    const group = (name: string) => {
      if (!isRun) spend(starting + alive * (INSTRUCTION_RUN + groups * GROUP_RUN));
      isRun = true;
      return groupOf(matcher, name);
    };
    return { start: matcher.start(), end: matcher.end(), group };
  }

  /**
   * Runs the automaton to the end of the match that ends first; to follow it, on to where all that has begun by then
   * has ended, which is as far as the engine looks.
   * @returns how many instructions were alive, summed up over the characters; null when there is no match
   */
  #look(text: string, from: number, isFollowed: boolean, spend: Spend): number | null {
    const automaton = this.#automaton;
    let state: State = automaton.start({ context: () => contextAt(text, from), step: () => END }, from);
    let alive = state.nfaStates.length;
    let mode = SEARCHING;
    let paid = from;
    for (let at = from; at <= text.length; ) {
      const character = text.codePointAt(at) ?? END;
      const kind = character === END ? automaton.numClasses : automaton.runeClass(character);
      const table = mode === SEARCHING ? state.next : state.nextAnchored;
      state = table?.[kind] ?? this.#step(state, kind, character, mode, spend);
      if (state.isMatch) mode = FOLLOWING;
      if (mode === FOLLOWING && (!isFollowed || state.nfaStates.length === 0)) return alive;
      alive += state.nfaStates.length;
      at += character > 0xffff ? 2 : 1;
      if (at - paid < PAID_AT_ONCE) continue;
      spend((at - paid) * CHARACTER_READ);
      paid = at;
    }
    return mode === FOLLOWING ? alive : null;
  }

  /** Makes a transition; an automaton that has grown too large is forgotten. */
  #step(state: State, kind: number, character: number, mode: number, spend: Spend): State {
    const automaton = this.#automaton;
    const made: State | null =
      automaton.step(state, kind, character, mode) ??
      automaton.step(automaton.resetCache(state), kind, character, mode);
    if (!made) throw new Error('the automaton has no room for two states');
    const instructions = state.nfaStates.length + made.nfaStates.length;
    spend(TRANSITION + instructions * INSTRUCTION_STEPPED + automaton.numClasses * CLASS_STEPPED);
    return made;
  }
}

/** What the automaton asks about the place where it starts, in the engine's bits. */
function contextAt(text: string, at: number): number {
  if (at === 0) return 0b101;
  const before = text.charAt(at - 1);
  if (before === '\n') return 0b001;
  // It compares what is behind the place, which it is told is no word.
  return /\w/.test(before) ? 0b10000 : 0;
}

function groupOf(matcher: Matcher, name: string): string | null {
  if (!/^\d+$/.test(name)) return Object.hasOwn(matcher.namedGroups, name) ? matcher.group(name) : null;
  const number = Number(name);
  return number <= matcher.groupCount() ? matcher.group(number) : null;
}

const CLASS = String.raw`\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?`;
const ESCAPE = String.raw`\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\[pP].|\\.`;
const ATOM = new RegExp(
  String.raw`(?<open>\()(?:\?(?:P?<\w+>|[a-zA-Z-]*:?))?|${CLASS}|${ESCAPE}|\{(?<least>\d+)(?:,(?<most>\d*))?\}|.`,
  'gsu',
);
const PROPERTY = /\\[pP]/g;
const IGNORES_CASE = /\(\?\w*i/;
const ITEM = String.raw`\\x\{[^}]*\}|\\x..|\\[0-7]+|\\.|[^\\]`;
const RANGE = new RegExp(`(${ITEM})(?=-(${ITEM}))`, 'gsu');
const LAST_WITH_CASES = 0x1_e943;
/** Characters that a Unicode class counts as, and characters of a bracket expression that count as one. */
const PROPERTY_SIZE = 20;
const BRACKETED = 20;

/** Estimated cost of compiling an expression, from its source. */
interface SourceSize {
  /** Characters and classes, the counted repetitions written out. */
  readonly written: number;
  /** Unicode classes, as they stand. */
  readonly properties: number;
  /** Characters of ranges that stand for their other cases too. */
  readonly folded: number;
}

export function sizeOf(expression: string): SourceSize {
  const isFolded = IGNORES_CASE.test(expression);
  // What came before each parenthesis that is open; then what is in the innermost one and its last part.
  const outer: number[] = [];
  let [length, last, properties, folded] = [0, 0, 0, 0];
  for (const { 0: atom, groups: { open, least, most } = {} } of expression.matchAll(ATOM)) {
    if (open) {
      outer.push(length);
      [length, last] = [0, 0];
    } else if (atom === ')') {
      last = length;
      length += outer.pop() ?? 0;
    } else if (least !== undefined) {
      const repeated = last * Math.max(Number(least), Number(most ?? 0), 1);
      length += repeated - last;
      last = repeated;
    } else if (!'*+?|'.includes(atom)) {
      const named = atom.match(PROPERTY)?.length ?? 0;
      last = 1 + named * PROPERTY_SIZE + (/^(?:\[|\\Q)/.test(atom) ? atom.length / BRACKETED : 0);
      length += last;
      properties += named;
      if (isFolded && atom.startsWith('[')) folded += foldedIn(atom);
    }
  }
  return { written: outer.reduce((sum, before) => sum + before, length), properties, folded };
}

function foldedIn(bracketed: string): number {
  let count = 0;
  for (const [, low = '', high = ''] of bracketed.slice(1, -1).matchAll(RANGE)) {
    count += Math.max(0, Math.min(characterOf(high), LAST_WITH_CASES) - characterOf(low));
  }
  return count;
}

/** The code point of an item of a bracket expression; that of a control character is off by a few. */
function characterOf(item: string): number {
  const [, hexadecimal, octal] = /^\\(?:x\{?([0-9a-fA-F]+)\}?|([0-7]+))$/.exec(item) ?? [];
  if (hexadecimal) return Number.parseInt(hexadecimal, 16);
  if (octal) return Number.parseInt(octal, 8);
  return item.codePointAt(item.length > 1 && item.startsWith('\\') ? 1 : 0) ?? 0;
}
