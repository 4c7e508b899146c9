/**
 * What stands before replicas: takes each post to the next one that is in rotation, and to another one when the first
 * refuses it, as a load balancer and a sender that repeats itself do together.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Replica } from './replica.ts';

const PROBE_EVERY_MS = 250;
const PROBE_WITHIN_MS = 1_000;
/** Pause before every replica is tried once more. */
const ROUND_MS = 25;

/** How a try ended that was not answered 202. */
export type Refusal =
  /** Nobody listens. */
  | 'refused'
  /** The connection broke before an answer came. */
  | 'reset'
  /** 503 with Retry-After. */
  | 'unavailable'
  /** No answer in time; the request may still be carried out. */
  | 'timeout';

export interface Posted {
  readonly replica: Replica;
  /** From the first try to the answer, ms. */
  readonly tookMs: number;
  readonly refusals: readonly Refusal[];
}

export interface BalancerOptions {
  readonly replicas: readonly Replica[];
  readonly token: string;
  /** How long an answer may take before the next replica is tried, ms. */
  readonly patienceMs?: number;
}

export class Balancer {
  readonly counts: Record<Refusal, number> = { refused: 0, reset: 0, unavailable: 0, timeout: 0 };
  /** Answers that no sender may ever see. */
  readonly faults: string[] = [];
  readonly #options: BalancerOptions;
  readonly #agent: Agent;
  readonly #patienceMs: number;
  readonly #resting = new Set<Replica>();
  readonly #probing = new AbortController();
  #next = 0;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 3_000;
    this.#agent = new Agent({ connections: 64, connect: { timeout: 1_000 } });
    for (const replica of options.replicas) void this.#probe(replica);
  }

  /** Posts a Snapshot until somebody answers 202, or `isOver` says that it is no longer of use. */
  async post(body: string, isOver: () => boolean = () => false): Promise<Posted | null> {
    const began = performance.now();
    const refusals: Refusal[] = [];
    const { length } = this.#options.replicas;
    while (!isOver()) {
      const replica = this.#pick();
      const refusal = await this.#try(replica, body);
      if (refusal === null) return { replica, tookMs: performance.now() - began, refusals };
      refusals.push(refusal);
      this.counts[refusal]++;
      if (refusals.length % length === 0) await pause(ROUND_MS);
    }
    return null;
  }

  async close(): Promise<void> {
    this.#probing.abort();
    await this.#agent.destroy();
  }

  /** The next one in rotation; the next one at all when there is none. */
  #pick(): Replica {
    const { replicas } = this.#options;
    for (let tried = 0; tried < replicas.length; tried++) {
      const replica = replicas[this.#next++ % replicas.length]!;
      if (!this.#resting.has(replica)) return replica;
    }
    return replicas[this.#next++ % replicas.length]!;
  }

  async #try(replica: Replica, body: string): Promise<Refusal | null> {
    try {
      const answer = await request(`${replica.url}/api/v1/ingest`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#options.token}`, 'content-type': 'application/json' },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(this.#patienceMs),
      });
      await answer.body.dump();
      if (answer.statusCode === 202) return null;
      if (answer.statusCode === 503 && answer.headers['retry-after'] !== undefined) return 'unavailable';
      this.faults.push(`${replica.id} answered ${answer.statusCode}`);
      return 'unavailable';
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Takes a replica that is not ready out of rotation, as the probes of a load balancer do. */
  async #probe(replica: Replica): Promise<void> {
    const { signal } = this.#probing;
    while (!signal.aborted) {
      if (await this.#isReady(replica)) this.#resting.delete(replica);
      else this.#resting.add(replica);
      await pause(PROBE_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #isReady(replica: Replica): Promise<boolean> {
    try {
      const answer = await request(`${replica.url}/health/ready`, {
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(PROBE_WITHIN_MS),
      });
      await answer.body.dump();
      return answer.statusCode === 200;
    } catch {
      return false;
    }
  }
}

/** How a request without an answer ended. @throws what says something else */
export function refusalOf(error: unknown): Refusal {
  const { name, code, cause } = error as Error & { code?: unknown };
  const why = (cause as { code?: string } | undefined)?.code;
  const says = typeof code === 'string' ? code : (why ?? name);
  switch (says) {
    case 'ECONNREFUSED':
      return 'refused';
    case 'TimeoutError':
    case 'AbortError':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
      return 'timeout';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return 'reset';
    default:
      throw error;
  }
}
