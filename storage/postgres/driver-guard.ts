/**
 * Stands between the PostgreSQL driver and a socket whose server may go away.
 *
 * The driver (postgres.js 3.4) lets go of a socket the moment it closes and forgets that something may still be
 * written to it: the `rollback` of an open transaction, or a query handed to the connection a moment earlier. Such a
 * write ends the whole process, or leaves the connection unusable for good. So the guard tells the driver of the end
 * only at a moment when nothing can be on its way:
 *
 * - outside a transaction, or when the driver has asked to end it, after which it asks nothing more: from within a
 *   write that the guard itself provoked;
 * - inside one: after the driver asked to end it; until then every statement is answered with an error.
 */
import type net from 'node:net';
import {
  createAnswerCount,
  createSessionWatch,
  endsWithPassword,
  partFarewell,
  readError,
} from './driver-protocol.ts';

/** The server closed the connection. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
  readonly code = 'CONNECTION_CLOSED';

  constructor() {
    super('The database closed the connection.');
  }
}

/** The wait for a commit's standby was cancelled: the commit is on this server alone. */
class UnreplicatedError extends Error {
  override readonly name = 'UnreplicatedError';
  readonly code = 'UNREPLICATED';

  constructor() {
    super('The synchronous standby has not confirmed the commit.');
  }
}

/** What a server tells of itself before it is ready for the first query. */
const IS_STANDBY = Buffer.from('in_hot_standby\0on\0', 'latin1');
const STANDBY = { code: '25006', message: 'The server is a standby, which takes no writes.' };
/** The routine that a notice names, beside a commit called done; between zeros no value of a row can say this. */
const UNREPLICATED = Buffer.from('\0RSyncRepWaitForLSN\0', 'latin1');
/** Refusals of a server that cannot serve now; any other one concerns who asks. */
const CANNOT_SERVE = /^(25006|57P)/;

/** ReadyForQuery inside a failed transaction: lets the driver go on to the next statement. */
const READY_IN_FAILED = Buffer.from('Z\0\0\0\x05E', 'latin1');
/** AuthenticationCleartextPassword: the one message that the driver always answers with a write. */
const ASK_PASSWORD = Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1');

type Write = (chunk: Buffer, done?: () => void) => boolean;

/** The server said no before it was ready for a query; the code is its SQLSTATE. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: string;

  constructor({ code, message }: { code: string; message: string }) {
    super(message);
    this.code = code;
  }
}

/** The server owed an answer for too long. */
class SilenceError extends Error {
  override readonly name = 'SilenceError';
  readonly code = 'ETIMEDOUT';

  constructor(patience: number) {
    super(`The database has not answered for ${patience} ms.`);
  }
}

export interface GuardOptions {
  /** After how long a server that owes an answer and says nothing counts as lost, ms; null: never. */
  readonly answerWithin: number | null;
  /** Whether a server that follows another one counts as one that cannot serve. */
  readonly refusesStandby?: boolean;
  /** This server cannot serve. Answers whether the driver shall come again, for another one, before anybody is told. */
  readonly passOver?: () => boolean;
  /** The server took the first query. */
  readonly onReady?: () => void;
}

