/** How failed sign-ins slow the next attempt down (access §4.1). */
import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { HOUR, type Micros, SECOND } from '../../runtime/clock.ts';
import { foldLogin } from './user.ts';

/** Wait after the n-th consecutive failure, n = 1, 2, 3 …; the last entry holds for every later one. */
export const WAITS: readonly Micros[] = [0, 0, 1, 2, 4, 8, 16, 32, 60].map((seconds) => seconds * SECOND);

/** A key is forgotten this long after its last failure. */
export const FORGOTTEN_AFTER: Micros = 24 * HOUR;

/** How long one attempt may hold its account; frees the account when a process dies while evaluating. */
export const EVALUATION_LIMIT: Micros = 15 * SECOND;

/** What a parallel attempt on an account under evaluation is told to wait. */
export const PARALLEL_WAIT: Micros = SECOND;

/** The wait after `failures` consecutive failures. */
export function waitAfter(failures: number): Micros {
  if (failures < 1) return 0;
  return WAITS[Math.min(failures, WAITS.length) - 1] ?? 0;
}

/** The throttle key of an account, existing or not: a hash, so that what people mistype is not kept. */
export function accountKey(login: string): string {
  return `account/${createHash('sha256').update(foldLogin(login)).digest('base64url')}`;
}

/** The throttle key of a source: the IPv4 address, or the /64 of an IPv6 address. */
export function sourceKey(address: string): string {
  if (!ipaddr.isValid(address)) return `source/${address}`;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `source/${parsed.toString()}`;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`);
  return `source/${network.toString()}/64`;
}
