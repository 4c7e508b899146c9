/** A tunnel through an HTTP proxy: `CONNECT`, and nothing of its answer but the status counts (outbound-http §3). */
import type { Socket } from 'node:net';
import { OutboundFailure } from './failure.ts';
import { type ProxyRoute, proxyAuthorization } from './proxy.ts';
import { createSocketReader } from './socket-reader.ts';

const LONGEST_HEAD = 16 * 1024;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/;

/**
 * Asks the proxy behind `socket` for a way to the target; afterwards the socket is the target's.
 * @throws {OutboundFailure} proxy_auth_failed or proxy_failed
 */
export async function openHttpTunnel(socket: Socket, proxy: ProxyRoute, target: string): Promise<void> {
  const authorization = proxyAuthorization(proxy);
  const lines = [
    `CONNECT ${target} HTTP/1.1`,
    `Host: ${target}`,
    ...(authorization === null ? [] : [`Proxy-Authorization: ${authorization}`]),
  ];
  const reader = createSocketReader(socket);
  try {
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    judgeStatus((await reader.readUntil('\r\n\r\n', LONGEST_HEAD)).toString('latin1'));
  } finally {
    reader.release();
  }
}

function judgeStatus(head: string): void {
  const status = Number(STATUS_LINE.exec(head)?.[1] ?? Number.NaN);
  if (status >= 200 && status < 300) return;
  if (status === 407) throw proxyRefusedLogin();
  const said = Number.isNaN(status) ? 'does not speak HTTP' : `answered ${status}`;
  throw new OutboundFailure('proxy_failed', `the proxy ${said}`);
}

export function proxyRefusedLogin(): OutboundFailure {
  return new OutboundFailure('proxy_auth_failed', 'the proxy refused the login (407)');
}
