/** The program `tocsin` for commands that end by themselves. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { processEnvironment } from './prepared.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** Runs a command to its end. @param program where it lies, if not here @throws with its output when it fails */
export async function runTocsin(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = root,
): Promise<void> {
  await run(process.execPath, ['runtime/main.ts', ...words], {
    cwd: program,
    env: { ...processEnvironment(), ...env },
  });
}
