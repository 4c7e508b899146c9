/** One turn of a Destination under construction: its state as it changes, and what the turn will ask for. */
import {
  begin,
  type PerformedEffect,
  persistSnapshot,
  restoreSnapshot,
  type Send,
  step,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { limiterFor } from '../channels/index.ts';
import type { DestinationConfig, Directory } from '../directory.ts';
import type { InternalAlertRecorded } from '../internal-alerts/registry.ts';
import type { Labels } from '../model.ts';
import type { Delivery, QueuedEvent, Tries } from './delivery/delivery.ts';
import {
  type MessageChanges,
  type MessageState,
  NO_MESSAGE_STATE,
  noMessageChanges,
} from './delivery/state.ts';
import { type DeliveryNote, noteSend } from './delivery-reports.ts';
import type {
  DeliveryRecord,
  DestinationFailing,
  DestinationHealth,
  DestinationHealthChanged,
  DestinationRecord,
  DestinationTemplateError,
  WebhookProgress,
} from './effects.ts';
import { afterSetBack, type Bucket, fullBucket, type Limiter, refilled } from './limiter.ts';
import { type DestinationEmitted, type DestinationEvent, destinationMachine, shortened } from './machine.ts';
import type { DestinationRows } from './rows.ts';

export type DestinationSnapshot = ReturnType<typeof begin<typeof destinationMachine>>;

export interface DestinationState {
  readonly snapshot: DestinationSnapshot;
  /** Null before the first use of the limiter. */
  readonly bucket: Bucket | null;
  /** Since when no call succeeded; null after a success. */
  readonly failing: DestinationFailing | null;
  /** First answer since the last success that asked to wait, while it says nothing of failing; null otherwise. */
  readonly askedToWaitSince: Micros | null;
  readonly templateError: DestinationTemplateError | null;
  /** Groups are being told of this, page by page. */
  readonly telling: 'destination_broken' | 'destination_recovered' | null;
  /** As last seen in the configuration; a deleted Destination keeps it. */
  readonly name: string;
  readonly messages: MessageState;
}

/** Raised with {@link DestinationState.failing}. */
export const SCHEMA = 3;

/** What a new Destination has until its configuration is known. */
const DEFAULT_LIMITER: Limiter = { limit: 5, per_seconds: 1 };
export const DELETED_ERROR = 'the Destination was deleted';
export const LEFT_EVENTS_ERROR = 'the Destination left events mode';
/** `delivery.failing_pacing`: how long a receiver may ask to wait, without a success, before it counts as failing. */
const PACING: Micros = MINUTE;
/** Failures between successes that come sooner are of single messages, whose attempts would be used up in no time. */
const OUTAGE: Micros = 30 * SECOND;
const ASKED_SECONDS = /(, asked to wait) \d+ s$/;
/** Alert Groups told something in one turn. */
const NOTES_PAGE = 500;

export function startDestination(): DestinationState {
  return {
    snapshot: begin(destinationMachine),
    bucket: null,
    failing: null,
    askedToWaitSince: null,
    templateError: null,
    telling: null,
    name: '',
    messages: NO_MESSAGE_STATE,
  };
}

/** Schema 1 had no messages, schema 2 did not record since when calls fail. */
export function migrateDestination(persisted: unknown, from: number): unknown {
  if (from !== 1 && from !== 2) throw new Error(`a Destination of schema ${from} is unknown`);
  return { messages: NO_MESSAGE_STATE, ...(persisted as Partial<DestinationState>), failing: null };
}

export function persistDestination(state: DestinationState): unknown {
  return { ...state, snapshot: persistSnapshot(destinationMachine, state.snapshot) };
}

/** The way back from {@link persistDestination}. The previous release, of the same schema, stored no `askedToWaitSince`. */
export function restoreDestination(persisted: unknown): DestinationState {
  const state = persisted as DestinationState;
  const { askedToWaitSince = null } = persisted as Partial<DestinationState>;
  return { ...state, askedToWaitSince, snapshot: restoreSnapshot(destinationMachine, state.snapshot) };
}

export interface DestinationTurn {
  readonly id: PublicId;
  readonly now: Micros;
  readonly rows: DestinationRows;
  readonly limiter: Limiter;
  /** Undefined once it is deleted, and while this replica does not know it yet. */
  readonly config: DestinationConfig | undefined;
  readonly directory: Directory;
  readonly records: (DestinationRecord | DeliveryRecord | InternalAlertRecorded)[];
  readonly performs: PerformedEffect[];
  readonly sends: Send[];
  readonly messages: MessageChanges;
  state: DestinationState;
  reply: unknown;
  /** A fraction between 0 and 1. */
  random(): number;
}

export function openTurn(
  id: PublicId,
  state: DestinationState,
  rows: DestinationRows,
  directory: Directory,
  env: TurnEnv,
): DestinationTurn {
  const config = directory.destinationsById.get(id);
  const type = config?.type ?? state.messages.place?.type;
  const saved = config?.limiter ?? state.messages.limiter ?? DEFAULT_LIMITER;
  const limiter = type ? limiterFor(type, saved) : saved;
  const name = config?.name ?? state.name;
  return {
    id,
    now: env.now,
    rows,
    limiter,
    config,
    directory,
    records: [],
    performs: [],
    sends: [],
    messages: noMessageChanges(),
    state: stateAfterSetBack(name === state.name ? state : { ...state, name }, env.now),
    reply: undefined,
    random: () => Buffer.from(env.random(4)).readUInt32BE() / 2 ** 32,
  };
}

function stateAfterSetBack(state: DestinationState, now: Micros): DestinationState {
  const { messages } = state;
  const moved = state.bucket && afterSetBack(state.bucket, messages.heldUntil, now);
  if (!moved) return state;
  const { bucket, heldUntil } = moved;
  return { ...state, bucket, messages: { ...messages, heldUntil, behindUntil: null } };
}

/** The bucket as it stands now. */
export function bucketOf(turn: DestinationTurn): Bucket {
  const { bucket } = turn.state;
  return bucket ? refilled(bucket, turn.limiter, turn.now) : fullBucket(turn.limiter, turn.now);
}

export function isBroken(turn: DestinationTurn): boolean {
  return turn.state.snapshot.matches('broken');
}

export function isDeleted(turn: DestinationTurn): boolean {
  return turn.state.snapshot.matches('deleted');
}

/** Whether this call is the probe under way: the id of its event, or its name. */
export function isProbe(turn: DestinationTurn, name: string): boolean {
  return turn.state.snapshot.context.probe === name;
}

/** Applies one event to the machine; health that changed is recorded. */
export function apply(turn: DestinationTurn, event: DestinationEvent): readonly DestinationEmitted['type'][] {
  const { snapshot, emitted } = step(destinationMachine, turn.state.snapshot, event);
  if (snapshot === turn.state.snapshot) return [];
  turn.state = { ...turn.state, snapshot };
  if (emitted.length > 0) recordHealth(turn);
  for (const { type } of emitted) {
    if (type === 'destination_broken') recordAlert(turn, 'raise', 'SvcDestinationBroken');
    if (type === 'destination_recovered') recordAlert(turn, 'resolve', 'SvcDestinationBroken');
  }
  return emitted.map((one) => one.type);
}

export function setTemplateError(turn: DestinationTurn, error: DestinationTemplateError | null): void {
  const { templateError } = turn.state;
  if (templateError === error) return;
  turn.state = { ...turn.state, templateError: error };
  recordHealth(turn);
  if (templateError === null || error === null) {
    recordAlert(turn, error ? 'raise' : 'resolve', 'SvcTemplateError', { template: 'webhook_request' });
  }
  announce(turn, { change: 'template_error', reason: error?.error ?? null });
}

/** A call failed. The instant of the first failure since the last success is kept, with the newest error. */
export function callFailed(turn: DestinationTurn, error: string): void {
  if (isDeleted(turn)) return;
  const { failing, askedToWaitSince } = turn.state;
  const newest = shortened(error);
  if (failing?.error === newest) return;
  const since = failing?.since ?? askedToWaitSince ?? turn.now;
  turn.state = { ...turn.state, askedToWaitSince: null, failing: { since, error: newest } };
  // Another text of the same trouble is stored, and not worth a message to every browser.
  if (failing) recordHealth(turn);
  else failingChanged(turn);
}

/**
 * The answer asked to wait until `until`, µs. A receiver that paces its sender does so again and again between successes,
 * so it is failing only once that lasts (delivery §7.5). How long it asks to wait is no news.
 */
export function callPutOff(turn: DestinationTurn, until: Micros, error: string): void {
  if (isDeleted(turn)) return;
  const { failing, askedToWaitSince } = turn.state;
  const since = askedToWaitSince ?? turn.now;
  const lasts = Math.max(turn.now, until) - since >= PACING;
  if (failing || lasts) callFailed(turn, error.replace(ASKED_SECONDS, '$1'));
  else turn.state = { ...turn.state, askedToWaitSince: since };
}

/**
 * A call succeeded, or a person or a check proved that the next one will.
 * @returns whether every call had failed for so long that others may wait because of it
 */
export function callSucceeded(turn: DestinationTurn): boolean {
  const { failing, askedToWaitSince } = turn.state;
  if (failing === null && askedToWaitSince === null) return false;
  turn.state = { ...turn.state, failing: null, askedToWaitSince: null };
  if (failing) failingChanged(turn);
  return failing !== null && turn.now - failing.since >= OUTAGE;
}

function failingChanged(turn: DestinationTurn): void {
  recordHealth(turn);
  announce(turn, { change: 'failing', reason: turn.state.failing?.error ?? null });
}

/** What happened goes to the log and to open browsers. */
export function announce(
  turn: DestinationTurn,
  what: Pick<DestinationHealthChanged, 'change' | 'reason'>,
): void {
  const perform: DestinationHealthChanged = {
    type: 'destination.health_changed',
    destinationId: turn.id,
    ...what,
  };
  turn.performs.push(perform);
}

/** How an event stands now. */
export function recordProgress(
  turn: DestinationTurn,
  { id: eventId, calls }: QueuedEvent,
  { attempts, firstFailedAt, exact = false }: Tries,
  progress: Pick<WebhookProgress, 'state' | 'nextAttemptAt' | 'error'>,
): void {
  turn.records.push({
    type: 'webhook.progress',
    ...{ eventId, calls, attempts, firstFailedAt, exact, at: turn.now },
    ...progress,
  });
}

/** The same of the event that is sent next; those behind it wait as they were recorded. */
export function recordFirst(
  turn: DestinationTurn,
  was: Delivery | undefined,
  { events, call, tries }: Delivery,
): void {
  const [event] = events ?? [];
  if (!event) return;
  if (call) {
    if (call !== was?.call)
      recordProgress(turn, event, tries, { state: 'sending', nextAttemptAt: call.lostAt, error: null });
    return;
  }
  const isOther = was?.events?.[0]?.id !== event.id;
  if (isOther || (was.call === null && was.tries === tries)) return;
  const { notBefore, error } = tries;
  recordProgress(turn, event, tries, { state: 'waiting', nextAttemptAt: notBefore || null, error });
}

/** Tells an Alert Group something about its delivery here. */
export function note(
  turn: DestinationTurn,
  told: Pick<DeliveryNote, 'groupId' | 'event' | 'error'> & { readonly problem: boolean },
): void {
  const { troubled } = turn.rows;
  if (told.event === null && troubled.has(told.groupId) === told.problem) return;
  if (told.problem) troubled.add(told.groupId);
  else troubled.delete(told.groupId);
  turn.rows.notes.push({ ...told, loudness: 'quiet', mentions: [], at: turn.now });
}

/** Sends a page of what groups are to be told; the rest follows with the next turn, which comes at once. */
export function flushNotes(turn: DestinationTurn): void {
  const page = turn.rows.notes.splice(0, NOTES_PAGE);
  for (const one of page) turn.sends.push(noteSend(one, { id: turn.id, name: turn.state.name }));
  const { telling, messages } = turn.state;
  const goesOn = turn.rows.notes.length > 0 || messages.sweeps.some(({ kind }) => kind === 'tell');
  if (telling && !goesOn) turn.state = { ...turn.state, telling: null };
}

function recordHealth(turn: DestinationTurn): void {
  turn.records.push({
    type: 'destination.health',
    destinationId: turn.id,
    health: healthOf(turn.state.snapshot),
    failing: turn.state.failing,
    templateError: turn.state.templateError,
  });
}

/** One of Tocsin's own alerts began or ended here; it is stored with the change of health (internal-alerts §2.3). */
function recordAlert(
  turn: DestinationTurn,
  change: InternalAlertRecorded['change'],
  name: InternalAlertRecorded['name'],
  labels: Labels = {},
): void {
  const entity = { id: turn.id, name: turn.state.name };
  turn.records.push({ type: 'internal_alert.recorded', change, name, entity, labels, at: turn.now });
}

/** Health as it is stored and shown. */
export function healthOf(snapshot: DestinationSnapshot): DestinationHealth {
  const { since, reason } = snapshot.context;
  return since === null ? { state: 'healthy' } : { state: 'broken', since, reason: reason ?? '' };
}
