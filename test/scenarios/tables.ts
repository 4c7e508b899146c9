/** Every case there is, and how many rows each table has. */

import { GROUPING } from './alert-groups/grouping.ts';
import { OTHER_ROWS } from './alert-groups/other-rows.ts';
import { PEOPLE } from './alert-groups/people.ts';
import { PRESETS } from './alert-groups/presets.ts';
import { SEVERITY } from './alert-groups/severity.ts';
import { TIMERS } from './alert-groups/timers.ts';
import type { Case, Table } from './case.ts';
import { ABSENCE } from './ingestion/absence.ts';
import { ENTRIES } from './ingestion/entries.ts';
import { PATHS } from './ingestion/paths.ts';
import { OUTAGES } from './internal-alerts/outages.ts';
import { RAISING } from './internal-alerts/raising.ts';
import { ADVICE } from './routes/advice.ts';
import { EDITING } from './routes/editing.ts';
import { TAKING } from './routes/taking.ts';

export const ALERT_GROUP_CASES: readonly Case[] = [
  ...GROUPING,
  ...PEOPLE,
  ...SEVERITY,
  ...TIMERS,
  ...OTHER_ROWS,
];

export const INGESTION_CASES: readonly Case[] = [...ENTRIES, ...ABSENCE, ...PATHS];

export const ROUTE_CASES: readonly Case[] = [...EDITING, ...TAKING, ...ADVICE];

export const INTERNAL_ALERT_CASES: readonly Case[] = [...RAISING, ...OUTAGES];

export const CASES: readonly Case[] = [
  ...ALERT_GROUP_CASES,
  ...PRESETS,
  ...INGESTION_CASES,
  ...ROUTE_CASES,
  ...INTERNAL_ALERT_CASES,
];

/** Rows of alert-groups §11, ingestion §15, routes §12 and internal-alerts §9. */
export const ROWS = {
  'alert-groups': 63,
  ingestion: 44,
  routes: 30,
  'internal-alerts': 18,
} as const satisfies Record<Table, number>;

/** Rows that the scenarios cannot show: the database has to stop, or there have to be two replicas. */
export const TESTED_ELSEWHERE = [
  { table: 'ingestion', row: 34, file: 'test/crash/postgres.test.ts', citation: 'ingestion §15 row 34' },
  {
    table: 'internal-alerts',
    row: 14,
    file: 'test/cluster/leader.test.ts',
    citation: 'internal-alerts §9 row 14',
  },
] as const satisfies readonly { table: Table; row: number; file: string; citation: string }[];
