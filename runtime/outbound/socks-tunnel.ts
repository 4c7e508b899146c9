/** A tunnel through a SOCKS5 proxy (RFC 1928, login by RFC 1929); names are sent as names (outbound-http §3). */
import type { Socket } from 'node:net';
import { SocksClient } from 'socks';
import { OutboundFailure } from './failure.ts';
import type { ProxyRoute } from './proxy.ts';

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
