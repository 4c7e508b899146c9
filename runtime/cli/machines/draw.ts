/** Draws machines: each as JSON (XState's definition), Mermaid and SVG. The same machine gives the same bytes. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Elk from 'elkjs/lib/elk.bundled.js';
import type { AnyStateMachine } from 'xstate';
import { chartOf } from './chart.ts';
import { placed } from './layout.ts';
import { mermaidOf } from './mermaid.ts';
import { svgOf } from './svg.ts';

export type Machines = Readonly<Record<string, AnyStateMachine>>;

/** Pages that go with the drawings, generated elsewhere: file name → content. */
export type Pages = Readonly<Record<string, string>>;

/** File name → content, for every machine. */
export async function drawings(machines: Machines, pages: Pages = {}): Promise<ReadonlyMap<string, string>> {
  const elk = new Elk.default();
  const files = new Map<string, string>();
  for (const [name, machine] of Object.entries(machines)) {
    const chart = chartOf(machine);
    files.set(`${name}.json`, `${JSON.stringify(machine.definition, null, 2)}\n`);
    files.set(`${name}.mmd`, mermaidOf(chart));
    files.set(`${name}.svg`, svgOf(chart, await placed(chart, elk)));
  }
  for (const [name, content] of Object.entries(pages)) files.set(name, content);
  return files;
}

/** Writes the drawings of all machines into a folder, made when missing. Answers the file names. */
export async function writeDrawings(
  machines: Machines,
  outDir: string,
  pages: Pages = {},
): Promise<readonly string[]> {
  const files = await drawings(machines, pages);
  await mkdir(outDir, { recursive: true });
  for (const [name, content] of files) await writeFile(path.join(outDir, name), content);
  return [...files.keys()];
}
