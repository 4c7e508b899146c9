/** Problems in words: by code where there is a text, else the server's own sentence (ui §1.7 rule 4). */
import type { FieldError, Problem } from '../api/problem.ts';
import type { I18n } from '../i18n/i18n.svelte.ts';

export interface Failures {
  /** One sentence for a problem as a whole. */
  sentence(problem: Problem): string;
  /** One sentence for a field. */
  field(error: FieldError): string;
  /** One sentence where no fields are shown: of the first that is wrong, else of the problem. */
  reason(problem: Problem): string;
}

/** Codes whose detail adds something to any fixed text. */
const DETAIL_ADDS = new Set([
  'invalid_regex',
  'template_syntax',
  'unknown_function',
  'destination_check_failed',
]);

export function createFailures(i18n: I18n): Failures {
  const { t } = i18n;

  function byType(problem: Problem): string {
    switch (problem.type) {
      case 'unreachable':
        return t('problem.unreachable');
      case 'defect':
        return t('problem.defect');
      case 'not-sent':
        return t('problem.notSent');
      case 'unanswered':
        return t('problem.unanswered');
      case 'forbidden':
        return t('problem.forbidden');
      case 'not-found':
        return t('problem.notFound');
      case 'rate-limited':
      case 'coordination-unavailable':
      case 'interactive-budget-exhausted':
        return t('problem.busy', { seconds: problem.retryAfterSeconds ?? 1 });
      case 'validation-failed': {
        const outsideOfForms = problem.errors.find((error) => /^\/(query|path)\//.test(error.pointer));
        return outsideOfForms === undefined ? t('problem.validation') : field(outsideOfForms);
      }
      case 'precondition-failed':
        return t('problem.stale');
      case 'payload-too-large':
        return t('problem.tooLarge');
      case 'route-has-open-alert-groups':
        return t('problem.routeHasOpenGroups', { count: problem.openAlertGroupCount ?? 0 });
      case 'default-route-immutable':
        return t('problem.defaultRoute');
      default:
        return problem.detail ?? t('problem.unknown', { status: problem.status });
    }
  }

  function sentence(problem: Problem): string {
    if (problem.code !== null) {
      const words = i18n.word('refusal', problem.code);
      if (words !== problem.code) return words;
    }
    return byType(problem);
  }

  function field(error: FieldError): string {
    const words = i18n.word('fieldError', error.code);
    const known = words !== error.code;
    if (error.line !== undefined) {
      const place = t('fieldError.at', { line: error.line, column: error.column ?? 1 });
      return `${place}: ${error.detail || words}`;
    }
    if (known && !DETAIL_ADDS.has(error.code)) return words;
    return known ? `${words} ${error.detail ?? ''}`.trim() : error.detail || words;
  }

  function reason(problem: Problem): string {
    const [first] = problem.errors;
    return first ? field(first) : sentence(problem);
  }

  return { sentence, field, reason };
}

/** Why linking did not go on, in words (account-links §11). */
const MINUTE_S = 60;

export function linkRefusal(problem: Problem, { t }: I18n, failures: Failures): string {
  if (problem.type === 'rate-limited') {
    return t('accountLink.tooMany', { count: Math.ceil((problem.retryAfterSeconds ?? MINUTE_S) / MINUTE_S) });
  }
  return failures.reason(problem);
}
