/** internal-alerts §9, row by row, through the whole service. */
import { runCases } from './case.ts';
import { INTERNAL_ALERT_CASES } from './tables.ts';
import { useWorld } from './world.ts';

runCases(useWorld(), INTERNAL_ALERT_CASES);
