/**
 * Builds the machines that the service runs into the page: the module `virtual:machines` holds a diagram of each, and
 * `virtual:machine-rows` what the contract's tables say of their transitions.
 */
import Elk from 'elkjs/lib/elk.bundled.js';
import type { Plugin } from 'vite';
import { machines } from '../actors/machines.ts';
import { type Diagram, diagramOf } from '../scripts/machines/diagram.ts';
import { type ContractTables, contractTables } from './machine-tables.ts';

const NAME = 'virtual:machines';
const ROWS_NAME = 'virtual:machine-rows';
/** Marks a module as one that is no file. */
const resolved = (name: string) => `\0${name}`;

interface Built {
  readonly diagrams: readonly Diagram[];
  readonly rows: ContractTables['rows'];
}

async function build(): Promise<Built> {
  const elk = new Elk.default();
  const { rows, rowOf } = contractTables();
  const diagrams = await Promise.all(
    Object.entries(machines).map(([kind, machine]) => diagramOf(kind, machine, elk, rowOf[kind])),
  );
  return { diagrams, rows };
}

export function machinesPlugin(): Plugin {
  let built: Promise<Built> | undefined;
  return {
    name: 'tocsin-machines',
    resolveId: (id) => (id === NAME || id === ROWS_NAME ? resolved(id) : null),
    async load(id) {
      if (id !== resolved(NAME) && id !== resolved(ROWS_NAME)) return null;
      built ??= build();
      const { diagrams, rows } = await built;
      return id === resolved(NAME)
        ? `export const diagrams = ${JSON.stringify(diagrams)};`
        : `export const rows = ${JSON.stringify(rows)};`;
    },
  };
}
