/**
 * `npm run machines` draws every machine into `docs/machines`, as JSON (what XState's `createMachine` takes), Mermaid
 * and SVG. Equal machines give equal bytes.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import Elk from 'elkjs/lib/elk.bundled.js';
import { machinePages, machines } from '../../actors/machines.ts';
import { readDocuments } from '../../runtime/documents.ts';
import { type Chart, type ChartState, chartOf } from './chart.ts';
import { type Box, LABEL_LINE, type Placed, type PlacedArrow, placed } from './layout.ts';

export const DRAWN = path.join(import.meta.dirname, '../../docs/machines');

/** File name → content, for every machine, and the pages that go with them. */
export async function drawings(): Promise<ReadonlyMap<string, string>> {
  const elk = new Elk.default();
  const files = new Map<string, string>();
  for (const [name, machine] of Object.entries(machines)) {
    const chart = chartOf(machine);
    files.set(`${name}.json`, `${JSON.stringify(machine.config, null, 2)}\n`);
    files.set(`${name}.mmd`, mermaidOf(chart));
    files.set(`${name}.svg`, svgOf(chart, await placed(chart, elk, 'written')));
  }
  for (const [name, content] of Object.entries(machinePages)) files.set(name, content);
  return files;
}

function mermaidOf(chart: Chart): string {
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

/** A placed chart as SVG that stands alone: no script, no style sheet, readable on light and dark pages. */
interface Drawing {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly states: readonly (ChartState & Box)[];
  readonly arrows: readonly {
    /** Path data. */
    readonly line: string;
    readonly rows: readonly { readonly x: number; readonly y: number; readonly text: string }[];
  }[];
}

const render = readDocuments<{ diagram: Drawing }>(path.join(import.meta.dirname, 'documents'));

function svgOf({ id, states }: Chart, { width, height, states: boxes, arrows }: Placed): string {
  const placed = states.map((state) => {
    const box = boxes.get(state.id);
    if (!box) throw new Error(`the state ${state.name} has no place`);
    return { ...state, ...box };
  });
  return render('diagram', { id, width, height, states: placed, arrows: arrows.map(arrowMark) });
}

function arrowMark({ arrow, points, label }: PlacedArrow): Drawing['arrows'][number] {
  const line = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join(' ');
  if (!label) return { line, rows: [] };
  const x = label.x + label.width / 2;
  return {
    line,
    rows: arrow.labels.map((text, index) => ({ x, y: label.y + (index + 0.8) * LABEL_LINE, text })),
  };
}

if (import.meta.main) {
  for (const [name, content] of await drawings()) await writeFile(path.join(DRAWN, name), content);
}
