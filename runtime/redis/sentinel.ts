import type { SecureContext } from 'node:tls';
import { safeParse, string, tuple } from 'valibot';
import type { Clock } from '../clock.ts';
import { describeHost, type RedisAddress, type RedisHost } from './address.ts';
import { failureOf, RedisFailure } from './failure.ts';
import { openLink } from './link.ts';

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
  if (address.sentinel === null) return only(address.hosts);
  const failures: string[] = [];
  for (const at of address.hosts) {
    try {
      return await ask(at, address.sentinel, trust, clock);
    } catch (error) {
      failures.push(`${describeHost(at)}: ${failureOf(error).message}`);
    }
  }
  throw new RedisFailure(`no Sentinel names a server: ${failures.join('; ')}`);
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

function only(hosts: readonly RedisHost[]): RedisHost {
  const [host] = hosts;
  if (!host) throw new Error('An address names a host.');
  return host;
}
