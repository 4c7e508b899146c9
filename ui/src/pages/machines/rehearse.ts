/**
 * A machine tried out: the service's own definition takes events in the browser, and nothing is stored or sent
 * (ui §12.1). Pure.
 */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import { begin, type NamedTransition, nameTransition, step } from '../../../../runtime/actor/machine.ts';
import { MINUTE } from '../../../../runtime/clock.ts';
import { presentStates } from './present.ts';
import { TRIALS, type Trial } from './samples.ts';

/** Of one address: what is behind is left out. */
export const MOST_EVENTS = 100;
/** Characters of one event in an address. */
const LONGEST = 1_000;

/** An event of a trial, as a person asks for it. */
export interface Happening {
  readonly type: string;
  /** Whole minutes since the beginning. */
  readonly minute: number;
  /** Fields that differ from the sample; null for none. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

export interface Step {
  readonly happening: Happening;
  /** Transitions that were taken; none: {@link refusals} says why. */
  readonly taken: readonly Taken[];
  /** Paths of the states afterwards. */
  readonly states: readonly string[];
  /** What the machine keeps afterwards. */
  readonly context: object;
  readonly emitted: readonly object[];
  readonly changes: readonly Change[];
  /** What the states it was in have for the event, the innermost first, and why it is not taken. */
  readonly refusals: readonly Refusal[];
  /** What the machine threw: fields that it cannot work with. */
  readonly error: string | null;
}

export type Taken = Pick<NamedTransition, 'from' | 'guard' | 'actions'>;

export interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** The guard did not hold. */
export interface Refusal {
  readonly from: string | null;
  readonly guard: string;
}

export interface Rehearsal {
  /** Paths of the states at the beginning. */
  readonly begun: readonly string[];
  readonly steps: readonly Step[];
  /** At the end. */
  readonly snapshot: AnyMachineSnapshot;
}

/** `t5 snooze {"until":null}`, as an address holds it. Null for what is none, which is left out. */
export function parseHappening(text: string): Happening | null {
  const match = text.length > LONGEST ? null : /^t(\d{1,6}) (\w+)(?: (\{.*\}))?$/s.exec(text);
  if (match === null) return null;
  const fields = parseFields(match[3] ?? '');
  return fields === undefined ? null : { type: match[2] ?? '', minute: Number(match[1]), fields };
}

/** The way back from {@link parseHappening}. */
export function happeningText({ type, minute, fields }: Happening): string {
  return `t${minute} ${type}${fields === null ? '' : ` ${JSON.stringify(fields)}`}`;
}

/** @returns null for an empty text, undefined for one that is no JSON object */
export function parseFields(text: string): Happening['fields'] | undefined {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** The event that the machine is given. */
export function eventOf({ events }: Trial, { type, minute, fields }: Happening): { readonly type: string } {
  return { ...events[type]?.(minute * MINUTE), ...fields, type };
}

/** @param kind one of {@link TRIALS} */
export function rehearse(kind: string, happenings: readonly Happening[]): Rehearsal {
  const trial = trialOf(kind);
  let snapshot: AnyMachineSnapshot = begin(trial.machine, trial.input);
  const begun = presentStates(snapshot.value);
  const steps = happenings.slice(0, MOST_EVENTS).map((happening) => {
    const after = take(trial, snapshot, happening);
    snapshot = after.snapshot;
    return after.step;
  });
  return { begun, steps, snapshot };
}

/** Events that would be taken next, with their usual fields; none when a trial has no room for more. */
export function possibleNext(kind: string, { steps, snapshot }: Rehearsal, minute: number): string[] {
  if (steps.length >= MOST_EVENTS) return [];
  const trial = trialOf(kind);
  return Object.keys(trial.events).filter((type) => {
    const { step } = take(trial, snapshot, { type, minute, fields: null });
    return step.taken.length > 0;
  });
}

function trialOf(kind: string): Trial {
  const trial = TRIALS[kind];
  if (trial === undefined) throw new Error(`nobody tries out ${kind}`);
  return trial;
}

function take(trial: Trial, snapshot: AnyMachineSnapshot, happening: Happening) {
  const { machine } = trial;
  const event = eventOf(trial, happening);
  try {
    const taken = machine.getTransitionData(snapshot as never, event).map(takenOf);
    const { snapshot: next, emitted } = step(machine, snapshot as never, event as never);
    return {
      snapshot: next as AnyMachineSnapshot,
      step: {
        ...{ happening, taken, emitted: emitted as readonly object[], error: null },
        states: presentStates(next.value),
        context: next.context as object,
        changes: changesOf(snapshot.context, next.context),
        refusals: taken.length > 0 ? [] : refusalsOf(machine, snapshot, happening.type),
      },
    };
  } catch (error) {
    const kept = { states: presentStates(snapshot.value), context: snapshot.context as object };
    const nothing = { taken: [], emitted: [], changes: [], refusals: [] };
    return { snapshot, step: { happening, ...kept, ...nothing, error: String(error) } };
  }
}

type Definition = ReturnType<AnyStateMachine['getTransitionData']>[number];

function takenOf(definition: Definition): Taken {
  const { from, guard, actions } = nameTransition(definition);
  return { from, guard, actions };
}

function refusalsOf(machine: AnyStateMachine, { value }: AnyMachineSnapshot, type: string): Refusal[] {
  const paths = [...presentStates(value)].reverse().map((path) => path.split('.'));
  return [...paths.map((path) => nodeAt(machine.root, path)), machine.root].flatMap((node) =>
    (node.transitions.get(type) ?? [])
      .map(nameTransition)
      .map(({ from, guard }) => ({ from, guard: guard ?? '' })),
  );
}

function nodeAt(root: AnyStateNode, path: readonly string[]): AnyStateNode {
  return path.reduce((node, name) => node.states[name] ?? node, root);
}

function changesOf(before: object, after: object): Change[] {
  const [old, fresh] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return Object.keys(fresh).flatMap((name) => {
    const [was, is] = [JSON.stringify(old[name] ?? null), JSON.stringify(fresh[name] ?? null)];
    return was === is ? [] : [{ name, before: was, after: is }];
  });
}
