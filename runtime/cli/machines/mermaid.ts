/** A chart as a Mermaid state diagram. */
import type { Chart, ChartState } from './chart.ts';

export function mermaidOf(chart: Chart): string {
  const lines = ['stateDiagram-v2', ...statesUnder(chart, null, '  ')];
  for (const { from, to, labels } of chart.arrows) {
    const own = from === chart.id ? null : from;
    if (own === null) continue;
    lines.push(`  ${alias(own)} --> ${alias(to)}: ${labels.join('<br/>')}`);
  }
  return `${lines.join('\n')}\n`;
}

function statesUnder(chart: Chart, parent: string | null, indent: string): string[] {
  const lines: string[] = [];
  for (const state of chart.states.filter((candidate) => candidate.parent === parent)) {
    if (state.initial) lines.push(`${indent}[*] --> ${alias(state.id)}`);
    lines.push(...stateLines(chart, state, indent));
    if (state.final) lines.push(`${indent}${alias(state.id)} --> [*]`);
  }
  return lines;
}

function stateLines(chart: Chart, state: ChartState, indent: string): string[] {
  const named = `${indent}state "${state.name}" as ${alias(state.id)}`;
  if (!state.hasChildren) return [named];
  return [`${named} {`, ...statesUnder(chart, state.id, `${indent}  `), `${indent}}`];
}

/** Mermaid takes letters, digits and underscores. */
function alias(id: string): string {
  return id.replaceAll(/\W/g, '_');
}
