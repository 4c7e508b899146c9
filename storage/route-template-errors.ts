/** Templates of Routes that fail, as their actors record them. */
import type { TemplateErrorsSaved } from '../actors/route/effects.ts';
import { jsonText } from './json-text.ts';
import type { RecordWriter } from './records.ts';

/** Rare: a statement or two each time a template begins to fail, or fails no more. */
export const routeTemplateErrors: RecordWriter = {
  types: ['route.template_errors'],
  async write(tx, effects) {
    const recorded = effects as readonly TemplateErrorsSaved[];
    const last = new Map(recorded.map((each) => [each.routeId, each.errors]));
    for (const [routeId, errors] of last) {
      const rows = Object.entries(errors).map(([template, { since, error }]) => ({ template, since, error }));
      await tx`delete from route_template_errors where route_id = ${routeId}`;
      await tx`
        insert into route_template_errors (route_id, template, since, error)
        select ${routeId}, template, since, error
        from json_to_recordset(${jsonText(rows)}::text::json) as r (template text, since bigint, error text)`;
    }
  },
};
