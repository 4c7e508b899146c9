/** The state of an Integration actor, and the builder of one turn. */
import {
  type Actor,
  begin,
  type PerformedEffect,
  persistSnapshot,
  type RecordedEffect,
  restoreSnapshot,
  type Send,
  step,
  type Turn,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { HintSent } from '../effects.ts';
import type { InternalAlertName, InternalAlertRecorded } from '../internal-alerts/registry.ts';
import type { Labels } from '../model.ts';
import type { IntegrationPerformed, IntegrationRecord } from './effects.ts';
import {
  type IntegrationContext,
  type IntegrationEvent,
  type IntegrationSnapshot,
  integrationMachine,
  liveTimeBetween,
} from './machine.ts';
import {
  type IntegrationRows,
  isLong,
  type LearnedRoute,
  MOST_ROUTES,
  type TruncatedFeed,
  truncatedSince,
} from './rows.ts';

type Recorded = IntegrationRecord | InternalAlertRecorded;

export class IntegrationTurn {
  readonly id: PublicId;
  readonly now: Micros;
  readonly rows: IntegrationRows;
  state: IntegrationState;
  /** What the page of the Integration shows has changed. */
  #shown = false;
  readonly #before: IntegrationState;
  readonly #truncatedBefore: number;
  readonly #sends: Send[] = [];
  readonly #records: Recorded[] = [];
  readonly #performs: IntegrationPerformed[] = [];

  constructor({ self, state, rows }: Actor<IntegrationState, IntegrationRows>, env: TurnEnv) {
    this.id = self.key as PublicId;
    this.now = env.now;
    this.rows = rows;
    this.state = state;
    this.#before = state;
    this.#truncatedBefore = rows.truncated.size;
  }

  step(event: IntegrationEvent): void {
    const { snapshot } = step(integrationMachine, this.state.snapshot, event);
    this.state = { ...this.state, snapshot };
  }

  send(send: Send): void {
    this.#sends.push(send);
  }

  record(record: IntegrationRecord): void {
    this.#records.push(record);
  }

  perform(effect: IntegrationPerformed): void {
    this.#performs.push(effect);
  }

  /** Keeps what is learned of a route path; one too many takes the place of the one that repeated longest ago. */
  learn(route: LearnedRoute): void {
    const { routes } = this.rows;
    const before = routes.get(route.path);
    this.#shown ||= isLong(before) !== isLong(route);
    routes.set(route.path, route);
    const removed: string[] = [];
    if (routes.size > MOST_ROUTES) {
      const [oldest] = [...routes.values()].sort((one, other) => one.heardAt - other.heardAt);
      if (oldest) {
        routes.delete(oldest.path);
        removed.push(oldest.path);
        this.#shown ||= isLong(oldest);
      }
    }
    this.record({ type: 'integration.routes', integrationId: this.id, saved: [route], removed });
  }

  beginTruncation(feed: TruncatedFeed): void {
    if (this.rows.truncated.has(feed.feed)) return;
    this.rows.truncated.set(feed.feed, feed);
    this.#truncations([feed], []);
  }

  endTruncations(feeds: readonly string[]): void {
    const removed = feeds.filter((feed) => this.rows.truncated.delete(feed));
    if (removed.length > 0) this.#truncations([], removed);
  }

  /** Removes the sender state of a deleted Integration. */
  forgetSenders(): void {
    const removed = [...this.rows.routes.keys()];
    this.endTruncations([...this.rows.truncated.keys()]);
    if (removed.length === 0) return;
    this.rows.routes.clear();
    this.record({ type: 'integration.routes', integrationId: this.id, saved: [], removed });
  }

  finish(): Turn<IntegrationState> {
    const { state } = this;
    this.#tellHeartbeat();
    this.#tellTruncation();
    this.#recordState();
    return {
      state,
      wakeAt: wakeAtOf(state),
      sends: this.#sends,
      records: this.#records as readonly RecordedEffect[],
      performs: [...this.#performs, ...this.#hints()],
    };
  }

  #truncations(saved: readonly TruncatedFeed[], removed: readonly string[]): void {
    this.#shown = true;
    this.record({ type: 'integration.truncations', integrationId: this.id, saved, removed });
  }

  get #wasLost(): boolean {
    return this.#before.snapshot.value === 'lost';
  }

  get #isLost(): boolean {
    return this.state.snapshot.value === 'lost';
  }

  #tellHeartbeat(): void {
    const { value, context } = this.state.snapshot;
    const before = this.#before.snapshot.value;
    if (before === value) return;
    this.#shown = true;
    if (value === 'live' || value === 'lost') {
      const lastSignalAt = lostSince(this.state) ?? context.lastSignalAt;
      this.perform({
        type: 'integration.heartbeat_changed',
        integrationId: this.id,
        state: value,
        lastSignalAt,
      });
    }
    if (this.#isLost) this.#alert('SvcHeartbeatLost', 'raise');
    else if (this.#wasLost) this.#alert('SvcHeartbeatLost', 'resolve');
  }

  #tellTruncation(): void {
    const isTruncated = this.rows.truncated.size > 0;
    if (isTruncated === this.#truncatedBefore > 0) return;
    this.#alert('SvcSnapshotTruncated', isTruncated ? 'raise' : 'resolve');
  }

  /** The deletion has resolved everything, in its own transaction. */
  #alert(name: InternalAlertName, change: InternalAlertRecorded['change']): void {
    if (isGone(this.state)) return;
    const { name: integration, staticLabels } = this.state;
    this.#records.push({
      type: 'internal_alert.recorded',
      change,
      name,
      entity: { id: this.id, name: integration },
      ...(name === 'SvcHeartbeatLost' ? { labels: staticLabels } : {}),
      at: this.now,
    });
  }

  #recordState(): void {
    const { version } = this.state;
    const { truncated } = this.rows;
    const isSame =
      version === this.#before.version &&
      lostSince(this.state) === lostSince(this.#before) &&
      truncated.size === this.#truncatedBefore;
    if (isSame) return;
    this.record({
      type: 'integration.saved',
      integrationId: this.id,
      version,
      lostSince: lostSince(this.state),
      truncatedSince: truncatedSince(this.rows),
      truncatedGroups: truncated.size,
    });
  }

  #hints(): PerformedEffect[] {
    const hints: HintSent[] = [];
    if (this.#shown) hints.push({ type: 'hint', hint: { type: 'integration', id: this.id } });
    const isTruncated = this.rows.truncated.size > 0;
    const attention = this.#isLost !== this.#wasLost || isTruncated !== this.#truncatedBefore > 0;
    if (attention) hints.push({ type: 'hint', hint: { type: 'system-status', id: null } });
    return hints;
  }
}

