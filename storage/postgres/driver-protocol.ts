/** What the guard of the driver's sockets reads from the PostgreSQL wire protocol (version 3). */

const PARSE = 0x50;
const BIND = 0x42;
const PASSWORD = 0x70;
const QUERY = 0x51;
const SYNC = 0x53;
const FLUSH = 0x48;
const ERROR = 0x45;
const ROW_DESCRIPTION = 0x54;
const NO_DATA = 0x6e;
const READY_FOR_QUERY = 0x5a;
const IDLE = 0x49;
/** ReadyForQuery without its last byte, the transaction status. */
const READY = Buffer.from('Z\0\0\0\x05', 'latin1');
/** The severity, untranslated, of an error that ends the connection. */
const FATAL = ['VFATAL\0', 'VPANIC\0'] as const;
/** Longest farewell that is looked for, bytes. */
const FAREWELL_MAX = 2048;
/** How far the type byte of such an error can be before its untranslated severity. */
const FATAL_REACH = 64;

export interface SessionWatch {
  /** Bytes from the server, in order. */
  received(chunk: Buffer): void;
  /** Whole messages to the server, in order. */
  sent(chunk: Buffer): void;
  /** Whether the server has ever been ready for a query. */
  started(): boolean;
  inTransaction(): boolean;
  /** Whether the driver has sent the `commit` or `rollback` of the open transaction. */
  isEnding(): boolean;
}

/** Follows a connection from the bytes that pass: whether a transaction is open and whether it is being ended. */
export function createSessionWatch(): SessionWatch {
  /** Names of the statements that end a transaction; the unnamed one is parsed again and again. */
  const endings = new Set<string>();
  let ending = false;
  let greeted = false;
  let status: number | null = null;
  let tail: Buffer = Buffer.alloc(0);
  return {
    received(chunk) {
      // The server sends ReadyForQuery last and then waits, so it is where what arrived ends.
      tail = Buffer.from(chunk.length >= 6 ? chunk.subarray(-6) : Buffer.concat([tail, chunk]).subarray(-6));
      if (tail.length < 6 || !tail.subarray(0, 5).equals(READY)) return;
      status = tail[5] ?? null;
      if (status === IDLE) ending = false;
    },
    sent(chunk) {
      if (!greeted) {
        // The first message of a connection is the only one without a type byte.
        greeted = true;
        return;
      }
      for (const { name, text } of statements(chunk)) {
        if (text === null) ending ||= endings.has(name);
        else if (text === 'rollback' || text === 'commit') endings.add(name);
        else endings.delete(name);
      }
    },
    started: () => status !== null,
    inTransaction: () => status !== null && status !== IDLE,
    isEnding: () => ending,
  };
}

export interface AnswerCount {
  /** Whole messages to the server, in order. */
  sent(chunk: Buffer): void;
  /** Bytes from the server, in order, cut anywhere. */
  received(chunk: Buffer): void;
  /** How many answers the server has yet to give. */
  owed(): number;
}

/**
 * Counts what the server owes: readiness for the start of the session and for every request, a description where the
 * driver asks for one before it goes on. Answers come in the order of the requests.
 */
export function createAnswerCount(): AnswerCount {
  const owed: ('ready' | 'description')[] = [];
  const types = createTypeReader();
  let greeted = false;
  return {
    sent(chunk) {
      if (!greeted) {
        greeted = true;
        owed.push('ready');
        return;
      }
      for (const { type } of messages(chunk)) {
        if (type === SYNC || type === QUERY) owed.push('ready');
        else if (type === FLUSH) owed.push('description');
      }
    },
    received(chunk) {
      for (const type of types(chunk)) {
        const describes = type === ROW_DESCRIPTION || type === NO_DATA || type === ERROR;
        const settles = owed[0] === 'ready' ? type === READY_FOR_QUERY : describes;
        if (settles) owed.shift();
      }
    },
    owed: () => owed.length,
  };
}

/** Reads the types of messages from bytes that are cut anywhere. */
function createTypeReader(): (chunk: Buffer) => Generator<number> {
  let head: Buffer = Buffer.alloc(0);
  let skip = 0;
  return function* read(chunk) {
    const bytes = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    let at = skip;
    while (at + 5 <= bytes.length) {
      yield bytes.readUInt8(at);
      at += 1 + bytes.readUInt32BE(at + 1);
    }
    skip = Math.max(0, at - bytes.length);
    head = Buffer.from(bytes.subarray(at));
  };
}

/** Whether the last of some whole messages to the server is a password. */
export function endsWithPassword(chunk: Buffer): boolean {
  let last: number | undefined;
  for (const { type } of messages(chunk)) last = type;
  return last === PASSWORD;
}

/** Parts the error that ends the connection, which is the last thing a server sends, from what came before it. */
export function partFarewell(chunk: Buffer): { before: Buffer; farewell: Buffer | null } {
  const from = Math.max(0, chunk.length - FAREWELL_MAX);
  const end = chunk.subarray(from);
  const severity = from + Math.max(...FATAL.map((text) => end.lastIndexOf(text, undefined, 'latin1')));
  for (let at = severity - 6; at >= from && at >= severity - FATAL_REACH; at--) {
    const isLast = chunk[at] === ERROR && chunk.readUInt32BE(at + 1) === chunk.length - at - 1;
    if (isLast) return { before: chunk.subarray(0, at), farewell: chunk.subarray(at) };
  }
  return { before: chunk, farewell: null };
}

/** What an error from the server says, and its SQLSTATE. */
export function readError(error: Buffer): { code: string; message: string } {
  const fields = error.toString('utf8', 5).split('\0');
  const field = (type: string) => fields.find((text) => text.startsWith(type))?.slice(1) ?? '';
  return { code: field('C'), message: field('M') };
}

/** The statements that messages name: with their text where they are parsed, without where they are bound. */
function* statements(chunk: Buffer): Generator<{ name: string; text: string | null }> {
  for (const { type, body } of messages(chunk)) {
    if (type !== PARSE && type !== BIND) continue;
    const [first, next] = zeroEnded(chunk, body);
    const [second] = zeroEnded(chunk, next);
    if (type === PARSE) yield { name: first, text: second };
    else yield { name: second, text: null };
  }
}

function* messages(chunk: Buffer): Generator<{ type: number | undefined; body: number }> {
  for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
    yield { type: chunk[at], body: at + 5 };
  }
}

/** A zero-ended text and where the next one begins. A long one is cut: only short ones are of interest. */
function zeroEnded(chunk: Buffer, from: number): [string, number] {
  const end = chunk.indexOf(0, from);
  return [chunk.toString('latin1', from, Math.min(end, from + 64)), end + 1];
}
