/** A network that misbehaves on command: stands between a client and a server on this machine. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxyTarget {
  readonly host?: string;
  readonly port: number;
}

/** What happens to bytes: passed on, held back without a word, or there is nobody to give them to. */
type Mode = 'passing' | 'holding' | 'refusing';

/** One proxied connection: the client's side and the server's. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** Forwards `127.0.0.1:port` to a server, or to several in turn. Made by {@link startTcpProxy}. */
export class TcpProxy {
  readonly port: number;
  readonly #targets: readonly TcpProxyTarget[];
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #mode: Mode = 'passing';
  #joined = 0;

  constructor(server: Server, port: number, targets: readonly TcpProxyTarget[]) {
    this.#server = server;
    this.port = port;
    this.#targets = targets;
    server.on('connection', (near) => this.#join(near));
  }

  /** How many connections lead through it now. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Breaks every connection with a reset. New ones are accepted. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  /** Breaks every connection and refuses new ones. */
  async refuse(): Promise<void> {
    if (this.#mode === 'refusing') return;
    this.#mode = 'refusing';
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /**
   * The network swallows every packet: connections stay open and silent, new ones open and stay silent, and no side
   * learns that the other one closed. As after a real partition, what was sent meanwhile arrives late, with
   * {@link heal}.
   */
  blackHole(): void {
    this.#mode = 'holding';
    for (const { near, far } of this.#pairs) {
      near.pause();
      far.pause();
    }
  }

  /** Puts bytes into every connection that the server never sent. */
  inject(bytes: string): void {
    for (const { near } of this.#pairs) near.write(bytes);
  }

  /** Ends whatever is wrong. */
  async heal(): Promise<void> {
    const was = this.#mode;
    this.#mode = 'passing';
    for (const { near, far } of this.#pairs) {
      near.resume();
      far.resume();
    }
    if (was === 'refusing') await listen(this.#server, this.port);
  }

  /** Breaks every connection and ends. */
  async stop(): Promise<void> {
    await this.refuse();
  }

  #nextTarget(): TcpProxyTarget {
    const target = this.#targets[this.#joined++ % this.#targets.length];
    if (!target) throw new Error('The proxy leads nowhere.');
    return target;
  }

  #join(near: Socket): void {
    const { host = '127.0.0.1', port } = this.#nextTarget();
    const far = connect({ host, port });
    const pair = { near, far };
    this.#pairs.add(pair);
    const part = () => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (bytes) => to.write(bytes));
      from.on('end', () => to.end());
      // A reset is an end, too: 'close' follows, and that is where both sides part.
      from.on('error', () => undefined);
      from.on('close', part);
      if (this.#mode === 'holding') from.pause();
    }
  }
}

/** A proxy on a port of its own: each connection leads to the next of `targets`. */
export async function startTcpProxy(...targets: readonly TcpProxyTarget[]): Promise<TcpProxy> {
  const server = createServer({ allowHalfOpen: true });
  const own = await listen(server, 0);
  return new TcpProxy(server, own, targets);
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy listens on no port.');
  return address.port;
}
