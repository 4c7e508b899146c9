/** The links of an Alert Group (messages §9.2): Link rules by name, then what its Alerts carry themselves. */
import { setImmediate } from 'node:timers/promises';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertLinks } from '../alert-group/reading/alert-summary.ts';
import type { StoredGroup } from '../alert-group/reading/readers.ts';
import type { Directory } from '../directory.ts';
import { type TemplateAlerts, templateGroup } from '../previews/samples.ts';
import { type LinkSubject, linkRuleData, type TemplateAlert, type TemplateGroup } from '../templates/data.ts';
import {
  plainFormat,
  type RenderContext,
  type RenderTimer,
  renderTemplate,
  type Template,
  type TemplateError,
} from '../templates/index.ts';
import { naturalOrder, safeUrl } from '../text.ts';
import { cellOf, type LinkConfiguration, type LinkRule, type LinkSource } from './configuration.ts';
import type { LinkRuleScope } from './ports.ts';

/** Values of a label that get a link each. */
const MOST_VALUES = 20;

export interface GroupLink {
  readonly kind: 'link_rule' | 'runbook' | 'dashboard' | 'source';
  readonly name: string;
  readonly url: string;
  /** Of a Link rule only. */
  readonly link_rule_id: PublicId | null;
}

/** A rule that gave no link because its template failed. */
interface FailedRule {
  readonly rule: Pick<LinkRule, 'id' | 'version' | 'name'>;
  readonly error: TemplateError;
}

export interface EvaluatedLinks {
  readonly links: readonly GroupLink[];
  readonly failed: readonly FailedRule[];
}

export interface LinkSettings {
  readonly configuration: LinkConfiguration;
  readonly now: Micros;
  /** The Organization's, a name of the IANA database. */
  readonly zone: string;
  readonly monotonic?: RenderTimer;
}

/** The rules that an Alert Group with these common labels is run through. */
function rulesFor({ rules }: LinkConfiguration, commonLabels: TemplateGroup['commonLabels']) {
  return rules.filter((rule) => rule.takes(commonLabels));
}

