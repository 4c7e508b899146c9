/** Real databases for tests: one server a run, one database a test file. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, inject } from 'vitest';
import type { DatabaseSettings } from '../runtime/config.ts';
import { migrate } from '../storage/migrate.ts';
import { connect } from '../storage/postgres/connection.ts';
import {
  type RunningPostgres,
  startEmbeddedPostgres,
  startPostgresFrom,
} from '../storage/postgres/embedded/embedded.ts';
import type { Sql } from '../storage/postgres/records.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: DatabaseSettings;
  }
}

/** Database with all migrations, which test databases are copied from. */
const TEMPLATE = 'tocsin_template';

/**
 * Durability is not under test; speed is welcome. A copied database goes through the log whole. The snapshot of an
 * automatic ANALYZE would keep row versions that a test expects to be removed.
 */
const FAST = {
  ...{ fsync: 'off', full_page_writes: 'off', wal_compression: 'off' },
  ...{ autovacuum: 'off', max_connections: '100' },
};

export interface TestServer {
  /** The server with its maintenance database. */
  readonly settings: DatabaseSettings;
  /** Folder of its files. */
  readonly dataDir: string;
  /** A fresh database of its own name, with all migrations applied unless `empty`. */
  createDatabase(empty?: 'empty'): Promise<DatabaseSettings>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts a server on files of its own, for programs and tests that need one.
 * PostgreSQL 18 as installed by npm; `TOCSIN_TEST_POSTGRES=15` takes Debian's 15.
 * @param more server settings besides
 */
export async function startTestServer(more: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const home = await mkdtemp(path.join(os.tmpdir(), 'tocsin-pg-'));
  await chmod(home, 0o711);
  const server = await startChosen(home, more);
  const stop = async () => {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    await makeTemplate(server.settings);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    settings: server.settings,
    dataDir: path.join(home, 'cluster'),
    createDatabase: (empty) => createTestDatabase(server.settings, empty),
    stop,
  };
}

function startChosen(home: string, more: Readonly<Record<string, string>>): Promise<RunningPostgres> {
  const major = process.env.TOCSIN_TEST_POSTGRES;
  const options = { dataDir: home, settings: { ...FAST, ...more }, role: 'superuser' } as const;
  return major === undefined
    ? startEmbeddedPostgres(options)
    : startPostgresFrom(`/usr/lib/postgresql/${major}/bin`, options);
}

async function makeTemplate(server: DatabaseSettings): Promise<void> {
  await maintain(server, `create database ${TEMPLATE}`);
  const session = connect({ ...server, database: TEMPLATE }, { max: 1, applicationName: 'test-template' });
  try {
    await migrate(session);
  } finally {
    await session.end();
  }
}

/** A database of its own name on a test server; with all migrations applied unless `empty`. */
export async function createTestDatabase(
  server: DatabaseSettings,
  empty?: 'empty',
): Promise<DatabaseSettings> {
  const database = `test_${randomBytes(6).toString('hex')}`;
  await maintain(server, `create database ${database} template ${empty ? 'template0' : TEMPLATE}`);
  return { ...server, database };
}

/** Drops it, whoever is still connected. */
export async function dropTestDatabase(
  server: DatabaseSettings,
  { database }: DatabaseSettings,
): Promise<void> {
  await maintain(server, `drop database ${database} with (force)`);
}

async function maintain(server: DatabaseSettings, statement: string): Promise<void> {
  const sql = connect(server, { max: 1, applicationName: 'test-maintenance' });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

export interface TestDatabase {
  /** A pool of four connections. */
  sql(): Sql;
  /** For clients of the test's own. */
  settings(): DatabaseSettings;
}

/**
 * Gives the calling test file a database of its own, made before its first test and dropped after its last.
 * @param empty without any tables
 */
export function useDatabase(empty?: 'empty'): TestDatabase {
  let current: { settings: DatabaseSettings; sql: Sql } | null = null;
  const required = () => {
    if (current === null) throw new Error('The database exists inside tests and hooks only.');
    return current;
  };
  beforeAll(async () => {
    const settings = await createTestDatabase(inject('postgres'), empty);
    current = { settings, sql: connect(settings, { max: 4, applicationName: 'test' }) };
  });
  afterAll(async () => {
    if (current === null) return;
    await current.sql.end({ timeout: 1 });
    await dropTestDatabase(inject('postgres'), current.settings);
  });
  return { sql: () => required().sql, settings: () => required().settings };
}
