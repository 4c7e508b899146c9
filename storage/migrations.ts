/** The migration files that this build carries. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: string;
  /** The way back, where there is one. Downgrades are not supported; tests use it to prove that nothing is left over. */
  readonly down: string | null;
  /** SHA-256 of {@link up}. */
  readonly checksum: string;
  /** False for a single statement that PostgreSQL refuses inside a transaction; it must bear being run again. */
  readonly transactional: boolean;
}

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const OUTSIDE = '-- outside a transaction';
const FOLDER = path.join(import.meta.dirname, 'migrations');

/**
 * Reads `NNNN_name.sql` (and `NNNN_name.down.sql` beside it), in order.
 * @throws {Error} when two have one number
 */
export function readMigrations(folder: string = FOLDER): readonly Migration[] {
  const migrations = readdirSync(folder)
    .flatMap((file) => {
      const match = FILE.exec(file);
      return match ? [readMigration(folder, Number(match[1]), match[2] ?? '', file)] : [];
    })
    .sort((a, b) => a.version - b.version);
  for (const [index, { version, name }] of migrations.entries()) {
    if (migrations[index - 1]?.version === version)
      throw new Error(`Two migrations are number ${version}, one of them ${name}.`);
  }
  return migrations;
}

/** The newest version that this build knows. */
export function knownVersion(migrations: readonly Migration[] = readMigrations()): number {
  return migrations.at(-1)?.version ?? 0;
}

function readMigration(folder: string, version: number, name: string, file: string): Migration {
  const up = readFileSync(path.join(folder, file), 'utf8');
  const downFile = path.join(folder, file.replace(/\.sql$/, '.down.sql'));
  return {
    version,
    name,
    up,
    down: existsSync(downFile) ? readFileSync(downFile, 'utf8') : null,
    checksum: createHash('sha256').update(up).digest('hex'),
    transactional: !up.startsWith(OUTSIDE),
  };
}
