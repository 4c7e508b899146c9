/**
 * Builds one turn of an Alert Group: applies machine events, collects their effects, and returns the engine's
 * {@link Turn}. Timeline, webhooks, list row and Alerts of one step are stored together (alert-groups §1).
 */
import {
  type Actor,
  begin,
  type PerformedEffect,
  type RecordedEffect,
  type Send,
  step,
  type Turn,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { EventClaimed } from '../connection/effects.ts';
import { destinationAddress } from '../destination/messages.ts';
import type { Directory, RouteConfig } from '../directory.ts';
import type { AuditRecorded, HintSent, WebhookEventRecorded } from '../effects.ts';
import { type AlertsEnded, feedAddress } from '../feed/messages.ts';
import type { EventActor, Labels, LifecycleEvent, Loudness, Slot } from '../model.ts';
import {
  type Announcement,
  announce,
  destinationsOf,
  groupEvent,
  type News,
  releaseSends,
} from './announcements.ts';
import type { GroupPerformed, GroupRecord } from './effects.ts';
import { alertGroupMachine } from './machine.ts';
import type { Happening } from './machine-types.ts';
import { inKeyOrder, portrayed } from './reading/alert-summary.ts';
import { alertsSeen, entryOf, groupRow, groupView, statusChange, statusView } from './reading/projections.ts';
import type { StepDetails } from './reading/timeline.ts';
import { type GroupAlert, type GroupRows, keyOf } from './rows.ts';
import { contextOf, type GroupState, isOpen, type StartedGroup, wakeAtOf } from './state.ts';
import { timerPolicyOf } from './timers/timers.ts';
import { type RowName, transitionRow } from './transitions.ts';

export interface TurnContext {
  readonly groupId: PublicId;
  readonly before: GroupState;
  readonly rows: GroupRows;
  readonly env: TurnEnv;
  readonly directory: Directory;
}

export class GroupTurn {
  readonly groupId: PublicId;
  readonly rows: GroupRows;
  readonly directory: Directory;
  readonly env: TurnEnv;
  /** Time of the step: never before the group's newest event. */
  readonly now: Micros;
  /** Addresses that this turn chose for Slots without one, by `slotKey`. */
  readonly freshTargets = new Map<string, PublicId>();
  reply: unknown;
  #state: GroupState;
  /** Whether what lists and pages show may have changed. */
  #shown = false;
  readonly #before: GroupState;
  readonly #saved = new Map<string, GroupAlert>();
  readonly #seen = new Map<string, GroupAlert>();
  readonly #ended = new Map<
    string,
    { readonly feed: string; readonly message: AlertsEnded & { readonly fingerprints: string[] } }
  >();
  readonly #announcements: (Announcement & Pick<News, 'entry' | 'after'>)[] = [];
  /** The hold of a Storm ends with this turn; Loud when the group became Urgent. */
  #release: Loudness | null = null;
  readonly #sends: Send[] = [];
  readonly #records: RecordedEffect[] = [];
  readonly #performs: PerformedEffect[] = [];

  constructor({ groupId, before, rows, env, directory }: TurnContext) {
    this.groupId = groupId;
    this.#before = before;
    this.#state = before;
    this.rows = rows;
    this.env = env;
    this.directory = directory;
    this.now = before.stage === 'started' ? Math.max(env.now, before.lastChangedAt) : env.now;
  }

  get state(): GroupState {
    return this.#state;
  }

  get group(): StartedGroup {
    if (this.#state.stage === 'unstarted') throw new Error(`Alert Group ${this.groupId} has not begun`);
    return this.#state;
  }

  /** The present Route; a deleted one keeps its last configuration. */
  get route(): RouteConfig {
    return this.routeById(contextOf(this.group).routeId);
  }

  routeById(id: string): RouteConfig {
    const route = this.directory.routesById.get(id);
    if (!route) throw new Error(`Route ${id} is not in the directory`);
    return route;
  }

  randomId(prefix: 'AG' | 'TE' | 'NE' | 'DE'): PublicId {
    return newPublicId(prefix, this.env.random);
  }

  /** Starts the group with the Alerts in its rows: the row `create`. */
  create(slot: Slot, actor: EventActor, details: StepDetails, firingAgainAfter: number | null): void {
    const route = this.routeById(slot.routeId);
    const frame = { groupLabels: this.#inKeyOrder(slot), routeName: route.name };
    this.#state = {
      stage: 'started',
      snapshot: begin(alertGroupMachine, { at: this.now, routeId: slot.routeId }),
      number: null,
      slot,
      portrait: portrayed(null, this.rows, frame),
      sequence: 0,
      lastChangedAt: this.now,
      successorId: null,
      firingAgainAfter,
      replacedLabel: null,
      troubledDestinations: [],
    };
    this.#recordRow('create', null, actor, details);
  }

  /** Sends one event to the machine and records what the row it took asks for. Answers the row. */
  step(event: Happening, actor: EventActor, details: StepDetails = {}): RowName {
    const before = this.group;
    const row = this.settle(event);
    this.#shown = true;
    this.#recordRow(row, before, actor, details);
    return row;
  }

  /** Sends the machine an event that is not recorded. */
  settle(event: Happening): RowName {
    const before = this.group;
    const timers = timerPolicyOf(this.route.policy);
    const { snapshot, emitted } = step(alertGroupMachine, before.snapshot, { ...event, timers });
    const [taken] = emitted;
    if (!taken) throw new Error(`${event.type} does not apply to ${JSON.stringify(before.snapshot.value)}`);
    this.#state = { ...before, snapshot };
    return taken.row;
  }

  /** Changes part of the state that is stored beside the machine's snapshot. */
  amend(change: Partial<Omit<StartedGroup, 'stage' | 'snapshot' | 'successorId'>>): void {
    this.#state = { ...this.group, ...change };
    this.#shown = true;
  }

  /** Remembers where new firings of this group's Slot go. Nobody sees that. */
  succeedBy(successorId: PublicId | null): void {
    this.#state = { ...this.group, successorId };
  }

  /** Works the Portrait out again; the old one is answered. */
  portray(): StartedGroup['portrait'] {
    const before = this.group;
    const { slot, portrait } = before;
    const frame = { groupLabels: this.#inKeyOrder(slot), routeName: this.route.name };
    const next = portrayed(portrait, this.rows, frame);
    // The severity level of a resolved group does not change with its tails.
    this.amend({ portrait: isOpen(before) ? next : { ...next, severityLevel: portrait.severityLevel } });
    return portrait;
  }

  /** Something that pages show changed, though the group itself did not. */
  show(): void {
    this.#shown = true;
  }

  /** Only the Timeline changed: open pages refresh, the list row is not written. */
  hint(): void {
    this.#hint('alert-group', this.groupId);
  }

  saveAlert(alert: GroupAlert): void {
    this.rows.set(keyOf(alert), alert);
    this.#saved.set(keyOf(alert), alert);
  }

  /** The Alert was listed again and nothing else about it changed. */
  seeAlert(alert: GroupAlert): void {
    this.rows.set(keyOf(alert), alert);
    if (this.#saved.has(keyOf(alert))) this.#saved.set(keyOf(alert), alert);
    else this.#seen.set(keyOf(alert), alert);
  }

  /** Notifies a feed after this turn that an Alert no longer fires although the feed listed it. */
  tellEnded(feed: string, fingerprint: string, at: Micros): void {
    const key = `${feed} ${at}`;
    const told = this.#ended.get(key);
    if (told) told.message.fingerprints.push(fingerprint);
    else this.#ended.set(key, { feed, message: { type: 'ended', fingerprints: [fingerprint], at } });
  }

  send(send: Send): void {
    this.#sends.push(send);
  }

  /** Notifies the message Destinations, after all events of this turn, that the hold has ended. */
  announceRelease(loudness: Loudness): void {
    this.#release = loudness;
  }

  record(record: GroupRecord | WebhookEventRecorded | AuditRecorded | EventClaimed): void {
    this.#records.push(record);
  }

  perform(effect: GroupPerformed): void {
    this.#performs.push(effect);
  }

  finish(): Turn<GroupState> {
    this.#recordAlerts();
    for (const { feed, message } of this.#ended.values()) this.send({ to: feedAddress(feed), message });
    if (this.#state.stage === 'started' && this.#shown) this.#recordGroup(this.#state);
    const created = this.#before.stage === 'unstarted' && this.#state.stage === 'started';
    return {
      state: this.#state,
      wakeAt: wakeAtOf(this.#state),
      sends: this.#sends,
      records: this.#records,
      performs: this.#performs,
      ...(this.reply === undefined ? {} : { reply: this.reply }),
      ...(created ? { claim: true as const } : {}),
    };
  }

  /** Restores the order of the labels of a key, which storage does not keep. */
  #inKeyOrder({ routeId, groupLabels }: Slot): Labels {
    return inKeyOrder(groupLabels, this.routeById(routeId).groupKey);
  }

  #recordRow(name: RowName, before: StartedGroup | null, actor: EventActor, details: StepDetails): void {
    const { records } = transitionRow(name);
    if (!records) return;
    this.amend({ sequence: this.group.sequence + 1, lastChangedAt: this.now });
    const after = this.group;
    const ownerBefore = before ? contextOf(before).owner : null;
    const event: LifecycleEvent = {
      name: records.event,
      loudness: records.loudness,
      mentions: (ownerBefore && records.ownedMentions) ?? records.mentions,
      sequence: after.sequence,
      at: this.now,
      actor,
      ownerBefore: records.event === 'reopened' ? contextOf(after).owner : ownerBefore,
    };
    const id = details.note?.id ?? this.randomId('TE');
    const entry = entryOf({ id, event, kind: records.kind, before, after, details });
    const { groupId } = this;
    if (entry.kind === 'notes') this.record({ type: 'note.added', groupId, entry });
    else this.record({ type: 'timeline.added', groupId, entry });
    if (event.name === 'created' || event.name === 'reopened') this.#hint('alert-groups', null);
    this.#announcements.push({ event, routeIds: this.#routesOf(before, after), entry, after });
    const change = statusChange({ groupId, before, after, actor, details, at: this.now });
    if (change) this.perform(change);
  }

  #routesOf(before: StartedGroup | null, after: StartedGroup): PublicId[] {
    const left = before ? contextOf(before).routeId : null;
    const { routeId } = contextOf(after);
    return left === null || left === routeId ? [routeId] : [left, routeId];
  }

  #recordAlerts(): void {
    const { groupId } = this;
    if (this.#saved.size > 0) {
      this.record({ type: 'alerts.saved', groupId, alerts: [...this.#saved.values()] });
    }
    const seen = [...this.#seen.values()].filter((alert) => !this.#saved.has(keyOf(alert)));
    for (const record of alertsSeen(groupId, seen)) this.record(record);
  }

  #recordGroup(group: StartedGroup): void {
    const before = this.#before;
    const opened = before.stage === 'unstarted' || (!isOpen(before) && isOpen(group));
    this.record({ type: 'group.saved', row: groupRow(this.groupId, group), opened });
    this.#announceAll(group);
    this.#tellMessages();
    this.#hint('alert-group', this.groupId);
  }

  /** Each event has the status that it left, and the Alerts as the whole turn left them (webhooks §3.3). */
  #announceAll(group: StartedGroup): void {
    let whole: ReturnType<typeof groupView> | null = null;
    for (const { event, routeIds, after } of this.#announcements) {
      for (const destination of destinationsOf('events', routeIds, this.directory)) {
        whole ??= groupView(this.groupId, group, this.rows, this.directory);
        const left = { ...after, portrait: group.portrait };
        const view = { ...whole, ...statusView(left, this.directory) };
        const { directory, env } = this;
        const { record, send } = announce(event, destination, view, group.number, directory, env.random);
        this.record(record);
        this.send(send);
      }
    }
  }

  /** Each event has the status that it left: the form of its message depends on it (delivery §2). */
  #tellMessages(): void {
    const { groupId, directory, now: at, group } = this;
    for (const { event, routeIds, entry, after } of this.#announcements) {
      const left = { ...after, portrait: group.portrait, number: group.number };
      const message = groupEvent({ groupId, event, entry, after: left }, directory);
      if (!message) continue;
      const destinations = destinationsOf('messages', routeIds, directory);
      for (const { id } of destinations) this.send({ to: destinationAddress(id), message });
    }
    if (this.#release === null) return;
    for (const send of releaseSends(groupId, group, { loudness: this.#release, at }, directory))
      this.send(send);
  }

  #hint(type: 'alert-group' | 'alert-groups', id: PublicId | null): void {
    const hint: HintSent = { type: 'hint', hint: { type, id } };
    this.#performs.push(hint);
  }
}

/** A turn for one message. */
export function beginTurn(
  actor: Actor<GroupState, GroupRows>,
  env: TurnEnv,
  directory: Directory,
): GroupTurn {
  return new GroupTurn({
    groupId: actor.self.key as PublicId,
    before: actor.state,
    rows: actor.rows,
    env,
    directory,
  });
}
