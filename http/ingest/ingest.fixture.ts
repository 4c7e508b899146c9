/** A clock moved by hand, a writer that stores in memory, and tokens, for the tests of ingestion. */
import { hash } from 'node:crypto';
import { Registry } from 'prom-client';
import type { NewSnapshot, SnapshotWriter } from '../../actors/feed/ports.ts';
import type { FoundToken, IntegrationTokens } from '../../actors/integration/ports.ts';
import type { Clock, Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createIngestMetrics } from './metrics.ts';

export const TOKEN = `svc_int_${'a'.repeat(43)}`;
export const INTEGRATION = 'NT0000000000AB' as PublicId;

export interface HandClock extends Clock {
  /** Moves time on and runs what is due. */
  advance(by: Micros): void;
}

export function createHandClock(start: Micros = 1_790_000_000_000_000): HandClock {
  let now = start;
  let timers: { at: Micros; run: () => void }[] = [];
  return {
    now: () => now,
    after(delay, run) {
      const timer = { at: now + delay, run };
      timers.push(timer);
      return {
        cancel: () => {
          timers = timers.filter((other) => other !== timer);
        },
      };
    },
    advance(by) {
      now += by;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { run } of due) run();
    },
  };
}

/** Keeps what is written; each write waits to be let through unless `open`. */
export class HeldWriter implements SnapshotWriter {
  readonly batches: NewSnapshot[][] = [];
  open = true;
  #seq = 0;
  #held: { go(): void; fail(error: Error): void }[] = [];
  #arrivals: (() => void)[] = [];

  async write(snapshots: readonly NewSnapshot[]): Promise<readonly number[]> {
    this.batches.push([...snapshots]);
    for (const arrived of this.#arrivals.splice(0)) arrived();
    if (!this.open) await new Promise<void>((go, fail) => this.#held.push({ go, fail }));
    return snapshots.map(() => ++this.#seq);
  }

  /** Resolves with the start of the next write. */
  nextWrite(): Promise<void> {
    return new Promise((resolve) => this.#arrivals.push(resolve));
  }

  release(error?: Error): void {
    const held = this.#held.shift();
    if (!held) throw new Error('no write is held');
    if (error) held.fail(error);
    else held.go();
  }

  get stored(): NewSnapshot[] {
    return this.batches.flat();
  }
}

export function tokensOf(tokens: Record<string, FoundToken>): IntegrationTokens {
  const known = new Map(Object.entries(tokens).map(([token, found]) => [hash('sha256', token), found]));
  return {
    find: async (sha) => known.get(Buffer.from(sha).toString('hex')) ?? null,
    invalidate: () => known.clear(),
    used: () => undefined,
  };
}

export function oneToken(): IntegrationTokens {
  return tokensOf({ [TOKEN]: { tokenId: 'NK0000000000AB' as PublicId, integrationId: INTEGRATION } });
}

export function freshMetrics() {
  return createIngestMetrics(new Registry());
}

/** What the pretended database says when it is away. */
export class AwayError extends Error {}

export const isAway = (error: unknown): boolean => error instanceof AwayError;
