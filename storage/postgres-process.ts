/** Looks at server processes from outside: which one serves a data folder, whether it lives, whether it is ready. */
import { readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 10;

/** What a server writes into `postmaster.pid`. */
export interface PostmasterRecord {
  readonly pid: number;
  readonly ready: boolean;
}

/** Reads the record of a data folder; null when no server wrote one. */
export async function readPostmaster(cluster: string): Promise<PostmasterRecord | null> {
  const text = await readOrNull(path.join(cluster, 'postmaster.pid'));
  const lines = text?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return null;
  return { pid, ready: lines[7]?.trim() === 'ready' };
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
export async function worksIn(pid: number, cluster: string): Promise<boolean> {
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
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return `${pid} ${started}`;
}

/** Resolves when the condition holds; null when `patience` ms went by first. */
export async function until<T>(
  condition: () => Promise<T | null> | T | null,
  patience: number,
): Promise<T | null> {
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
