/** `tocsin quickstart` that takes Snapshots in and leaves them in the queue: the accept path alone. */
import { parseArgs } from 'node:util';
import { quickstart, runQuickstart } from '../runtime/cli/quickstart.ts';

const { values } = parseArgs({ options: quickstart.options });
process.exitCode = await runQuickstart(
  values as Record<string, string | boolean | undefined>,
  { env: process.env, out: (line) => console.log(line), err: (line) => console.error(line) },
  'paused',
);
