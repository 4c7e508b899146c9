import type { OrganizationSettings } from '../directory.ts';
import type { Labels, SeverityLevel } from '../model.ts';
import { labelValue } from './matcher.ts';

export interface Severity {
  readonly level: SeverityLevel;
  /** The label's value when it is not mapped to a level, else null. */
  readonly raw: string | null;
}

/**
 * Severity of an Alert by the Organization's label and mapping, compared exactly: unmapped counts as warning, missing
 * or empty as info (routes §5, seed 2 §2.6). Internal alerts do not come here; their registry names the level.
 */
export function severityOf(
  labels: Labels,
  organization: Pick<OrganizationSettings, 'severityLabel' | 'severityMapping'>,
): Severity {
  const value = labelValue(labels, organization.severityLabel);
  if (value === '') return { level: 'info', raw: null };
  const entry = organization.severityMapping.find((mapped) => mapped.value === value);
  return entry ? { level: entry.level, raw: null } : { level: 'warning', raw: value };
}
