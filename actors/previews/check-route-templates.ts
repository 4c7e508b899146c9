/** Whether templates of a Route may be saved: they parse, and they render what it took lately (templates §10, routes §3). */
import { setImmediate } from 'node:timers/promises';
import type { Monotonic } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { cellOf, type LinkSource } from '../links/configuration.ts';
import { groupData, lineData, type TemplateGroup } from '../templates/data.ts';
import {
  parseTemplate,
  plainFormat,
  type RenderContext,
  renderTemplate,
  type Template,
  type TemplateError,
} from '../templates/index.ts';
import { MOST_LINES, type RouteTemplateKind } from './ports.ts';
import type { SampleMoment, SampleReader } from './samples.ts';

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
  readonly monotonic: Monotonic;
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
