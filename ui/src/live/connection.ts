/**
 * The connection of a browser to the live stream (api §13). It is read with `fetch`, because every byte is a sign of
 * life and `EventSource` hides the comment lines: after 25 s without one the connection is given up and made anew.
 */
import type { Timers } from '../api/client.ts';
import { type Hint, readHint } from './hints.ts';

const URL = '/api/v1/live-updates';
/** Comment lines come every 10 s. */
export const SILENCE_MS = 25_000;
/** Until the stream says another time; and what it may say. */
const RETRY_MS = 3_000;
const RETRY_RANGE = [1_000, 60_000] as const;
/** A wait is prolonged by up to this part of it, so that browsers do not come back all at once. */
const JITTER = 0.5;
/** When the network or the machine comes back, what was silent for longer than this may be dead. */
const DEAD_MS = { opening: 3_000, open: 12_000 } as const;

export interface ConnectionDeps {
  readonly fetch: typeof fetch;
  readonly timers: Timers;
  /** Milliseconds since the epoch. It goes on while the machine sleeps. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

export interface ConnectionListener {
  opened(): void;
  /** At least one byte came. */
  bytes(): void;
  hint(hint: Hint): void;
  /** It broke, was refused or fell silent. Another attempt follows. */
  lost(): void;
  /** The session is over, or waits for a second factor. No attempt follows. */
  refused(): void;
}

export interface Connection {
  open(): void;
  /** Tries again at once where that may help: the network or the machine has just come back. */
  hurry(): void;
  close(): void;
}

interface Attempt {
  readonly abort: AbortController;
  isOpen: boolean;
  /** When it began, until the first byte. */
  lastByteAt: number;
}

export function createConnection(deps: ConnectionDeps, listener: ConnectionListener): Connection {
  const { timers, now } = deps;
  let current: Attempt | null = null;
  let watch: unknown = null;
  let waiting: unknown = null;
  let retryMs = RETRY_MS;

  function begin(): void {
    const attempt: Attempt = { abort: new AbortController(), isOpen: false, lastByteAt: now() };
    waiting = null;
    current = attempt;
    watchOver(attempt, SILENCE_MS);
    void run(attempt);
  }

  /** One timer a connection, not one a byte. */
  function watchOver(attempt: Attempt, ms: number): void {
    watch = timers.set(() => {
      const silent = now() - attempt.lastByteAt;
      if (silent >= SILENCE_MS) lose(attempt, 0);
      // A clock that was set back must not make the wait longer than it can be.
      else watchOver(attempt, Math.min(SILENCE_MS, SILENCE_MS - silent));
    }, ms);
  }

  async function run(attempt: Attempt): Promise<void> {
    let retryAfterMs = 0;
    try {
      const response = await deps.fetch(URL, {
        headers: { Accept: 'text/event-stream' },
        credentials: 'same-origin',
        cache: 'no-store',
        signal: attempt.abort.signal,
      });
      if (attempt !== current) return;
      if (response.status === 401 || response.status === 403) {
        stop();
        listener.refused();
        return;
      }
      if (isStream(response) && response.body !== null) await follow(attempt, response.body);
      else retryAfterMs = Number(response.headers.get('Retry-After') ?? 0) * 1_000;
    } catch {
      // No answer, a connection that broke, or one given up: tried again in any case.
    }
    lose(attempt, retryAfterMs);
  }

  function lose(attempt: Attempt, retryAfterMs: number): void {
    if (attempt !== current) return;
    stop();
    const wanted = Number.isFinite(retryAfterMs) ? Math.min(retryAfterMs, RETRY_RANGE[1]) : 0;
    waiting = timers.set(begin, Math.max(retryMs, wanted) * (1 + JITTER * deps.random()));
    listener.lost();
  }

  async function follow(attempt: Attempt, body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const read = createEventStreamReader({
      event: (name, data) => {
        const hint = name === 'hint' ? readHint(data) : null;
        if (hint !== null) listener.hint(hint);
      },
      retry: (ms) => {
        retryMs = Math.min(RETRY_RANGE[1], Math.max(RETRY_RANGE[0], ms));
      },
    });
    attempt.isOpen = true;
    attempt.lastByteAt = now();
    listener.opened();
    while (attempt === current) {
      const { done, value } = await reader.read();
      if (done || attempt !== current) return;
      attempt.lastByteAt = now();
      listener.bytes();
      read(decoder.decode(value, { stream: true }));
    }
  }

  function stop(): void {
    timers.clear(watch);
    timers.clear(waiting);
    waiting = null;
    current?.abort.abort();
    current = null;
  }

  return {
    open() {
      if (current === null && waiting === null) begin();
    },
    hurry() {
      if (current === null) {
        if (waiting === null) return;
        timers.clear(waiting);
        begin();
        return;
      }
      const silent = now() - current.lastByteAt;
      if (silent < DEAD_MS[current.isOpen ? 'open' : 'opening']) return;
      const wasOpen = current.isOpen;
      stop();
      begin();
      if (wasOpen) listener.lost();
    },
    close: stop,
  };
}

function isStream(response: Response): boolean {
  return response.ok && (response.headers.get('Content-Type') ?? '').startsWith('text/event-stream');
}

/** Characters of a line, and of the data of one event. A hint has about a hundred. */
const LINE_MAX = 4_096;
const DATA_MAX = 16_384;

export interface EventStreamListener {
  event(name: string, data: string): void;
  /** Milliseconds to wait before the next connection. */
  retry(ms: number): void;
}

/**
 * @returns takes the next piece of the text; comment lines and ids are read over
 * @throws RangeError for a line or an event without end: whatever answers is no live stream
 */
export function createEventStreamReader(listener: EventStreamListener): (piece: string) => void {
  let unfinished = '';
  let endedWithReturn = false;
  let name = '';
  let data: string | null = null;

  function line(text: string): void {
    if (text === '') {
      if (data !== null) listener.event(name === '' ? 'message' : name, data);
      name = '';
      data = null;
      return;
    }
    const colon = text.indexOf(':');
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') name = value;
    else if (field === 'data') data = data === null ? value : `${data}\n${value}`;
    else if (field === 'retry' && /^\d{1,6}$/.test(value)) listener.retry(Number(value));
    if (data !== null && data.length > DATA_MAX)
      throw new RangeError('an event of the live stream is too long');
  }

  return (piece) => {
    if (piece === '') return;
    // A CRLF that was cut in two is one end of a line.
    const text = endedWithReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    endedWithReturn = piece.endsWith('\r');
    const lines = (unfinished + text).split(/\r\n|\r|\n/);
    if (lines.some((each) => each.length > LINE_MAX))
      throw new RangeError('a line of the live stream is too long');
    unfinished = lines.pop() ?? '';
    for (const each of lines) line(each);
  };
}
