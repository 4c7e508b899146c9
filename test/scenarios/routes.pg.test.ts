/** routes §12, row by row, through the whole service. */
import { runCases } from './case.ts';
import { ROUTE_CASES } from './tables.ts';
import { useWorld } from './world.ts';

runCases(useWorld(), ROUTE_CASES);
