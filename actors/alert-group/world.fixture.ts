/** A small world for stories about Alert Groups: virtual minutes, a sender, people, and every message followed. */
import { createHash } from 'node:crypto';
import type { PerformedEffect, Turn } from '../../runtime/actor/index.ts';
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { EventClaimed } from '../connection/effects.ts';
import type { GroupEvent, GroupReleased, Rerender } from '../destination/messages.ts';
import type { DestinationConfig, Directory, RouteConfig } from '../directory.ts';
import type { AuditEntry, HintSent, WebhookEventRecorded } from '../effects.ts';
import { type AlertsEnded, FEED } from '../feed/messages.ts';
import {
  type AlertReport,
  alertKey,
  type Principal,
  type ServiceAccountActor,
  type UserActor,
} from '../model.ts';
import { severityOf, slotFor } from '../route/evaluate.ts';
import { ROUTE as ROUTE_ACTOR, type RouteMessage } from '../route/messages.ts';
import { ON_CALL_POLICY } from '../route/policy.ts';
import { createAlertGroup } from './actor.ts';
import type { GroupRecord, GroupRow } from './effects.ts';
import type {
  AlertGroupMessage,
  CarriedReply,
  Command,
  CommandCarrier,
  CommandOutcome,
  GroupCommand,
  PresenceChange,
  SnapshotPart,
} from './messages.ts';
import { createContestedAlerts, slotKey } from './ports.ts';
import { isLifecycle, type LifecycleEntry, type TimelineEntry } from './reading/timeline.ts';
import type { GroupRows } from './rows.ts';
import { contextOf, type GroupState, isMoved, isOpen, UNSTARTED } from './state.ts';

const id = (prefix: 'CN' | 'DS' | 'RT' | 'NT' | 'SR' | 'SA' | 'RG', name: string) =>
  `${prefix}${name.toUpperCase().padStart(12, '0')}` as PublicId;

export const ROUTE = id('RT', '1');
export const OTHER_ROUTE = id('RT', '2');
export const DEFAULT_ROUTE = id('RT', '0');
export const SENDER = id('NT', '1');
export const OTHER_SENDER = id('NT', '2');

function user(name: string): UserActor {
  return { kind: 'user', id: id('SR', name), name, login: name, tokenName: null, transport: 'ui' };
}

const NOBODY = { everyone: 'none', user_ids: [], groups: [] } as const;

/** An events-mode webhook that calls the group `oncall` when an ack timeout runs out. Its Route has to name it. */
export const HOOK: DestinationConfig = {
  id: id('DS', '1'),
  name: 'hook',
  type: 'webhook',
  mode: 'events',
  connectionId: null,
  target: 1,
  limiter: { limit: 5, per_seconds: 1 },
  mentions: {
    new_alert_group: NOBODY,
    new_alerts: NOBODY,
    reopen: NOBODY,
    ack_timeout: { ...NOBODY, groups: ['oncall'] },
    snooze_ended: NOBODY,
    rise_to_urgent: NOBODY,
  },
};

/** A channel behind a bridge. Its Route has to name it. */
export const CHAT: DestinationConfig = {
  ...HOOK,
  id: id('DS', '2'),
  name: 'chat',
  type: 'bridge',
  mode: null,
  connectionId: id('CN', '1'),
};

export const ANN = user('ann');
export const BOB = user('bob');
export const ROB: ServiceAccountActor = {
  kind: 'service_account',
  id: id('SA', 'rob'),
  name: 'rob',
  tokenName: 'ci',
  transport: 'api',
};

function route(routeId: PublicId, name: string, change: Partial<RouteConfig> = {}): RouteConfig {
  return {
    id: routeId,
    name,
    isDefault: false,
    deleted: false,
    matchers: [],
    urgent: false,
    groupKey: ['alertname', 'cluster'],
    destinationIds: [],
    policy: ON_CALL_POLICY,
    ...change,
  };
}

