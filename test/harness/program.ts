/** The program `tocsin` for commands that end by themselves. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** `tocsin migrate`. @throws with its output when it fails */
export async function migrateDatabase(env: Readonly<Record<string, string>>): Promise<void> {
  await run(process.execPath, ['runtime/main.ts', 'migrate'], {
    cwd: root,
    env: { PATH: process.env.PATH, ...env },
  });
}
