/** What a server says of itself, and whether it will do. */
import { RedisFailure } from './failure.ts';
import type { Link } from './link.ts';

/** The oldest version that is supported (operations §1.3). */
const OLDEST = [6, 2] as const;

export interface ServerFacts {
  /** As in `7.0.15`. */
  readonly version: string;
  /** Another one after every start of the server. */
  readonly run: string;
}

/** @throws {RedisFailure} the server is too old, or says nothing of itself */
export async function inspectServer(link: Link): Promise<ServerFacts> {
  const info = await link.call((client) => client.info('server'));
  const version = field(info, 'redis_version');
  if (!isSupported(version))
    throw new RedisFailure(`it is version ${version}; Tocsin needs ${OLDEST.join('.')} or newer`, true);
  return { version, run: field(info, 'run_id') };
}

/**
 * Writes a key that vanishes at once, through a script, as everything else is written. A replica, a server that loads
 * its data, has no memory left or refuses writes for its disk's sake shows itself here.
 * @throws {RedisFailure} with the server's reason
 */
export async function tryWriting(link: Link, prefix: string): Promise<void> {
  await link.call((client) =>
    client.eval("return redis.call('SET', KEYS[1], '', 'PX', 1)", 1, `${prefix}probe`),
  );
}

/** Exported for its test. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function field(info: string, name: string): string {
  const value = new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  if (value === undefined) throw new RedisFailure(`its INFO says no ${name}`);
  return value;
}
