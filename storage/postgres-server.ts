/** The server process of an embedded PostgreSQL: started, taken over, ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { binariesEnvironment, type PostgresBinaries } from './postgres-binaries.ts';
import { readOrNull, readPostmaster, until, worksIn } from './postgres-process.ts';
import type { Launcher } from './postgres-run-as.ts';

/** Crash recovery of a few gigabytes of log may take this long. */
const START_PATIENCE_MS = 300_000;
/** A fast shutdown writes a checkpoint; after this long the server is cut and recovers at its next start. */
const STOP_PATIENCE_MS = 15_000;

/** How often a server that is no child of ours is looked at. */
const WATCH_EVERY_MS = 1000;

export interface Server {
  stop(): Promise<void>;
}

export interface LaunchOptions {
  readonly binaries: PostgresBinaries;
  readonly launcher: Launcher;
  readonly cluster: string;
  /** The server's own log; begun anew. */
  readonly logFile: string;
  /** Server settings, as for `postgres -c`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly onLost: (reason: string) => void;
}

/** The process that still serves a cluster; clears the record of one that is gone. */
export async function findServer(cluster: string): Promise<number | null> {
  const record = await readPostmaster(cluster);
  if (record === null) return null;
  if (await worksIn(record.pid, cluster)) return record.pid;
  // The number may belong to another program by now, which would keep the new server from starting.
  await rm(path.join(cluster, 'postmaster.pid'), { force: true });
  return null;
}

/**
 * Waits until a server that somebody else started is ready.
 * @param onLost called once when it ends on its own; it is no child, so it is looked at every second
 */
export async function adoptServer(
  cluster: string,
  pid: number,
  onLost: (reason: string) => void,
): Promise<Server> {
  const ready = await until(async () => {
    if (!(await worksIn(pid, cluster))) return 'gone';
    return (await readPostmaster(cluster))?.ready ? 'ready' : null;
  }, START_PATIENCE_MS);
  if (ready !== 'ready') throw new Error(`The PostgreSQL left running on ${cluster} does not become ready.`);
  let isOver = false;
  const watch = setInterval(async () => {
    if ((await worksIn(pid, cluster)) || isOver) return;
    isOver = true;
    clearInterval(watch);
    onLost('gone');
  }, WATCH_EVERY_MS).unref();
  return {
    stop: () => {
      isOver = true;
      clearInterval(watch);
      return endServer(pid, async () => !(await worksIn(pid, cluster)));
    },
  };
}

/** Starts a server as a child and waits until it is ready. */
export async function launchServer(options: LaunchOptions): Promise<Server> {
  const child = await spawnServer(options);
  const end = followEnd(child);
  const ready = await until(async () => {
    if (end.reason() !== null) return 'ended';
    const record = await readPostmaster(options.cluster);
    return record?.pid === child.pid && record?.ready ? 'ready' : null;
  }, START_PATIENCE_MS);
  if (ready !== 'ready') {
    child.kill('SIGQUIT');
    const said = (await readOrNull(options.logFile))?.trim().split('\n').slice(-5).join('\n');
    throw new Error(`The embedded PostgreSQL did not start (${end.reason() ?? 'too slow'}): ${said}`);
  }
  let isStopping = false;
  end.onEnd((reason) => {
    if (!isStopping) options.onLost(reason);
  });
  return {
    stop: () => {
      isStopping = true;
      return endServer(child.pid ?? 0, () => end.reason() !== null);
    },
  };
}

async function spawnServer(options: LaunchOptions): Promise<ChildProcess> {
  const { binaries, launcher, cluster, settings } = options;
  const output = await open(options.logFile, 'w', 0o600);
  const [program, args] = launcher.command(path.join(binaries.bin, 'postgres'), [
    '-D',
    cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const child = spawn(program, args, {
    ...launcher.spawn,
    cwd: cluster,
    env: binariesEnvironment(binaries),
    // A session of its own: Ctrl-C in the terminal reaches only us, and we stop the server last.
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  child.unref();
  await output.close();
  return child;
}

interface End {
  /** Null while the child runs. */
  reason(): string | null;
  onEnd(run: (reason: string) => void): void;
}

function followEnd(child: ChildProcess): End {
  let reason: string | null = null;
  let listener: ((reason: string) => void) | null = null;
  const ended = (text: string) => {
    reason ??= text;
    listener?.(reason);
  };
  child.once('error', (error) => ended(error.message));
  child.once('exit', (code, signal) => ended(signal === null ? `exit ${code}` : `signal ${signal}`));
  return {
    reason: () => reason,
    onEnd: (run) => {
      listener = run;
    },
  };
}

async function endServer(pid: number, isGone: () => boolean | Promise<boolean>): Promise<void> {
  const gone = async () => ((await isGone()) ? true : null);
  if (await gone()) return;
  process.kill(pid, 'SIGINT');
  if (await until(gone, STOP_PATIENCE_MS)) return;
  process.kill(pid, 'SIGQUIT');
  await until(gone, STOP_PATIENCE_MS);
}
