/** `tocsin machines --out DIR`: every state machine as JSON, Mermaid and SVG. */
import { type Command, EXIT } from './command.ts';
import type { Machines, Pages } from './machines/draw.ts';

/** Writes the drawings into a folder, made when missing. Answers the file names. */
export async function drawMachines(
  machines: Machines,
  outDir: string,
  pages: Pages,
): Promise<readonly string[]> {
  // The layout engine is large and nothing else needs it.
  const { writeDrawings } = await import('./machines/draw.ts');
  return writeDrawings(machines, outDir, pages);
}

/** The command for a set of machines by name, and pages that go with them. */
export function machinesCommand(machines: Machines, pages: Pages): Command {
  return {
    name: 'machines',
    summary: 'draw every state machine as JSON, Mermaid and SVG',
    help: 'Usage: tocsin machines --out DIR\n\nWrites the drawings into DIR. Needs no configuration.',
    options: { out: { type: 'string' } },
    async run({ out }, io) {
      if (typeof out !== 'string' || out === '') {
        io.err('tocsin machines: say where to with --out DIR.');
        return EXIT.usage;
      }
      for (const file of await drawMachines(machines, out, pages)) io.out(file);
      return EXIT.done;
    },
  };
}
