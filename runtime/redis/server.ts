/** What a server says of itself, and whether it will do. */
import type { SecureContext } from 'node:tls';
import { safeParse, string, tuple } from 'valibot';
import type { Clock } from '../clock.ts';
import { describeHost, type RedisAddress, type RedisHost } from './address.ts';
import { failureOf, type Link, openLink, RedisFailure } from './link.ts';

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

const Found = tuple([string(), string()]);

/**
 * Which server to use now: the one that is named, or the primary that the first Sentinel with an answer names.
 * @throws {RedisFailure} no Sentinel names a server; says of each why not
 */
export async function locate(
  address: RedisAddress,
  trust: SecureContext | null,
  clock: Clock,
): Promise<RedisHost> {
  if (address.sentinel === null) return address.hosts[0];
  const failures: string[] = [];
  let isFinal = true;
  for (const at of address.hosts) {
    try {
      return await ask(at, address.sentinel, trust, clock);
    } catch (error) {
      const failure = failureOf(error);
      failures.push(`${describeHost(at)}: ${failure.message}`);
      isFinal &&= failure.isFinal;
    }
  }
  throw new RedisFailure(`no Sentinel names a server: ${failures.join('; ')}`, isFinal);
}

async function ask(
  at: RedisHost,
  { master, credentials }: NonNullable<RedisAddress['sentinel']>,
  trust: SecureContext | null,
  clock: Clock,
): Promise<RedisHost> {
  const link = await openLink({ at, credentials, database: 0, trust, name: 'tocsin-sentinel', clock });
  try {
    const answer = await link.call((client) => client.call('sentinel', 'get-master-addr-by-name', master));
    const found = safeParse(Found, answer);
    if (!found.success) throw new RedisFailure(`does not know ${master}`);
    return { host: found.output[0], port: Number(found.output[1]) };
  } finally {
    link.giveUp(new RedisFailure('asked'));
  }
}
