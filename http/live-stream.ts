/** One open live stream: numbered hints, and what waits while its reader does not keep up. */
import type { Hint } from '../actors/effects.ts';
import { type Clock, type Micros, SECOND } from '../runtime/clock.ts';
import type { OutputStream } from './operation.ts';

/** A reader more hints behind than this is cut off. */
const MOST_WAITING = 32;
/** So is one that has not taken what was written for this long. */
const STUCK_AFTER: Micros = 10 * SECOND;
/** Milliseconds after which a browser tries again. */
const RETRY = 3_000;

export interface LiveStream {
  send(hints: readonly Hint[]): void;
  comment(text: string): void;
  isStuck(): boolean;
  close(): void;
}

/** Begins the stream by telling the browser when to come back. */
export function createLiveStream(output: OutputStream, clock: Clock): LiveStream {
  const waiting = new Map<string, Hint>();
  let lastId = 0;
  let fullSince: Micros | null = null;

  const write = (text: string) => {
    if (!output.write(text)) fullSince = clock.now();
  };
  const writeHints = (hints: readonly Hint[]) => {
    if (hints.length > 0) write(hints.map((hint) => event(++lastId, hint)).join(''));
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
      for (const hint of hints) waiting.set(`${hint.type}/${hint.id}`, hint);
      if (waiting.size > MOST_WAITING) output.close();
    },
    comment(text) {
      if (fullSince === null) write(`: ${text}\n\n`);
    },
    isStuck: () => fullSince !== null && clock.now() - fullSince >= STUCK_AFTER,
    close: () => output.close(),
  };
}

function event(id: number, { type, id: resource }: Hint): string {
  return `id: ${id}\nevent: hint\ndata: ${JSON.stringify({ type, id: resource })}\n\n`;
}
