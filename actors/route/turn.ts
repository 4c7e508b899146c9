/** One turn of a Route under construction. */
import type { SnapshotFrom } from 'xstate';
import { type PerformedEffect, type Send, step, type Turn, type TurnEnv } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { messageDestinations } from '../alert-group/message-news.ts';
import { alertGroupAddress, type HeldByStorm } from '../alert-group/messages.ts';
import { destinationAddress, type GroupEvent, type StormTold } from '../destination/messages.ts';
import type { Directory } from '../directory.ts';
import type { HintSent } from '../effects.ts';
import type { InternalAlertRecorded } from '../internal-alerts/effects.ts';
import type { RouteRecord, StormChanged, TemplateErrors, TemplateErrorsSaved } from './effects.ts';
import { type RouteEmitted, type RouteEvent, routeMachine, stormEndsAt } from './machine.ts';
import type { GroupCreated } from './messages.ts';
import type { Starts } from './storm-window.ts';
import { beginSweep, type Sweep } from './sweeps.ts';
import { firstFailing } from './template-errors.ts';

export interface RouteState {
  readonly snapshot: SnapshotFrom<typeof routeMachine>;
  readonly starts: Starts;
  /** In the order in which they are carried out. */
  readonly sweeps: readonly Sweep[];
  readonly templateErrors: TemplateErrors;
}

export class RouteTurn {
  readonly routeId: PublicId;
  readonly now: Micros;
  #state: RouteState;
  readonly #sends: Send[] = [];
  readonly #records: (RouteRecord | TemplateErrorsSaved | InternalAlertRecorded)[] = [];
  readonly #performs: PerformedEffect[] = [];
  readonly #directory: Directory;
  /** The new Alert Group of this turn is held. */
  #isHeld = false;

  constructor(routeId: PublicId, state: RouteState, env: TurnEnv, directory: Directory) {
    this.#directory = directory;
    this.routeId = routeId;
    this.now = env.now;
    this.#state = state;
  }

  get state(): RouteState {
    return this.#state;
  }

  remember(starts: Starts): void {
    this.#state = { ...this.#state, starts };
  }

  replaceSweeps(sweeps: readonly Sweep[]): void {
    this.#state = { ...this.#state, sweeps };
  }

  /** What fails is stored, shown, and told by an Internal alert that names what failed first. */
  replaceTemplateErrors(errors: TemplateErrors): void {
    const before = firstFailing(this.#state.templateErrors);
    const first = firstFailing(errors);
    this.#state = { ...this.#state, templateErrors: errors };
    this.#records.push({ type: 'route.template_errors', routeId: this.routeId, errors });
    this.#hint();
    if (first === before) return;
    const entity = { id: this.routeId, name: this.#directory.routesById.get(this.routeId)?.name ?? '' };
    this.#records.push({
      type: 'internal_alert.recorded',
      ...{ change: first ? 'raise' : 'resolve', name: 'SvcTemplateError', entity },
      labels: first ? { template: first } : {},
      at: this.now,
    });
  }

  /** Sends one event to the machine and does what it asks for. `groupId`: the new Alert Group that it is about. */
  apply(event: RouteEvent, groupId?: PublicId): void {
    const before = this.#state.snapshot;
    const { snapshot, emitted } = step(routeMachine, before, event);
    this.#state = { ...this.#state, snapshot };
    const { since, groupCount, urgentCount } = snapshot.context;
    if (since !== null && snapshot.context !== before.context) {
      this.#records.push(this.#saved({ since, groupCount, urgentCount }, null));
      this.#tellStorm(since, before.context.since === null ? 'started' : 'changed');
    }
    for (const each of emitted) this.#follow(each, groupId);
  }

  /** Tells the Destinations of messages of a new group, now that it is judged. */
  passOn({ groupId, urgent, at }: Pick<GroupCreated, 'groupId' | 'urgent' | 'at'>): void {
    const message: GroupEvent = {
      type: 'group_event',
      groupId,
      number: null,
      routeId: this.routeId,
      event: 'created',
      sequence: 1,
      at,
      loudness: 'loud',
      mentions: ['new_alert_group'],
      owner: null,
      by: 'system',
      status: 'firing',
      urgent,
      facts: null,
      judged: this.#isHeld ? 'held' : 'free',
    };
    for (const id of this.#messageDestinations()) this.send({ to: destinationAddress(id), message });
  }

  send(send: Send): void {
    this.#sends.push(send);
  }

  /** One Alert Group is held no more. */
  letGo(groupId: PublicId): void {
    this.#records.push({ type: 'storm.let_go', groupId });
  }

  endHolds(since: Micros, through: number): void {
    this.#records.push({ type: 'storm.hold_ended', routeId: this.routeId, since, through });
  }

  finish(): Turn<RouteState> {
    return {
      state: this.#state,
      wakeAt: this.#wakeAt(),
      sends: this.#sends,
      records: this.#records,
      performs: this.#performs,
    };
  }

  /** A wake-up that leaves the same instant behind would count as ignored, so "at once" is the next one. */
  #wakeAt(): Micros | null {
    return this.#state.sweeps.length > 0 ? this.now + 1 : stormEndsAt(this.#state.snapshot.context);
  }

  #follow(emitted: RouteEmitted, groupId: PublicId | undefined): void {
    switch (emitted.type) {
      case 'storm_started':
        this.#tell('storm_started', 1);
        break;
      case 'group_held':
        if (!groupId) throw new Error('no Alert Group to hold');
        this.#isHeld = true;
        this.#hold(groupId);
        break;
      case 'storm_ended':
        this.#records.push(this.#saved(emitted.storm, emitted.at));
        this.#tell('storm_ended', emitted.storm.groupCount);
        this.#tellStorm(emitted.storm.since, 'ended');
        beginSweep(this, 'release', emitted.storm.since);
        break;
    }
  }

  #hold(groupId: PublicId): void {
    const { since } = this.#state.snapshot.context;
    if (since === null) throw new Error('nothing is held without a Storm');
    const message: HeldByStorm = { type: 'held', at: this.now };
    this.#records.push({ type: 'storm.held', routeId: this.routeId, since, groupId });
    this.send({ to: alertGroupAddress(groupId), message });
  }

  #messageDestinations(): PublicId[] {
    return messageDestinations([this.routeId], this.#directory);
  }

  #tellStorm(since: Micros, change: StormTold['change']): void {
    const message: StormTold = { type: 'storm', routeId: this.routeId, since, change, at: this.now };
    for (const id of this.#messageDestinations()) this.send({ to: destinationAddress(id), message });
  }

  #saved(
    storm: { readonly since: Micros; readonly groupCount: number; readonly urgentCount: number },
    endedAt: Micros | null,
  ): RouteRecord {
    return { type: 'storm.saved', routeId: this.routeId, ...storm, endedAt };
  }

  #tell(change: StormChanged['change'], count: number): void {
    const { routeId } = this;
    const changed: StormChanged = { type: 'route.storm_changed', routeId, change, count };
    this.#performs.push(changed);
    this.#hint();
  }

  #hint(): void {
    const route: HintSent = { type: 'hint', hint: { type: 'route', id: this.routeId } };
    const status: HintSent = { type: 'hint', hint: { type: 'system-status', id: null } };
    this.#performs.push(route, status);
  }
}
