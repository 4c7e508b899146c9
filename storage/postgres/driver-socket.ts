/** Opens the sockets under the PostgreSQL driver: Unix or TCP, with the TLS that `sslmode` asks for. */
import net from 'node:net';
import tls from 'node:tls';
import type { DatabaseSettings, HostPort } from '../../runtime/config.ts';
import { ConnectionLostError, type GuardOptions, guardSocket } from './driver-guard.ts';

/** Asks a server for TLS; it answers one byte, `S` or `N`. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const KEEP_ALIVE_MS = 30_000;

/** Where connections go now, of the servers of a database. */
interface Choice {
  readonly servers: readonly HostPort[];
  at: number;
  /** When each could not serve last, ms; forgotten once one can. */
  readonly failedAt: Map<HostPort, number>;
}

/** By the list of servers: what one connection has found out serves every other. */
const choices = new WeakMap<readonly HostPort[], Choice>();

function choiceOf({ host, port, others = [] }: DatabaseSettings): Choice {
  const known = choices.get(others) ?? { servers: [{ host, port }, ...others], at: 0, failedAt: new Map() };
  choices.set(others, known);
  return known;
}

/**
 * Goes on to the next server, unless another connection did.
 * @param patience how long one may take to fail, ms
 * @returns false when all the others failed within a round as well, whoever tried them
 */
function passOver(choice: Choice, server: HostPort, patience: number): boolean {
  const { servers, at, failedAt } = choice;
  const now = performance.now();
  failedAt.set(server, now);
  if (servers[at] === server) choice.at = (at + 1) % servers.length;
  const isUntried = (other: HostPort) => now - (failedAt.get(other) ?? -Infinity) > patience * servers.length;
  return servers.some((other) => other !== server && isUntried(other));
}

export interface SocketOptions extends Pick<GuardOptions, 'answerWithin' | 'refusesStandby'> {
  /** For connecting and TLS, ms. */
  readonly patience: number;
}

/**
 * Connects to a server and, where `sslmode` asks for it, negotiates TLS. Never rejects: a socket that could not be
 * connected emits `error` and `close` as soon as somebody can listen, which is the only failure the driver survives. Of
 * several servers it takes the one that was usable last; `close` alone makes the driver come again, for the next one.
 */
export async function openSocket(named: DatabaseSettings, options: SocketOptions): Promise<net.Socket> {
  const { patience, ...guarded } = options;
  const choice = choiceOf(named);
  const server = choice.servers[choice.at] ?? named;
  const settings = { ...named, host: server.host, port: server.port };
  const onReady = () => choice.failedAt.clear();
  const guard = { ...guarded, passOver: () => passOver(choice, server, patience), onReady };
  const plain = new net.Socket();
  // Every error also ends what is being waited for, or reaches the driver's own listener.
  plain.on('error', () => undefined);
  const timer = setTimeout(() => plain.destroy(failure('CONNECT_TIMEOUT', settings)), patience);
  try {
    await connected(plain, settings);
    return guardSocket(await encrypted(plain, settings), guard);
  } catch (error) {
    return failed(error as Error, guard);
  } finally {
    clearTimeout(timer);
  }
}

/** What Node needs to verify a server as `sslmode` says; null when the connection stays plain. */
export function tlsOptions({ host, sslmode, ca }: DatabaseSettings): tls.ConnectionOptions | null {
  // A socket of this machine is never encrypted.
  if (host.startsWith('/') || sslmode === 'disable') return null;
  // Server names are host names; an address has none.
  const name = net.isIP(host) === 0 ? { servername: host } : {};
  const roots = ca === null ? {} : { ca };
  if (sslmode === 'verify-full') {
    const checkServerIdentity = (_: string, certificate: tls.PeerCertificate) =>
      tls.checkServerIdentity(host, certificate);
    return { ...name, ...roots, rejectUnauthorized: true, checkServerIdentity };
  }
  if (sslmode === 'verify-ca')
    return { ...name, ...roots, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  return { ...name, rejectUnauthorized: false };
}

async function connected(socket: net.Socket, { host, port }: DatabaseSettings): Promise<void> {
  const done = outcome(socket, 'connect');
  if (host.startsWith('/')) socket.connect(`${host}/.s.PGSQL.${port}`);
  else socket.connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
  await done;
}

async function encrypted(plain: net.Socket, settings: DatabaseSettings): Promise<net.Socket> {
  const options = tlsOptions(settings);
  if (options === null) return plain;
  const answered = outcome(plain, 'data');
  plain.write(SSL_REQUEST);
  const [answer] = await answered;
  if (answer?.toString('latin1') !== 'S') {
    // `allow` differs from `prefer` only in which of the two it tries first.
    if (settings.sslmode === 'prefer' || settings.sslmode === 'allow') return plain;
    plain.destroy();
    throw failure('TLS_REFUSED', settings);
  }
  const secure = tls.connect({ ...options, socket: plain });
  await outcome(secure, 'secureConnect');
  return secure;
}

/** Waits for one event of a socket; rejects when the socket ends or fails first. */
function outcome(socket: net.Socket, event: 'connect' | 'data' | 'secureConnect'): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const settle = (run: () => void) => {
      socket.removeListener(event, happened);
      socket.removeListener('error', reject);
      socket.removeListener('close', closed);
      run();
    };
    const happened = (...values: Buffer[]) => settle(() => resolve(values));
    const closed = () => settle(() => reject(new ConnectionLostError()));
    socket.once(event, happened);
    socket.on('error', reject);
    socket.once('close', closed);
  });
}

function failed(error: Error, guard: GuardOptions): net.Socket {
  const socket = guardSocket(new net.Socket(), guard);
  setImmediate(() => socket.destroy(error));
  return socket;
}

function failure(code: 'CONNECT_TIMEOUT' | 'TLS_REFUSED', { host, port }: DatabaseSettings): Error {
  const reason = code === 'TLS_REFUSED' ? 'the server does not offer TLS' : 'the server does not answer';
  return Object.assign(new Error(`${reason} (${host}:${port})`), { code });
}
