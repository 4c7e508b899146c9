/** TLS of outbound connections: 1.2 or newer, certificate and name always verified (outbound-http §1.3). */
import { isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from 'node:tls';
import { OutboundFailure, type Settle } from './failure.ts';

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

/** Speaks TLS to `host` over a connected socket and settles with the secured one, or as `tls_failed`. */
export function secure(
  socket: Socket,
  host: string,
  secureContext: SecureContext,
  settle: Settle<Socket>,
): void {
  const secured = connectTls({
    socket,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Said, because an environment variable of Node's would otherwise turn it off.
    rejectUnauthorized: true,
    ...(isIP(host) ? {} : { servername: host }),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  });
  const failed = (error: Error): void =>
    settle.fail(new OutboundFailure('tls_failed', tlsText(error), error));
  secured.once('error', failed);
  secured.once('secureConnect', () => {
    secured.off('error', failed);
    settle.done(secured);
  });
}

function tlsText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'handshake failed';
  return `TLS: ${code.toLowerCase().replaceAll('_', ' ')}`;
}
