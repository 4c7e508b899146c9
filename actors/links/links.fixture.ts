/** Alert Groups and configurations for tests of links. */
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { commonOf } from '../alert-group/reading/alert-summary.ts';
import type { Labels } from '../model.ts';
import type { TemplateAlert, TemplateGroup } from '../templates/data.ts';
import { cellReader, type LinkConfiguration, readyRules } from './configuration.ts';
import type { LinkRuleFields, LookupRow } from './ports.ts';

export const AT: Micros = 1_790_000_000_000_000;

export function alertWith(
  labels: Labels,
  more: Partial<Pick<TemplateAlert, 'annotations' | 'generatorUrl' | 'status'>> = {},
): TemplateAlert {
  const { annotations = {}, generatorUrl = null, status = 'firing' } = more;
  const endsAt = status === 'firing' ? null : AT;
  return {
    fingerprint: JSON.stringify(labels),
    status,
    labels,
    annotations,
    startsAt: AT,
    endsAt,
    generatorUrl,
  };
}

export function groupOf(...alerts: readonly TemplateAlert[]): TemplateGroup {
  return {
    number: 412,
    title: 'DiskFull',
    summary: null,
    status: 'firing',
    route: 'Disks',
    severityLevel: 'warning',
    urgent: false,
    startedAt: AT,
    url: 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA',
    reopenCount: 0,
    owner: null,
    alerts,
    groupLabels: {},
    commonLabels: commonOf(alerts.map(({ labels }) => labels)),
    commonAnnotations: {},
    externalUrl: 'https://oncall.example.org',
  };
}

export function ruleOf(
  fields: Partial<LinkRuleFields> & Pick<LinkRuleFields, 'url_template'>,
): LinkRuleFields {
  return { name: 'Rule', matchers: [], scope: { type: 'alert_group', label: null }, ...fields };
}

export interface MadeTable {
  readonly columns: readonly string[];
  readonly rows: readonly LookupRow[];
}

/** @param builtin the built-in rule, when it is among them */
export function configurationOf(
  rules: readonly LinkRuleFields[],
  tables: Readonly<Record<string, MadeTable>> = {},
  builtin: LinkRuleFields | null = null,
): LinkConfiguration {
  const readers = new Map(Object.entries(tables).map(([name, table]) => [name, cellReader(table)]));
  const stored = rules.map((fields) => ({
    id: newPublicId('KR'),
    version: 1,
    builtin: fields === builtin,
    fields,
    createdAt: AT,
  }));
  return { rules: readyRules(stored, readers), tables: readers };
}
