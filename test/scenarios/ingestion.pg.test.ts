/** ingestion §15, row by row, through the whole service. */
import { runCases } from './case.ts';
import { INGESTION_CASES } from './tables.ts';
import { useWorld } from './world.ts';

runCases(useWorld(), INGESTION_CASES);
