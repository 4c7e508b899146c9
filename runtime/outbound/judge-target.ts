/** Resolves the hosts of a request once and judges every address before anything connects (outbound-http §2.4, §3). */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Clock, type Micros, SECOND } from '../clock.ts';
import type { AddressPolicy, HostRole, Refusal } from './address-policy.ts';
import { OutboundFailure, OutboundRefused, within } from './failure.ts';

/** All addresses of a name, in the resolver's order. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface JudgeDependencies {
  readonly clock: Clock;
  readonly resolve: Resolve;
  /** Read at every connection, so that a saved policy counts at once. */
  readonly policy: () => AddressPolicy;
}

/**
 * Of the time for connecting: a name that only the proxy can resolve must not use it up while our own resolver waits
 * for an answer that never comes.
 */
const PROXIED_LOOKUP: Micros = 2 * SECOND;

/** The system resolver, hosts file included. */
export const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true });
  return answers.map((answer) => answer.address);
};

/**
 * Resolves a host that is connected to and leaves out what the policy refuses.
 * @returns at least one address
 * @throws {OutboundRefused} the policy refuses the name or every address
 * @throws {OutboundFailure} dns_failed or connect_timeout
 */
export async function permittedAddresses(
  host: string,
  deadline: Micros,
  { clock, resolve, policy }: JudgeDependencies,
  role: HostRole = 'target',
): Promise<readonly string[]> {
  const judge = policy();
  refuseIf(judge.judgeHost(host, role));
  const resolved = isIP(host) ? [host] : await resolveWithin(deadline - clock.now(), host, clock, resolve);

  const permitted: string[] = [];
  let refusal: Refusal | null = null;
  for (const address of resolved) {
    const refused = judge.judgeAddress(host, address, role);
    if (!refused) permitted.push(address);
    refusal ??= refused;
  }
  if (permitted.length > 0) return permitted;
  refuseIf(refusal);
  throw notFound(host);
}

/**
 * Judges a target that a proxy connects to. The proxy chooses among its addresses, so one refused address refuses all;
 * a name that cannot be resolved here is judged by itself.
 * @returns whether the address was seen; false for a name that only the proxy can resolve
 * @throws {OutboundRefused}
 */
export async function judgeProxied(
  host: string,
  { clock, resolve, policy }: JudgeDependencies,
): Promise<'verified' | 'unverified'> {
  const judge = policy();
  refuseIf(judge.judgeHost(host));
  const addresses = isIP(host) ? [host] : await resolveOrNone(host, clock, resolve);
  if (addresses.length === 0) {
    refuseIf(judge.judgeUnresolved(host));
    return 'unverified';
  }
  for (const address of addresses) refuseIf(judge.judgeAddress(host, address));
  return 'verified';
}

async function resolveOrNone(host: string, clock: Clock, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolveWithin(PROXIED_LOOKUP, host, clock, resolve);
  } catch (error) {
    // Not an error here: whoever needs a proxy often cannot resolve names of the outside.
    if (error instanceof OutboundFailure) return [];
    throw error;
  }
}

function resolveWithin(
  budget: Micros,
  host: string,
  clock: Clock,
  resolve: Resolve,
): Promise<readonly string[]> {
  return within(budget, clock, `no answer from DNS for ${host}`, (settle) => {
    resolve(host).then(settle.done, (error: unknown) => settle.fail(notFound(host, error)));
    return () => undefined;
  });
}

function refuseIf(refusal: Refusal | null): void {
  if (refusal) throw new OutboundRefused(refusal);
}

function notFound(host: string, cause?: unknown): OutboundFailure {
  return new OutboundFailure('dns_failed', `DNS: ${host} not found`, cause);
}
