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

/** Wait of a parallel attempt on an account under evaluation. */
export const PARALLEL_WAIT: Micros = SECOND;

/** The wait after `failures` consecutive failures. */
export function waitAfter(failures: number): Micros {
  if (failures < 1) return 0;
  return WAITS[Math.min(failures, WAITS.length) - 1] ?? 0;
}

/** Failures of one source that count for the account: too few to make other sources wait. */
const COUNTED_PER_SOURCE = 2;

/** The failures of one throttle key. */
export interface Failures {
  /** Consecutive failures, attempts under evaluation included. */
  readonly failures: number;
  readonly lastFailureAt: Micros;
  /** Attempts before this are refused without evaluation. */
  readonly allowedAt: Micros;
  /** Of an account: an attempt is under evaluation until then. */
  readonly evaluatingUntil: Micros;
}

/** The three throttle keys of one attempt. */
export interface Slowdown {
  readonly account: Failures;
  /** The account as tried from this source. */
  readonly pair: Failures;
  readonly source: Failures;
}

export const NO_FAILURES: Failures = { failures: 0, lastFailureAt: 0, allowedAt: 0, evaluatingUntil: 0 };

/**
 * Lets an attempt be evaluated, or says how long it waits. It counts as failed from now on, before anything is hashed,
 * so that attempts that arrive together do not all find the same count. One source alone never makes others wait: beyond
 * its first failures an attempt leaves the account's count, wait and last failure unchanged.
 */
export function countAttempt(
  { account, pair, source }: Slowdown,
  now: Micros,
): { readonly counted: Slowdown } | { readonly wait: Micros } {
  const wait = Math.max(...[account, pair, source].map(({ allowedAt }) => allowedAt - now));
  if (wait > 0) return { wait };
  if (account.evaluatingUntil > now) return { wait: PARALLEL_WAIT };
  const here = counted(pair, 1, now);
  const more = here.failures <= COUNTED_PER_SOURCE ? 1 : 0;
  return {
    counted: {
      account: { ...counted(account, more, now), evaluatingUntil: evaluationEnd(now) },
      pair: here,
      source: counted(source, 1, now),
    },
  };
}

/** Until when an attempt that was admitted at `startedAt` holds its account. It identifies the attempt there. */
export function evaluationEnd(startedAt: Micros): Micros {
  return startedAt + EVALUATION_LIMIT;
}

/** Ends the evaluation of an attempt. If it exceeded its limit and a newer attempt holds the account, nothing changes. */
export function evaluated(account: Failures, startedAt: Micros): Failures {
  return account.evaluatingUntil === evaluationEnd(startedAt) ? { ...account, evaluatingUntil: 0 } : account;
}

/** Undoes {@link countAttempt} for an attempt without a result: it has not failed. */
export function takeBack({ account, pair, source }: Slowdown, startedAt: Micros): Slowdown {
  const less = pair.failures <= COUNTED_PER_SOURCE ? 1 : 0;
  return {
    account: lessened(evaluated(account, startedAt), less, startedAt),
    pair: lessened(pair, 1, startedAt),
    source: lessened(source, 1, startedAt),
  };
}

function counted(known: Failures, more: 0 | 1, now: Micros): Failures {
  if (more === 0) return known;
  const before = known.lastFailureAt <= now - FORGOTTEN_AFTER ? 0 : known.failures;
  const failures = before + more;
  return { failures, lastFailureAt: now, allowedAt: now + waitAfter(failures), evaluatingUntil: 0 };
}

function lessened(known: Failures, less: 0 | 1, startedAt: Micros): Failures {
  if (less === 0) return known;
  const failures = Math.max(0, known.failures - less);
  // Earlier waits had ended when the attempt was admitted. A later failure keeps the wait that it causes by itself.
  const isLast = known.lastFailureAt === startedAt;
  const allowedAt = isLast ? startedAt : known.lastFailureAt + waitAfter(failures);
  return { ...known, failures, allowedAt: Math.min(known.allowedAt, allowedAt) };
}

/** The throttle key of an account, existing or not: a hash, so that what people mistype is not kept. */
export function accountKey(login: string): string {
  return `account/${createHash('sha256').update(foldLogin(login)).digest('base64url')}`;
}

/** The throttle key of an account as tried from a source; it begins with the account's. */
export function pairKey({ account, source }: { readonly account: string; readonly source: string }): string {
  return `${account}/${source}`;
}

/** By what entries about refusals of a source are limited. */
export function refusalKey(address: string | null): string {
  return `refused/${sourceKey(address ?? '')}`;
}

/** The throttle key of a source: the IPv4 address, or the /64 of an IPv6 address. */
export function sourceKey(address: string): string {
  if (!ipaddr.isValid(address)) return `source/${address}`;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `source/${parsed.toString()}`;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`);
  return `source/${network.toString()}/64`;
}