/** Prepares a connected socket for the driver. Returns the same socket. */
export function guardSocket(socket: net.Socket, options: GuardOptions): net.Socket {
  const { answerWithin, refusesStandby = false, passOver = () => false, onReady = () => undefined } = options;
  const emit = socket.emit.bind(socket);
  const session = createSessionWatch();
  const answers: AnswerWatch | null =
    answerWithin === null
      ? null
      : watchAnswers(answerWithin, () => socket.destroy(new SilenceError(answerWithin)));
  let error: Error | null = null;
  let refusal: RefusedError | null = null;
  /** What came before the first query; later the end of what came, as a word may arrive in two pieces. */
  let heard: Buffer = Buffer.alloc(0);
  let over: 'open' | 'lost' | 'closed' = 'open';

  const replaceWrite = (replacement: Write) => {
    socket.write = replacement as net.Socket['write'];
  };
  /** What is written to a lost server is taken and dropped: whoever waits for that (a COPY) goes on to the error. */
  const replaceWriteOfLost = (take: (request: Buffer) => void) =>
    replaceWrite((request, done) => {
      if (typeof done === 'function') setImmediate(done);
      take(request);
      return true;
    });
  /** A connection can end before the driver listens, or after it stopped: then nobody waits to be told. */
  const fail = () => {
    if (socket.listenerCount('error') > 0) emit('error', refusal ?? error ?? new ConnectionLostError());
  };
  const close = () => {
    if (over === 'closed') return;
    over = 'closed';
    // `false`: whatever is still waiting on the connection is rejected by the driver now.
    emit('close', false);
  };
  const closeSoon = () => setImmediate(() => setImmediate(close));

  const closeInsideWrite = () => {
    replaceWriteOfLost((request) => {
      if (endsWithPassword(request)) close();
    });
    fail();
    emit('data', ASK_PASSWORD);
    // The answer does not come when the connection broke in the middle of a message.
    setImmediate(closeSoon);
  };

  const answerInTransaction = (request: Buffer) => {
    if (over === 'closed') return;
    session.sent(request);
    fail();
    if (session.isEnding()) closeSoon();
    else emit('data', READY_IN_FAILED);
  };
  const closeAfterTransaction = () => {
    replaceWriteOfLost((request) => setImmediate(answerInTransaction, request));
    fail();
    emit('data', READY_IN_FAILED);
  };

  const closeBeforeStart = () => {
    replaceWriteOfLost(() => undefined);
    const isOther = (refusal === null || CANNOT_SERVE.test(refusal.code)) && passOver();
    if (!isOther) fail();
    closeSoon();
  };

  /** Whether what the server says of itself, or of a commit, makes it one that cannot serve. */
  const isUnfit = (received: Buffer): boolean => {
    if (!session.started()) {
      heard = Buffer.concat([heard, received]);
      if (refusesStandby && heard.includes(IS_STANDBY)) refusal = new RefusedError(STANDBY);
      return refusal !== null;
    }
    const seam = Buffer.concat([
      heard.subarray(-UNREPLICATED.length),
      received.subarray(0, UNREPLICATED.length),
    ]);
    heard = Buffer.concat([seam, received.subarray(-UNREPLICATED.length)]);
    if (!received.includes(UNREPLICATED) && !seam.includes(UNREPLICATED)) return false;
    passOver();
    error = new UnreplicatedError();
    return true;
  };

  const lose = () => {
    over = 'lost';
    answers?.end();
    if (session.inTransaction() && !session.isEnding()) closeAfterTransaction();
    else if (session.started()) closeInsideWrite();
    else closeBeforeStart();
  };

  socket.emit = (event: string | symbol, ...values: unknown[]) => {
    if (event === 'error') {
      // Told together with the end, which always follows.
      error = values[0] as Error;
      return true;
    }
    if (event === 'close') {
      if (over === 'open') lose();
      return true;
    }
    if (event !== 'data') return emit(event, ...values);
    const received = values[0] as Buffer;
    if (isUnfit(received)) {
      socket.destroy();
      return true;
    }
    answers?.received(received);
    // The driver would keep a farewell and hold it against the first query of the next connection.
    const { before, farewell } = partFarewell(received);
    if (farewell !== null && !session.started()) refusal = new RefusedError(readError(farewell));
    if (before.length === 0) return true;
    const wasReady = session.started();
    session.received(before);
    if (!wasReady && session.started()) onReady();
    return emit(event, before);
  };

  const watchWrite = () => {
    const write = socket.write.bind(socket) as Write;
    replaceWrite((chunk, done) => {
      session.sent(chunk);
      answers?.sent(chunk);
      return write(chunk, done);
    });
  };
  watchWrite();
  // When the server's side ends, Node has put a function of its own in the place of `write`. What the driver sends
  // between that and the close is lost, but that it was sent must be known.
  socket.once('end', watchWrite);
  return socket;
}

/** Notices a server that stopped answering: without a bound, a dropped connection is noticed only by TCP, minutes later. */
interface AnswerWatch {
  /** Whole messages to the server, in order. */
  sent(chunk: Buffer): void;
  /** Bytes from the server, in order. */
  received(chunk: Buffer): void;
  /** The connection is gone. */
  end(): void;
}

/**
 * Watches one connection. Only time in which an answer is owed counts, from the request or from the latest sign of the
 * server, whichever came last: an idle connection may be silent for ever.
 * @param patience ms
 * @param onSilence called once when nothing came for that long
 */
function watchAnswers(patience: number, onSilence: () => void): AnswerWatch {
  const answers = createAnswerCount();
  let timer: NodeJS.Timeout | null = null;
  const rest = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  return {
    sent(chunk) {
      answers.sent(chunk);
      if (answers.owed() > 0) timer ??= setTimeout(onSilence, patience);
    },
    received(chunk) {
      answers.received(chunk);
      if (answers.owed() === 0) rest();
      else timer?.refresh();
    },
    end: rest,
  };
}
