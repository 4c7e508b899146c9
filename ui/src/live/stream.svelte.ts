/**
 * The open tab's one live stream (api §13): hints come in, and while it is down everything shown counts as old. After
 * a reconnect all of it is read again, spread over two seconds so that many tabs do not read at once (ui §1.6).
 */
import { createStore } from '@xstate/store';
import { mirror } from '../state/mirror.svelte.ts';
import { createHintBoard, type HintBoard, readHint } from './hints.ts';

const URL = '/api/v1/live-updates';
const SPREAD_MS = 2_000;
const REOPEN_MS = 3_000;
const STALE_AFTER_MS = 10_000;

export interface Live extends Pick<HintBoard, 'on'> {
  /** When the stream went down, ms since the epoch; null while it is up, and for the first ten seconds without it. */
  readonly staleSince: number | null;
  start(): void;
  stop(): void;
}

/**
 * @param checkSession reads the session; called when the service refused the stream, because only a refusal of an
 * ordinary request says why
 */
export function createLive(checkSession: () => Promise<void>): Live {
  const board = createHintBoard({ set: (run, ms) => setTimeout(run, ms) });
  const store = createStore({
    context: { downSince: null as number | null, stale: false },
    on: {
      opened: () => ({ downSince: null, stale: false }),
      lost: (context, event: { at: number }) => ({ ...context, downSince: context.downSince ?? event.at }),
      grewOld: (context) => ({ ...context, stale: context.downSince !== null }),
    },
  });
  const view = mirror(store);
  let source: EventSource | null = null;
  let openedBefore = false;

  function open(): void {
    const stream = new EventSource(URL);
    source = stream;
    stream.addEventListener('open', () => {
      const missedSome = openedBefore;
      openedBefore = true;
      store.trigger.opened();
      if (missedSome) setTimeout(board.invalidateAll, Math.random() * SPREAD_MS);
    });
    stream.addEventListener('hint', (event: MessageEvent<string>) => {
      const hint = readHint(event.data);
      if (hint !== null) board.arrived(hint);
    });
    stream.addEventListener('error', () => {
      lost();
      if (stream.readyState === EventSource.CLOSED) void reopen(stream);
    });
  }

  function lost(): void {
    store.trigger.lost({ at: Date.now() });
    setTimeout(() => store.trigger.grewOld(), STALE_AFTER_MS);
  }

  /** The browser gave up, so the service refused: a session that ended stops us, anything else is tried again. */
  async function reopen(stream: EventSource): Promise<void> {
    await checkSession();
    if (source !== stream) return;
    setTimeout(() => {
      if (source === stream) open();
    }, REOPEN_MS);
  }

  return {
    on: board.on,
    get staleSince() {
      return view.current.stale ? view.current.downSince : null;
    },
    start() {
      if (source === null) open();
    },
    stop() {
      source?.close();
      source = null;
      openedBefore = false;
      store.trigger.opened();
    },
  };
}
