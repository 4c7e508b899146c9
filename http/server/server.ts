/**
 * The sockets: the one place that runs uWebSockets.js, or node:http instead. Says which listener a request is for, and
 * drains on stop.
 */
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { atMost, type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import { INTERNAL, problemReply, UNAVAILABLE } from '../errors.ts';
import type { Handler, Reply } from './exchange.ts';
import { openExchange } from './exchange-uws.ts';
import { createPeers, HEADER_LIMIT, openFront } from './front.ts';
import { admit, createBodyPace, type Peers, refuseFraming } from './inflow.ts';
import {
  type ListenAddress,
  type Listener,
  listenerOf,
  type PlannedSocket,
  planSockets,
} from './listeners.ts';
import { type HttpEngine, nodeEngine } from './node-app.ts';

/** How long requests under way may take to end once the server drains. */
const DRAIN_WITHIN: Micros = 10 * SECOND;

export interface ServerDeps {
  readonly listen: Readonly<Record<Listener, ListenAddress>>;
  /** `fast`: a socket for ingest alone has no front. A front costs 20 to 28 µs a request at full load. */
  readonly ingestFraming: 'strict' | 'fast';
  /** `node`: node:http; `auto`: uWebSockets.js where it has a build. */
  readonly engine: 'auto' | 'node';
  readonly handlers: Readonly<Record<Listener, Handler>>;
  readonly clock: Clock;
  /** Adds the paths of the ingest listener that read their bodies themselves. */
  readonly ingest: (app: TemplatedApp, peers: Peers | null) => void;
  /** Resolves when everything those paths took in is answered. */
  readonly ingestDrained: () => Promise<void>;
  /** With `auto`: uWebSockets.js has no build for this process, and node:http serves. */
  readonly onNodeEngine: (error: unknown) => void;
  /** A handler threw; it must not. */
  readonly onDefect: (listener: Listener, error: unknown) => void;
}

export interface Server {
  /** Binds every socket. @throws {ListenError} an address cannot be bound; nothing stays open */
  start(): Promise<Readonly<Record<Listener, ListenAddress>>>;
  /**
   * Stops taking app and ingest requests, waits for those under way, at most 10 s, and then closes every connection
   * of theirs. Internal requests are still answered.
   */
  drain(): Promise<void>;
  /** Closes everything that is open. */
  stop(): void;
}

export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly listener: Listener;

  constructor(listener: Listener, { host, port }: ListenAddress) {
    super(`cannot listen on ${host}:${port} (${listener})`);
    this.listener = listener;
  }
}

export function createServer(deps: ServerDeps): Server {
  const flight = createFlight();
  const pace = createBodyPace(deps.clock);
  let draining = false;
  let sockets: OpenSocket[] = [];

  const serve = (app: TemplatedApp, serves: readonly Listener[], peers: Peers | null) => {
    if (serves.includes('ingest')) deps.ingest(app, peers);
    app.any('/*', (res, req) => {
      const admitted = admit(res, req, peers);
      if (!admitted) {
        refuseFraming(res);
        return;
      }
      const listener = listenerOf(req.getUrl(), serves);
      const refuse = draining && listener !== 'internal';
      // What is refused is not waited for: connections that go on sending would never let the server drain.
      const done = refuse || listener === 'internal' ? () => undefined : flight.begin();
      const exchange = openExchange(res, req, admitted, pace, done);
      const answer = refuse ? Promise.resolve(SHUTTING_DOWN) : deps.handlers[listener](exchange.request);
      answer.then(
        (reply) => reply && exchange.send(reply, { close: draining }),
        (error: unknown) => {
          deps.onDefect(listener, error);
          exchange.send(problemReply(INTERNAL, null, []), { close: true });
        },
      );
    });
  };

  return {
    async start() {
      const engine = deps.engine === 'node' ? nodeEngine : await loadUws(deps.onNodeEngine);
      for (const planned of planSockets(deps.listen)) {
        const failed = (error: Error) => deps.onDefect(planned.serves[0] ?? 'app', error);
        const app = engine.App(failed);
        const needsFront = engine === nodeEngine || hasFront(planned, deps.ingestFraming);
        const peers = needsFront ? createPeers() : null;
        serve(app, planned.serves, peers);
        const opened = await open(engine, app, planned, peers, failed);
        if (opened === null) {
          closeAll(sockets);
          sockets = [];
          throw new ListenError(planned.serves[0] ?? 'app', planned);
        }
        sockets.push({ ...planned, ...opened, app });
      }
      return addressesOf(sockets);
    },
    async drain() {
      draining = true;
      for (const { serves, close } of sockets) {
        if (!serves.includes('internal')) close();
      }
      await atMost(deps.clock, DRAIN_WITHIN, Promise.all([flight.idle(), deps.ingestDrained()]));
      // Connections that are kept alive and idle know of nothing: their next request would come too late.
      closeAll(sockets.filter(({ serves }) => !serves.includes('internal')));
    },
    stop() {
      closeAll(sockets);
      sockets = [];
    },
  };
}

