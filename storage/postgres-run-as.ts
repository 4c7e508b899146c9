/** As whom the embedded PostgreSQL runs: it refuses root, so as root it runs as somebody without rights. */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` everywhere. */
const UNPRIVILEGED: RunAs = { uid: 65_534, gid: 65_534 };

/** A way to start a program as somebody. */
export interface Launcher {
  /** Null when the program runs as we do. */
  readonly runAs: RunAs | null;
  /** The program and arguments to start, for a program and its arguments. */
  command(program: string, args: readonly string[]): readonly [string, readonly string[]];
  /** What `spawn` has to be told besides. */
  readonly spawn: RunAs | Record<string, never>;
}

/** Null unless we are root. An existing cluster is served by whoever owns it, a new one by nobody. */
export async function serverIdentity(cluster: string): Promise<RunAs | null> {
  if (process.getuid?.() !== 0) return null;
  if (!existsSync(cluster)) return UNPRIVILEGED;
  const { uid, gid } = await stat(cluster);
  return uid === 0 ? UNPRIVILEGED : { uid, gid };
}

/**
 * Finds out how the server can be started so that it reaches its programs and its data. Folders that only root may
 * enter (a checkout below /root) need `setpriv` and one capability, which lets the server pass through them.
 * @throws {Error} a sentence for people that names the folder
 */
export async function launcherFor(runAs: RunAs | null, targets: readonly string[]): Promise<Launcher> {
  if (runAs === null) return { runAs, spawn: {}, command: (program, args) => [program, args] };
  const closed = await firstClosed(targets, runAs);
  if (closed === null) return { runAs, spawn: runAs, command: (program, args) => [program, args] };
  const setpriv = SETPRIV.find((candidate) => existsSync(candidate));
  const capability = await heldCapability();
  if (setpriv === undefined || capability === null) {
    throw new Error(
      `The embedded PostgreSQL runs as user ${runAs.uid} because PostgreSQL refuses root, and that user cannot enter ` +
        `${closed}. Use a folder others may pass through, or start Tocsin as an ordinary user.`,
    );
  }
  const identity = [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'];
  const passing = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`];
  return {
    runAs,
    spawn: {},
    command: (program, args) => [setpriv, [...identity, ...passing, '--', program, ...args]],
  };
}

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];

/** Bits of the capability set, the weaker one first. Containers often keep only the second. */
const CAPABILITIES = [
  ['dac_read_search', 2n],
  ['dac_override', 1n],
] as const;

async function heldCapability(): Promise<string | null> {
  const status = await readFile('/proc/self/status', 'utf8');
  const bounding = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return CAPABILITIES.find(([, bit]) => (bounding >> bit) & 1n)?.[0] ?? null;
}

/** The first folder on the way to a target that the user may not pass. */
async function firstClosed(targets: readonly string[], { uid, gid }: RunAs): Promise<string | null> {
  for (const target of targets) {
    for (const folder of waysTo(target)) {
      const found = await stat(folder);
      const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
      if ((found.mode & bit) === 0) return folder;
    }
  }
  return null;
}

function waysTo(target: string): string[] {
  const parent = path.dirname(target);
  return parent === target ? [target] : [...waysTo(parent), target];
}
