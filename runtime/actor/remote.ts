import type { Clock, Micros, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Address, shardOf } from './address.ts';
import type { ActorMessage } from './definition.ts';
import type { ActorStore, PostedMessage, StoredReply } from './store.ts';
import { type Peers, UnavailableError } from './system.ts';

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
 * Messages to actors of other processes, and the answers (operations §5.2 rule 4). A message is a row of the inbox, an
 * answer a row that the owner writes with what it did; calls between processes only say that there is something to read.
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

  /** How many messages are on their way to the inbox. */
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

  /** What comes while a post is under way goes with the next one. */
  async #postAll(): Promise<void> {
    // What is sent in one go goes in one go.
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
        // The next call reads them; a caller who waits too long is told so.
        this.#deps.log('store_read_failed', { what: 'answers', error: String(error) });
      }
    }
    this.#isReading = false;
  }

  /** An answer that comes too late has nobody to go to. */
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
