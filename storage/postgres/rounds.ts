/**
 * Asks together what many ask for at the same moment: a statement for each would be a transaction, a round trip and a
 * plan for each.
 */
import { isUnavailable } from './connection.ts';

/** Statements of one kind under way at once; what is asked meanwhile goes with the next. */
const AT_ONCE = 2;

interface Waiting<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export interface Rounds<Asked, Answer> {
  /** How much one statement may ask for; a single asking may be larger and then goes alone. */
  readonly most: number;
  /** How much an asking counts for. */
  readonly sizeOf: (asked: Asked) => number;
  /** Answers all in their order. Sees what was committed before any of them was asked. */
  readonly ask: (all: readonly Asked[]) => Promise<readonly Answer[]>;
}

/** @returns asks in the next round of the event loop. When a statement fails, each asking of it is tried alone. */
export function inRounds<Asked, Answer>(rounds: Rounds<Asked, Answer>): (asked: Asked) => Promise<Answer> {
  const waiting: Waiting<Asked, Answer>[] = [];
  let underWay = 0;
  let isDue = false;

  function take(): Waiting<Asked, Answer>[] {
    let size = 0;
    let count = 0;
    for (const { asked } of waiting) {
      size += rounds.sizeOf(asked);
      if (count > 0 && size > rounds.most) break;
      count += 1;
    }
    return waiting.splice(0, count);
  }

  async function run(all: readonly Waiting<Asked, Answer>[]): Promise<void> {
    try {
      const answers = await rounds.ask(all.map(({ asked }) => asked));
      for (const [index, { resolve }] of all.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (all.length === 1 || isUnavailable(error)) for (const { reject } of all) reject(error);
      // What is wrong with one asking must not become everybody's.
      else for (const { asked, resolve, reject } of all) await alone(asked).then(resolve, reject);
    } finally {
      underWay -= 1;
      schedule();
    }
  }

  async function alone(asked: Asked): Promise<Answer> {
    const [answer] = await rounds.ask([asked]);
    return answer as Answer;
  }

  function schedule(): void {
    if (isDue || waiting.length === 0 || underWay >= AT_ONCE) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      while (waiting.length > 0 && underWay < AT_ONCE) {
        underWay += 1;
        void run(take());
      }
    });
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject });
      schedule();
    });
}
