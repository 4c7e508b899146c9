/**
 * Opens sockets for the outbound client: resolves the name once, judges every address by the policy, and connects to
 * a judged address itself (outbound-http §2.4). TLS server name and certificate check keep the name.
 */
import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from 'node:tls';
import { type Clock, type Micros, SECOND } from '../clock.ts';
import { type AddressPolicy, type Refusal, targetHost } from './address-policy.ts';
import { connectFailure, OutboundFailure, OutboundRefused } from './failure.ts';

/** Resolution, TCP and TLS together. */
export const CONNECT_TIMEOUT: Micros = 5 * SECOND;

/** All addresses of a name, in the resolver's order. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ConnectDependencies {
  readonly clock: Clock;
  readonly resolve: Resolve;
  /** Read at every connection, so that a saved policy counts at once. */
  readonly policy: () => AddressPolicy;
  /** Trusted roots and protocol floor of TLS connections. */
  readonly tls: () => SecureContext;
}

/** The system resolver, hosts file included. */
export const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true });
  return answers.map((answer) => answer.address);
};

/** Roots of Node and of the system, and NODE_EXTRA_CA_CERTS; made at the first use and kept. */
export function createTrust(extraRoots: readonly string[] = []): () => SecureContext {
  let context: SecureContext | null = null;
  return () => {
    context ??= createSecureContext({
      minVersion: 'TLSv1.2',
      ca: [
        ...getCACertificates('bundled'),
        ...getCACertificates('system'),
        ...getCACertificates('extra'),
        ...extraRoots,
      ],
    });
    return context;
  };
}

/**
 * Connects to the host of `url`.
 * @throws {OutboundRefused} the policy refuses the name or every address
 * @throws {OutboundFailure} dns_failed, connect_refused, connect_failed, connect_timeout or tls_failed
 */
export async function openSocket(url: URL, dependencies: ConnectDependencies): Promise<Socket> {
  const { clock } = dependencies;
  const deadline = clock.now() + CONNECT_TIMEOUT;
  const host = targetHost(url);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const addresses = await permittedAddresses(host, deadline, dependencies);

  let last: unknown = null;
  for (const [index, address] of addresses.entries()) {
    const share = (deadline - clock.now()) / (addresses.length - index);
    try {
      return await openOne({ url, host, address, port, budget: share }, dependencies);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/**
 * Resolves a host and leaves out what the policy refuses.
 * @returns at least one address
 * @throws {OutboundRefused} the policy refuses the name or every address
 * @throws {OutboundFailure} dns_failed or connect_timeout
 */
export async function permittedAddresses(
  host: string,
  deadline: Micros,
  { clock, resolve, policy }: Pick<ConnectDependencies, 'clock' | 'resolve' | 'policy'>,
): Promise<readonly string[]> {
  const judge = policy();
  const early = judge.judgeHost(host);
  if (early) throw new OutboundRefused(early);
  const resolved = isIP(host) ? [host] : await resolveInTime(host, deadline, clock, resolve);

  const permitted: string[] = [];
  let refusal: Refusal | null = null;
  for (const address of resolved) {
    const refused = judge.judgeAddress(host, address);
    if (!refused) permitted.push(address);
    refusal ??= refused;
  }
  if (permitted.length > 0) return permitted;
  if (refusal) throw new OutboundRefused(refusal);
  throw new OutboundFailure('dns_failed', `DNS: ${host} not found`);
}

async function resolveInTime(
  host: string,
  deadline: Micros,
  clock: Clock,
  resolve: Resolve,
): Promise<readonly string[]> {
  return within(deadline - clock.now(), clock, `no answer from DNS for ${host}`, (settle) => {
    resolve(host).then(settle.done, (error: unknown) =>
      settle.fail(new OutboundFailure('dns_failed', `DNS: ${host} not found`, error)),
    );
    return () => undefined;
  });
}

interface Attempt {
  readonly url: URL;
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly budget: Micros;
}

async function openOne(attempt: Attempt, { clock, tls }: ConnectDependencies): Promise<Socket> {
  const timedOut = `no connection within ${CONNECT_TIMEOUT / SECOND} s`;
  return within(attempt.budget, clock, timedOut, (settle) => {
    const socket = connectTcp({ host: attempt.address, port: attempt.port, noDelay: true, keepAlive: true });
    const refuse = (error: Error): void => settle.fail(connectFailure(error));
    socket.once('error', refuse);
    if (attempt.url.protocol === 'http:') {
      socket.once('connect', () => settle.done(socket));
      return () => socket.destroy();
    }
    socket.once('connect', () => {
      socket.off('error', refuse);
      const secured = secure(socket, attempt.host, tls());
      const failed = (error: Error): void =>
        settle.fail(new OutboundFailure('tls_failed', tlsText(error), error));
      secured.once('error', failed);
      secured.once('secureConnect', () => {
        secured.off('error', failed);
        settle.done(secured);
      });
    });
    return () => socket.destroy();
  });
}

function secure(socket: Socket, host: string, secureContext: SecureContext): Socket {
  return connectTls({
    socket,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) ? {} : { servername: host }),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  });
}

function tlsText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'handshake failed';
  return `TLS: ${code.toLowerCase().replaceAll('_', ' ')}`;
}

interface Settle<T> {
  done(value: T): void;
  fail(error: Error): void;
}

/** Runs `begin` and settles once: by its answer, its failure, or `budget` running out; losers are cleaned up. */
function within<T>(
  budget: Micros,
  clock: Clock,
  timedOut: string,
  begin: (settle: Settle<T>) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const finish = (settleIt: () => void): void => {
      if (settled) return;
      settled = true;
      timer.cancel();
      settleIt();
    };
    const timer = clock.after(Math.max(0, budget), () =>
      finish(() => {
        abandon();
        reject(new OutboundFailure('connect_timeout', timedOut));
      }),
    );
    const abandon = begin({
      done: (value) => finish(() => resolve(value)),
      fail: (error) =>
        finish(() => {
          abandon();
          reject(error);
        }),
    });
  });
}
