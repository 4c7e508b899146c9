/** Message Destinations on virtual time: their actors and those of two Connections, storage as it would be, a scripted messenger. */
import type { Send, Turn } from '../../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { DeliveryNoted } from '../../alert-group/messages.ts';
import {
  type DestinationProbe,
  type MessageSend,
  type SendOutcome,
  subjectText,
} from '../../channels/calls.ts';
import { createConnectionActor } from '../../connection/actor.ts';
import type { ConnectionMessage } from '../../connection/messages.ts';
import type { DestinationConfig, Directory } from '../../directory.ts';
import type { InternalAlertRecorded } from '../../internal-alerts/registry.ts';
import type { GroupStatus, LifecycleEventName, Loudness, SymbolicMention } from '../../model.ts';
import { createDestination } from '../actor.ts';
import type { DeliverySaved } from '../effects.ts';
import { type DestinationMessage, destinationAddress, type GroupEvent } from '../messages.ts';
import { destinationRows } from '../rows.ts';
import { type DestinationState, healthOf } from '../turn.ts';
import { type Delivery, deliveryKey, isOpenSubject } from './delivery.ts';
import type { DeliveryReads, OpenGroup } from './ports.ts';

export const START: Micros = 1_791_020_467_000_000;
export const ROUTE = 'RT000000000001' as PublicId;
export const OTHER_ROUTE = 'RT000000000002' as PublicId;
export const CONNECTION = 'CN000000000001' as PublicId;
export const OTHER_CONNECTION = 'CN000000000002' as PublicId;
export const ONE = 'DS000000000001' as PublicId;
export const TWO = 'DS000000000002' as PublicId;

type Call = MessageSend | DestinationProbe;
type Config = Partial<DestinationConfig>;

export interface WorldSettings {
  readonly limiter?: DestinationConfig['limiter'];
  readonly connectionLimiter?: DestinationConfig['limiter'];
  readonly type?: 'bridge' | 'channel_bot' | 'webhook';
  /** Thread batching window, seconds. */
  readonly window?: number;
}

interface Group {
  readonly id: PublicId;
  readonly number: number;
  status: GroupStatus;
  urgent: boolean;
  routeId: PublicId;
  sequence: number;
  changedAt: Micros;
  startedAt: Micros;
  held: boolean;
}

export function accepted(change: Partial<Extract<SendOutcome, { class: 'ok' }>> = {}): SendOutcome {
  const nothing = { threadRef: null, messageUrl: null, replayed: false, values: {}, editableUntil: null };
  return { class: 'ok', messageId: null, hash: null, signedWith: null, ...nothing, ...change };
}

