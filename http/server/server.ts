/** The sockets: the one place that runs uWebSockets.js. Says which listener a request is for, and drains on stop. */
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { atMost, type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import { INTERNAL, problemReply, UNAVAILABLE } from '../errors.ts';
import type { Handler, Reply } from './exchange.ts';
import { openExchange } from './exchange-uws.ts';
import { createBodyPace, framingOf, refuseFraming } from './inflow.ts';
import {
  type ListenAddress,
  type Listener,
  listenerOf,
  type PlannedSocket,
  planSockets,
} from './listeners.ts';

/** How long requests under way may take to end once the server drains. */
const DRAIN_WITHIN: Micros = 10 * SECOND;

/** Request line and headers together, bytes (api §1.2 rule 7). */
const HEADER_LIMIT = 16_384;

/** Answers 400, 431 and 505 of uWebSockets.js itself never reach us; heads that do not end are cut by it after 12 s. */
export interface ServerDeps {
  readonly listen: Readonly<Record<Listener, ListenAddress>>;
  readonly handlers: Readonly<Record<Listener, Handler>>;
  readonly clock: Clock;
  /** Adds the paths of the ingest listener that read their bodies themselves. */
  readonly ingest: (app: TemplatedApp) => void;
  /** Resolves when everything those paths took in is answered. */
  readonly ingestDrained: () => Promise<void>;
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

  const serve = (app: TemplatedApp, serves: readonly Listener[]) => {
    if (serves.includes('ingest')) deps.ingest(app);
    app.any('/*', (res, req) => {
      const framing = framingOf(req);
      if (!framing) {
        refuseFraming(res);
        return;
      }
      const listener = listenerOf(req.getUrl(), serves);
      const refuse = draining && listener !== 'internal';
      // What is refused is not waited for: connections that go on sending would never let the server drain.
      const done = refuse || listener === 'internal' ? () => undefined : flight.begin();
      const exchange = openExchange(res, req, framing, pace, done);
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
      const uws = await loadUws();
      for (const planned of planSockets(deps.listen)) {
        const app = uws.App();
        serve(app, planned.serves);
        const socket = await bind(app, planned);
        if (!socket) {
          closeAll(sockets);
          sockets = [];
          throw new ListenError(planned.serves[0] ?? 'app', planned);
        }
        sockets.push({
          ...planned,
          port: uws.us_socket_local_port(socket),
          app,
          socket,
          close: uws.us_listen_socket_close,
        });
      }
      return addressesOf(sockets);
    },
    async drain() {
      draining = true;
      for (const open of sockets) {
        if (!open.serves.includes('internal')) open.close(open.socket);
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
  readonly socket: us_listen_socket;
  readonly close: (socket: us_listen_socket) => void;
}

/** The library reads its header limit from the environment while it loads. */
async function loadUws() {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEADER_LIMIT);
  return import('uWebSockets.js');
}

/** Other processes may not take the same port beside us. */
const EXCLUSIVE = 1;

type Listen = (
  host: string,
  port: number,
  options: number,
  bound: (socket: us_listen_socket | false) => void,
) => void;

/** Binds a socket; false when the address is taken. */
function bind(app: TemplatedApp, { host, port }: ListenAddress): Promise<us_listen_socket | false> {
  return new Promise((resolve) => {
    if (host === '') app.listen(port, EXCLUSIVE, resolve);
    // The library takes host and options together; its types know only one of them.
    else (app.listen as unknown as Listen).call(app, host, port, EXCLUSIVE, resolve);
  });
}

function closeAll(sockets: readonly OpenSocket[]): void {
  for (const { app } of sockets) app.close();
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
