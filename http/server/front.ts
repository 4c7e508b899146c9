/**
 * The front of the sockets. uWebSockets.js parses a head before anybody sees it, and is generous about line ends, names
 * of headers and chunks: what it reads differently from a proxy in between, one of them takes for a body and the other
 * for a request (request smuggling). So every connection is read here first, strictly, and passed on over the loopback
 * interface (api §1.2 rule 11). What is unclear is replaced by a request that the server refuses: it writes every answer.
 */
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { framingOf, type Head, PEER_HEADER, type Peers } from './inflow.ts';
import type { ListenAddress } from './listeners.ts';

/** Request line and headers together, bytes; and how many headers (api §1.2 rule 7). Above either it is 431. */
export const HEADER_LIMIT = 16_384;
export const HEADERS_LIMIT = 97;
/** Bytes of a chunk's line, with its extensions; and of all trailers. */
const CHUNK_LINE_LIMIT = 1_024;
const TRAILER_LIMIT = HEADER_LIMIT;
/** How long a client may take to read the next 64 KiB, and the end, of an answer, ms; whatever it sends meanwhile. */
const READ_WITHIN_MS = 30_000;

export const createPeers = (): Peers => ({
  secret: randomBytes(24).toString('base64url'),
  discard: new Map(),
});

export interface Front {
  readonly port: number;
  /** Takes no further connections. */
  close(): void;
}

/**
 * @param port of the server on 127.0.0.1
 * @param failed told what goes wrong once it listens
 * @returns null when the address cannot be bound
 */
