import type { Answer } from '../api/client.ts';
import type { Problem } from '../api/problem.ts';

/** Something a person starts: while it runs it cannot be started again (ui §1.5 rule 6). */
export interface Action<Args extends readonly unknown[]> {
  readonly running: boolean;
  /** Does nothing while an earlier run is on its way. */
  run(...args: Args): Promise<void>;
}

export function createAction<Args extends readonly unknown[]>(
  perform: (...args: Args) => Promise<void>,
): Action<Args> {
  let running = $state(false);
  return {
    get running() {
      return running;
    },
    async run(...args) {
      if (running) return;
      running = true;
      try {
        await perform(...args);
      } finally {
        running = false;
      }
    },
  };
}

/** Something that takes a while and has a result to show: a check, a test, a preview (ui §1.5 rule 7). */
export interface Run<Args extends readonly unknown[], Result> {
  readonly running: boolean;
  /** Of the present run, whole ones. */
  readonly seconds: number;
  /** Of the last run that ended. */
  readonly result: Result | null;
  readonly problem: Problem | null;
  /** Does nothing while an earlier one is on its way. */
  start(...args: Args): Promise<void>;
  /** Waits no longer; what was asked for goes on all the same. */
  leave(): void;
}

const TICK_MS = 1_000;

export function createRun<Args extends readonly unknown[], Result>(
  perform: (...args: Args) => Promise<Answer<Result>>,
): Run<Args, Result> {
  let running = $state(false);
  let seconds = $state(0);
  let result = $state.raw<Result | null>(null);
  let problem = $state.raw<Problem | null>(null);
  /** Which run is waited for: the answer to one that was left does not count. */
  let current = 0;
  let ticking: ReturnType<typeof setInterval> | undefined;

  function end() {
    clearInterval(ticking);
    running = false;
  }

  return {
    get running() {
      return running;
    },
    get seconds() {
      return seconds;
    },
    get result() {
      return result;
    },
    get problem() {
      return problem;
    },
    async start(...args) {
      if (running) return;
      const mine = ++current;
      running = true;
      seconds = 0;
      result = null;
      problem = null;
      ticking = setInterval(() => seconds++, TICK_MS);
      const answer = await perform(...args);
      if (mine !== current) return;
      end();
      if (answer.ok) result = answer.value;
      else problem = answer.problem;
    },
    leave() {
      current++;
      end();
    },
  };
}

/** Whole seconds until something may be tried again. Call during component initialisation. */
export function createWait(): { readonly left: number; start(seconds: number): void } {
  let left = $state(0);
  $effect(() => {
    const timer = setInterval(() => {
      left = Math.max(0, left - 1);
    }, 1_000);
    return () => clearInterval(timer);
  });
  return {
    get left() {
      return left;
    },
    start(seconds) {
      left = seconds;
    },
  };
}
