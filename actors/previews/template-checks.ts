/** Whether templates of a Route or a Link rule may be saved: they parse and render (templates §10, routes §3). */
import { setImmediate } from 'node:timers/promises';
import type { PublicId } from '../../runtime/public-id.ts';
import { cellOf, type LinkSource } from '../links/configuration.ts';
import { contextOf, type ReadingMoment, renderLink, subjectsOf } from '../links/evaluate.ts';
import type { LinkRuleFields } from '../links/ports.ts';
import { compileMatchers } from '../route/matcher.ts';
import type { RouteTemplateKind } from '../route/policy.ts';
import { groupData, lineData, type TemplateGroup } from '../templates/data.ts';
import {
  lookupTablesOf,
  parseTemplate,
  plainFormat,
  type RenderContext,
  type RenderTimer,
  renderTemplate,
  type Template,
  type TemplateError,
} from '../templates/index.ts';
import { MOST_LINES, type SampleMoment, type SampleReader } from './samples.ts';

/** Sources of the templates that are to be saved, as far as they changed. */
export type ChangedTemplates = Partial<Readonly<Record<RouteTemplateKind, string>>>;

export interface RouteTemplateFault {
  readonly template: RouteTemplateKind;
  readonly error: TemplateError;
}

/** @param routeId null for a Route that is not there yet: it took nothing */
export type RouteTemplateCheck = (
  changed: ChangedTemplates,
  routeId: PublicId | null,
  at: SampleMoment,
) => Promise<readonly RouteTemplateFault[]>;

export interface RouteTemplateCheckDeps {
  readonly samples: Pick<SampleReader, 'ofRoute' | 'example'>;
  readonly links: Pick<LinkSource, 'current'>;
  readonly monotonic: RenderTimer;
}

const KINDS = ['root_message', 'line', 'ack_timeout_notice'] as const satisfies readonly RouteTemplateKind[];

export function createRouteTemplateCheck(deps: RouteTemplateCheckDeps): RouteTemplateCheck {
  const { samples } = deps;
  return async (changed, routeId, at) => {
    const faults: RouteTemplateFault[] = [];
    const parsed: { readonly kind: RouteTemplateKind; readonly template: Template }[] = [];
    for (const kind of KINDS) {
      const source = changed[kind];
      if (source === undefined) continue;
      const read = parseTemplate(kind, source);
      if (read.ok) parsed.push({ kind, template: read.template });
      else faults.push({ template: kind, error: read.error });
    }
    if (parsed.length === 0) return faults;
    const groups = routeId === null ? [] : await samples.ofRoute(routeId, at);
    const tried = groups.length > 0 ? groups : [samples.example(null, at)];
    for (const { kind, template } of parsed) {
      const error = await failureOn(deps, template, tried, at);
      if (error) faults.push({ template: kind, error });
    }
    return faults;
  };
}

async function failureOn(
  { links, monotonic }: RouteTemplateCheckDeps,
  template: Template,
  groups: readonly TemplateGroup[],
  { directory, now }: SampleMoment,
): Promise<TemplateError | null> {
  const zone = directory.organization.timeZone;
  const configuration = links.current();
  for (const group of groups) {
    const context: RenderContext = {
      format: plainFormat,
      now,
      zone,
      monotonic,
      lookup: (table, key, column) => cellOf(configuration, table, key, column),
      // Whether somebody can be mentioned depends on the messenger, never on the template.
      mention: () => '',
      lookedUp: new Set(),
      // Lines of one message are made in one go.
      effort: { steps: 0 },
    };
    const data =
      template.kind === 'line'
        ? group.alerts.slice(0, MOST_LINES).map((alert) => lineData(group, alert, zone))
        : [groupData(group, zone)];
    for (const each of data) {
      // Between renders everybody else gets a turn.
      await setImmediate();
      const rendered = renderTemplate(template, each, context);
      if (!rendered.ok) return rendered.error;
    }
  }
  return null;
}

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
  readonly monotonic: RenderTimer;
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
