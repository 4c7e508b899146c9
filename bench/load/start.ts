/** Starts the load generator as a process and reads what it measured. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { LoadResult, Plan } from './generator.ts';

const run = promisify(execFile);

export async function load(plan: Plan): Promise<LoadResult> {
  const file = path.join(import.meta.dirname, 'generator.ts');
  const { stdout } = await run(process.execPath, [file, JSON.stringify(plan)], { maxBuffer: 1 << 24 });
  return JSON.parse(stdout) as LoadResult;
}
