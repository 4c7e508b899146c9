/** alert-groups §11, rows 56 and 57, in the spring and autumn of 2027. */
import { PRESETS, PRESETS_BEGIN } from './alert-groups/presets.ts';
import { runCases } from './case.ts';
import { useWorld } from './world.ts';

runCases(useWorld(PRESETS_BEGIN), PRESETS);
