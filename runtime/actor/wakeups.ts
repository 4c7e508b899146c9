import { type Clock, type Micros, SECOND, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Address, addressText } from './address.ts';
import { Backoff, type EngineLimits } from './limits.ts';
import type { ActorStore, DueActor } from './store.ts';

/** By how much a page grows when nothing of it could be dispatched. */
const WIDER = 8;

export interface WakeupsDeps {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: EngineLimits;
  owned(): readonly number[];
  /** Hands a wake-up to the actor. False when it has one already, lives elsewhere, or a batch under way moves it. */
  dispatch(due: DueActor): boolean;
}

/** Fires committed wake-ups. Holds one timer: until the earliest one it knows of, `wakeReread` at most. */
export class Wakeups {
  readonly #deps: WakeupsDeps;
  readonly #backoff: Backoff;
  /** Actors that ignored a wake-up, by address, and until when they are left alone. */
  readonly #stuck = new Map<string, Micros>();
  #timer: Timer | null = null;
  #timerAt: Micros | null = null;
  /** Wake-ups in mailboxes and batches under way. */
  #open = 0;
  #isPassing = false;
  #isPoked = false;
  #isStopped = false;

  constructor(deps: WakeupsDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(deps.limits);
  }

  /** A wake-up was committed. */
  note(at: Micros): void {
    if (this.#isStopped || (this.#timerAt !== null && this.#timerAt <= at)) return;
    this.#arm(at);
  }

  /** Looks for due wake-ups now. */
  check(): void {
    if (this.#isStopped) return;
    this.#isPoked = true;
    if (this.#isPassing) return;
    this.#isPassing = true;
    void this.#passes();
  }

  /** A dispatched wake-up came to its end. */
  settled(): void {
    this.#open--;
    if (this.#open === 0) this.check();
  }

  /** The actor did not, or could not, act on its wake-up. It gets no other for a while, so that nothing spins. */
  leaveAlone(actor: Address): void {
    this.#stuck.set(addressText(actor), this.#deps.clock.now() + this.#deps.limits.stuckWake);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #passes(): Promise<void> {
    try {
      while (this.#isPoked && !this.#isStopped) {
        this.#isPoked = false;
        await this.#pass();
      }
      this.#backoff.succeeded();
    } catch (error) {
      this.#deps.log('store_read_failed', { what: 'wake-ups', error: String(error) });
      this.note(this.#deps.clock.now() + this.#backoff.failed());
    }
    this.#isPassing = false;
  }

  async #pass(): Promise<void> {
    const { store, clock } = this.#deps;
    const shards = this.#deps.owned();
    if (shards.length === 0) return;
    const due = await this.#dispatchDue(shards);
    // While some are under way the earliest one stored is one of them; their end leads back here.
    if (this.#open > 0) return;
    const next = await store.nextWake(shards);
    if (next === null) return;
    // One that is due and was not dispatched is left alone, or moved by a batch under way.
    this.note(next > clock.now() || due.length === 0 ? next : clock.now() + SECOND);
  }

  /**
   * Dispatches a page of due wake-ups. When it is full of such as have to wait, which may be very many after a start, it
   * looks further: the others do not wait with them.
   */
  async #dispatchDue(shards: readonly number[]): Promise<readonly DueActor[]> {
    const { store, clock, limits } = this.#deps;
    for (let limit = limits.wakePage; ; limit *= WIDER) {
      const due = await store.due(shards, clock.now(), limit);
      for (const actor of due) this.#dispatch(actor);
      if (this.#open > 0 || due.length < limit || limit * WIDER > limits.wakeLook) return due;
    }
  }

  #dispatch(due: DueActor): void {
    const until = this.#stuck.get(addressText(due.address));
    if (until !== undefined) {
      if (until > this.#deps.clock.now()) return;
      this.#stuck.delete(addressText(due.address));
    }
    if (this.#deps.dispatch(due)) this.#open++;
  }

  #arm(at: Micros): void {
    this.#timer?.cancel();
    this.#timerAt = at;
    const { clock, limits } = this.#deps;
    this.#timer = clock.after(Math.min(Math.max(0, at - clock.now()), limits.wakeReread), () => {
      this.#timerAt = null;
      this.check();
    });
  }
}
