/** A Command on more Alert Groups than one request takes, a portion after the other (ui §3). */
import type { Answer } from '../../../api/client.ts';
import { mayBeDone, type Problem } from '../../../api/problem.ts';
import type { BulkResult, Schemas } from '../../../api/shapes.ts';

/** The most that one bulk Command takes. */
export const PORTION = 100;

export interface BulkProgress {
  /** Groups that were answered for. */
  readonly done: number;
  readonly of: number;
}

export interface BulkOutcome {
  readonly results: readonly BulkResult[];
  /** Why no further portion was sent; null when all were, or somebody stopped it. */
  readonly problem: Problem | null;
  /** Groups for which nothing was done: they were not sent, or were refused with their portion. */
  readonly left: number;
}

/** The code of a result that did not come, also within an answer: the Command may have been carried out. */
const UNKNOWN = 'internal';

/**
 * Sends the portions of `size` until all are answered, one is not, or `goesOn` says no.
 * @param answered is called after each portion with its results
 */
export async function runInPortions(
  ids: readonly string[],
  send: (portion: readonly string[]) => Promise<Answer<Schemas['BulkAnswer']>>,
  answered: (results: readonly BulkResult[], progress: BulkProgress) => void,
  goesOn: () => boolean,
  size = PORTION,
): Promise<BulkOutcome> {
  const results: BulkResult[] = [];
  for (let from = 0; from < ids.length && goesOn(); from += size) {
    const portion = ids.slice(from, from + size);
    const answer = await send(portion);
    if (!answer.ok) {
      if (mayBeDone(answer.problem)) results.push(...portion.map(unknown));
      return { results, problem: answer.problem, left: ids.length - results.length };
    }
    results.push(...answer.value.results);
    answered(answer.value.results, { done: results.length, of: ids.length });
  }
  return { results, problem: null, left: ids.length - results.length };
}

const unknown = (id: string): BulkResult =>
  ({ alert_group_id: id, number: null, outcome: 'failed', code: UNKNOWN, message: null }) as const;

/** What is said of a result. */
export function outcomeOf({ outcome, code }: BulkResult): BulkResult['outcome'] | 'unknown' {
  return code === UNKNOWN ? 'unknown' : outcome;
}

export function isThrough({ outcome }: BulkResult): boolean {
  return outcome === 'done' || outcome === 'unchanged';
}
