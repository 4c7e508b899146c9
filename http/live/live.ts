/** Live updates: hints to open browsers as server-sent events (api §13). One timer serves every stream. */
import { HINT_TYPES, type Hint, type HintBus } from '../../actors/effects.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { OutputStream } from '../operation.ts';
import type { Permission } from '../permissions.ts';

/** Sessions are looked at this often. */
const SESSION_CHECK: Micros = 5 * SECOND;
/**
 * In session checks: a comment line goes out every 10 s. It follows a check that succeeded, because a replica that
 * cannot read its database cannot say that nothing has changed.
 */
const CHECKS_PER_KEEPALIVE = 2;
/** Hints wait this long for equal ones to join them. */
const GATHER: Micros = SECOND / 20;

const STREAMS_PER_SESSION = 10;
const STREAMS_PER_REPLICA = 10_000;

/** Whom a kind of hint is for: holders of a Permission, everybody, or the one user it names. */
const AUDIENCE: Readonly<Record<Hint['type'], Permission | 'any' | 'user'>> = {
  'alert-group': 'alert-groups:read',
  'alert-groups': 'alert-groups:read',
  integration: 'integrations:read',
  route: 'routes:read',
  connection: 'connections:read',
  destination: 'destinations:read',
  organization: 'any',
  'system-notices': 'any',
  'system-status': 'system-status:read',
  'account-links': 'user',
};

export interface Listener {
  readonly sessionId: PublicId;
  readonly userId: PublicId;
  readonly permissions: ReadonlySet<Permission>;
}

export interface LiveUpdates {
  /** Whether one more stream of a session may open. */
  hasRoom(sessionId: PublicId): boolean;
  open(listener: Listener, output: OutputStream): void;
  /** Ends every stream; a browser comes back after 3 s. */
  close(): void;
}

export interface LiveDeps {
  readonly hints: HintBus;
  readonly clock: Clock;
  /** Which of the sessions still live. */
  readonly live: (ids: readonly PublicId[], now: Micros) => Promise<ReadonlySet<PublicId>>;
  readonly opened: (count: number) => void;
  readonly log: Log;
}

interface Entry extends Listener {
  readonly stream: LiveStream;
}

export function createLiveUpdates(deps: LiveDeps): LiveUpdates {
  const { clock } = deps;
  const entries = new Set<Entry>();
  const gathered = new Map<string, Hint>();
  let flush: Timer | null = null;
  let check: Timer | null = null;
  let checks = 0;
  /** While streams are open; hints cost nothing otherwise. */
  let stopListening: (() => void) | null = null;

  const deliver = () => {
    flush = null;
    const hints = [...gathered.values()].map((hint) => ({ hint, sent: asSent(hint) }));
    gathered.clear();
    for (const entry of entries) {
      entry.stream.send(hints.filter(({ hint }) => isFor(hint, entry)).map(({ sent }) => sent));
    }
  };
  const gather = (hint: Hint) => {
    gathered.set(`${hint.type}/${hint.id}`, hint);
    flush ??= clock.after(GATHER, deliver);
  };
  /** Null: hints may have been lost, so that everybody reads everything again (api §13). */
  const hear = (hint: Hint | null) => {
    if (hint) gather(hint);
    else for (const type of HINT_TYPES) gather({ type, id: null });
  };
  const listenWhileOpen = () => {
    if (entries.size > 0) stopListening ??= deps.hints.listen(hear);
    else {
      stopListening?.();
      stopListening = null;
    }
  };

  const checkSessions = async () => {
    checks++;
    const sessions = new Set([...entries].map((entry) => entry.sessionId));
    const live = await deps.live([...sessions], clock.now());
    for (const { sessionId, stream } of [...entries]) {
      // A stream opened while the database was asked is not judged by the answer.
      const ended = sessions.has(sessionId) && !live.has(sessionId);
      if (ended || stream.isStuck()) stream.close();
      else if (checks % CHECKS_PER_KEEPALIVE === 0) stream.comment('keepalive');
    }
  };
  const checkNow = async () => {
    try {
      await checkSessions();
    } catch (error) {
      // Without the database nobody is thrown out; the next check decides.
      deps.log('live_updates_failed', { error: String(error) });
    }
  };
  const schedule = () => {
    check = entries.size === 0 ? null : clock.after(SESSION_CHECK, () => void checkNow().finally(schedule));
  };

  return {
    hasRoom(sessionId) {
      if (entries.size >= STREAMS_PER_REPLICA) return false;
      let open = 0;
      for (const entry of entries) if (entry.sessionId === sessionId) open++;
      return open < STREAMS_PER_SESSION;
    },
    open(listener, output) {
      const entry: Entry = { ...listener, stream: createLiveStream(output, clock) };
      entries.add(entry);
      listenWhileOpen();
      deps.opened(entries.size);
      output.onClosed(() => {
        entries.delete(entry);
        listenWhileOpen();
        deps.opened(entries.size);
      });
      if (check === null) schedule();
    },
    close() {
      stopListening?.();
      flush?.cancel();
      for (const { stream } of [...entries]) stream.close();
    },
  };
}

function isFor(hint: Hint, listener: Listener): boolean {
  const audience = AUDIENCE[hint.type];
  if (audience === 'any') return true;
  if (audience === 'user') return hint.id === null || hint.id === listener.userId;
  return listener.permissions.has(audience);
}

/** A hint as every stream sends it: written once, however many there are. */
interface SentHint {
  /** Equal for hints of which one suffices. */
  readonly key: string;
  /** The event without its id. */
  readonly text: string;
}

/** A hint about Account links names the user they belong to; the browser knows who it is. */
function asSent({ type, id: of }: Hint): SentHint {
  const id = AUDIENCE[type] === 'user' ? null : of;
  return { key: `${type}/${id}`, text: `event: hint\ndata: ${JSON.stringify({ type, id })}\n\n` };
}

/** A reader more hints behind than this is cut off. */
const MOST_WAITING = 32;
/** So is one that has not taken what was written for this long. */
const STUCK_AFTER: Micros = 10 * SECOND;
/** Milliseconds after which a browser tries again. */
const RETRY = 3_000;

interface LiveStream {
  send(hints: readonly SentHint[]): void;
  comment(text: string): void;
  isStuck(): boolean;
  close(): void;
}

/** Begins the stream by telling the browser when to come back. */
function createLiveStream(output: OutputStream, clock: Clock): LiveStream {
  const waiting = new Map<string, SentHint>();
  let lastId = 0;
  let fullSince: Micros | null = null;

  const write = (text: string) => {
    if (!output.write(text)) fullSince = clock.now();
  };
  const writeHints = (hints: readonly SentHint[]) => {
    if (hints.length > 0) write(hints.map(({ text }) => `id: ${++lastId}\n${text}`).join(''));
  };
  output.onDrained(() => {
    fullSince = null;
    const hints = [...waiting.values()];
    waiting.clear();
    writeHints(hints);
  });
  write(`retry: ${RETRY}\n\n`);

  return {
    send(hints) {
      if (fullSince === null) {
        writeHints(hints);
        return;
      }
      for (const hint of hints) waiting.set(hint.key, hint);
      if (waiting.size > MOST_WAITING) output.close();
    },
    comment(text) {
      if (fullSince === null) write(`: ${text}\n\n`);
    },
    isStuck: () => fullSince !== null && clock.now() - fullSince >= STUCK_AFTER,
    close: () => output.close(),
  };
}
