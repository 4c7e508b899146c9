/** Asks what a Route would do, a moment after the last change; only the answer to the latest question counts. */
import type { Answer } from '../../api/client.ts';
import type { GroupKeyPreview, GroupKeyPreviewInput } from '../../api/configuration-shapes.ts';
import type { Problem } from '../../api/problem.ts';

const PAUSE_MS = 600;

export interface Preview {
  readonly value: GroupKeyPreview | null;
  readonly problem: Problem | null;
  readonly running: boolean;
  /** Asks in a moment, unless something else is asked or {@link stop} is called before. */
  ask(input: GroupKeyPreviewInput): void;
  /** Whatever is under way counts no more. */
  stop(): void;
}

export function createPreview(
  request: (input: GroupKeyPreviewInput) => Promise<Answer<GroupKeyPreview>>,
): Preview {
  let value = $state.raw<GroupKeyPreview | null>(null);
  let problem = $state.raw<Problem | null>(null);
  let running = $state(false);
  let latest = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function run(input: GroupKeyPreviewInput, turn: number): Promise<void> {
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
      timer = setTimeout(() => void run(input, turn), PAUSE_MS);
    },
    stop,
  };
}
