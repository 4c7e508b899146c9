/** Time and a service for tests of the live stream: time passes when the test says so, and the test writes the bytes. */
import type { ConnectionDeps } from './connection.ts';

export interface OpenedStream {
  write(text: string): void;
  /** The service closes it. */
  end(): void;
  readonly isGivenUp: () => boolean;
}

export function createVirtualTime() {
  const due = new Map<() => void, number>();
  let now = 1_000_000;
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    timers: {
      set(run: () => void, ms: number) {
        const own = () => run();
        due.set(own, now + ms);
        return own;
      },
      clear: (timer: unknown) => void due.delete(timer as () => void),
    },
    settle,
    /** Lets time pass; what is due runs in order, each with everything that follows from it. */
    async pass(seconds: number) {
      await settle();
      const until = now + seconds * 1_000;
      for (;;) {
        const next = [...due].filter(([, at]) => at <= until).sort(([, a], [, b]) => a - b)[0];
        if (next === undefined) break;
        due.delete(next[0]);
        now = Math.max(now, next[1]);
        next[0]();
        await settle();
      }
      now = until;
    },
    /** The machine sleeps: time passes, and nothing runs. */
    sleep(seconds: number) {
      now += seconds * 1_000;
    },
  };
}

export type VirtualTime = ReturnType<typeof createVirtualTime>;

/** A service that answers each attempt as `answer` says; null is no answer at all. */
export function createVirtualService(answer: () => Response | 'stream' | null | Error) {
  const streams: OpenedStream[] = [];
  let attempts = 0;
  const request: ConnectionDeps['fetch'] = (_, init) => {
    attempts += 1;
    const given = answer();
    if (given instanceof Error) return Promise.reject(given);
    if (given instanceof Response) return Promise.resolve(given);
    const { signal } = init ?? {};
    if (given === null) {
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError')));
      });
    }
    const encoder = new TextEncoder();
    let isGivenUp = false;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        streams.push({
          write: (text) => controller.enqueue(encoder.encode(text)),
          end: () => controller.close(),
          isGivenUp: () => isGivenUp,
        });
        signal?.addEventListener('abort', () => {
          isGivenUp = true;
          controller.error(new DOMException('given up', 'AbortError'));
        });
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }));
  };
  return { fetch: request, streams, attempts: () => attempts };
}