function directoryOf(routes: readonly RouteConfig[], disabled: ReadonlySet<string>): Directory {
  const users = [ANN, BOB].map(({ id: userId, name, login }) => {
    const status = disabled.has(userId) ? ('disabled' as const) : ('active' as const);
    return { id: userId, name, login, status, timeZone: null };
  });
  const integrations = [SENDER, OTHER_SENDER].map((integrationId) => ({
    id: integrationId,
    name: integrationId === SENDER ? 'lab' : 'prod',
    builtin: false,
    deleted: false,
    deletedAt: null,
    ended: false,
    staticLabels: {},
    duplicateWindowSeconds: 45,
    heartbeat: { enabled: false, timeoutSeconds: 300 },
  }));
  return {
    organization: {
      id: id('RG', '1'),
      name: 'Org',
      timeZone: 'UTC',
      workdayStart: '09:00',
      weekStart: 'monday',
      severityLabel: 'severity',
      severityMapping: [
        { value: 'critical', level: 'critical' },
        { value: 'warning', level: 'warning' },
        { value: 'info', level: 'info' },
      ],
      severityEmoji: { critical: '🟥', warning: '🟧', info: '🟦' },
      criticalIsUrgent: true,
      instanceLabels: ['pod', 'instance', 'container', 'endpoint'],
    },
    routes: routes.filter(({ deleted }) => !deleted),
    routesById: new Map(routes.map((one) => [one.id, one])),
    integrationsById: new Map(integrations.map((one) => [one.id, one])),
    destinationsById: new Map([HOOK, CHAT].map((one) => [one.id, one])),
    connectionsById: new Map(),
    usersById: new Map(users.map((one) => [one.id, one])),
  };
}

/** `X1`, `XC`, `Xb`, `P2` …: alertname, then what tells it from its siblings. */
function labelsOf(name: string): Record<string, string> {
  const [alertname = '', kind = ''] = name;
  const severity = kind === 'I' ? 'info' : kind === 'C' ? 'critical' : 'warning';
  const own = alertname === 'P' ? { pod: `p${kind}` } : { n: kind };
  return { alertname, cluster: kind === 'b' ? 'b' : 'a', severity, ...own };
}

export interface Telling {
  readonly fires?: readonly string[];
  readonly resolves?: readonly string[];
  readonly missed?: readonly string[];
  readonly gone?: readonly string[];
  readonly stale?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Listed again by the sender with a newer start, without a resolve. */
  readonly newStart?: boolean;
  readonly feed?: string;
  readonly integration?: PublicId;
}

/** `none`: the Route has no Destination. `broken`: it has one that delivers what waits once it accepts again. */
export type DestinationHealth = 'none' | 'accepts' | 'broken';

export interface WorldOptions {
  readonly destination?: DestinationHealth;
  /** Every step goes through storage and back; otherwise the process lives for ever. */
  readonly stores?: boolean;
}

