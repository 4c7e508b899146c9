/** Drives a Destination actor in tests: virtual time, records kept as storage would, calls answered by hand. */
import type { ActorMessage, Send, Turn } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { MessageSend, SendOutcome } from '../channels/calls.ts';
import type { SentOutcome } from '../channels/webhook-events/request.ts';
import { EMPTY_DIRECTORY, NO_MENTIONS } from '../directory.fixture.ts';
import type { DestinationConfig } from '../directory.ts';
import type { InternalAlertRecorded } from '../internal-alerts/registry.ts';
import type { LifecycleEventName } from '../model.ts';
import { createDestination } from './actor.ts';
import { NO_TRIES, type QueuedEvent, type Tries } from './delivery/delivery.ts';
import { accepted } from './delivery/world.fixture.ts';
import type { DestinationRecord, WebhookProgress } from './effects.ts';
import type { DestinationMessage, EventRecorded } from './messages.ts';
import { CALL_LOST_AFTER } from './pacing.ts';
import { destinationRows, lineOf, MOST_OF_GROUP, type WaitingEvent, type WaitingPage } from './rows.ts';
import { type DestinationState, healthOf } from './turn.ts';

const ID = 'DSK7M3QX9P2RTA' as PublicId;
const WEBHOOK = { type: 'webhook', mode: 'events', connectionId: null, target: 1 } as const;

interface StoredEvent extends QueuedEvent, Omit<Tries, 'error'> {
  readonly groupId: PublicId;
  state: WebhookProgress['state'];
  error: string | null;
}

/** What a request came to, in the words of its channel. */
type Outcome =
  | SentOutcome
  | { readonly class: 'template_error'; readonly error: string }
  | Extract<SendOutcome, { class: 'not_sent' | 'dropped' }>;

function sendOutcome(outcome: Outcome): SendOutcome {
  switch (outcome.class) {
    case 'ok':
      return accepted({});
    case 'retry_after':
      return { ...outcome, scope: 'delivery' };
    case 'transient':
      return { ...outcome, class: 'transient', unsure: false };
    case 'template_error':
      return { ...outcome, request: 'events' };
    default:
      return outcome;
  }
}

type Configured = Pick<DestinationConfig, 'limiter' | 'mode'>;