/** The state of an Integration actor: the machine's snapshot and the configuration that it received. */
export interface IntegrationState {
  readonly snapshot: IntegrationSnapshot;
  /** Version of the configuration; 0 before it received one. */
  readonly version: number;
  readonly name: string;
  readonly staticLabels: Labels;
}

/** Number of this shape. */
export const SCHEMA = 1;

export function startIntegration(): IntegrationState {
  return { snapshot: begin(integrationMachine), version: 0, name: '', staticLabels: {} };
}

export function persistIntegration(state: IntegrationState): unknown {
  return { ...state, snapshot: persistSnapshot(integrationMachine, state.snapshot) };
}

/** Reverses {@link persistIntegration}. */
export function restoreIntegration(persisted: unknown): IntegrationState {
  const state = persisted as IntegrationState;
  return { ...state, snapshot: restoreSnapshot(integrationMachine, state.snapshot) };
}

/** When silence counts as lost, µs; null unless the Heartbeat is live. */
export function lostAt({ snapshot }: IntegrationState): Micros | null {
  const { lastSignalAt, awaitedAt, excusedUntil, timeout } = snapshot.context;
  if (snapshot.value !== 'live' || lastSignalAt === null) return null;
  return Math.max(lastSignalAt, awaitedAt ?? 0, excusedUntil ?? 0) + timeout;
}

/** The last signal of a Heartbeat that is lost, µs. */
function lostSince({ snapshot }: IntegrationState): Micros | null {
  const { lastSignalAt, awaitedAt } = snapshot.context;
  if (snapshot.value !== 'lost' || lastSignalAt === null) return null;
  return Math.max(lastSignalAt, awaitedAt ?? 0);
}

/** Whether live time advances now: the last signal is within the timeout. */
export function isAlive({ snapshot }: IntegrationState, now: Micros): boolean {
  const { lastSignalAt, timeout } = snapshot.context;
  return snapshot.value === 'live' && lastSignalAt !== null && now <= lastSignalAt + timeout;
}

/** Whether no Heartbeat was missed between two instants; true, too, while it is off or awaits its first signal. */
export function wasAlive(state: IntegrationState, from: Micros, to: Micros): boolean {
  const { value, context } = state.snapshot;
  if (value === 'not_configured' || value === 'waiting') return true;
  return isAlive(state, to) && liveTimeBetween(context.gaps, from, to) === to - from;
}

/** Deleted, whether or not everything about it is done. */
export function isGone({ snapshot }: IntegrationState): boolean {
  return snapshot.matches('deleting') || snapshot.matches('settling') || snapshot.matches('deleted');
}

function wakeAtOf(state: IntegrationState): Micros | null {
  const { value, context } = state.snapshot;
  if (value === 'deleted') return null;
  const wishes = [lostAt(state), context.checkAt].flatMap((at) => at ?? []);
  // Only what lasts longer than the timeout is lost.
  return wishes.length === 0 ? null : Math.min(...wishes) + 1;
}

export type { IntegrationContext };

/** Delay before a requested check of the feeds, and before it is repeated when it could not run. */
export const CHECK_PAUSE: Micros = 10 * SECOND;