const SHUTTING_DOWN: Reply = problemReply(UNAVAILABLE, null, []);

interface OpenSocket extends PlannedSocket {
  readonly app: TemplatedApp;
  /** Takes no further connections. */
  readonly close: () => void;
}

/** The library reads its header limit from the environment while it loads. A front adds a line of its own. */
async function loadUws(onNodeEngine: ServerDeps['onNodeEngine']): Promise<HttpEngine> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEADER_LIMIT + 256);
  try {
    const uws = await import('uWebSockets.js');
    return { ...uws, App: () => uws.App() };
  } catch (error) {
    onNodeEngine(error);
    return nodeEngine;
  }
}

function hasFront({ serves }: PlannedSocket, ingestFraming: ServerDeps['ingestFraming']): boolean {
  return ingestFraming === 'strict' || serves.some((listener) => listener !== 'ingest');
}

/** Other processes may not take the same port beside us. */
const EXCLUSIVE = 1;

type Listen = (
  host: string,
  port: number,
  options: number,
  bound: (socket: us_listen_socket | false) => void,
) => void;

/** Opens a socket, behind a front when there are peers for one. @returns null when the address is taken */
async function open(
  engine: HttpEngine,
  app: TemplatedApp,
  planned: ListenAddress,
  peers: Peers | null,
  failed: (error: Error) => void,
): Promise<Pick<OpenSocket, 'port' | 'close'> | null> {
  const { host, port } = peers === null ? planned : { host: '127.0.0.1', port: 0 };
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    if (host === '') app.listen(port, EXCLUSIVE, resolve);
    // The library takes host and options together; its types know only one of them.
    else (app.listen as unknown as Listen).call(app, host, port, EXCLUSIVE, resolve);
  });
  if (!socket) return null;
  const bound = engine.us_socket_local_port(socket);
  let isOpen = true;
  const close = () => {
    if (isOpen) engine.us_listen_socket_close(socket);
    isOpen = false;
  };
  if (peers === null) return { port: bound, close };
  const front = await openFront(planned, bound, peers, failed);
  if (front === null) app.close();
  return front;
}

function closeAll(sockets: readonly OpenSocket[]): void {
  for (const { app, close } of sockets) {
    close();
    app.close();
  }
}

function addressesOf(sockets: readonly OpenSocket[]): Record<Listener, ListenAddress> {
  const addressOf = (listener: Listener) => {
    const open = sockets.find(({ serves }) => serves.includes(listener));
    return { host: open?.host ?? '', port: open?.port ?? 0 };
  };
  return { app: addressOf('app'), ingest: addressOf('ingest'), internal: addressOf('internal') };
}

/** Counts requests in flight and signals when there is none. */
function createFlight() {
  let count = 0;
  let waiting: (() => void)[] = [];

  return {
    /** @returns how to say that the request is done */
    begin(): () => void {
      count++;
      return () => {
        count--;
        if (count > 0) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      };
    },
    idle: () => (count === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
  };
}
