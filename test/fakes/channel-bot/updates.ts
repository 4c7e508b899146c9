/** Updates that wait for a bot: taken by polls, or posted to its webhook ("Getting updates"; Client.cpp, WebhookActor.cpp). */

import type { WireAnswer } from '../listener.ts';
import type { Refusal } from './shapes.ts';
import { done, Refusal as Refused } from './shapes.ts';

export interface WaitingUpdate {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

/** Posts an update to a webhook, and says how it was answered. */
export type PostUpdate = (
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly body: string }>;

export interface Webhook {
  readonly url: string;
  readonly secret: string;
  readonly allowed: readonly string[];
}

/** "Incoming updates will not be kept longer than 24 hours"; an unanswered press for 150 s. */
const KEPT_MS: Readonly<Record<string, number>> = { callback_query: 150_000 };
const KEPT_OTHERS_MS = 24 * 3_600_000;
/** An offset so far beyond the newest update starts again at the oldest (Client.cpp). */
const FAR_OFFSET = 10;

export class Updates {
  webhook: Webhook | null = null;
  lastError: { at: number; text: string } | null = null;
  /** The number that the next update gets: after a week without updates the server takes a random one. */
  next = 918_273_645;
  readonly #now: () => number;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #post: PostUpdate | undefined;
  readonly #violations: string[];
  #waiting: (WaitingUpdate & { readonly at: number; readonly kind: string })[] = [];
  #allowed: readonly string[] | null = null;
  #wake: (() => void)[] = [];
  #terminate: ((said: string) => void) | null = null;
  #posting: Promise<void> | null = null;

  constructor(options: {
    readonly now: () => number;
    readonly sleep: (ms: number) => Promise<void>;
    readonly post: PostUpdate | undefined;
    readonly violations: string[];
  }) {
    this.#now = options.now;
    this.#sleep = options.sleep;
    this.#post = options.post;
    this.#violations = options.violations;
  }

  /** What still waits. */
  get waiting(): readonly WaitingUpdate[] {
    this.#forgetOld();
    return this.#waiting.map(shown);
  }

  add(kind: string, content: object): void {
    if (this.#allowed && !this.#allowed.includes(kind)) return;
    this.#waiting.push({ update_id: this.next++, [kind]: content, at: this.#now(), kind });
    for (const wake of this.#wake.splice(0)) wake();
    if (this.webhook) void this.deliver();
  }

  /** Puts an update in line once more, as a messenger that repeats itself does. */
  repeat(update: WaitingUpdate): void {
    const [, kind = ''] = Object.keys(update);
    this.#waiting.unshift({ ...update, at: this.#now(), kind });
  }

  async poll(asked: {
    readonly offset?: number | undefined;
    readonly limit: number;
    readonly timeout: number;
    readonly allowed_updates: readonly string[];
  }): Promise<WireAnswer> {
    if (this.webhook)
      throw new Refused(
        409,
        "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    this.#terminate?.(
      'terminated by other getUpdates request; make sure that only one bot instance is running',
    );
    this.#allowed = asked.allowed_updates;
    const { offset = 0 } = asked;
    const newest = this.#waiting.at(-1)?.update_id ?? this.next - 1;
    if (offset <= newest + FAR_OFFSET)
      this.#waiting = this.#waiting.filter(({ update_id: id }) => id >= offset);
    this.#forgetOld();
    if (this.#waiting.length === 0 && asked.timeout > 0) {
      const ended = await this.#held(Math.min(asked.timeout, 50) * 1000);
      if (ended) throw ended;
    }
    return done(this.#waiting.slice(0, asked.limit).map(shown));
  }

  /** @returns why the poll ended early; null: time passed, or an update came */
  #held(ms: number): Promise<Refusal | null> {
    return new Promise((resolve) => {
      const end = (refusal: Refusal | null) => {
        if (this.#terminate === terminate) this.#terminate = null;
        resolve(refusal);
      };
      const terminate = (said: string) => end(new Refused(409, said));
      this.#terminate = terminate;
      this.#wake.push(() => end(null));
      void this.#sleep(ms).then(() => end(null));
    });
  }

  setWebhook(webhook: Webhook | null): void {
    this.webhook = webhook;
    if (!webhook) return;
    this.#allowed = webhook.allowed;
    this.#terminate?.('terminated by setWebhook request');
    void this.deliver();
  }

  /** Posts what waits, one after another, until one is refused; a refused one stays the first. */
  deliver(): Promise<void> {
    this.#posting ??= this.#deliver().finally(() => {
      this.#posting = null;
    });
    return this.#posting;
  }

  async #deliver(): Promise<void> {
    for (;;) {
      this.#forgetOld();
      const [first] = this.#waiting;
      const { webhook } = this;
      if (!first || !webhook || !this.#post) return;
      const headers = {
        'content-type': 'application/json',
        'x-telegram-bot-api-secret-token': webhook.secret,
      };
      const answer = await this.#post(webhook.url, JSON.stringify(shown(first)), headers).catch(() => null);
      if (answer && answer.status >= 200 && answer.status < 300) {
        if (answer.body.includes('"method"')) this.#violations.push('a webhook answer that is a call');
        this.#waiting = this.#waiting.filter((one) => one !== first);
        continue;
      }
      const text = answer ? `Wrong response from the webhook: ${answer.status}` : 'Connection refused';
      this.lastError = { at: Math.floor(this.#now() / 1000), text };
      return;
    }
  }

  #forgetOld(): void {
    const now = this.#now();
    this.#waiting = this.#waiting.filter(({ at, kind }) => now - at < (KEPT_MS[kind] ?? KEPT_OTHERS_MS));
  }
}

function shown({ at: _at, kind: _kind, ...update }: WaitingUpdate): WaitingUpdate {
  return update as WaitingUpdate;
}
