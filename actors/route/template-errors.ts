/** Which templates of a Route fail (routes §11): what its page shows, and the Internal alert about it. */

import type { RouteTemplateKind } from '../previews/ports.ts';
import type { TemplateErrors } from './effects.ts';
import type { TemplateRendered } from './messages.ts';
import type { RouteTurn } from './turn.ts';

/** A failure is kept as it was first until that template renders again. */
export function templateRendered(turn: RouteTurn, { template, error, at }: TemplateRendered): void {
  const { templateErrors } = turn.state;
  if ((templateErrors[template] !== undefined) === (error !== null)) return;
  if (error !== null) {
    turn.replaceTemplateErrors({ ...templateErrors, [template]: { since: at, error } });
    return;
  }
  const { [template]: _, ...left } = templateErrors;
  turn.replaceTemplateErrors(left);
}

/** Another version of the templates: whether they fail is seen when they are used. */
export function templatesSaved(turn: RouteTurn): void {
  if (Object.keys(turn.state.templateErrors).length > 0) turn.replaceTemplateErrors({});
}

/** The one that failed first; null while none does. */
export function firstFailing(errors: TemplateErrors): RouteTemplateKind | null {
  const failing = Object.entries(errors) as [
    RouteTemplateKind,
    NonNullable<TemplateErrors[RouteTemplateKind]>,
  ][];
  failing.sort(([, one], [, other]) => one.since - other.since);
  return failing[0]?.[0] ?? null;
}
