/** Rows of the tables as cases, and how a test file runs them. */
import { describe, test } from 'vitest';
import { Scenario, type ScenarioOptions } from './scenario.ts';
import type { World } from './world.ts';

export type Table = 'alert-groups' | 'ingestion' | 'routes' | 'internal-alerts';

export interface Case {
  readonly table: Table;
  readonly row: number;
  /** What the row shows; a row may have several runs. */
  readonly title: string;
  readonly options: ScenarioOptions;
  readonly run: (scenario: Scenario) => Promise<void>;
}

/** Adds rows of one table to a list. */
export function casesOf(table: Table) {
  const cases: Case[] = [];
  const row = (number: number, title: string, run: Case['run'], options: ScenarioOptions = {}): void => {
    cases.push({ table, row: number, title, options, run });
  };
  return { cases, row };
}

/** `alert-groups 13: the same key fires again within the Reopen window`. */
export function caseName({ table, row, title }: Pick<Case, 'table' | 'row' | 'title'>): string {
  return `${table} ${row}: ${title}`;
}

/** One test a case, under the name of its row. */
export function runCases(world: () => World, cases: readonly Case[]): void {
  describe('scenarios', () => {
    for (const one of cases) test(caseName(one), () => runCase(world(), one));
  });
}

/** A case that fails must not reach into the next one, and what is told is why it failed. */
async function runCase(world: World, { options, run }: Case): Promise<void> {
  const failures: unknown[] = [];
  const scenario = await Scenario.open(world, options);
  for (const part of [run, () => scenario.close()]) {
    await part(scenario).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
