/** Prepares what all starts of the service in a run share, and removes it after the run. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../storage/migrate.ts';
import { connect } from '../storage/postgres/connection.ts';
import { startEmbeddedPostgres } from '../storage/postgres/embedded/embedded.ts';
import { PREPARED_DATABASE, PREPARED_SOURCES, prepareSources } from './harness/prepared.ts';
import { runTocsin } from './harness/program.ts';

export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tocsin-run-'));
  await chmod(folder, 0o711);
  const remove = () => rm(folder, { recursive: true, force: true });
  process.env.NODE_COMPILE_CACHE ??= path.join(folder, 'compiled');
  process.env[PREPARED_DATABASE] = path.join(folder, 'postgres');
  try {
    process.env[PREPARED_SOURCES] = await prepareSources(folder);
    // What a process compiled is kept when it ends by itself; most of those in tests are killed.
    await Promise.all([runTocsin(['version']), prepareDatabase(path.join(folder, 'postgres'))]);
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}

async function prepareDatabase(dataDir: string): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  const session = connect(server.settings, { max: 1, applicationName: 'test-preparation' });
  try {
    await migrate(session);
  } finally {
    await session.end();
    await server.stop();
  }
}
