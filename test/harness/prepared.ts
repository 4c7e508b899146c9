/**
 * What a run of tests makes once for every start of the service: the files of a database with all migrations, and what
 * the sources compile to. Outside of a run nothing is prepared, and a service makes what it lacks itself.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Names the folder that holds the files of the database. */
export const PREPARED_DATABASE = 'TOCSIN_TEST_DATABASE';

/**
 * Puts the files of a migrated database where the embedded PostgreSQL of a folder looks for its own, unless it has some.
 * @returns whether the database has its migrations now, as far as is known
 */
export async function copyPreparedDatabase(home: string): Promise<boolean> {
  const prepared = process.env[PREPARED_DATABASE];
  const cluster = path.join(home, 'cluster');
  if (prepared === undefined || existsSync(cluster)) return false;
  await mkdir(home, { recursive: true, mode: 0o711 });
  await promisify(execFile)('cp', ['-a', path.join(prepared, 'cluster'), cluster]);
  return true;
}

/** What a process of the service needs of the environment of this one: where programs are, and its compiled sources. */
export function processEnvironment(): Record<string, string | undefined> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
