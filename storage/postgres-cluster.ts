/** The files of an embedded PostgreSQL: made once, checked at every start. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { binariesEnvironment, binariesMajor, type PostgresBinaries } from './postgres-binaries.ts';
import { readOrNull } from './postgres-process.ts';
import type { Launcher } from './postgres-run-as.ts';

/** The one user of the server. */
export const SERVER_USER = 'tocsin';

const FORM = ['--encoding=UTF8', '--data-checksums', '--no-instructions'];
/** Texts in the order of their code points, as under C, and alike whatever the case, which C says of English alone. */
const LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
/** Before 17 that is the operating system's to know. */
const LOCALE_BEFORE_17 = ['--locale=C.UTF-8'];
/** Whoever can enter the socket's folder is let in; nobody else can reach the server. */
const ACCESS = [`--username=${SERVER_USER}`, '--auth-local=trust', '--auth-host=reject'];

/**
 * Makes the files when there are none.
 * @param cluster their folder; its parent exists
 * @throws {Error} a sentence for people when they were written by another major version
 */
export async function ensureCluster(
  binaries: PostgresBinaries,
  cluster: string,
  launcher: Launcher,
): Promise<void> {
  if (existsSync(cluster)) await requireMajor(binaries, cluster);
  else await makeCluster(binaries, cluster, launcher);
}

async function makeCluster(binaries: PostgresBinaries, cluster: string, launcher: Launcher): Promise<void> {
  // Made beside and renamed when complete, so that an interrupted first start leaves nothing half-made behind.
  const fresh = `${cluster}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  if (launcher.runAs) await chown(fresh, launcher.runAs.uid, launcher.runAs.gid);
  const [program, args] = launcher.command(path.join(binaries.bin, 'initdb'), [
    `--pgdata=${fresh}`,
    ...FORM,
    ...(binariesMajor(binaries) < 17 ? LOCALE_BEFORE_17 : LOCALE),
    ...ACCESS,
  ]);
  await promisify(execFile)(program, args, {
    ...launcher.spawn,
    env: binariesEnvironment(binaries),
    cwd: fresh,
  });
  await rename(fresh, cluster);
}

async function requireMajor(binaries: PostgresBinaries, cluster: string): Promise<void> {
  const found = Number(await readOrNull(path.join(cluster, 'PG_VERSION')));
  const wanted = binariesMajor(binaries);
  if (found === wanted) return;
  throw new Error(
    `The data in ${cluster} were written by PostgreSQL ${found}, this is PostgreSQL ${wanted}. ` +
      `Dump them with version ${found} and restore them into a new folder.`,
  );
}
