/** Which process holds the client's end of a connection on this machine: read from /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * @param port the client's port
 * @param candidates processes that may hold it
 * @returns null when none of them does: it ended, or it is somebody else's
 */
export function pidOfClient(port: number, candidates: readonly number[]): number | null {
  const inode = inodeOf(port);
  if (inode === null) return null;
  return candidates.find((pid) => holds(pid, `socket:[${inode}]`)) ?? null;
}

/** The socket that is bound to the port and connected. */
function inodeOf(port: number): string | null {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const fields = line.trim().split(/\s+/);
      const isIt = fields[1]?.endsWith(`:${local}`) && !fields[2]?.endsWith(':0000') && fields[9] !== '0';
      if (isIt) return fields[9] ?? null;
    }
  }
  return null;
}

function holds(pid: number, socket: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => linkOf(`${folder}/${fd}`) === socket);
  } catch (error) {
    // The process ended while it was looked at.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function linkOf(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch (error) {
    // The descriptor was closed while it was looked at.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
