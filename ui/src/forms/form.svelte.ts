/** What the fields of a form share: the errors of the last save, by pointer. */
import { createContext } from 'svelte';
import type { FieldError, Problem } from '../api/problem.ts';
import { errorAt } from './pointers.ts';

export interface Form {
  /** The error of a field, while its value has not been saved again. */
  at(pointer: string, deep?: boolean): FieldError | undefined;
  /** A field says that it shows the errors of a pointer. @returns a function that takes that back */
  claim(pointer: string, deep: boolean): () => void;
  /** What the server says of the fields before they are saved; replaces what it said before. */
  foretell(errors: readonly FieldError[]): void;
  /** What is said beside the button that saves; null takes it back. */
  remark(text: string | null): void;
}

export interface FormState extends Form {
  readonly problem: Problem | null;
  readonly remarked: string | null;
  /** Errors that no field shows. */
  readonly unclaimed: readonly FieldError[];
  refuse(problem: Problem): void;
  clear(): void;
}

export const [useForm, provideForm] = createContext<Form>();

export function createForm(): FormState {
  let problem = $state.raw<Problem | null>(null);
  let foretold = $state.raw<readonly FieldError[]>([]);
  let remarked = $state<string | null>(null);
  const claims = new Set<{ readonly pointer: string; readonly deep: boolean }>();
  const errors = $derived(problem?.errors ?? []);

  return {
    get problem() {
      return problem;
    },
    get remarked() {
      return remarked;
    },
    get unclaimed() {
      return errors.filter(
        (error) => ![...claims].some(({ pointer, deep }) => errorAt([error], pointer, deep) !== undefined),
      );
    },
    at: (pointer, deep = false) => errorAt(errors, pointer, deep) ?? errorAt(foretold, pointer, deep),
    claim(pointer, deep) {
      const claim = { pointer, deep };
      claims.add(claim);
      return () => claims.delete(claim);
    },
    foretell(errors) {
      foretold = errors;
    },
    remark(text) {
      remarked = text;
    },
    refuse(next) {
      problem = next;
    },
    clear() {
      problem = null;
    },
  };
}

/** Units in which people enter durations. */
export const UNITS = ['seconds', 'minutes', 'hours', 'days'] as const;
export type DurationUnit = (typeof UNITS)[number];

export const SECONDS: Record<DurationUnit, number> = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };

/** The largest unit that states a duration as a whole number. @param seconds whole seconds */
export function largestUnit(seconds: number): DurationUnit {
  if (seconds === 0) return 'minutes';
  return [...UNITS].reverse().find((unit) => seconds % SECONDS[unit] === 0) ?? 'seconds';
}
