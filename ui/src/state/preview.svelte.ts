/**
 * Asks what something would do, a moment after the last change; only the answer to the latest question counts. One
 * request at a time: the server answers previews one after the other, and what nobody waits for need not be asked.
 */
import type { Answer } from '../api/client.ts';
import type { Problem } from '../api/problem.ts';

const PAUSE_MS = 500;

export interface Preview<Input, Output> {
  readonly value: Output | null;
  readonly problem: Problem | null;
  readonly running: boolean;
  /** Asks in a moment, unless something else is asked or {@link stop} is called before. */
  ask(input: Input): void;
  /** Whatever is under way counts no more. */
  stop(): void;
}

export function createPreview<Input, Output>(
  request: (input: Input) => Promise<Answer<Output>>,
): Preview<Input, Output> {
  let value = $state.raw<Output | null>(null);
  let problem = $state.raw<Problem | null>(null);
  let running = $state(false);
  let latest = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let underWay: Promise<void> = Promise.resolve();

  async function run(input: Input, turn: number): Promise<void> {
    if (turn !== latest) return;
    const answer = await request(input);
    if (turn !== latest) return;
    running = false;
    problem = answer.ok ? null : answer.problem;
    if (answer.ok) value = answer.value;
  }

  function stop(): void {
    latest += 1;
    running = false;
    clearTimeout(timer);
  }

  return {
    get value() {
      return value;
    },
    get problem() {
      return problem;
    },
    get running() {
      return running;
    },
    ask(input) {
      stop();
      const turn = latest;
      running = true;
      timer = setTimeout(() => {
        underWay = underWay.then(() => run(input, turn));
      }, PAUSE_MS);
    },
    stop,
  };
}
