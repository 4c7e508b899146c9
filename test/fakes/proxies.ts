/**
 * Small real proxies: HTTP with CONNECT and absolute form, the same over TLS, and SOCKS5 with and without login. They
 * reach every target at 127.0.0.1, whatever its name, and note what they were asked; what breaks their protocol is kept
 * as a fault.
 */
import { createServer as createHttpServer, type IncomingMessage, request as requestTo } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import type { Duplex } from 'node:stream';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface ProxyFakeOptions {
  /** Asked of everybody; without them a login is a fault. */
  readonly credentials?: Credentials;
  /** Answers every request with this instead of connecting: an HTTP status, or a reply code of SOCKS. */
  readonly refuseWith?: number;
}

export interface ProxyFake {
  readonly port: number;
  /** `CONNECT host:port`, or the method and the absolute URL, or `SOCKS domain host:port`, in order. */
  readonly asked: readonly string[];
  readonly faults: readonly string[];
  /** Connections that were opened to it. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export type ProxyFakeType = 'http' | 'https' | 'socks5';

export function startProxy(type: ProxyFakeType, options: ProxyFakeOptions = {}): Promise<ProxyFake> {
  return type === 'socks5' ? startSocksProxy(options) : startHttpProxy(type === 'https', options);
}

async function startHttpProxy(
  isSecure: boolean,
  { credentials, refuseWith }: ProxyFakeOptions,
): Promise<ProxyFake> {
  const asked: string[] = [];
  const faults: string[] = [];

  /** Null when the request may go on, else the status that it is answered with. */
  const refusal = ({ headers }: IncomingMessage): number | null => {
    const given = headers['proxy-authorization'];
    if (!credentials && given !== undefined) faults.push('credentials that nobody asked for');
    const expected = credentials && basic(credentials);
    if (expected !== undefined && given !== expected) return 407;
    return refuseWith ?? null;
  };

  const server = isSecure ? createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }) : createHttpServer();

  server.on('request', (request: IncomingMessage, response) => {
    asked.push(`${request.method} ${request.url}`);
    const status = refusal(request);
    if (status !== null) return void response.writeHead(status).end('refused by the proxy');
    if (!URL.canParse(request.url ?? '')) faults.push(`not in absolute form: ${request.url}`);
    const target = new URL(request.url ?? '');
    if (request.headers.host !== target.host) faults.push(`Host is ${request.headers.host}`);
    const { 'proxy-authorization': _login, ...headers } = request.headers;
    const path = target.pathname + target.search;
    const { method = 'GET' } = request;
    const onward = requestTo({ host: '127.0.0.1', port: target.port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  });

  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    asked.push(`CONNECT ${request.url}`);
    if (request.headers.host !== request.url) faults.push(`Host is ${request.headers.host}`);
    const status = refusal(request);
    if (status !== null) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nVia: 1.1 fake\r\n\r\n');
      join(socket, onward);
    });
    onward.on('error', () => socket.end('HTTP/1.1 502 No\r\n\r\n'));
  });
  return listening(server, asked, faults);
}

async function startSocksProxy({ credentials, refuseWith = 0 }: ProxyFakeOptions): Promise<ProxyFake> {
  const asked: string[] = [];
  const faults: string[] = [];

  const converse = async (socket: Socket): Promise<void> => {
    const read = reader(socket);
    const [version, count = 0] = await read(2);
    if (version !== 5) return void faults.push(`version ${version}`);
    const methods = await read(count);
    const wanted = credentials ? 2 : 0;
    socket.write(Buffer.from([5, methods.includes(wanted) ? wanted : 0xff]));
    if (!methods.includes(wanted)) return;
    if (credentials && !(await login(read, socket, credentials))) return;

    const [, command, , kind] = await read(4);
    if (command !== 1) faults.push(`command ${command}`);
    const host = await hostOf(kind, read);
    const port = (await read(2)).readUInt16BE();
    asked.push(`SOCKS ${kind === 3 ? 'domain' : 'address'} ${host}:${port}`);
    socket.write(Buffer.from([5, refuseWith, 0, 1, 0, 0, 0, 0, 0, 0]));
    if (refuseWith !== 0) return void socket.end();
    join(
      socket,
      connect(port, '127.0.0.1', () => undefined),
    );
  };

  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    converse(socket).catch((error: unknown) => faults.push(String(error)));
  });
  return listening(server, asked, faults);
}

async function login(read: Read, socket: Socket, { username, password }: Credentials): Promise<boolean> {
  const [, nameLength = 0] = await read(2);
  const name = (await read(nameLength)).toString('utf8');
  const [passwordLength = 0] = await read(1);
  const given = (await read(passwordLength)).toString('utf8');
  const isRight = name === username && given === password;
  socket.write(Buffer.from([1, isRight ? 0 : 1]));
  if (!isRight) socket.end();
  return isRight;
}

async function hostOf(kind: number | undefined, read: Read): Promise<string> {
  if (kind === 1) return [...(await read(4))].join('.');
  if (kind === 4) return (await read(16)).toString('hex');
  const [length = 0] = await read(1);
  return (await read(length)).toString('latin1');
}

type Read = (bytes: number) => Promise<Buffer>;

/** Exact numbers of bytes; never settles when the other side leaves first. */
function reader(socket: Socket): Read {
  return async (bytes) => {
    for (;;) {
      const chunk: Buffer | null = bytes === 0 ? Buffer.alloc(0) : socket.read(bytes);
      if (chunk !== null) return chunk;
      await new Promise<void>((readable) => void socket.once('readable', readable));
    }
  };
}

function join(one: Duplex, other: Duplex): void {
  one.pipe(other).pipe(one);
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.on('close', () => other.destroy());
  other.on('close', () => one.destroy());
}

function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

async function listening(server: Server, asked: string[], faults: string[]): Promise<ProxyFake> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    faults,
    connections: () => connections,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
