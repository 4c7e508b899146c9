import type { Envelope, Resident } from './resident.ts';

/** The messages that wait for a turn, and the actors that can take one, longest waiting first. */
export class Queue {
  /** How many messages wait. */
  backlog = 0;
  readonly #activate: (resident: Resident) => void;
  #ready: Resident[] = [];
  #head = 0;

  /** @param activate asks for an actor that is not loaded; it is offered again once it is */
  constructor(activate: (resident: Resident) => void) {
    this.#activate = activate;
  }

  push(envelope: Envelope): void {
    envelope.resident.mailbox.push(envelope);
    this.backlog++;
    this.offer(envelope.resident);
  }

  /** Puts a message back in front. The caller offers the actor when all of its messages are back. */
  putBack(envelope: Envelope): void {
    envelope.resident.mailbox.unshift(envelope);
    this.backlog++;
  }

  take(resident: Resident): Envelope | undefined {
    const envelope = resident.mailbox.shift();
    if (envelope !== undefined) this.backlog--;
    return envelope;
  }

  takeSends(resident: Resident): Envelope[] {
    const sends = resident.mailbox.takeSends();
    this.backlog -= sends.length;
    resident.sends = 0;
    return sends;
  }

  takeAll(resident: Resident): Envelope[] {
    const all = resident.mailbox.takeAll();
    this.backlog -= all.length;
    resident.sends = 0;
    return all;
  }

  /** Lines the actor up when it has messages and can take one; asks for it when it is not loaded. Nothing while it rests. */
  offer(resident: Resident): void {
    if (resident.mailbox.size === 0 || resident.detached || resident.rest !== null) return;
    if (resident.phase === 'cold') this.#activate(resident);
    else if (resident.phase === 'ready' && !resident.queued) this.urge(resident);
  }

  /** Lines the actor up even if it waits for the next batch. Serving an actor twice does no harm. */
  urge(resident: Resident): void {
    resident.queued = true;
    this.#ready.push(resident);
  }

  /** The next actor to serve. */
  next(): Resident | undefined {
    const resident = this.#ready[this.#head];
    if (resident === undefined) {
      this.#ready = [];
      this.#head = 0;
      return undefined;
    }
    this.#head++;
    resident.queued = false;
    return resident;
  }
}
