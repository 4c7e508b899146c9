import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Envelope } from './envelope.ts';
import type { EngineLimits } from './limits.ts';
import type { Resident } from './resident.ts';
import { StoreUnavailableError } from './store.ts';

export interface PreparationDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: EngineLimits;
  /** The actor goes on with its mailbox. */
  ready(resident: Resident): void;
  /** The definition could not prepare the message: a defect. */
  failed(envelope: Envelope, error: Error): void;
}

/** Looks up what messages need to know before their turn, while other actors go on. */
export class Preparation {
  readonly #deps: PreparationDeps;

  constructor(deps: PreparationDeps) {
    this.#deps = deps;
  }

  /** Starts the look-up for the message at the head of the mailbox. True when there is nothing to wait for. */
  start(resident: Resident, envelope: Envelope): boolean {
    const { definition } = resident.kind;
    let pending: Promise<unknown> | null;
    try {
      pending = definition.prepare?.(resident, envelope.message, resident.mailbox.following()) ?? null;
    } catch (error) {
      this.#deps.failed(envelope, error as Error);
      return false;
    }
    if (pending === null) {
      envelope.isPrepared = true;
      return true;
    }
    resident.phase = 'preparing';
    const { activation } = resident;
    pending.then(
      (prepared) => {
        if (resident.activation !== activation) return;
        envelope.prepared = prepared;
        envelope.isPrepared = true;
        this.#resume(resident, activation);
      },
      (error) => this.#refused(envelope, activation, error),
    );
    return false;
  }

  #refused(envelope: Envelope, activation: number, error: unknown): void {
    const { resident } = envelope;
    if (resident.activation !== activation) return;
    if (error instanceof StoreUnavailableError) {
      this.#deps.log('store_read_failed', { what: 'preparation', error: String(error) });
      this.#deps.clock.after(this.#deps.limits.retryFirst, () => this.#resume(resident, activation));
      return;
    }
    resident.phase = 'ready';
    this.#deps.failed(envelope, error instanceof Error ? error : new Error(String(error)));
  }

  #resume(resident: Resident, activation: number): void {
    if (resident.activation !== activation) return;
    resident.phase = 'ready';
    this.#deps.ready(resident);
  }
}