/** Everything that an Alert Group links to, each URL once. */
export function evaluateLinks(
  group: TemplateGroup,
  alertLinks: AlertLinks,
  settings: LinkSettings,
): EvaluatedLinks {
  const steps = evaluating(group, alertLinks, settings);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * The same one rule at a time, for callers that yield to other work in between: many rules over many Alerts take their
 * time.
 */
export function* evaluating(
  group: TemplateGroup,
  alertLinks: AlertLinks,
  settings: LinkSettings,
): Generator<undefined, EvaluatedLinks> {
  const context = contextOf(settings);
  const links: GroupLink[] = [];
  const failed: FailedRule[] = [];
  for (const rule of rulesFor(settings.configuration, group.commonLabels)) {
    const run = runRule(rule, group, context);
    if (run.ok) links.push(...run.links);
    else failed.push({ rule, error: run.error });
    yield;
  }
  return { links: eachOnce([...links, ...linksOfAlerts(alertLinks)]), failed };
}

/** Links that need no rule. */
export function linksOfAlerts({ runbookUrl, dashboardUrl, sourceUrl }: AlertLinks): readonly GroupLink[] {
  const links = [
    { kind: 'runbook', name: 'Runbook', url: runbookUrl },
    { kind: 'dashboard', name: 'Dashboard', url: dashboardUrl },
    { kind: 'source', name: 'Source', url: sourceUrl },
  ] as const;
  return eachOnce(
    links.flatMap(({ url, ...link }) => (url === null ? [] : [{ ...link, url, link_rule_id: null }])),
  );
}

/** The rows that all rules of one group look up count together. */
export function contextOf({ configuration, ...settings }: LinkSettings): RenderContext {
  return {
    ...settings,
    format: plainFormat,
    lookup: (table, key, column) => cellOf(configuration, table, key, column),
    mention: () => null,
    lookedUp: new Set(),
  };
}

type Run =
  | { readonly ok: true; readonly links: readonly GroupLink[] }
  | { readonly ok: false; readonly error: TemplateError };

/** One failure leaves out all links of the rule. */
function runRule(rule: LinkRule, group: TemplateGroup, context: RenderContext): Run {
  if (!rule.template.ok) return rule.template;
  const links: GroupLink[] = [];
  const inOneGo = { ...context, effort: { steps: 0 } };
  for (const subject of subjectsOf(rule.scope, group)) {
    const rendered = renderLink(rule.template.template, group, subject, inOneGo);
    if (!rendered.ok) return rendered;
    const name = rule.scope.type === 'label_value' ? `${rule.name}: ${subject.value}` : rule.name;
    if (rendered.url !== null)
      links.push({ kind: 'link_rule', name, url: rendered.url, link_rule_id: rule.id });
  }
  return { ok: true, links };
}

/** What a rule is run for: the Alert Group, or each value of a label with the first Alert that has it. */
export function subjectsOf(scope: LinkRuleScope, group: TemplateGroup): readonly LinkSubject[] {
  if (scope.type === 'alert_group') return [{ labels: group.commonLabels, value: '' }];
  const first = new Map<string, TemplateAlert>();
  for (const alert of group.alerts) {
    const value = Object.hasOwn(alert.labels, scope.label) ? (alert.labels[scope.label] ?? '') : '';
    if (value !== '' && !first.has(value)) first.set(value, alert);
  }
  return [...first]
    .sort(([left], [right]) => naturalOrder(left, right))
    .slice(0, MOST_VALUES)
    .map(([value, { labels }]) => ({ labels, value }));
}

/** A URL is null when the output is none that may be shown. */
export function renderLink(
  template: Template,
  group: TemplateGroup,
  subject: LinkSubject,
  context: RenderContext,
):
  | { readonly ok: true; readonly url: string | null }
  | { readonly ok: false; readonly error: TemplateError } {
  const rendered = renderTemplate(template, linkRuleData(group, subject, context.zone), context);
  return rendered.ok ? { ok: true, url: safeUrl(rendered.text) } : rendered;
}

function eachOnce(links: readonly GroupLink[]): readonly GroupLink[] {
  const known = new Set<string>();
  return links.filter(({ url }) => !known.has(url) && known.add(url));
}

/** So many failures are remembered as told; an older one is told again. */
const REMEMBERED = 10_000;

export interface LinkFailures {
  report(groupId: PublicId, failed: readonly FailedRule[]): void;
}

export function createLinkFailures(deps: {
  readonly log: Log;
  /** Counts failing templates, where metrics are kept. */
  readonly count: () => void;
}): LinkFailures {
  const told = new Set<string>();
  return {
    report(groupId, failed) {
      for (const { rule, error } of failed) {
        deps.count();
        // A rule that was changed fails anew.
        const key = `${rule.id}/${rule.version}/${groupId}`;
        if (told.has(key)) continue;
        told.add(key);
        if (told.size > REMEMBERED) for (const oldest of told) if (told.delete(oldest)) break;
        const place = `line ${error.line}, column ${error.column}`;
        deps.log('link_rule_failed', {
          link_rule: rule.id,
          group: groupId,
          error: `${place}: ${error.message}`,
        });
      }
    },
  };
}

/** The links of stored Alert Groups, for whoever reads them (messages §9.2). */
export interface GroupLinks {
  /**
   * Of the groups in their order, with those of Link rules; reads their Alerts. Of the first groups only, at least one,
   * when making the links of more would take longer than {@link LONGEST} or they would be larger than
   * {@link MOST_CHARACTERS}.
   */
  of(groups: readonly StoredGroup[], at: ReadingMoment): Promise<readonly (readonly GroupLink[])[]>;
}

/** Of evaluating alone: waiting for the database, and for others, does not make a page shorter. */
const LONGEST: Micros = SECOND;
/** Of their JSON. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Alerts that are read together, unless one group has more. */
const ALERTS_AT_ONCE = 1_000;
/** Others get a turn after so much work. */
const TURN: Micros = 5_000;

export interface ReadingMoment {
  readonly directory: Directory;
  readonly now: Micros;
}

export interface GroupLinksDeps {
  readonly links: Pick<LinkSource, 'current'>;
  readonly alerts: Pick<TemplateAlerts, 'ofEach'>;
  readonly failures: LinkFailures;
  readonly publicUrl: string;
  readonly monotonic: RenderTimer;
}

export function createGroupLinks(deps: GroupLinksDeps): GroupLinks {
  const { links, alerts, failures, publicUrl, monotonic } = deps;
  let turnBegan = monotonic();
  let last: Promise<unknown> = Promise.resolve();
  /** One group at a time, of all readings together, so that each round of the event loop has one turn of this work. */
  const inTurn = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const made = last.then(run);
    last = made.catch(() => undefined);
    return made;
  };
  const evaluated = async (
    group: StoredGroup,
    seen: TemplateGroup,
    settings: LinkSettings,
    work: { spent: Micros },
  ) => {
    const steps = evaluating(seen, group, settings);
    for (;;) {
      if (monotonic() - turnBegan > TURN) {
        await setImmediate();
        turnBegan = monotonic();
      }
      const began = monotonic();
      const step = steps.next();
      work.spent += monotonic() - began;
      if (!step.done) continue;
      failures.report(group.id, step.value.failed);
      return step.value.links;
    }
  };
  return {
    async of(groups, { directory, now }) {
      const configuration = links.current();
      const settings = { configuration, now, zone: directory.organization.timeZone, monotonic };
      const isTaken = (group: StoredGroup) => rulesFor(configuration, group.commonLabels).length > 0;
      const work = { spent: 0 };
      const all: (readonly GroupLink[])[] = [];
      let characters = 0;
      for (const some of readTogether(groups, isTaken)) {
        const taken = new Set(some.filter(isTaken).map(({ id }) => id));
        const read = taken.size > 0 ? await alerts.ofEach([...taken]) : new Map<PublicId, never>();
        for (const group of some) {
          const seen = () => templateGroup(group, read.get(group.id) ?? [], { directory, publicUrl });
          const found = taken.has(group.id)
            ? await inTurn(() => evaluated(group, seen(), settings, work))
            : linksOfAlerts(group);
          characters += JSON.stringify(found).length;
          if (all.length > 0 && characters > MOST_CHARACTERS) return all;
          all.push(found);
          if (work.spent > LONGEST) return all;
        }
      }
      return all;
    },
  };
}

/** The groups in their order, in slices whose Alerts, as far as they are needed, are held in memory together. */
function readTogether(groups: readonly StoredGroup[], isTaken: (group: StoredGroup) => boolean) {
  const slices: StoredGroup[][] = [];
  let count = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    const more = isTaken(group) ? group.firingAlertCount + group.resolvedAlertCount : 0;
    if (count + more > ALERTS_AT_ONCE) slices.push([]);
    count = count + more > ALERTS_AT_ONCE ? more : count + more;
    slices.at(-1)?.push(group);
  }
  return slices;
}
