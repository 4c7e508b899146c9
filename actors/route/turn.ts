/** One turn of a Route under construction. */
import type { SnapshotFrom } from 'xstate';
import { type PerformedEffect, type Send, step, type Turn, type TurnEnv } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { destinationsOf } from '../alert-group/announcements.ts';
import {
  alertGroupAddress,
  type HeldByStorm,
  type HoldReleased,
  type UrgencyQuestion,
} from '../alert-group/messages.ts';
import { destinationAddress, type GroupEvent, type StormTold } from '../destination/messages.ts';
import type { Directory } from '../directory.ts';
import type { HintSent } from '../effects.ts';
import type { InternalAlertRecorded } from '../internal-alerts/registry.ts';
import type { RouteRecord, StormChanged, TemplateErrors, TemplateErrorsSaved } from './effects.ts';
import {
  type RouteEmitted,
  type RouteEvent,
  routeMachine,
  type StormNumbers,
  stormEndsAt,
} from './machine.ts';
import type { GroupCreated, TemplateRendered } from './messages.ts';
import type { RouteTemplateKind } from './policy.ts';
import type { HeldGroup } from './ports.ts';
import type { Starts } from './storm-window.ts';

export interface RouteState {
  readonly snapshot: SnapshotFrom<typeof routeMachine>;
  readonly starts: Starts;
  /** In the order in which they are carried out. */
  readonly sweeps: readonly Sweep[];
  readonly templateErrors: TemplateErrors;
  /** The last Storms that ended, oldest first, for summaries that get their last edit after the next one began. */
  readonly past: readonly PastStorm[];
}

/** As `storage/delivery/storms.ts` reads it. */
export interface PastStorm extends StormNumbers {
  readonly endedAt: Micros;
}

/** The oldest summary that can still be finished: a Destination may be Broken through several Storms. */
const MOST_PAST = 16;

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

  /** Stores the failing templates, and raises an Internal alert that names the first one. */
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
    this.#tellDestinations(message);
  }

  send(send: Send): void {
    this.#sends.push(send);
  }

  /** Ends the hold of one Alert Group. */
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
        this.#state = {
          ...this.#state,
          past: [...this.#state.past, { ...emitted.storm, endedAt: emitted.at }].slice(-MOST_PAST),
        };
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

  #tellDestinations(message: GroupEvent | StormTold): void {
    const destinations = destinationsOf('messages', [this.routeId], this.#directory);
    for (const { id } of destinations) this.send({ to: destinationAddress(id), message });
  }

  #tellStorm(since: Micros, change: StormTold['change']): void {
    const message: StormTold = { type: 'storm', routeId: this.routeId, since, change, at: this.now };
    this.#tellDestinations(message);
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

/** Keeps the first failure of a template until that template renders again. */
export function templateRendered(turn: RouteTurn, { template, error, at }: TemplateRendered): void {
  const { templateErrors } = turn.state;
  if ((templateErrors[template] !== undefined) === (error !== null)) return;
  if (error !== null) {
    turn.replaceTemplateErrors({ ...templateErrors, [template]: { since: at, error } });
    return;
  }
  const { [template]: _, ...left } = templateErrors;
  turn.replaceTemplateErrors(left);
}

/** Another version of the templates: whether they fail is seen when they are used. */
export function templatesSaved(turn: RouteTurn): void {
  if (Object.keys(turn.state.templateErrors).length > 0) turn.replaceTemplateErrors({});
}

/** The one that failed first; null while none does. */
function firstFailing(errors: TemplateErrors): RouteTemplateKind | null {
  const failing = Object.entries(errors) as [
    RouteTemplateKind,
    NonNullable<TemplateErrors[RouteTemplateKind]>,
  ][];
  failing.sort(([, one], [, other]) => one.since - other.since);
  return failing[0]?.[0] ?? null;
}

/** Alert Groups spoken to in one turn. */
export const SWEEP_PAGE = 200;

/** A notification of the Alert Groups of one Storm, and its progress. */
interface Sweep {
  /** `release`: the Storm ended. `urgency`: a setting that makes groups Urgent was edited. */
  readonly purpose: 'release' | 'urgency';
  /** Start of the Storm, µs. */
  readonly since: Micros;
  /** #N of the last notified group; 0 at the start. */
  readonly through: number;
}

/** Starts notifying all groups that the present Storm holds; does nothing while calm. */
export function beginSweep(turn: RouteTurn, purpose: Sweep['purpose'], since?: Micros): void {
  const storm = since ?? turn.state.snapshot.context.since;
  if (storm === null) return;
  const others = turn.state.sweeps.filter((sweep) => sweep.purpose !== purpose || sweep.since !== storm);
  turn.replaceSweeps([...others, { purpose, since: storm, through: 0 }]);
}

/** Takes the page that was read for the first sweep. */
export function continueSweep(turn: RouteTurn, page: readonly HeldGroup[]): void {
  const [sweep, ...others] = turn.state.sweeps;
  if (!sweep) return;
  for (const { id } of page) turn.send({ to: alertGroupAddress(id), message: wordOf(sweep, turn.now) });
  const last = page.at(-1);
  if (last && sweep.purpose === 'release') turn.endHolds(sweep.since, last.number);
  const isOver = page.length < SWEEP_PAGE;
  turn.replaceSweeps(isOver ? others : [{ ...sweep, through: last?.number ?? sweep.through }, ...others]);
}

function wordOf({ purpose }: Sweep, at: Micros): HoldReleased | UrgencyQuestion {
  return purpose === 'release' ? { type: 'released', at } : { type: 'urgency_edited' };
}
