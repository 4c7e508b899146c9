/** Why linking did not go on, in words (account links §11). */
import type { Problem } from '../../api/problem.ts';
import type { Failures } from '../../app/failures.ts';
import type { I18n } from '../../i18n/i18n.svelte.ts';

const MINUTE_S = 60;

export function linkRefusal(problem: Problem, { t }: I18n, failures: Failures): string {
  if (problem.type === 'rate-limited') {
    return t('accountLink.tooMany', { count: Math.ceil((problem.retryAfterSeconds ?? MINUTE_S) / MINUTE_S) });
  }
  const [first] = problem.errors;
  return first ? failures.field(first) : failures.sentence(problem);
}
