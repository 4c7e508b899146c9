/** Tunnels through a proxy, HTTP CONNECT or SOCKS5 (outbound-http §3); nothing of a proxy's answer is kept but its status. */
import type { Socket } from 'node:net';
import { SocksClient } from 'socks';
import { OutboundFailure } from './failure.ts';
import { type ProxyRoute, proxyAuthorization } from './proxy.ts';

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

/** A tunnel through a SOCKS5 proxy (RFC 1928, login by RFC 1929); names are sent as names (outbound-http §3). */
const LOGIN = /authentication/i;

/**
 * Asks the proxy behind `socket` for a way to the target; afterwards the socket is the target's.
 * @throws {OutboundFailure} proxy_auth_failed or proxy_failed
 */
export async function openSocksTunnel(
  socket: Socket,
  { host, port, username, password }: ProxyRoute,
  target: { readonly host: string; readonly port: number },
): Promise<void> {
  try {
    await SocksClient.createConnection({
      proxy: {
        host,
        port,
        type: 5,
        ...(username === null ? {} : { userId: username, password: password ?? '' }),
      },
      command: 'connect',
      destination: { ...target },
      // Connected to an address that the policy has judged; the library would resolve the name again.
      existing_socket: socket,
    });
  } catch (error) {
    // The library's error carries the password; only its text goes on.
    const said = error instanceof Error ? error.message : String(error);
    if (LOGIN.test(said)) throw new OutboundFailure('proxy_auth_failed', 'the proxy refused the login');
    throw new OutboundFailure('proxy_failed', `the proxy gave no way to the target: ${said}`);
  }
}

/** Reads what a proxy says before the socket is handed on: exact numbers of bytes, nothing of what follows lost. */
export interface SocketReader {
  /** @throws {OutboundFailure} proxy_failed when the proxy hangs up */
  read(bytes: number): Promise<Buffer>;
  /** Up to and with the mark. @throws {OutboundFailure} proxy_failed when it hangs up, or does not come in `most` bytes */
  readUntil(mark: string, most: number): Promise<Buffer>;
  /** Leaves the socket as it was found; bytes that nobody read are put back. */
  release(): void;
}

function createSocketReader(socket: Socket): SocketReader {
  let held: Buffer = Buffer.alloc(0);
  let failure: OutboundFailure | null = null;
  let wake: () => void = () => undefined;

  const onData = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk]);
    wake();
  };
  const onEnd = (cause?: unknown): void => {
    failure = new OutboundFailure('proxy_failed', 'the proxy hung up', cause);
    wake();
  };
  socket.on('data', onData).on('error', onEnd).on('end', onEnd).on('close', onEnd);

  const take = async (ready: () => number | null): Promise<Buffer> => {
    for (;;) {
      const length = ready();
      if (length !== null) {
        const taken = held.subarray(0, length);
        held = held.subarray(length);
        return taken;
      }
      if (failure) throw failure;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };

  return {
    read: (bytes) => take(() => (held.length >= bytes ? bytes : null)),
    readUntil: (mark, most) =>
      take(() => {
        const at = held.indexOf(mark, 0, 'latin1');
        if (at >= 0 && at + mark.length <= most) return at + mark.length;
        if (at >= 0 || held.length > most)
          throw new OutboundFailure('proxy_failed', 'the proxy answered too much');
        return null;
      }),
    release() {
      socket.off('data', onData).off('error', onEnd).off('end', onEnd).off('close', onEnd);
      socket.pause();
      if (held.length > 0) socket.unshift(held);
    },
  };
}
