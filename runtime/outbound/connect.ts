/**
 * Opens sockets for the outbound client: resolves the name once, judges every address by the policy, and connects to
 * a judged address itself (outbound-http §2.4), or through the owner's proxy (outbound-http §3). TLS server name and
 * certificate check keep the name.
 */
import { connect as connectTcp, isIPv6, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { type Micros, SECOND } from '../clock.ts';
import { targetHost } from './address-policy.ts';
import { connectFailure, OutboundFailure, OutboundRefused, within } from './failure.ts';
import { type JudgeDependencies, judgeProxied, permittedAddresses } from './judge-target.ts';
import type { ProxyRoute } from './proxy.ts';
import { openHttpTunnel, openSocksTunnel } from './proxy-tunnel.ts';
import { secure } from './trust.ts';

/** Resolution, TCP, the handshake with a proxy and TLS together. */
export const CONNECT_TIMEOUT: Micros = 5 * SECOND;
const TIMED_OUT = `no connection within ${CONNECT_TIMEOUT / SECOND} s`;

export interface ConnectDependencies extends JudgeDependencies {
  /** Trusted roots and protocol floor of TLS connections. */
  readonly tls: () => SecureContext;
}

export interface OpenedSocket {
  readonly socket: Socket;
  /** The target is a name that only the proxy could resolve: its address was not seen. */
  readonly isUnverified: boolean;
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/**
 * Connects to the host of `url`, directly or through a proxy.
 * @throws {OutboundRefused} the policy refuses a name or its addresses
 * @throws {OutboundFailure} a code of failure.ts
 */
export async function openSocket(
  url: URL,
  proxy: ProxyRoute | null,
  dependencies: ConnectDependencies,
): Promise<OpenedSocket> {
  const deadline = dependencies.clock.now() + CONNECT_TIMEOUT;
  const isSecure = url.protocol === 'https:';
  const target = { host: targetHost(url), port: Number(url.port) || (isSecure ? 443 : 80), isSecure };
  if (proxy) return openProxied(target, proxy, deadline, dependencies);
  const addresses = await permittedAddresses(target.host, deadline, dependencies);
  return { socket: await openFirst(target, addresses, deadline, dependencies), isUnverified: false };
}

/** Tries the addresses in order; each gets its share of the time that is left. */
async function openFirst(
  endpoint: Endpoint,
  addresses: readonly string[],
  deadline: Micros,
  dependencies: ConnectDependencies,
): Promise<Socket> {
  let last: unknown = null;
  for (const [index, address] of addresses.entries()) {
    const share = (deadline - dependencies.clock.now()) / (addresses.length - index);
    try {
      return await openOne(endpoint, address, share, dependencies);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function openOne(
  { host, port, isSecure }: Endpoint,
  address: string,
  budget: Micros,
  { clock, tls }: ConnectDependencies,
): Promise<Socket> {
  return within(budget, clock, TIMED_OUT, (settle) => {
    const socket = connectTcp({ host: address, port, noDelay: true, keepAlive: true });
    const refuse = (error: Error): void => settle.fail(connectFailure(error));
    socket.once('error', refuse);
    socket.once('connect', () => {
      if (!isSecure) return settle.done(socket);
      socket.off('error', refuse);
      secure(socket, host, tls(), settle);
    });
    return () => socket.destroy();
  });
}

async function openProxied(
  target: Endpoint,
  proxy: ProxyRoute,
  deadline: Micros,
  dependencies: ConnectDependencies,
): Promise<OpenedSocket> {
  const { clock, tls, policy } = dependencies;
  const denied = policy().judgeHost(proxy.host, 'proxy');
  if (denied) throw new OutboundRefused(denied);
  const seen = await judgeProxied(target.host, dependencies);
  const toProxy = await openProxy(proxy, deadline, dependencies);
  const socket = await within<Socket>(deadline - clock.now(), clock, TIMED_OUT, (settle) => {
    const onError = (error: Error): void =>
      settle.fail(new OutboundFailure('proxy_failed', 'the proxy hung up', error));
    toProxy.once('error', onError);
    openTunnel(toProxy, target, proxy).then(() => {
      toProxy.off('error', onError);
      if (target.isSecure) secure(toProxy, target.host, tls(), settle);
      else settle.done(toProxy);
    }, settle.fail);
    return () => toProxy.destroy();
  });
  return { socket, isUnverified: seen === 'unverified' };
}

/** Whatever keeps us from the proxy is a failure of the proxy, but for the policy and the time. */
async function openProxy(
  proxy: ProxyRoute,
  deadline: Micros,
  dependencies: ConnectDependencies,
): Promise<Socket> {
  const endpoint = { host: proxy.host, port: proxy.port, isSecure: proxy.type === 'https' };
  try {
    const addresses = await permittedAddresses(proxy.host, deadline, dependencies, 'proxy');
    return await openFirst(endpoint, addresses, deadline, dependencies);
  } catch (error) {
    if (!(error instanceof OutboundFailure) || error.failure === 'connect_timeout') throw error;
    throw new OutboundFailure('proxy_failed', `the proxy: ${error.message}`, error);
  }
}

/** Plain requests through an HTTP proxy need no tunnel: they name their target themselves. */
async function openTunnel(socket: Socket, target: Endpoint, proxy: ProxyRoute): Promise<void> {
  const { host, port } = target;
  if (proxy.type === 'socks5') return openSocksTunnel(socket, proxy, { host, port });
  if (target.isSecure) await openHttpTunnel(socket, proxy, `${isIPv6(host) ? `[${host}]` : host}:${port}`);
}

/** Whether requests over this socket name their target in full. */
export function isAbsoluteForm(url: URL, proxy: ProxyRoute | null): boolean {
  return proxy !== null && proxy.type !== 'socks5' && url.protocol === 'http:';
}
