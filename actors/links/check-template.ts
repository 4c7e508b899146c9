/** Whether the template of a Link rule may be saved: it parses, and it renders what was received lately (templates §10). */
import { setImmediate } from 'node:timers/promises';
import type { Monotonic } from '../../runtime/clock.ts';
import type { SampleReader } from '../previews/samples.ts';
import { compileMatchers } from '../route/matcher.ts';
import { lookupTablesOf, parseTemplate, type TemplateError } from '../templates/index.ts';
import type { LinkSource } from './configuration.ts';
import { contextOf, renderLink, subjectsOf } from './evaluate.ts';
import type { ReadingMoment } from './group-links.ts';
import type { LinkRuleFields } from './ports.ts';

/** Code points. */
export const LINK_RULE_TEMPLATE_LIMIT = 4_096;

export type CheckedTemplate =
  | {
      readonly ok: true;
      /** Names of Lookup tables that it reads as constants. */
      readonly reads: readonly string[];
      /** Where it names a table first. */
      placeOf(table: string): Place;
    }
  | { readonly ok: false; readonly error: TemplateError };

type Place = Pick<TemplateError, 'line' | 'column'>;

export type LinkTemplateCheck = (fields: LinkRuleFields, at: ReadingMoment) => Promise<CheckedTemplate>;

export interface LinkTemplateCheckDeps {
  readonly samples: Pick<SampleReader, 'newest' | 'example'>;
  readonly links: Pick<LinkSource, 'current'>;
  readonly monotonic: Monotonic;
}

export function createLinkTemplateCheck({
  samples,
  links,
  monotonic,
}: LinkTemplateCheckDeps): LinkTemplateCheck {
  return async (fields, at) => {
    const { url_template: source, matchers, scope } = fields;
    const parsed = parseTemplate('link_rule', source);
    if (!parsed.ok) return parsed;
    const { template } = parsed;
    const takes = compileMatchers(matchers);
    const received = await samples.newest(at);
    const taken = received.filter(({ commonLabels }) => takes(commonLabels));
    const zone = at.directory.organization.timeZone;
    const settings = { configuration: links.current(), now: at.now, zone, monotonic };
    for (const group of taken.length > 0 ? taken : [samples.example(null, at)]) {
      // As much as all values of a group may do where the rule is run.
      const context = { ...contextOf(settings), effort: { steps: 0 } };
      for (const subject of subjectsOf(scope, group)) {
        // Between renders everybody else gets a turn.
        await setImmediate();
        const rendered = renderLink(template, group, subject, context);
        if (!rendered.ok) return rendered;
      }
    }
    return { ok: true, reads: lookupTablesOf(template), placeOf: (table) => placeOf(source, table) };
  };
}

const LOOKED_UP = /\blookup\s+("(?:\\.|[^"\\\n])*"|`[^`]*`)/g;

/** Of the constant that names the table; of the beginning when the name is written with escapes. */
function placeOf(source: string, table: string): Place {
  for (const found of source.matchAll(LOOKED_UP)) {
    const constant = found[1] ?? '';
    if (constant.slice(1, -1) !== table) continue;
    const before = source.slice(0, found.index + found[0].length - constant.length).split('\n');
    return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
  }
  return { line: 1, column: 1 };
}