export function createWorld(options: WorldOptions = {}) {
  let destination = options.destination ?? 'none';
  const handledEvents = new Map<string, { readonly say: string | null }>();
  const undelivered: { readonly groupId: PublicId; readonly entry: LifecycleEntry }[] = [];
  let now: Micros = 0;
  let seed = 0;
  let drawn = 0;
  const routes = new Map(
    [route(ROUTE, 'R'), route(OTHER_ROUTE, 'R2'), route(DEFAULT_ROUTE, 'Default', { isDefault: true })].map(
      (one) => [one.id, one],
    ),
  );
  const disabled = new Set<string>();
  const slots = new Map<string, PublicId>();
  const groups = new Map<PublicId, { state: GroupState; rows: GroupRows; wakeAt: Micros | null }>();
  const rowsOf = new Map<PublicId, GroupRow>();
  const timeline: { number: number; entry: TimelineEntry }[] = [];
  const audit: AuditEntry[] = [];
  const webhooks: WebhookEventRecorded[] = [];
  const performed: PerformedEffect[] = [];
  const random = (size: number) => {
    seed += 1;
    return createHash('sha512').update(String(seed)).digest().subarray(0, size);
  };
  const directory = () => directoryOf([...routes.values()], disabled);
  const contested = createContestedAlerts();
  const heardAt = new Map<string, Micros>();
  const asked: string[] = [];
  const ended: string[] = [];
  const toldRoutes: ({ readonly routeId: string } & RouteMessage)[] = [];
  const toldChat: (GroupEvent | GroupReleased | Rerender)[] = [];
  const definition = createAlertGroup({
    directory: { current: directory, reload: () => Promise.resolve() },
    contested,
    related: {
      newerOpen: async ({ routeId, keyHash, except }) => {
        for (const [groupId, { state }] of groups) {
          if (groupId === except || state.stage === 'unstarted' || !isOpen(state) || isMoved(state)) continue;
          if (state.slot.routeId !== routeId || state.slot.keyHash !== keyHash) continue;
          return { id: groupId, number: state.number ?? 0 };
        }
        return null;
      },
      slotTargets: async (asked) =>
        new Map(
          asked.flatMap((slot) => {
            const target = slots.get(slotKey(slot));
            return target ? [[slotKey(slot), target] as const] : [];
          }),
        ),
      homesOf: async (keys) =>
        new Map(
          keys.flatMap((key) => {
            const found = [...groups].find(([, { rows }]) => rows.get(key)?.state === 'firing');
            return found ? [[key, found[0]] as const] : [];
          }),
        ),
      eventHandled: async ({ eventId }) => handledEvents.get(eventId) ?? null,
      feedsHeardAt: async (feeds) => {
        asked.push(...feeds);
        return new Map(
          feeds.flatMap((feed) => {
            const at = heardAt.get(feed);
            return at === undefined ? [] : [[feed, at] as const];
          }),
        );
      },
    },
  });

  /** One message and everything that follows from it. */
  async function deliver(to: PublicId, message: AlertGroupMessage): Promise<unknown> {
    const known = groups.get(to) ?? { state: UNSTARTED, rows: new Map(), wakeAt: null };
    const actor = { self: { kind: definition.kind, key: to }, state: known.state, rows: known.rows };
    const prepared = await definition.prepare?.(actor, message);
    const turn = definition.receive(actor, message, { now, from: null, prepared, random });
    const state = turn.claim ? (definition.numbered?.(turn.state, ++drawn) ?? turn.state) : turn.state;
    const stored = (options.stores ?? true) ? definition.restore(asStored(definition.persist(state))) : state;
    groups.set(to, { state: stored, rows: known.rows, wakeAt: turn.wakeAt });
    keep(to, turn, stored);
    performed.push(...turn.performs);
    for (const send of turn.sends) {
      if (send.to.kind === definition.kind) {
        await deliver(send.to.key as PublicId, send.message as AlertGroupMessage);
      } else if (send.to.kind === FEED) {
        const { fingerprints, at } = send.message as AlertsEnded;
        ended.push(`${send.to.key.split('.')[1]} ${fingerprints.join(' ')} ${at / SECOND}`);
      } else if (send.to.kind === ROUTE_ACTOR) {
        toldRoutes.push({ routeId: send.to.key, ...(send.message as RouteMessage) });
      } else if (send.to.key === CHAT.id) {
        toldChat.push(send.message as GroupEvent | GroupReleased | Rerender);
      }
    }
    await sendOut();
    return turn.reply;
  }

  /** The Destination accepts what waits, in order. */
  async function sendOut(): Promise<void> {
    if (destination !== 'accepts') return;
    for (let next = undelivered.shift(); next; next = undelivered.shift()) {
      const { groupId, entry } = next;
      await deliver(groupId, { type: 'published', at: now });
      if (entry.event === 'reminder' || entry.event === 'notices_missed') {
        await deliver(groupId, { type: 'notice_delivered', sequence: entry.sequence, at: now });
      }
    }
  }

  function keep(groupId: PublicId, { records }: Turn<GroupState>, state: GroupState): void {
    const number = state.stage === 'started' ? (state.number ?? 0) : 0;
    for (const record of records as readonly (
      | GroupRecord
      | WebhookEventRecorded
      | { type: 'audit.recorded'; entry: AuditEntry }
      | EventClaimed
    )[]) {
      if (record.type === 'timeline.added' || record.type === 'note.added') {
        timeline.push({ number, entry: record.entry });
        if (destination !== 'none' && isLifecycle(record.entry))
          undelivered.push({ groupId, entry: record.entry });
      } else if (record.type === 'webhook.recorded') webhooks.push(record);
      else if (record.type === 'group.saved') rowsOf.set(record.row.id, { ...record.row, number });
      else if (record.type === 'audit.recorded') audit.push(record.entry);
      else if (record.type === 'connection.event_claimed') handledEvents.set(record.eventId, record);
      else if (record.type === 'slot.moved') {
        const key = slotKey(record);
        if ((slots.get(key) ?? null) !== record.fromGroupId)
          throw new Error(`the Slot ${key} was moved twice`);
        slots.set(key, record.groupId);
      }
    }
  }

  function homeOf(key: string): PublicId | null {
    let resolvedIn: PublicId | null = null;
    for (const [groupId, { state, rows }] of groups) {
      const alert = rows.get(key);
      if (!alert || state.stage === 'unstarted') continue;
      if (alert.state === 'firing') return groupId;
      if (isOpen(state) && !isMoved(state)) resolvedIn ??= groupId;
    }
    return resolvedIn;
  }

  function known(key: string) {
    const records = [...groups.values()].flatMap(({ rows }) => rows.get(key) ?? []);
    return records.sort((left, right) => (right.resolvedAt ?? Infinity) - (left.resolvedAt ?? Infinity))[0];
  }

  function report(name: string, telling: Telling, integrationId: PublicId): AlertReport {
    const labels = { ...labelsOf(name), ...telling.labels };
    const before = known(alertKey(integrationId, name));
    const goesOn = before?.state === 'firing' && !telling.newStart;
    const { level, raw } = severityOf(labels, directory().organization);
    return {
      fingerprint: name,
      labels,
      annotations: telling.annotations ?? {},
      startsAt: goesOn ? before.startsAt : now,
      generatorUrl: null,
      severityLevel: level,
      severityRaw: raw,
      labelConflicts: [],
    };
  }

  /** One Snapshot, split among the homes of its Alerts as a feed splits it. */
  async function tell(telling: Telling): Promise<void> {
    const integrationId = telling.integration ?? SENDER;
    const parts = new Map<PublicId, SnapshotPart>();
    const partOf = (groupId: PublicId) => {
      const part = parts.get(groupId) ?? {
        type: 'part' as const,
        snapshotId: newPublicId('SS', random),
        receivedAt: now,
        late: false,
        integrationId,
        feed: `${integrationId}.${telling.feed ?? 'G'}`,
        groupKey: telling.feed ?? 'G',
        duplicateWindow: 45 * SECOND,
        firing: [],
        resolved: [],
        groupWideResolved: [],
        presences: [],
        hops: 0,
      };
      parts.set(groupId, part);
      return part;
    };
    for (const name of telling.fires ?? []) {
      const told = report(name, telling, integrationId);
      const taker = [...routes.values()].find((one) => !one.deleted && matches(one, told.labels));
      const slot = slotFor(taker ?? route(DEFAULT_ROUTE, 'Default'), told.labels);
      const target = slots.get(slotKey(slot)) ?? newPublicId('AG', random);
      const home = homeOf(alertKey(integrationId, name));
      if (!home) slots.set(slotKey(slot), target);
      const part = partOf(home ?? target);
      const before = home ? undefined : known(alertKey(integrationId, name));
      const history = before ? { ...before } : null;
      parts.set(home ?? target, { ...part, firing: [...part.firing, { report: told, slot, history }] });
    }
    for (const name of telling.resolves ?? []) {
      const key = alertKey(integrationId, name);
      const home = homeOf(key);
      if (!home) continue;
      const part = partOf(home);
      const entry = { fingerprint: name, startsAt: known(key)?.startsAt ?? now };
      parts.set(home, { ...part, resolved: [...part.resolved, entry] });
    }
    for (const state of ['missed', 'gone', 'stale'] as const) {
      for (const name of telling[state] ?? []) {
        const home = homeOf(alertKey(integrationId, name));
        if (!home) continue;
        const part = partOf(home);
        const change: PresenceChange = { fingerprint: name, state, since: now };
        parts.set(home, { ...part, presences: [...part.presences, change] });
      }
    }
    for (const [groupId, part] of parts) await deliver(groupId, part);
  }

  /** Routes take by their one Matcher of the test: a label `n` of value, or everything. */
  function matches({ matchers }: RouteConfig, labels: Readonly<Record<string, string>>): boolean {
    return matchers.every(({ label, value }) => labels[label] === value);
  }

  const byNumber = (number: number) => {
    for (const [groupId, { state }] of groups) {
      if (state.stage === 'started' && state.number === number) return { groupId, state };
    }
    throw new Error(`there is no #${number}`);
  };

  return {
    tell,

    /** Lets time pass to a minute; wake-ups that are due run on the way, at their times. */
    async at(minute: number): Promise<void> {
      const until = minute * MINUTE;
      for (;;) {
        const due = [...groups]
          .filter(([, { wakeAt }]) => wakeAt !== null && wakeAt <= until)
          .sort(([, left], [, right]) => (left.wakeAt ?? 0) - (right.wakeAt ?? 0))[0];
        if (!due) break;
        now = Math.max(now, due[1].wakeAt ?? now);
        await deliver(due[0], { type: 'wake' });
      }
      now = until;
    },

    /** The service is away until a minute: nothing happens before, and what came due is late. */
    async awayUntil(minute: number): Promise<void> {
      now = minute * MINUTE;
      await this.at(minute);
    },

    /** What the Route has from now on. A Destination that is added publishes what is open. */
    async destination(health: DestinationHealth): Promise<void> {
      const isAdded = destination === 'none' && health === 'accepts';
      destination = health;
      await sendOut();
      if (!isAdded) return;
      for (const [groupId, { state }] of groups) {
        if (state.stage === 'started' && isOpen(state))
          await deliver(groupId, { type: 'published', at: now });
      }
    },

    /** A Command that an event of a messenger carries. */
    async carried(
      number: number,
      command: Command,
      by: Principal,
      carrier: CommandCarrier,
    ): Promise<CarriedReply> {
      const message: GroupCommand = { type: 'command', command, by, carrier };
      return (await deliver(byNumber(number).groupId, message)) as CarriedReply;
    },
    /** The newest entry of the Audit log. */
    lastAudit: () => audit.at(-1),
    async command(number: number, command: Command, by: Principal): Promise<CommandOutcome> {
      return (await deliver(byNumber(number).groupId, { type: 'command', command, by })) as CommandOutcome;
    },

    send: (number: number, message: AlertGroupMessage) => deliver(byNumber(number).groupId, message),

    sendTo: (groupId: PublicId, message: AlertGroupMessage) => deliver(groupId, message),

    /** A feed heard a Snapshot that says what the last one said: no group is told. */
    repeat: (feed: string, integration = SENDER) => heardAt.set(`${integration}.${feed}`, now),

    /** What feeds were told to forget so far: feed, fingerprints, up to which second. */
    ended: (): readonly string[] => ended,

    /** What the actors of Routes were told since the last look. */
    takeToldRoutes: () => toldRoutes.splice(0),
    /** What the channel was told since the last look. */
    takeToldChat: () => toldChat.splice(0),

    /** Feeds whose last receipt was looked up so far. */
    feedsAsked: (): readonly string[] => asked,

    /** The database refused an Alert, which another group had claimed. */
    contest: (name: string, integration = SENDER) => contested.mark(alertKey(integration, name)),

    /** Saves a Route; what is given replaces what was. */
    route(routeId: PublicId, change: Partial<RouteConfig>): void {
      const before = routes.get(routeId);
      if (before) routes.set(routeId, { ...before, ...change });
    },

    disable: (who: UserActor) => disabled.add(who.id),
    enable: (who: UserActor) => disabled.delete(who.id),

    /** Lifecycle events of one group so far, `created L [new_alert_group]`. */
    events: (number: number) =>
      timeline
        .filter((line) => line.number === number && line.entry.kind !== 'delivery')
        .map(({ entry }) => eventText(entry)),

    entries: (number: number) => timeline.filter((line) => line.number === number).map(({ entry }) => entry),

    /** What the webhook is told: the event, whether it notifies, and whom it names. */
    webhooks: () =>
      webhooks.map(({ event, mentions }) => {
        const named = mentions.map((mention) => ('name' in mention ? mention.name : mention.type));
        return [event.name, event.loudness === 'loud', ...named].join(' ');
      }),

    /** What webhook bodies say so far: the event, whether it notifies, the status and the Owner. */
    webhookStates: () =>
      webhooks.map(
        ({ event, group }) =>
          `${event.name} ${event.loudness === 'loud'} ${group.status} ${group.owner?.name ?? '-'}`,
      ),

    /** Ids that hints named so far. */
    hints: () => performed.flatMap((effect) => (isHint(effect) ? [effect.hint.id] : [])),

    audit: () => audit.map(({ action, actor }) => `${action} ${actor.name}`),

    row(number: number): GroupRow {
      const found = rowsOf.get(byNumber(number).groupId);
      if (!found) throw new Error(`#${number} was never saved`);
      return found;
    },

    context: (number: number) => contextOf(byNumber(number).state),

    count: () => drawn,

    alert(number: number, name: string, integration = SENDER) {
      return groups.get(byNumber(number).groupId)?.rows.get(alertKey(integration, name));
    },

    idOf: (number: number) => byNumber(number).groupId,

    now: () => now,

    /** Every Alert Group that has begun. */
    groups: () =>
      [...groups].flatMap(([groupId, { state, rows, wakeAt }]) =>
        state.stage === 'started' ? [{ groupId, state, rows, wakeAt, row: rowsOf.get(groupId) }] : [],
      ),

    isActive: (userId: PublicId) => directory().usersById.get(userId)?.status === 'active',

    /** Everything that is kept, as JSON. */
    dump: () =>
      asStored({
        groups: [...groups].map(([groupId, { state, rows, wakeAt }]) => ({
          groupId,
          state: definition.persist(state),
          rows: [...rows],
          wakeAt,
        })),
        shown: [...rowsOf.values()],
        timeline,
        audit,
      }),
  };
}

function eventText(entry: TimelineEntry): string {
  if (entry.kind === 'delivery') return entry.deliveryEvent;
  if (!isLifecycle(entry)) return entry.systemEvent;
  const mentions = entry.mentions.length > 0 ? ` [${entry.mentions.join(', ')}]` : '';
  return `${entry.event} ${entry.loudness === 'loud' ? 'L' : 'Q'}${mentions}`;
}

function isHint(effect: PerformedEffect): effect is HintSent {
  return effect.type === 'hint';
}

/** The way through a `jsonb` column, which keeps no order of keys: shorter ones first, then by their bytes. */
function asStored(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, inner: unknown) => {
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner;
    const entries = Object.entries(inner);
    return Object.fromEntries(
      entries.sort(([left], [right]) => left.length - right.length || (left < right ? -1 : 1)),
    );
  });
}