export function createDestinationHarness(config: Partial<Configured> = {}) {
  let settings: Configured = { limiter: { limit: 5, per_seconds: 1 }, mode: 'events', ...config };
  const stored = new Map<string, StoredEvent>();
  const open = () => [...stored.values()].filter((e) => e.state === 'waiting' || e.state === 'sending');

  const definition = createDestination({
    directory: {
      current: () => ({
        ...EMPTY_DIRECTORY,
        destinationsById: new Map([
          [ID, { id: ID, name: 'relay', ...WEBHOOK, ...settings, mentions: NO_MENTIONS }],
        ]),
      }),
      reload: async () => undefined,
    },
    waiting: {
      async page(_id, except, limit) {
        const left = open().filter((event) => !except.includes(event.groupId));
        return pageOf(left, limit);
      },
    },
    deliveries: {
      page: async () => ({ deliveries: [], more: false }),
      read: async () => [],
      summary: async () => [],
      waiting: async () => [],
      open: async () => [],
      openGroups: async () => ({ groups: [], stormSince: null }),
    },
    forgetSettings: () => undefined,
  });

  let now: Micros = 1_791_020_467_000_000;
  let state = definition.start(ID);
  let rows = definition.emptyRows(ID);
  let wake: Micros | null = null;
  let seed = 1;
  const calls: string[] = [];
  const sends: Send[] = [];
  const announced: string[] = [];
  let failingAnnounced = 0;
  let healthRecorded = 0;
  const alerts: InternalAlertRecorded[] = [];
  const sequences = new Map<string, number>();

  const commit = (turn: Turn<DestinationState>): void => {
    state = turn.state;
    wake = turn.wakeAt;
    for (const record of turn.records as readonly (DestinationRecord | InternalAlertRecorded)[]) {
      if (record.type === 'internal_alert.recorded') alerts.push(record);
      if (record.type === 'destination.health') healthRecorded++;
      if (record.type === 'webhook.budgets_renewed') for (const event of open()) renew(event);
      if (record.type === 'webhook.events_ended') {
        for (const event of open()) Object.assign(event, { state: 'not_delivered', error: record.error });
      }
      if (record.type !== 'webhook.progress') continue;
      const event = stored.get(record.eventId);
      if (event) Object.assign(event, progressOf(record));
    }
    for (const perform of turn.performs) {
      if (perform.type === 'message.send') calls.push((perform as MessageSend).key ?? '');
      if (!('change' in perform)) continue;
      if (perform.change === 'failing') failingAnnounced++;
      else announced.push(String(perform.change));
    }
    sends.push(...turn.sends);
  };
  const turn = (message: DestinationMessage, prepared?: unknown): void => {
    const env = { now, from: null, prepared, random: randomBytes };
    commit(definition.receive({ self: { kind: 'destination', key: ID }, state, rows }, message, env));
  };
  const lineWith = (eventId: string) => lineOf(rows, eventId.split('#')[0] as PublicId);
  const newestCall = (eventId: string): number => lineWith(eventId)?.events?.[0]?.calls ?? 0;
  const finished = (eventId: string, outcome: Outcome, call: number): DestinationMessage => ({
    ...{ type: 'send_finished', call, at: now },
    event: { id: eventId, groupId: eventId.split('#')[0] as PublicId },
    outcome: sendOutcome(outcome),
  });
  const randomBytes = (size: number): Uint8Array => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return Buffer.alloc(size, seed >>> 16);
  };
  const advance = (by: Micros): void => {
    const until = now + by;
    for (let turns = 0; wake !== null && wake <= until && turns < 5000; turns++) {
      const stuck = wake <= now && by === 0 && turns > 0;
      if (stuck) return;
      now = Math.max(now, wake);
      turn({ type: 'wake' });
    }
    now = until;
  };

  return {
    now: () => now,
    wakeAt: () => wake,
    send: (message: DestinationMessage) => turn(message),
    advance,
    configure(changed: Partial<Configured>) {
      settings = { ...settings, ...changed };
    },
    /** Records the next event of a group; its id is `<group>#<sequence>`. */
    record(groupId: PublicId, event: LifecycleEventName, { urgent = false } = {}): EventRecorded {
      const sequence = (sequences.get(groupId) ?? 0) + 1;
      sequences.set(groupId, sequence);
      now += 1;
      const eventId = `${groupId}#${sequence}`;
      const message: EventRecorded = {
        type: 'event_recorded',
        eventId,
        groupId,
        sequence,
        event,
        urgent,
        occurredAt: now,
      };
      stored.set(eventId, { ...storedEvent(message), state: 'waiting', error: null });
      turn(message);
      return message;
    },
    /** Another commit stored an event that the actor knows nothing of. */
    storeBeside(groupId: PublicId) {
      const message = { type: 'event_recorded', eventId: `${groupId}#9`, groupId, sequence: 9 } as const;
      const event = { ...message, event: 'created', urgent: false, occurredAt: now } as const;
      stored.set(event.eventId, { ...storedEvent(event), state: 'waiting', error: null });
      return event;
    },
    /** The outcome of the newest call of an event, or of an older one. */
    answer(eventId: string, outcome: Outcome, call = newestCall(eventId)) {
      turn(finished(eventId, outcome, call));
    },
    /** The same, with the page that the actor may want before the turn. */
    async answerPrepared(eventId: string, outcome: Outcome) {
      const message = finished(eventId, outcome, newestCall(eventId));
      const prepared = definition.prepare?.({ self: { kind: 'destination', key: ID }, state, rows }, message);
      turn(message, (await prepared) ?? undefined);
    },
    /** A wake-up, with the page that the actor may want before it. */
    async wakePrepared() {
      const message: DestinationMessage = { type: 'wake' };
      const prepared = definition.prepare?.({ self: { kind: 'destination', key: ID }, state, rows }, message);
      now += 1;
      turn(message, (await prepared) ?? undefined);
    },
    failTransiently(eventId: string, times: number, first: () => void = () => undefined) {
      first();
      for (let time = 0; time < times; time++) {
        if (!lineWith(eventId)?.call) advance((wake ?? now) - now);
        turn(finished(eventId, { class: 'transient', error: 'answered 503' }, newestCall(eventId)));
      }
    },
    /** Everything in memory is lost; state and rows come from storage. */
    restart() {
      state = definition.restore(JSON.parse(JSON.stringify(definition.persist(state))));
      const page = pageOf(open(), Number.POSITIVE_INFINITY);
      const deliveries = { deliveries: [], more: false };
      rows = destinationRows({ ...page, troubled: [], sending: sending(open()), deliveries });
    },
    /** Ids of the requests made since the last look, in order. */
    calls: () => calls.splice(0),
    sent: () => sends.splice(0),
    /** What a group was told since the last look. */
    told(groupId: PublicId): ActorMessage[] {
      const mine = sends.filter((send) => send.to.key === groupId);
      for (const send of mine) sends.splice(sends.indexOf(send), 1);
      return mine.map((send) => send.message);
    },
    announced: () => announced.splice(0),
    /** Internal alerts recorded since the last look: what happened to which, with the extra labels. */
    alerts: () => alerts.splice(0).map(({ change, name, labels }) => [change, name, labels]),
    stored: (eventId: string) => stored.get(eventId),
    waiting: () => rows.events,
    health: () => healthOf(state.snapshot),
    failing: () => state.failing,
    /** How often `failing` was announced to people and health was stored. */
    failingChanges: () => ({ announced: failingAnnounced, recorded: healthRecorded }),
    templateError: () => state.templateError,
  };

  function sending(events: readonly StoredEvent[]) {
    return events
      .filter((e) => e.state === 'sending')
      .map((e) => ({ id: e.id, lostAt: now + CALL_LOST_AFTER }));
  }
}