export function openFront(
  at: ListenAddress,
  port: number,
  peers: Peers,
  failed: (error: Error) => void,
): Promise<Front | null> {
  let connections = 0;
  const server = createServer({ noDelay: true }, (client) => {
    pass(client, port, peers, String(++connections), failed);
  });
  return new Promise((resolve) => {
    server.on('error', (error) => (server.listening ? failed(error) : resolve(null)));
    server.listen({ port: at.port, ...(at.host !== '' && { host: at.host }), exclusive: true }, () => {
      resolve({ port: portOf(server), close: () => void server.close() });
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the front listens on no port');
  return address.port;
}

function pass(
  client: Socket,
  port: number,
  peers: Peers,
  number: string,
  failed: (error: Error) => void,
): void {
  const server = connect({ host: '127.0.0.1', port, noDelay: true });
  const framer = createFramer(`${PEER_HEADER}: ${peers.secret} ${number} ${client.remoteAddress ?? ''}\r\n`);
  const discard = () => {
    framer.end();
    client.resume();
  };
  peers.discard.set(number, discard);
  let late: NodeJS.Timeout | undefined;
  const mustReadSoon = () => {
    clearTimeout(late);
    late = setTimeout(() => client.destroy(), READ_WITHIN_MS);
  };
  client.on('data', (piece) => {
    const parts = framer.read(piece);
    if (parts.length > 0 && !server.write(Buffer.concat(parts))) client.pause();
  });
  server.on('drain', () => client.resume());
  server.on('data', (piece) => {
    if (client.write(piece)) return;
    server.pause();
    mustReadSoon();
  });
  client.on('drain', () => {
    clearTimeout(late);
    server.resume();
  });
  client.on('end', () => server.end());
  client.on('close', () => {
    peers.discard.delete(number);
    clearTimeout(late);
    server.destroy();
  });
  // Either may reset its connection, the server one of which it has not read everything: 'close' follows. What the
  // server answered before still goes out. One that was never made is a defect, or the end of the file descriptors.
  client.on('error', () => undefined);
  let isConnected = false;
  server.on('connect', () => {
    isConnected = true;
  });
  server.on('error', (error) => isConnected || failed(error));
  server.on('close', () => {
    discard();
    client.end();
    if (!client.destroyed) mustReadSoon();
  });
}

/** Answered 400 by the server, and the end of the connection: two Hosts. */
const UNCLEAR = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n');
/** Answered 505. */
const OTHER_VERSION = Buffer.from('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
/** Answered 431: more headers than the server takes. */
const TOO_LARGE = Buffer.from(`GET / HTTP/1.1\r\n${'x:\r\n'.repeat(HEADERS_LIMIT + 8)}\r\n`);
/** Inside a chunked body: answered 400. */
const BAD_CHUNK = Buffer.from('-1\r\n');
const LINE_END = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const NOTHING = Buffer.alloc(0);

const REQUEST_LINE = /^([A-Z-]{1,32}) \/[!-~]* HTTP\/1\.1\r\n/;
const REQUEST_LINE_OF_ANY_VERSION = /^[A-Z-]{1,32} \/[!-~]* HTTP\/\d\.\d\r\n/;
/** A name without white space around it, and a value without control characters. */
const HEADER = /([!#$%&'*+.^_`|~\w-]+):([\t\x20-\x7e\x80-\xff]*)\r\n/y;
const CHUNK_LINE = /^([0-9a-f]{1,8})(?:;[!-~][\t\x20-\x7e]*)?\r\n$/i;
const TRAILER = /^(?!content-length:|transfer-encoding:)[!#$%&'*+.^_`|~\w-]+:[\t\x20-\x7e\x80-\xff]*\r\n$/i;
/** A line end that is not CRLF. The last character may be the first half of one. */
const BARE_LINE_END = /(?:^|[^\r])\n|\r[^\n]/;

export interface Framer {
  /** Takes the next piece. @returns what is passed on of it */
  read(piece: Buffer): readonly Buffer[];
  /** Passes nothing on from now. */
  end(): void;
}

/**
 * Reads the bytes of one connection.
 * @param peerHeader a whole line that is put behind each request line
 */
export function createFramer(peerHeader: string): Framer {
  let step: 'head' | 'body' | 'size' | 'chunk' | 'chunk end' | 'trailer' | 'over' = 'head';
  /** A head or line that is not complete. */
  let begun: Buffer = NOTHING;
  /** Bytes to come of a body or chunk; bytes of trailers so far. */
  let left = 0;
  let trailed = 0;
  let isLast = false;
  let out: Buffer[] = [];

  function end(...parts: readonly Buffer[]): Buffer {
    out.push(...parts);
    step = 'over';
    return NOTHING;
  }

  function wait(rest: Buffer): Buffer {
    begun = rest;
    return NOTHING;
  }

  function head(rest: Buffer): Buffer {
    const at = rest.indexOf('\r\n\r\n');
    const size = at === -1 ? rest.length : at + 4;
    if (size > HEADER_LIMIT) return end(TOO_LARGE);
    const text = rest.toString('latin1', 0, size);
    if (at === -1) return BARE_LINE_END.test(text) ? end(UNCLEAR) : wait(rest);
    const line = REQUEST_LINE.exec(text);
    if (line === null) return end(REQUEST_LINE_OF_ANY_VERSION.test(text) ? OTHER_VERSION : UNCLEAR);
    const fields = readFields(text, line[0].length);
    if (fields === null) return end(UNCLEAR);
    if (fields.length > HEADERS_LIMIT) return end(TOO_LARGE);
    const forEach: Head['forEach'] = (each) => {
      for (const [name, value] of fields) each(name, value);
    };
    const framing = framingOf({ getCaseSensitiveMethod: () => line[1]!, forEach }, true);
    if (framing === null) return end(UNCLEAR);
    out.push(
      Buffer.from(line[0] + peerHeader, 'latin1'),
      headersOf(rest.subarray(line[0].length, size), fields),
    );
    isLast = framing.isLast;
    left = framing.length ?? 0;
    if (!framing.hasBody) nextRequest();
    else step = framing.length === null ? 'size' : 'body';
    return rest.subarray(size);
  }

  function nextRequest(): void {
    step = isLast ? 'over' : 'head';
  }

  function some(rest: Buffer): Buffer {
    const part = rest.length > left ? rest.subarray(0, left) : rest;
    out.push(part);
    left -= part.length;
    if (left === 0 && step === 'body') nextRequest();
    else if (left === 0) step = 'chunk end';
    return rest.subarray(part.length);
  }

  /** @returns the line with its end; null while it is not complete */
  function lineOf(rest: Buffer): string | null {
    const at = rest.indexOf(10);
    return at === -1 ? null : rest.toString('latin1', 0, at + 1);
  }

  function size(rest: Buffer): Buffer {
    const line = lineOf(rest);
    if ((line?.length ?? rest.length) > CHUNK_LINE_LIMIT) return end(BAD_CHUNK);
    if (line === null) return wait(rest);
    const digits = CHUNK_LINE.exec(line)?.[1];
    if (digits === undefined) return end(BAD_CHUNK);
    left = Number.parseInt(digits, 16);
    trailed = 0;
    step = left === 0 ? 'trailer' : 'chunk';
    if (left > 0) out.push(Buffer.from(`${digits}\r\n`));
    return rest.subarray(line.length);
  }

  function chunkEnd(rest: Buffer): Buffer {
    if (rest.length === 1 && rest[0] === 13) return wait(rest);
    out.push(LINE_END);
    if (rest[0] !== 13 || rest[1] !== 10) return end(BAD_CHUNK);
    step = 'size';
    return rest.subarray(2);
  }

  function trailer(rest: Buffer): Buffer {
    const line = lineOf(rest);
    if (trailed + (line?.length ?? rest.length) > TRAILER_LIMIT) return end(BAD_CHUNK);
    if (line === null) return wait(rest);
    trailed += line.length;
    if (line !== '\r\n' && !TRAILER.test(line)) return end(BAD_CHUNK);
    if (line === '\r\n') {
      out.push(LAST_CHUNK);
      nextRequest();
    }
    return rest.subarray(line.length);
  }

  const steps = { head, body: some, size, chunk: some, 'chunk end': chunkEnd, trailer, over: () => NOTHING };

  return {
    read(piece) {
      let rest = begun.length === 0 ? piece : Buffer.concat([begun, piece]);
      begun = NOTHING;
      out = [];
      while (rest.length > 0) rest = steps[step](rest);
      return out;
    },
    end() {
      step = 'over';
    },
  };
}

/** A length that is told again, which node:http refuses, is passed on once. */
function headersOf(sent: Buffer, fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const lengths = fields.filter(([name]) => name === 'content-length');
  if (lengths.length < 2) return sent;
  const once = [...fields.filter(([name]) => name !== 'content-length'), ...lengths.slice(0, 1)];
  return Buffer.from(`${once.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`, 'latin1');
}

/** @returns all headers, names in lower case; null when one is malformed */
function readFields(head: string, start: number): readonly (readonly [name: string, value: string])[] | null {
  const fields: [string, string][] = [];
  HEADER.lastIndex = start;
  while (HEADER.lastIndex < head.length - 2) {
    const found = HEADER.exec(head);
    if (found === null) return null;
    // A no-break space belongs to the value; trim() would remove it.
    fields.push([found[1]!.toLowerCase(), found[2]!.replaceAll('\xa0', '\xff').trim()]);
  }
  return fields;
}
