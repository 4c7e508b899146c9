import type { Labels } from '../model.ts';

export interface LabelledAlert {
  readonly labels: Labels;
  /** Static labels that the Alert already carried and that therefore were not added, in their stored order. */
  readonly conflicts: readonly string[];
}

/**
 * Adds an Integration's Static labels to what arrived; a label the Alert carries keeps its own value (ingestion §6.2).
 * An empty value is no label, as everywhere.
 */
export function withStaticLabels(labels: Labels, staticLabels: Labels): LabelledAlert {
  const added: Record<string, string> = {};
  const conflicts: string[] = [];
  for (const [name, value] of Object.entries(staticLabels)) {
    if (Object.hasOwn(labels, name) && labels[name] !== '') conflicts.push(name);
    else added[name] = value;
  }
  return { labels: { ...labels, ...added }, conflicts };
}
