/**
 * A browser page of the list, without the browser: it follows the live stream of one replica, reads the list again when
 * a hint says so, and comes back when the stream ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import type { Api, Json } from './api.ts';
import { refusalOf } from './balancer.ts';
import type { Replica } from './replica.ts';
import { until } from './until.ts';

/** Browsers wait 3 s; a test has less time. */
const COMES_BACK_MS = 300;
/** Hints that come within this time are followed by one look. */
const LOOK_MS = 250;
/** Without a byte the stream is taken for dead: comment lines come every 10 s. */
const SILENCE_MS = 25_000;

export class LiveClient {
  readonly replica: Replica;
  /** Streams opened so far. */
  streams = 0;
  hints = 0;
  readonly #api: Api;
  readonly #over = new AbortController();
  readonly #following: Promise<void>;
  readonly #looking: Promise<void>;
  #isDirty = true;
  /** By Alert Group: what the page shows of it. */
  #shown = new Map<string, string>();

  constructor(replica: Replica, api: Api) {
    this.replica = replica;
    this.#api = api;
    this.#following = this.#follow();
    this.#looking = this.#look();
  }

  async close(): Promise<void> {
    this.#over.abort();
    await Promise.all([this.#following, this.#looking]);
  }

  /** Waits until the page shows what the list says, with nothing but hints to tell it to look. */
  async becomesRight(seconds: number): Promise<void> {
    await until(
      `the page at ${this.replica.id} to be right`,
      async () => {
        const truth = await readList(this.#api);
        const wrong = [...truth].filter(([id, text]) => this.#shown.get(id) !== text);
        if (wrong.length === 0 && truth.size === this.#shown.size) return true;
        throw new Error(`${wrong.length} of ${truth.size} Alert Groups are shown wrongly`);
      },
      seconds,
    );
  }

  async #follow(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        await this.#readStream();
      } catch (error) {
        if (!signal.aborted) refusalOf(error);
      }
      await pause(COMES_BACK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #readStream(): Promise<void> {
    const answer = await request(`${this.replica.url}/api/v1/live-updates`, {
      headers: { cookie: this.#api.cookie, accept: 'text/event-stream' },
      signal: this.#over.signal,
      bodyTimeout: SILENCE_MS,
      headersTimeout: 5_000,
      reset: true,
    });
    if (answer.statusCode !== 200) return void (await answer.body.dump());
    this.streams++;
    // Whatever happened while nobody told.
    this.#isDirty = true;
    await this.#readHints(answer);
  }

  async #readHints({ body }: Dispatcher.ResponseData): Promise<void> {
    for await (const chunk of body.setEncoding('utf8')) {
      const count = String(chunk).split('event: hint').length - 1;
      this.hints += count;
      if (/"type":"alert-groups?"/.test(String(chunk))) this.#isDirty = true;
    }
  }

  async #look(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
      if (!this.#isDirty) continue;
      this.#isDirty = false;
      try {
        this.#shown = await readList(this.#api);
      } catch {
        // The replica is away or cannot serve; the page tries again.
        this.#isDirty = true;
      }
    }
  }
}

/** What the list shows of every Alert Group. */
async function readList(api: Api): Promise<Map<string, string>> {
  const groups: Json[] = await api.all(
    '/alert-groups?status=firing&status=acknowledged&status=snoozed&status=resolved',
  );
  return new Map(
    groups.map(({ id, status, firing_alert_count, resolved_alert_count, last_changed_at }) => [
      id,
      JSON.stringify([status, firing_alert_count, resolved_alert_count, last_changed_at]),
    ]),
  );
}
