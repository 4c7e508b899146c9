/** Moves the open Alert Groups of a Route to Default in portions; it goes on when the page is left (ui §1.5). */
import type { Problem } from '../../api/problem.ts';
import type { App } from '../../app/context.ts';

/** Alert Groups of a request: each portion has an Audit entry of its own. */
export const MOVED_AT_ONCE = 200;

/**
 * @param count how many there are, as far as it is known
 * @returns why it ended; null when none is left, or somebody stopped it
 */
export async function moveOpen(
  { bulks, configuration, toasts, i18n }: Pick<App, 'bulks' | 'configuration' | 'toasts' | 'i18n'>,
  route: { readonly id: string; readonly name: string },
  count: number,
): Promise<Problem | null> {
  let problem: Problem | null = null;
  let isLast = false;
  const moved = await bulks.work(route.name, count, async () => {
    if (isLast) return 0;
    const answer = await configuration.routes.moveOpenAlertGroups(route.id, MOVED_AT_ONCE);
    if (!answer.ok) {
      problem = answer.problem;
      return 0;
    }
    isLast = answer.value.moved < MOVED_AT_ONCE;
    return answer.value.moved;
  });
  // After the end of the session there is nobody to say it to.
  if (moved === null) return null;
  if (moved > 0 || problem === null) toasts.done(i18n.t('routes.moved', { count: moved }));
  return problem;
}