export function createMessageWorld(settings: WorldSettings = {}) {
  const wide = { limit: 1000, per_seconds: 1 };
  const type = settings.type ?? 'bridge';
  const place =
    type === 'webhook'
      ? { type, mode: 'template' as const, connectionId: null }
      : { type, mode: null, connectionId: CONNECTION };
  const base = { ...place, target: 1, limiter: settings.limiter ?? wide, name: 'ops' } as const;
  const configs = new Map<string, DestinationConfig>(
    [ONE, TWO].map((id) => [id, { ...base, id } as unknown as DestinationConfig]),
  );
  const policy = { thread_batching_window_seconds: settings.window ?? 60 };
  const routes = new Map(
    [ROUTE, OTHER_ROUTE].map((id) => [
      id,
      { id, policy, destinationIds: id === ROUTE ? [ONE] : ([] as PublicId[]) },
    ]),
  );
  const connections = new Map([CONNECTION, OTHER_CONNECTION].map((id) => [id, { id }]));
  const directory = {
    current: () =>
      ({
        destinationsById: configs,
        routesById: routes,
        routes: [...routes.values()],
        connectionsById: connections,
      }) as unknown as Directory,
    reload: async () => undefined,
  };

  let now: Micros = START;
  let calls = 0;
  let stormSince: Micros | null = null;
  const groups = new Map<PublicId, Group>();
  /** What each subject shows; a group's events change it. */
  const looks = new Map<string, number>();
  /** By Destination, then by key of the delivery. */
  const stored = new Map<string, Map<string, DeliverySaved>>([ONE, TWO].map((id) => [id, new Map()]));
  const pending: { readonly call: Call; readonly to: PublicId }[] = [];
  const script: SendOutcome[] = [];
  const log: string[] = [];
  const performed: Call[] = [];
  const notes: { readonly groupId: string; readonly note: DeliveryNoted }[] = [];
  const others: { readonly groupId: string; readonly type: string }[] = [];
  const alerts: string[] = [];
  /** What each group was told last: whether it has a problem here. */
  const problems = new Map<string, boolean>();
  const mail: { readonly from: Send['to']; readonly send: Send }[] = [];
  let isDelivering = false;
  let isAnswering = true;

  const storedAt = (id: string) => stored.get(id) ?? new Map<string, DeliverySaved>();
  const kept = (id: string) => [...storedAt(id).values()];
  const after = (one: Delivery, last: { readonly subject: string; readonly target: number } | null) =>
    last === null || deliveryKey(one) > `${last.subject}/${last.target}`;
  const inOrder = (left: Delivery, right: Delivery) => (deliveryKey(left) < deliveryKey(right) ? -1 : 1);
  const copy = (delivery: Delivery): Delivery => JSON.parse(JSON.stringify(delivery));
  const reads: DeliveryReads = {
    page: async (id, except, limit) => {
      const left = kept(id).filter((one) => one.wanted && !except.includes(deliveryKey(one.delivery)));
      return { deliveries: left.slice(0, limit).map((one) => copy(one.delivery)), more: left.length > limit };
    },
    read: async (id, subjects) => {
      const targets = Array.from({ length: configs.get(id)?.target ?? 1 }, (_, before) => before + 1);
      const keys = subjects.flatMap((subject) => targets.map((target) => `${subject}/${target}`));
      return keys.flatMap((key) => storedAt(id).get(key) ?? []).map((one) => copy(one.delivery));
    },
    summary: async (id, messageId) =>
      kept(id)
        .map((one) => one.delivery)
        .filter(({ subject, message }) => subject.kind === 'storm' && message?.id === messageId)
        .map(copy),
    waiting: async ({ destinationId, after: last, limit }) =>
      kept(destinationId)
        .filter((one) => one.state === 'pending' && after(one.delivery, last))
        .map((one) => one.delivery)
        .sort(inOrder)
        .slice(0, limit)
        .map(copy),
    open: async ({ destinationId, routeId, after: last, limit }) =>
      kept(destinationId)
        .filter((one) => one.isOpen && (routeId === null || one.delivery.routeId === routeId))
        .map((one) => one.delivery)
        .filter((one) => after(one, last))
        .sort(inOrder)
        .slice(0, limit)
        .map(copy),
    openGroups: async ({ routeId, after, limit }) => {
      const open = [...groups.values()]
        .filter((group) => group.routeId === routeId && group.status !== 'resolved')
        .sort((left, right) => Number(right.urgent) - Number(left.urgent) || left.number - right.number);
      const index = open.findIndex((group) => group.number === after?.number);
      const page = open.slice(index + 1, index + 1 + limit);
      return { groups: page.map(({ id, ...group }): OpenGroup => ({ groupId: id, ...group })), stormSince };
    },
  };

  const definition = createDestination({
    directory,
    waiting: { page: async () => ({ events: [], more: false, cut: [] }) },
    deliveries: reads,
    forgetSettings: () => undefined,
  });
  const hub = createConnectionActor();
  const actors = new Map([ONE, TWO].map((id) => [id, fresh(id)] as const));
  const hubs = new Map(
    [CONNECTION, OTHER_CONNECTION].map((id) => [
      id,
      { state: hub.start(id), rows: hub.emptyRows(id), wakeAt: null as Micros | null },
    ]),
  );

  function fresh(id: PublicId) {
    return { state: definition.start(id), rows: definition.emptyRows(id), wakeAt: null as Micros | null };
  }

  let seed = 1;
  const random = (size: number): Uint8Array => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return Buffer.alloc(size, seed >>> 16);
  };

  async function give(
    id: PublicId,
    message: DestinationMessage,
    from: Send['to'] | null = null,
  ): Promise<unknown> {
    const actor = actors.get(id);
    if (!actor) throw new Error(`no Destination ${id}`);
    const self = { ...actor, self: destinationAddress(id) };
    const prepared = (await definition.prepare?.(self, message)) ?? undefined;
    const turn = definition.receive(self, message, { now, from, prepared, random });
    actor.state = definition.restore(JSON.parse(JSON.stringify(definition.persist(turn.state))));
    actor.wakeAt = turn.wakeAt;
    keep(id, turn);
    await route(turn.sends, destinationAddress(id));
    await answerAll();
    return turn.reply;
  }

  function keep(id: PublicId, turn: Turn<DestinationState>): void {
    for (const record of turn.records) {
      if (record.type === 'internal_alert.recorded') {
        const { change, name } = record as InternalAlertRecorded;
        alerts.push(`${change} ${name}`);
      }
      if (record.type !== 'delivery.saved') continue;
      const saved = record as DeliverySaved;
      storedAt(id).set(deliveryKey(saved.delivery), saved);
    }
    for (const perform of turn.performs) {
      if (perform.type !== 'message.send' && perform.type !== 'message.probe') continue;
      const call = perform as Call;
      performed.push(call);
      pending.push({ call, to: id });
    }
  }

  async function giveConnection(
    message: ConnectionMessage,
    from: Send['to'] | null = null,
    key: PublicId = CONNECTION,
  ): Promise<unknown> {
    const connection = hubs.get(key);
    if (!connection) throw new Error(`no Connection ${key}`);
    const turn = hub.receive({ self: { kind: 'connection', key }, ...connection }, message, {
      now,
      from,
      prepared: undefined,
      random,
    });
    connection.state = turn.state;
    connection.wakeAt = turn.wakeAt;
    await route(turn.sends, { kind: 'connection', key });
    return turn.reply;
  }

  /** One after the other, as commits follow each other. */
  async function route(sends: readonly Send[], from: Send['to']): Promise<void> {
    mail.push(...sends.map((send) => ({ from, send })));
    if (isDelivering) return;
    isDelivering = true;
    for (let next = mail.shift(); next; next = mail.shift()) await hand(next.send, next.from);
    isDelivering = false;
  }

  async function hand({ to, message }: Send, from: Send['to']): Promise<void> {
    if (to.kind === 'connection')
      await giveConnection(message as ConnectionMessage, from, to.key as PublicId);
    else if (to.kind === 'destination') await give(to.key as PublicId, message as DestinationMessage, from);
    else if (message.type === 'delivery_noted') noted(to.key, message as DeliveryNoted);
    else others.push({ groupId: to.key, type: message.type });
  }

  function noted(groupId: string, note: DeliveryNoted): void {
    notes.push({ groupId, note });
    if (note.problem !== null) problems.set(groupId, note.problem);
  }

  async function answerAll(): Promise<void> {
    while (isAnswering && pending.length > 0) await answerNext();
  }

  async function answerNext(outcome?: SendOutcome): Promise<void> {
    const next = pending.shift();
    if (!next) throw new Error('no call waits for an answer');
    const { call, to } = next;
    const given = made(call, outcome ?? script.shift());
    if (given.class !== 'unchanged') log.push(shown(call, to));
    await give(to, { type: 'send_finished', call: call.call, outcome: given, at: now });
  }

  /** As the sender would: laid out now, left out when the messenger has it. */
  function made(call: Call, scripted: SendOutcome | undefined): SendOutcome {
    if (call.type === 'message.probe') return scripted ?? accepted({ messageId: null });
    const hash = String(looks.get(subjectText(call.subject)) ?? 0);
    const { operation } = call;
    if (operation.kind === 'edit' && operation.hash === hash && !operation.isFinal)
      return { class: 'unchanged' };
    const outcome = scripted ?? accepted();
    if (outcome.class !== 'ok') return outcome;
    if (operation.kind === 'publish')
      return { ...outcome, messageId: outcome.messageId ?? `M${++calls}`, hash: outcome.hash ?? hash };
    return operation.kind === 'edit'
      ? { ...outcome, messageId: null, hash }
      : { ...outcome, messageId: outcome.messageId ?? `R${++calls}` };
  }

  function shown(call: Call, to: PublicId): string {
    const where = to === ONE ? '' : 'TWO ';
    if (call.type === 'message.probe') return `${where}probe`;
    const { operation, notes: remarks, subject } = call;
    const name = subject.kind === 'group' ? subject.groupId : 'storm';
    const said = Object.entries(remarks)
      .filter(([, value]) => value)
      .map(([note]) => note);
    const tail = said.length > 0 ? ` (${said.join(', ')})` : '';
    if (operation.kind === 'event') return `${where}event ${name} ${operation.event}`;
    if (operation.kind === 'edit') return `${where}edit ${name}${operation.isFinal ? ' final' : ''}${tail}`;
    const { loudness, mentions } = operation.kind === 'publish' ? operation : operation.reply;
    const loud = loudness === 'loud' ? `L [${mentions.join(', ')}]` : 'Q';
    if (operation.kind === 'publish') return `${where}publish ${name} ${loud}${tail}`;
    const { facts } = operation.reply;
    const count = facts.event === 'alerts_added' ? ` ${facts.fingerprints.length}` : '';
    return `${where}reply ${name} ${facts.event}${count} ${loud}`;
  }

  /** @param by below 0: back to what it showed before */
  function look(subject: string, by = 1): void {
    looks.set(subject, (looks.get(subject) ?? 0) + by);
  }

  async function tellRoute(routeId: PublicId, message: DestinationMessage): Promise<void> {
    for (const id of routes.get(routeId)?.destinationIds ?? []) await give(id, message);
  }

  /** @param toAll routes whose Destinations hear of it */
  async function event(
    name: string,
    what: LifecycleEventName,
    change: Partial<
      Pick<GroupEvent, 'status' | 'loudness' | 'mentions' | 'owner' | 'by' | 'facts' | 'urgent' | 'judged'>
    > = {},
    toAll?: readonly PublicId[],
  ): Promise<void> {
    const group = groups.get(name as PublicId);
    if (!group) throw new Error(`no group ${name}`);
    group.status = change.status ?? group.status;
    group.urgent = change.urgent ?? group.urgent;
    group.sequence++;
    group.changedAt = now;
    if (what !== 'ack_timeout' && what !== 'reminder' && what !== 'notices_missed') look(name);
    const mentions: readonly SymbolicMention[] = change.mentions ?? [];
    const loudness: Loudness = change.loudness ?? (mentions.length > 0 ? 'loud' : 'quiet');
    const message: GroupEvent = {
      type: 'group_event',
      groupId: group.id,
      number: what === 'created' ? null : group.number,
      routeId: group.routeId,
      event: what,
      sequence: group.sequence,
      at: now,
      ...{ loudness, mentions, owner: change.owner ?? null, by: change.by ?? 'system' },
      ...{ status: group.status, urgent: group.urgent, facts: change.facts ?? null },
      ...(change.judged ? { judged: change.judged } : {}),
    };
    const ids = new Set((toAll ?? [group.routeId]).flatMap((id) => routes.get(id)?.destinationIds ?? []));
    for (const id of ids) await give(id, message);
  }

  async function advance(by: Micros): Promise<void> {
    const until = now + by;
    for (let turns = 0; ; turns++) {
      if (turns === 20_000) throw new Error('an actor asks for one wake-up after the other');
      const wakes = [...actors.values(), ...hubs.values()].flatMap(({ wakeAt }) =>
        wakeAt === null ? [] : [wakeAt],
      );
      const next = Math.min(...wakes, Number.POSITIVE_INFINITY);
      if (next > until) break;
      now = Math.max(now, next);
      for (const [id, actor] of actors)
        if (actor.wakeAt !== null && actor.wakeAt <= now) await give(id, { type: 'wake' });
      for (const [id, { wakeAt }] of hubs)
        if (wakeAt !== null && wakeAt <= now) await giveConnection({ type: 'wake' }, null, id);
    }
    now = until;
  }

  return {
    now: () => now,
    give,
    giveConnection,
    advance,
    event,
    tellRoute,
    look,
    async begin(change: Config = {}) {
      for (const id of configs.keys())
        configs.set(id, { ...configs.get(id), ...change } as DestinationConfig);
      const limiter = settings.connectionLimiter ?? wide;
      const configured = { type: 'configured', version: 1, access: 1, polls: false, limiter } as const;
      for (const id of hubs.keys()) await giveConnection(configured, null, id);
    },
    async create(name: string, { urgent = false, held = false, routeId = ROUTE } = {}) {
      now += 1;
      const id = name as PublicId;
      const sequence = 0;
      groups.set(id, {
        id,
        number: groups.size + 1,
        status: 'firing',
        urgent,
        routeId,
        sequence,
        changedAt: now,
        startedAt: now,
        held,
      });
      const judged = held ? 'held' : 'free';
      await event(name, 'created', { mentions: ['new_alert_group'], judged });
    },
    /** The messenger's answers to the next calls, in order; ok after them. */
    script: (...outcomes: readonly SendOutcome[]) => void script.push(...outcomes),
    /** From now on calls wait for {@link answer}. */
    pause() {
      isAnswering = false;
    },
    async resume() {
      isAnswering = true;
      await answerAll();
    },
    answer: answerNext,
    /** The same of one of {@link waiting}. */
    answerCall(call: Call, outcome?: SendOutcome) {
      pending.unshift(
        ...pending.splice(
          pending.findIndex((one) => one.call === call),
          1,
        ),
      );
      return answerNext(outcome);
    },
    waiting: () => pending.map(({ call }) => call),
    /** Calls since the last look. */
    calls: () => log.splice(0),
    performed,
    /** Everything in memory and under way is lost. */
    async crash(id: PublicId = ONE) {
      const actor = actors.get(id);
      if (!actor) return;
      const lost = pending.filter(({ to }) => to === id);
      for (const one of lost) pending.splice(pending.indexOf(one), 1);
      const deliveries = await reads.page(id, [], 10_000);
      actor.rows = destinationRows({
        events: [],
        more: false,
        cut: [],
        troubled: [],
        sending: [],
        deliveries,
      });
      await give(id, { type: 'resume' });
    },
    configure(id: PublicId, change: Config) {
      configs.set(id, { ...configs.get(id), ...change } as DestinationConfig);
    },
    forget: (id: PublicId) => void configs.delete(id),
    forgetConnection: () => void connections.clear(),
    setRoute(routeId: PublicId, destinationIds: PublicId[]) {
      const route = routes.get(routeId);
      if (route) routes.set(routeId, { ...route, destinationIds });
    },
    group: (name: string) => groups.get(name as PublicId),
    setStorm(since: Micros | null) {
      stormSince = since;
    },
    delivery: (name: string, id: PublicId = ONE, target = 1) => storedAt(id).get(`${name}/${target}`),
    deliveries: (id: PublicId = ONE) => kept(id),
    state: (name: string, id: PublicId = ONE, target = 1) => storedAt(id).get(`${name}/${target}`)?.state,
    health: (id: PublicId = ONE) => {
      const actor = actors.get(id);
      if (!actor) throw new Error(`no Destination ${id}`);
      return healthOf(actor.state.snapshot);
    },
    /** Delivery events that a group was told since the last look. */
    noted(name: string): (string | null)[] {
      const mine = notes.filter(({ groupId, note }) => groupId === name && note.event !== null);
      for (const one of mine) notes.splice(notes.indexOf(one), 1);
      return mine.map(({ note }) => note.event);
    },
    notes,
    others,
    /** The problem flag as the group was told last. */
    problem: (name: string) => problems.get(name) ?? false,
    alerts: () => alerts.splice(0),
    lookOf: (name: string) => String(looks.get(name) ?? 0),
    isOpen: (name: string) => isOpenSubject({ status: groups.get(name as PublicId)?.status ?? 'resolved' }),
    seconds: (count: number): Micros => count * SECOND,
  };
}
