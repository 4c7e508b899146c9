import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { Backoff, type EngineLimits } from './limits.ts';
import type { ActorMetrics } from './metrics.ts';
import type { Resident } from './resident.ts';
import type { ActorStore, LoadedActor } from './store.ts';

export interface ActivationDeps {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: EngineLimits;
  readonly metrics: ActorMetrics;
  /** The actor can take turns now. */
  ready(resident: Resident): void;
  /** What is stored of the actor cannot be read; it is tried again later. */
  unreadable(resident: Resident, error: Error): void;
}

/** Loads actors from the store: those asked for in one go travel together, several pages at a time. */
export class Activation {
  readonly #deps: ActivationDeps;
  readonly #backoff: Backoff;
  #wanted: Resident[] = [];
  #loads = 0;
  #scheduled = false;
  #stopped = false;

  constructor(deps: ActivationDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(deps.limits);
  }

  /** Asks for an actor. One that takes part in an unfinished batch has to wait: its row is about to change. */
  request(resident: Resident): void {
    if (resident.phase !== 'cold' || resident.pins > 0 || resident.detached) return;
    resident.phase = 'loading';
    this.#wanted.push(resident);
    this.#schedule();
  }

  /** Starts an actor that was never stored and has had no message, without asking the store for it. */
  startNew(resident: Resident): void {
    if (resident.phase !== 'cold' || resident.activation > 0 || resident.detached) return;
    if (resident.mailbox.size > 0) return;
    fill(resident, undefined);
    resident.phase = 'ready';
    this.#deps.metrics.activations.inc();
  }

  stop(): void {
    this.#stopped = true;
    this.#wanted = [];
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#startLoads();
    });
  }

  #startLoads(): void {
    const { limits } = this.#deps;
    while (!this.#stopped && this.#wanted.length > 0 && this.#loads < limits.loads) {
      const page = this.#wanted.splice(0, limits.loadPage).filter((resident) => resident.phase === 'loading');
      if (page.length > 0) void this.#load(page);
    }
  }

  async #load(page: readonly Resident[]): Promise<void> {
    const activations = page.map((resident) => resident.activation);
    this.#loads++;
    try {
      const rows = await this.#deps.store.load(page.map((resident) => resident.self));
      this.#backoff.succeeded();
      page.forEach((resident, index) => {
        if (resident.phase !== 'loading' || resident.activation !== activations[index]) return;
        this.#install(resident, rows.get(resident.text));
      });
    } catch (error) {
      this.#deps.log('store_read_failed', { what: 'actors', error: String(error) });
      this.#retryLater(page, activations, this.#backoff.failed());
    } finally {
      this.#loads--;
      this.#schedule();
    }
  }

  #install(resident: Resident, row: LoadedActor | undefined): void {
    try {
      fill(resident, row);
    } catch (error) {
      this.#deps.log('actor_load_failed', {
        kind: resident.self.kind,
        actor: resident.self.key,
        error: String(error),
      });
      this.#retryLater([resident], [resident.activation], this.#deps.limits.retryMost);
      this.#deps.unreadable(resident, error as Error);
      return;
    }
    resident.phase = 'ready';
    this.#deps.metrics.activations.inc();
    this.#deps.ready(resident);
  }

  #retryLater(page: readonly Resident[], activations: readonly number[], wait: number): void {
    this.#deps.clock.after(wait, () => {
      page.forEach((resident, index) => {
        if (resident.phase !== 'loading' || resident.activation !== activations[index]) return;
        resident.phase = 'cold';
        if (resident.mailbox.size > 0) this.request(resident);
      });
    });
  }
}

/** A newer version of the service wrote the actor: it is left to one (operations §15). */
class NewerStateError extends Error {
  override readonly name = 'NewerStateError';

  constructor(actor: string, schema: number) {
    super(`${actor} was written by a newer version (schema ${schema})`);
  }
}

/** Brings the actor to life from its row, or from nothing. */
function fill(resident: Resident, row: LoadedActor | undefined): void {
  const { definition } = resident.kind;
  const { key } = resident.self;
  if (row !== undefined && row.schema > definition.schema)
    throw new NewerStateError(resident.text, row.schema);
  const isCurrent = row === undefined || row.schema === definition.schema;
  if (row === undefined) resident.state = definition.start(key);
  else {
    resident.state = definition.restore(
      isCurrent ? row.persisted : definition.migrate(row.persisted, row.schema),
    );
  }
  resident.rows = row?.rows ?? definition.emptyRows(key);
  resident.version = row?.version ?? 0;
  resident.wakeAt = row?.wakeAt ?? null;
}
