/** Builds the machines that the service runs into the page: the module `virtual:machines` holds a diagram of each. */
import Elk from 'elkjs/lib/elk.bundled.js';
import type { Plugin } from 'vite';
import { machines } from '../actors/machines.ts';
import { diagramOf } from '../runtime/cli/machines/diagram.ts';
import { contractRows } from './machine-tables.ts';

const NAME = 'virtual:machines';
/** Marks the module as one that is no file. */
const RESOLVED = `\0${NAME}`;

export function machinesPlugin(): Plugin {
  return {
    name: 'tocsin-machines',
    resolveId: (id) => (id === NAME ? RESOLVED : null),
    async load(id) {
      if (id !== RESOLVED) return null;
      const elk = new Elk.default();
      const rows = contractRows();
      const diagrams = await Promise.all(
        Object.entries(machines).map(([kind, machine]) => diagramOf(kind, machine, elk, rows[kind])),
      );
      return `export const diagrams = ${JSON.stringify(diagrams)};`;
    },
  };
}
