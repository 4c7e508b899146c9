import type { Clock, Micros, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Address, addressText, shardOf } from './address.ts';
import type { ActorMessage } from './definition.ts';
import type { EngineLimits } from './limits.ts';
import type { ActorStore, PostedMessage, StoredReply } from './store.ts';
import { BusyError, type Peers, UnavailableError } from './system.ts';

export interface RemoteDeps {
  readonly store: Pick<ActorStore, 'post' | 'takeReplies'>;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly log: Log;
}

interface Waiting {
  readonly timeout: Timer;
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

interface Parcel {
  readonly message: PostedMessage;
  failed(error: unknown): void;
}

/**
 * Messages to actors of other processes, and their replies (operations §5.2 rule 4). A message is an inbox row; a reply is
 * a row that the owner writes in the commit of the turn. Signals between processes only say that there are rows to read.
 */
export class Remote {
  readonly #deps: RemoteDeps;
  readonly #waiting = new Map<string, Waiting>();
  #parcels: Parcel[] = [];
  #posting = 0;
  #isReading = false;
  #isPoked = false;
  #asked = 0;

  constructor(deps: RemoteDeps) {
    this.#deps = deps;
  }

  /** How many messages are not written to the inbox yet. */
  get outgoing(): number {
    return this.#parcels.length + this.#posting;
  }

  /** Waits for the answer until `deadline`. @throws {UnavailableError} as {@link ActorSystem.ask} */
  ask(to: Address, message: ActorMessage, deadline: Micros): Promise<unknown> {
    const { clock, peers } = this.#deps;
    const askId = String(++this.#asked);
    const asker = { askedBy: peers.me, askId, expiresAt: deadline };
    return new Promise((resolve, reject) => {
      const timeout = clock.after(deadline - clock.now(), () =>
        this.#refuse(askId, new UnavailableError(`no answer from ${to.kind}/${to.key} in time`)),
      );
      this.#waiting.set(askId, { timeout, resolve, reject });
      this.#send({
        message: { to, shard: shardOf(to), message, asker },
        failed: (error) => this.#refuse(askId, new UnavailableError(`not sent: ${String(error)}`)),
      });
    });
  }

  /** Sends a message that nobody waits for. */
  tell(to: Address, message: ActorMessage): void {
    this.#send({
      message: { to, shard: shardOf(to), message, asker: null },
      failed: (error) =>
        this.#deps.log('message_not_sent', {
          kind: to.kind,
          actor: to.key,
          message: message.type,
          error: String(error),
        }),
    });
  }

  /** Reads the answers that wait, if anybody here waits for one. */
  read(): void {
    if (this.#waiting.size === 0) return;
    this.#isPoked = true;
    if (!this.#isReading) void this.#readAll();
  }

  /** Refuses everything that waits. */
  stop(): void {
    for (const askId of [...this.#waiting.keys()]) {
      this.#refuse(askId, new UnavailableError('this process stops'));
    }
  }

  #send(parcel: Parcel): void {
    this.#parcels.push(parcel);
    if (this.outgoing === 1) void this.#postAll();
  }

  /** Messages that arrive during a post are written by the next one. */
  async #postAll(): Promise<void> {
    // Messages sent in the same tick share one post.
    await Promise.resolve();
    while (this.#parcels.length > 0) {
      const parcels = this.#parcels;
      this.#parcels = [];
      this.#posting = parcels.length;
      try {
        await this.#deps.store.post(parcels.map(({ message }) => message));
        this.#deps.peers.call(new Set(parcels.map(({ message }) => message.shard)));
      } catch (error) {
        for (const parcel of parcels) parcel.failed(error);
      }
      this.#posting = 0;
    }
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#isPoked) {
      this.#isPoked = false;
      try {
        for (const reply of await this.#deps.store.takeReplies(this.#deps.peers.me)) this.#settle(reply);
      } catch (error) {
        // The next signal reads them; a caller that waits too long gets UnavailableError.
        this.#deps.log('store_read_failed', { what: 'answers', error: String(error) });
      }
    }
    this.#isReading = false;
  }

  /** A reply whose caller has stopped waiting is dropped. */
  #settle({ askId, outcome }: StoredReply): void {
    if ('error' in outcome) this.#refuse(askId, new Error(outcome.error));
    else if ('expired' in outcome)
      this.#refuse(askId, new UnavailableError('the owner had it too late, by its clock'));
    else this.#end(askId)?.resolve(outcome.reply);
  }

  #refuse(askId: string, error: Error): void {
    this.#end(askId)?.reject(error);
  }

  #end(askId: string): Waiting | undefined {
    const waiting = this.#waiting.get(askId);
    this.#waiting.delete(askId);
    waiting?.timeout.cancel();
    return waiting;
  }
}

/** Limits how many asks wait for an answer at a time, in total and for each actor, local or remote (operations §5.6). */
export class AskLimiter {
  readonly #limits: Pick<EngineLimits, 'asks' | 'asksPerActor'>;
  readonly #waiting = new Map<string, number>();
  #all = 0;

  constructor(limits: Pick<EngineLimits, 'asks' | 'asksPerActor'>) {
    this.#limits = limits;
  }

  /** @returns to be called when the wait is over. @throws {BusyError} too many wait, here or for this actor */
  enter(to: Address): () => void {
    const text = addressText(to);
    const waiting = this.#waiting.get(text) ?? 0;
    if (this.#all >= this.#limits.asks) throw new BusyError('too many requests wait for an answer');
    if (waiting >= this.#limits.asksPerActor) throw new BusyError(`too many requests wait at ${text}`);
    this.#all++;
    this.#waiting.set(text, waiting + 1);
    return () => this.#leave(text);
  }

  #leave(text: string): void {
    this.#all--;
    const left = (this.#waiting.get(text) ?? 1) - 1;
    if (left > 0) this.#waiting.set(text, left);
    else this.#waiting.delete(text);
  }
}
