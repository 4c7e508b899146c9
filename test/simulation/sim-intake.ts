/**
 * How a simulated process of several takes stored messages from outside to their actors: by the rules of
 * http/ingest/intake-passes.ts, with its records, for messages that toys understand.
 */

import { UnderWay } from '../../http/ingest/intake.ts';
import { ShardReadings } from '../../http/ingest/shard-readings.ts';
import {
  type ActorMessage,
  type Address,
  type Placement,
  UnavailableError,
} from '../../runtime/actor/index.ts';
import type { QueuePage, QueueRange } from './database.ts';

export interface SimIntakeDeps {
  readonly placement: Pick<Placement, 'owned' | 'onChange'>;
  /** So many messages of each shard make a page. */
  readonly page: number;
  read(ranges: readonly QueueRange[], limit: number): Promise<QueuePage>;
  deliver(seq: number, to: Address, message: ActorMessage): Promise<void>;
  broken(seq: number, error: unknown): void;
}

export class SimIntake {
  readonly #deps: SimIntakeDeps;
  readonly #readings = new ShardReadings();
  readonly #underWay = new UnderWay();
  #isWorking = false;
  #unsubscribe: () => void = () => undefined;

  constructor(deps: SimIntakeDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#unsubscribe = this.#deps.placement.onChange(() => this.#follow());
    this.#follow();
  }

  stop(): void {
    this.#unsubscribe();
    this.#readings.follow([]);
  }

  /** Something waits in the shard; in any, when it is null. */
  call(shard: number | null): void {
    if (shard === null) this.#readings.callAll();
    else this.#readings.call([shard]);
    void this.#work();
  }

  sweep(): void {
    this.#readings.forgetRefusals();
    this.call(null);
  }

  #follow(): void {
    this.#readings.follow(this.#deps.placement.owned());
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (!this.#readings.areDone) await this.#underWay.whileReading(() => this.#readPage());
    this.#isWorking = false;
  }

  async #readPage(): Promise<void> {
    const { read, page: limit } = this.#deps;
    const current = this.#readings.next();
    const page = await read([...current.values()], limit);
    for (const { seq, shard, to, message } of page.snapshots) {
      const reading = current.get(shard);
      if (this.#underWay.has(seq) || !reading || !this.#readings.goesOn(reading)) continue;
      this.#handOn(seq, shard, reading.epoch, to, message);
    }
    this.#readings.advance(current, page, limit);
  }

  #handOn(seq: number, shard: number, epoch: number, to: Address, message: ActorMessage): void {
    this.#underWay.add(seq);
    this.#deps.deliver(seq, to, message).then(
      () => this.#underWay.settled(seq),
      (error) => {
        this.#underWay.givenBack(seq);
        if (error instanceof UnavailableError) this.#readings.giveBack(shard, epoch);
        else this.#deps.broken(seq, error);
        void this.#work();
      },
    );
  }
}
