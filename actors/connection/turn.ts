/** One turn of a Connection under construction: its state as it changes, and what the turn will ask for. */
import { type Actor, type Send, step, type Turn, type TurnEnv } from '../../runtime/actor/index.ts';
import { MINUTE, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { HintSent } from '../effects.ts';
import type { ConnectionPerformed, ConnectionRecord } from './effects.ts';
import { type ConnectionEvent, connectionMachine } from './machine.ts';
import { type ConnectionRows, remember } from './rows.ts';
import { type ConnectionState, isDeleted, wakeAtOf } from './state.ts';

/** How often the log is told of a trouble that lasts. */
const TOLD_EVERY: Micros = 10 * MINUTE;

export class ConnectionTurn {
  readonly id: PublicId;
  readonly now: Micros;
  readonly rows: ConnectionRows;
  state: ConnectionState;
  reply: unknown;
  readonly #before: ConnectionState;
  readonly #sends: Send[] = [];
  readonly #records: ConnectionRecord[] = [];
  readonly #performs: ConnectionPerformed[] = [];

  constructor({ self, state, rows }: Actor<ConnectionState, ConnectionRows>, env: TurnEnv) {
    this.id = self.key as PublicId;
    this.now = env.now;
    this.rows = rows;
    this.state = state;
    this.#before = state;
  }

  step(event: ConnectionEvent): void {
    const { snapshot, emitted } = step(connectionMachine, this.state.snapshot, event);
    this.state = { ...this.state, snapshot };
    for (const { type } of emitted) {
      if (type === 'trouble_ended') this.state = { ...this.state, toldAt: null };
      else this.#tellTrouble();
    }
  }

  change(changed: Partial<ConnectionState>): void {
    this.state = { ...this.state, ...changed };
  }

  send(send: Send): void {
    this.#sends.push(send);
  }

  perform(effect: ConnectionPerformed): void {
    this.#performs.push(effect);
  }

  record(record: ConnectionRecord): void {
    this.#records.push(record);
  }

  /** Notes an event as handled, with what is still to be said about it. */
  handled(eventId: string, say: string | null, at = this.now): void {
    remember(this.rows, { id: eventId, at, say }, this.now);
    this.#records.push({ type: 'connection.event_handled', connectionId: this.id, eventId, say, at });
  }

  forgetEvents(): void {
    this.rows.clear();
    this.#records.push({ type: 'connection.events_forgotten', connectionId: this.id });
  }

  finish(): Turn<ConnectionState> {
    const shown = this.#showInfo() || this.#showInbound();
    const hint: HintSent = { type: 'hint', hint: { type: 'connection', id: this.id } };
    return {
      state: this.state,
      wakeAt: wakeAtOf(this.state),
      sends: this.#sends,
      records: this.#records,
      performs: shown ? [...this.#performs, hint] : this.#performs,
      reply: this.reply,
    };
  }

  #tellTrouble(): void {
    const { trouble } = this.state.snapshot.context;
    const { toldAt } = this.state;
    if (!trouble || (toldAt !== null && this.now - toldAt < TOLD_EVERY)) return;
    this.state = { ...this.state, toldAt: this.now };
    this.perform({ type: 'connection.poll_failed', connectionId: this.id, error: trouble.error });
  }

  /** @returns whether the page of the Connection says something else now */
  #showInfo(): boolean {
    const { info: copy, access } = this.state;
    const before = this.#before.info;
    if (copy === before || isDeleted(this.state)) return false;
    this.#records.push({ type: 'connection.info', connectionId: this.id, access, ...copy });
    return (
      copy.wrong !== before.wrong ||
      copy.tokenless !== before.tokenless ||
      JSON.stringify(copy.info) !== JSON.stringify(before.info)
    );
  }

  /** @returns the same; that something arrived is no news to anybody who looks */
  #showInbound(): boolean {
    const { trouble } = this.state.snapshot.context;
    const before = this.#before.snapshot.context.trouble;
    const { lastAt } = this.state;
    if (trouble === before && lastAt === this.#before.lastAt) return false;
    const { error, since } = trouble ?? { error: null, since: null };
    this.#records.push({ type: 'connection.inbound', connectionId: this.id, lastAt, error, since });
    return error !== (before?.error ?? null);
  }
}
