/** What is taken in: how a request is framed, how slowly its body may arrive, when its connection may be answered. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { type Clock, SECOND } from '../../runtime/clock.ts';

export interface Inflow {
  /** Passes the pieces on from now; before, and without it, they are discarded. Must be called in the callback of the request. */
  collect(listener: (piece: ArrayBuffer, isLast: boolean) => void): void;
  /**
   * Calls `write` once, unless the client goes away: at once when the body is complete, otherwise after what has
   * arrived is parsed, so that nothing behind it in the same packet is served.
   * @param write gets whether the answer must end the connection: something of the body may still come
   */
  answer(write: (closes: boolean) => void): void;
  /** The client went away. */
  gone(): void;
}

/** Must be called in the callback of the request. */
export function openInflow(res: HttpResponse, framing: Framing, pace: BodyPace): Inflow {
  let listener: ((piece: ArrayBuffer, isLast: boolean) => void) | null = null;
  let isComplete = !framing.hasBody;
  let isGone = false;
  const watched = framing.hasBody ? pace.watch(() => res.close()) : null;
  if (framing.hasBody) {
    res.onData((piece, isLast) => {
      watched?.received(piece.byteLength);
      if (isLast) watched?.end();
      isComplete = isLast;
      listener?.(piece, isLast);
    });
  }

  return {
    collect(to) {
      listener = to;
      if (!framing.hasBody) to(new ArrayBuffer(0), true);
    },
    answer(write) {
      if (isComplete && !framing.isLast) {
        write(false);
        return;
      }
      setImmediate(() => {
        if (isGone) return;
        watched?.end();
        write(framing.isLast || !isComplete);
      });
    },
    gone() {
      isGone = true;
      watched?.end();
    },
  };
}

/** Where a request ends. Nothing is served that leaves this unclear (api §1.2 rule 11). */
export interface Framing {
  /** Whether a body follows the head. */
  readonly hasBody: boolean;
  /** Announced length of the body, bytes; null for a chunked one. */
  readonly length: number | null;
  /** Whether its sender wants nothing served after it on its connection. */
  readonly isLast: boolean;
}

/** What {@link framingOf} asks of a request. Names of headers are in lower case. */
export interface Head {
  getCaseSensitiveMethod(): string;
  forEach(each: (name: string, value: string) => void): void;
}

/**
 * How a request is framed; null when that is unclear.
 * @param isRead whether the front has read it. If not, the library may have hidden headers that follow one without a
 * name, and have looked for the end of a chunk generously: another request may follow only a length that it shows.
 */
export function framingOf(head: Head, isRead: boolean): Framing | null {
  let length: string | null = null;
  let encoding: string | null = null;
  let hosts = 0;
  let isLast = false;
  const method = head.getCaseSensitiveMethod();
  let isBroken = !METHOD.test(method);
  head.forEach((name, value) => {
    switch (name) {
      case 'content-length':
        isBroken ||= !LENGTH.test(value) || (length !== null && length !== value);
        length = value;
        break;
      case 'transfer-encoding':
        isBroken ||= value !== 'chunked' || encoding !== null;
        encoding = value;
        break;
      case 'host':
        hosts += 1;
        isBroken ||= !HOST.test(value);
        break;
      case 'connection':
        isLast ||= CLOSE.test(value);
        break;
      case '':
        isBroken = true;
    }
  });
  const hasBody = encoding !== null || (length !== null && Number(length) > 0);
  const isSafe = SAFE.test(method);
  if (isBroken || hosts !== 1 || (encoding !== null && length !== null) || (hasBody && isSafe)) return null;
  if (!isRead) isLast ||= length === null || isSafe;
  return { hasBody, length: encoding === null ? Number(length ?? 0) : null, isLast };
}

/** CONNECT asks for a tunnel. */
const METHOD = /^(?!CONNECT$)[A-Z-]{1,32}$/;
const SAFE = /^(?:GET|HEAD|OPTIONS)$/;
/** At most 15 digits: an exact number. */
const LENGTH = /^\d{1,15}$/;
/** A host and port as they stand in a URL; empty where there is none. */
const HOST = /^[\w.~%!$&'()*+,;=:[\]-]*$/;
const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;

/** The first header of what is passed on: the secret, the number of the connection and its client's address. */
export const PEER_HEADER = 'tocsin-peer';

/** A request that the server may serve. */
export interface Admitted {
  readonly framing: Framing;
  /** Address of the client as its socket has it. Asked for before the client is gone. */
  readonly peer: () => string;
  /**
   * Must be called before an answer that ends the connection. What is sent after it would be answered with a reset,
   * which might overtake the answer.
   */
  readonly ending: () => void;
}

/** The connections of one front: known to it and to the server behind it alone. */
export interface Peers {
  /** Whoever reaches the server on the loopback interface without it is refused. */
  readonly secret: string;
  /** By number: reads the rest of what the client sends, and passes nothing on. */
  readonly discard: Map<string, () => void>;
}

/**
 * What the server sees of a request; null when it is to be refused.
 * @param peers of the front that it must have come through; null for a socket without one
 */
export function admit(res: HttpResponse, req: HttpRequest, peers: Peers | null): Admitted | null {
  const framing = framingOf(req, peers !== null);
  if (framing === null) return null;
  if (peers === null) {
    return {
      framing,
      peer: () => Buffer.from(res.getRemoteAddressAsText()).toString(),
      ending: () => undefined,
    };
  }
  const [secret, number = '', address = ''] = req.getHeader(PEER_HEADER).split(' ');
  if (secret !== peers.secret) return null;
  return { framing, peer: () => address, ending: () => peers.discard.get(number)?.() };
}

/**
 * Answers 400 without a body and closes the connection, as uWebSockets.js does with broken requests itself. The answer
 * waits until what has arrived is parsed: a request that follows in the same packet would be served behind an answer,
 * but ends the connection while one is pending.
 */
export function refuseFraming(res: HttpResponse): void {
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  setImmediate(() => {
    if (isGone) return;
    res.cork(() => {
      res.writeStatus('400 Bad Request');
      res.end('', true);
    });
  });
}

/** Seconds that a body may take whatever its size. */
export const BODY_GRACE_SECONDS = 5;

/** Bytes that must have arrived on average for every second after that. */
export const BODY_BYTES_PER_SECOND = 4_096;

export interface BodyPace {
  /** @param cut called once when the body is too slow; it must end the connection */
  watch(cut: () => void): WatchedBody;
}

export interface WatchedBody {
  received(bytes: number): void;
  /** The body is complete, or of no interest any more. */
  end(): void;
}

interface Watched {
  readonly cut: () => void;
  bytes: number;
  seconds: number;
}

/** Looks once a second while any body is unfinished. */
export function createBodyPace(clock: Clock): BodyPace {
  const unfinished = new Set<Watched>();
  let isTicking = false;

  const tick = () => {
    for (const body of unfinished) {
      body.seconds += 1;
      if (body.bytes >= (body.seconds - BODY_GRACE_SECONDS) * BODY_BYTES_PER_SECOND) continue;
      unfinished.delete(body);
      body.cut();
    }
    isTicking = unfinished.size > 0;
    if (isTicking) clock.after(SECOND, tick);
  };

  return {
    watch(cut) {
      const body: Watched = { cut, bytes: 0, seconds: 0 };
      unfinished.add(body);
      if (!isTicking) clock.after(SECOND, tick);
      isTicking = true;
      return {
        received(bytes) {
          body.bytes += bytes;
        },
        end: () => void unfinished.delete(body),
      };
    },
  };
}
