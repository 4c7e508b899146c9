/** As whom the embedded PostgreSQL runs, and who owns its folder: it refuses root, so as root it runs as another user. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, lchown, readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` everywhere: whose processes are many's. It has a name, which some programs insist on. */
export const UNPRIVILEGED: RunAs = { uid: 65_534, gid: 65_534 };

/** A way to start a program as somebody. */
export interface Launcher {
  /** Null when the program runs as we do. */
  readonly runAs: RunAs | null;
  /** The program and arguments to start, for a program and its arguments. */
  command(program: string, args: readonly string[]): readonly [string, readonly string[]];
  /** What `spawn` has to be told besides. */
  readonly spawn: RunAs | Record<string, never>;
}

/**
 * Null unless we are root. An existing cluster is served by whoever owns it, unless that is root or nobody; a new one by a
 * user of its own, or by nobody where none can be made.
 */
export async function serverIdentity(cluster: string): Promise<RunAs | null> {
  if (process.getuid?.() !== 0) return null;
  const owner = existsSync(cluster) ? await stat(cluster) : null;
  if (owner && owner.uid !== 0 && owner.uid !== UNPRIVILEGED.uid) return { uid: owner.uid, gid: owner.gid };
  return (await freeIdentity(cluster)) ?? UNPRIVILEGED;
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
  const held = await boundingSet();
  const capability = CAPABILITIES.find(([, bit]) => (held >> bit) & 1n)?.[0];
  if (setpriv === undefined || capability === undefined) {
    throw new Error(
      `The embedded PostgreSQL runs as user ${runAs.uid} because PostgreSQL refuses root, and that user cannot enter ` +
        `${closed}. Use a folder others may pass through, or start Tocsin as an ordinary user.`,
    );
  }
  const identity = [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'];
  // Without it (bit 8 may set it) access(2), by which initdb looks for the server, ignores the capability.
  const remembered = (held >> 8n) & 1n ? ['--securebits=+no_setuid_fixup'] : [];
  const passing = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`, ...remembered];
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

async function boundingSet(): Promise<bigint> {
  const status = await readFile('/proc/self/status', 'utf8');
  return BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
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

/** Numbers that systems keep for users who are made as they are needed and stand in no file. */
const FIRST = 61_184;
const LAST = 65_519;

/**
 * A free number, the same one for a folder as long as nobody else takes it; null where the machine has none (in a user
 * namespace that knows few).
 */
async function freeIdentity(home: string): Promise<RunAs | null> {
  const taken = await takenNumbers();
  const count = LAST - FIRST + 1;
  const start = createHash('sha256').update(home).digest().readUInt32BE() % count;
  const maps = [await readFile('/proc/self/uid_map', 'utf8'), await readFile('/proc/self/gid_map', 'utf8')];
  for (let step = 0; step < count; step++) {
    const uid = FIRST + ((start + step) % count);
    if (!taken.has(uid) && maps.every((map) => isMapped(map, uid))) return { uid, gid: uid };
  }
  return null;
}

/**
 * Gives a folder and all that is in it to somebody. Nobody else can enter it from the beginning on.
 * @throws {Error} a sentence for people, before anything changes: a folder that was moved elsewhere belongs to another user
 */
export async function giveFolder(folder: string, { uid, gid }: RunAs): Promise<void> {
  await requireMovedFolders(folder, { uid, gid });
  await chown(folder, 0, 0);
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await lchown(path.join(entry.parentPath, entry.name), uid, gid);
  }
  await chown(folder, uid, gid);
}

/**
 * The write-ahead log and tablespaces may be links to folders on other disks. Those are not given away: whoever owned the
 * files before could have pointed a link at any folder of the machine.
 */
async function requireMovedFolders(folder: string, { uid, gid }: RunAs): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const links = entries.filter((entry) => entry.isSymbolicLink());
  for (const link of links.map((entry) => path.join(entry.parentPath, entry.name))) {
    if (link !== path.join(folder, 'pg_wal') && path.dirname(link) !== path.join(folder, 'pg_tblspc'))
      continue;
    const target = await realpath(link);
    if ((await stat(target)).uid === uid) continue;
    throw new Error(
      `${link} is a link to ${target}, which user ${uid} of the embedded PostgreSQL does not own. ` +
        `Run "chown -R ${uid}:${gid} ${target}" and start again.`,
    );
  }
}

/** Of users with a name, and of processes. */
async function takenNumbers(): Promise<ReadonlySet<number>> {
  const named = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => Number(line.split(':')[2]));
  const groups = (await readFile('/etc/group', 'utf8')).split('\n').map((line) => Number(line.split(':')[2]));
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const owners = await Promise.all(processes.map((pid) => stat(`/proc/${pid}`).catch(() => null)));
  return new Set([...named, ...groups, ...owners.flatMap((owner) => (owner ? [owner.uid] : []))]);
}

/** @param map lines of first number inside, first outside, how many */
function isMapped(map: string, id: number): boolean {
  return map.split('\n').some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
    return id >= first && id < first + count;
  });
}
