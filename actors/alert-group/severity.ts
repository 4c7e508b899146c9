/** Levels and urgency (Alert Group chapter §2). */
import type { Directory } from '../directory.ts';
import { SEVERITY_LEVELS, type SeverityLevel } from '../model.ts';

/** The highest of some levels; null for none. */
export function highestLevel(levels: Iterable<SeverityLevel>): SeverityLevel | null {
  let best: number = SEVERITY_LEVELS.length;
  for (const level of levels) best = Math.min(best, SEVERITY_LEVELS.indexOf(level));
  return SEVERITY_LEVELS.at(best) ?? null;
}

export function isHigher(level: SeverityLevel, than: SeverityLevel): boolean {
  return SEVERITY_LEVELS.indexOf(level) < SEVERITY_LEVELS.indexOf(than);
}

/** Urgent with the settings of now: the Route is, or the level is critical and that counts as Urgent. */
export function isUrgent(directory: Directory, routeId: string, level: SeverityLevel): boolean {
  if (directory.routesById.get(routeId)?.urgent) return true;
  return level === 'critical' && directory.organization.criticalIsUrgent;
}
