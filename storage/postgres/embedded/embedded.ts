/** The embedded PostgreSQL: the real server as a child process, reached through a private Unix socket only. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DatabaseSettings } from '../../../runtime/config.ts';
import type { Log } from '../../../runtime/log.ts';
import { ensureCluster, SERVICE_DATABASE, SERVICE_ROLE, servicePassword } from './cluster.ts';
import { launcherFor, type RunAs, serverIdentity, UNPRIVILEGED } from './run-as.ts';
import {
  adoptServer,
  binariesIn,
  embeddedBinaries,
  findServer,
  launchServer,
  type PostgresBinaries,
  processIdentity,
  readOrNull,
} from './server.ts';

const PORT = 5432;
/** Longest path of a Unix socket, bytes, without the closing zero. */
const SOCKET_PATH_MAX = 107;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: String(PORT),
  unix_socket_permissions: '0700',
  max_connections: '40',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  jit: 'off',
  update_process_title: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
};

export interface EmbeddedOptions {
  /** Folder that holds the server's files and its log; made when missing. */
  readonly dataDir: string;
  readonly log?: Log;
  /** Server settings beside or instead of the built-in ones, such as `{ shared_buffers: '256MB' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For tests, which make databases of their own: what the service's role is on files that are new. */
  readonly role?: 'superuser';
  /** Called once when the server, started or taken over, ends without {@link RunningPostgres.stop}. */
  readonly onLost?: (reason: string) => void;
}

export interface RunningPostgres {
  readonly settings: DatabaseSettings;
  /** Ends the server cleanly (fast shutdown). May be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts the server that npm installed, making its data folder on first use. A server that a
 * killed process of ours left behind on the same folder is taken over; there are never two.
 * @throws {Error} a sentence for people: package missing, folder in use or not reachable, server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<RunningPostgres> {
  return startPostgres(embeddedBinaries(), options);
}

/** {@link startEmbeddedPostgres} with the programs of another installation, such as `/usr/lib/postgresql/15/bin`. */
export async function startPostgresFrom(bin: string, options: EmbeddedOptions): Promise<RunningPostgres> {
  return startPostgres(binariesIn(bin), options);
}

async function startPostgres(binaries: PostgresBinaries, options: EmbeddedOptions): Promise<RunningPostgres> {
  const home = await prepareHome(options.dataDir);
  await claimHome(home);
  const cluster = path.join(home, 'cluster');
  const launcher = await launcherFor(await serverIdentity(cluster), [binaries.bin, home]);
  await ensureCluster({ binaries, cluster, launcher, role: options.role ?? 'nosuperuser' });
  const socketDir = await makeSocketDir(home, launcher.runAs);
  const leftBehind = await findServer(cluster);
  if (leftBehind !== null)
    options.log?.('library_message', { message: 'taking over a running embedded PostgreSQL' });
  const onLost = options.onLost ?? (() => undefined);
  const server =
    leftBehind !== null
      ? await adoptServer(cluster, leftBehind, onLost)
      : await launchServer({
          binaries,
          launcher,
          cluster,
          logFile: path.join(home, 'postgres.log'),
          settings: { ...SETTINGS, unix_socket_directories: socketDir, ...options.settings },
          onLost,
        });
  return {
    settings: await settingsFor(socketDir, cluster),
    stop: once(async () => {
      await server.stop();
      await rm(path.join(home, 'owner'), { force: true });
    }),
  };
}

/** How to reach the server that runs on a folder, for another program on this machine. */
export async function embeddedSettings(dataDir: string): Promise<DatabaseSettings> {
  const home = await realpath(dataDir);
  return settingsFor(await socketDirOf(home), path.join(home, 'cluster'));
}

async function settingsFor(socketDir: string, cluster: string): Promise<DatabaseSettings> {
  return {
    host: socketDir,
    port: PORT,
    database: SERVICE_DATABASE,
    user: SERVICE_ROLE,
    password: await servicePassword(cluster),
    sslmode: 'disable',
    ca: null,
  };
}

/** Makes the home folder; others may pass through it (not list it), so that an unprivileged server can. */
async function prepareHome(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const home = await realpath(dataDir);
  const { mode } = await stat(home);
  if (process.getuid?.() === 0 && (mode & 0o011) !== 0o011) await chmod(home, (mode & 0o7777) | 0o011);
  return home;
}

/** Notes this process as the user of the folder, unless another living process is. */
async function claimHome(home: string): Promise<void> {
  const file = path.join(home, 'owner');
  const owner = await readOrNull(file);
  const pid = Number(owner?.split(' ')[0]);
  if (owner !== null && pid !== process.pid && pid > 0 && (await processIdentity(pid)) === owner) {
    throw new Error(`The folder ${home} is in use by process ${pid}. Stop it first, or name another folder.`);
  }
  await writeFile(file, (await processIdentity(process.pid)) ?? String(process.pid), { mode: 0o600 });
}

/** A socket's path is short; a folder deep down has its socket near the root. */
async function socketDirOf(home: string): Promise<string> {
  const near = path.join(home, 'socket');
  const fits = Buffer.byteLength(path.join(near, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_MAX;
  const name = `tocsin-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`;
  return fits ? near : path.join(await realpath(os.tmpdir()), name);
}

async function makeSocketDir(home: string, runAs: RunAs | null): Promise<string> {
  const dir = await socketDirOf(home);
  const owner = runAs?.uid ?? process.getuid?.() ?? 0;
  // An earlier version left it to nobody, whose processes are many's.
  if (
    runAs &&
    existsSync(dir) &&
    (await stat(dir)).uid === UNPRIVILEGED.uid &&
    runAs.uid !== UNPRIVILEGED.uid
  ) {
    await rm(dir, { recursive: true });
  }
  if (!existsSync(dir)) {
    await mkdir(dir, { mode: 0o700 });
    if (runAs) await chown(dir, runAs.uid, runAs.gid);
  }
  const found = await stat(dir);
  if (!found.isDirectory() || found.uid !== owner || (found.mode & 0o077) !== 0) {
    throw new Error(`${dir} must be a folder that only user ${owner} can enter. Remove it and start again.`);
  }
  return dir;
}

function once(run: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | null = null;
  return () => {
    result ??= run();
    return result;
  };
}
