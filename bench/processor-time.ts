/** Processor seconds that processes of this machine have used, as /proc tells them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** User and system time of a process so far; 0 for one that has just ended. */
export function cpuSeconds(pid: number, withEndedChildren = false): number {
  const fields = statOf(pid);
  if (fields === null) return 0;
  const ticks = [11, 12, ...(withEndedChildren ? [13, 14] : [])];
  return ticks.reduce((sum, place) => sum + Number(fields[place]), 0) / 100;
}

/**
 * Of an embedded PostgreSQL and its living children; those that ended count for their parent.
 * @param home the data folder of its Tocsin
 */
export function postgresCpuSeconds(home: string): number {
  const file = path.join(home, 'postgres', 'cluster', 'postmaster.pid');
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster);
  return children.reduce((sum, pid) => sum + cpuSeconds(Number(pid)), cpuSeconds(postmaster, true));
}

function parentOf(pid: string): number | null {
  const fields = statOf(Number(pid));
  return fields === null ? null : Number(fields[1]);
}

/** What /proc says after the name; null for a process that has just ended. */
function statOf(pid: number): string[] | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  try {
    return readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ');
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code === 'ESRCH' ||
      (error as NodeJS.ErrnoException).code === 'ENOENT'
    )
      return null;
    throw error;
  }
}
