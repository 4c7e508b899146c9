/** Which labels a row shows at a glance: those of the Group key that the title and the severity mark do not say. */
import type { AlertGroup } from '../../api/shapes.ts';

const SHOWN = 3;

/** @param columns names that were asked for; then exactly those that all Alerts share */
export function rowLabels(
  group: AlertGroup,
  columns: readonly string[],
): readonly (readonly [string, string])[] {
  if (columns.length > 0) {
    return columns.flatMap((name) => {
      const value = group.label_values[name] ?? group.common_labels[name];
      return value === undefined ? [] : [[name, value] as const];
    });
  }
  return Object.entries(group.group_labels)
    .filter(([name, value]) => value !== '' && name !== 'alertname' && value !== group.severity_level)
    .slice(0, SHOWN);
}