/** As storage pages: by group, oldest first, no more than the first events of each. */
function pageOf(left: readonly StoredEvent[], limit: number): WaitingPage {
  const byGroup = new Map<PublicId, StoredEvent[]>();
  for (const event of left) byGroup.set(event.groupId, [...(byGroup.get(event.groupId) ?? []), event]);
  const lines = [...byGroup];
  const given: StoredEvent[] = [];
  let taken = 0;
  for (const [, line] of lines) {
    if (given.length >= limit) break;
    given.push(...line.slice(0, MOST_OF_GROUP));
    taken++;
  }
  const cut = lines.slice(0, taken).filter(([, line]) => line.length > MOST_OF_GROUP);
  return { events: given.map(fresh), more: lines.length > taken, cut: cut.map(([groupId]) => groupId) };
}

function storedEvent({ eventId: id, groupId, sequence, event, urgent, occurredAt }: EventRecorded) {
  const { error: _, ...tries } = NO_TRIES;
  return { ...{ id, groupId, sequence, event, urgent, occurredAt, calls: 0 }, ...tries };
}

function fresh(event: StoredEvent): WaitingEvent {
  const { state: _, groupId, id, sequence, event: name, urgent, occurredAt, calls, ...tries } = event;
  return { groupId, ...{ id, sequence, event: name, urgent, occurredAt, calls }, tries };
}

function renew(event: StoredEvent): void {
  Object.assign(event, { attempts: 0, firstFailedAt: null, notBefore: 0 });
}

function progressOf(record: WebhookProgress): Partial<StoredEvent> {
  return {
    state: record.state,
    calls: record.calls,
    attempts: record.attempts,
    firstFailedAt: record.firstFailedAt,
    exact: record.exact,
    notBefore: record.state === 'waiting' ? (record.nextAttemptAt ?? 0) : 0,
    error: record.error,
  };
}
