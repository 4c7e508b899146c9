/**
 * Conditions, a queue of Snapshots, their feed and its Alert Groups in one small world, where everything that is kept
 * goes through JSON and a turn may be lost before its commit.
 */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Turn } from '../../runtime/actor/index.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createAlertGroup } from '../alert-group/actor.ts';
import type { GroupRecord } from '../alert-group/effects.ts';
import { type AlertGroupMessage, alertGroupAddress } from '../alert-group/messages.ts';
import { createContestedAlerts, slotKey } from '../alert-group/ports.ts';
import { isLifecycle } from '../alert-group/reading/timeline.ts';
import type { GroupRows } from '../alert-group/rows.ts';
import { type GroupState, isMoved, isOpen, UNSTARTED } from '../alert-group/state.ts';
import type { Directory, RouteConfig } from '../directory.ts';
import { createFeedActor } from '../feed/actor.ts';
import type { InternalAlertReported, SnapshotReported } from '../feed/effects.ts';
import { placesBy } from '../feed/feed.fixture.ts';
import { feedKey } from '../feed/identity.ts';
import { type FeedMessage, feedAddress, type SnapshotReceived } from '../feed/messages.ts';
import type { Home } from '../feed/ports.ts';
import type { FeedRows } from '../feed/rows.ts';
import { parseSnapshot } from '../feed/snapshot.ts';
import { alertKey, type Labels, type UserActor } from '../model.ts';
import { ON_CALL_POLICY } from '../route/policy.ts';
import {
  afterChange,
  afterEdit,
  afterEnd,
  type Condition,
  internalAlertBody,
  internalFingerprint,
  type LiveEntity,
  type Telling,
} from './conditions.ts';

const BUILTIN = 'NT0000000000BB' as PublicId;
export const DESTINATIONS = [
  { id: 'DS0000000000A1' as PublicId, name: 'ops' },
  { id: 'DS0000000000A2' as PublicId, name: 'net' },
] as const;
type Destination = (typeof DESTINATIONS)[number];
const NAME = 'SvcDestinationBroken';
const RUNBOOKS = { base: null, version: '0.0.0' };

const ROUTE: RouteConfig = {
  id: 'RT0000000000AB' as PublicId,
  name: 'Default',
  isDefault: true,
  deleted: false,
  matchers: [],
  urgent: false,
  groupKey: ['alertname'],
  destinationIds: [],
  policy: ON_CALL_POLICY,
};
const ANN: UserActor = {
  kind: 'user',
  ...{ id: 'SR0000000000AB' as PublicId, name: 'ann', login: 'ann', tokenName: null, transport: 'ui' },
};

/** The Organization looks at another label than the registry writes, and maps nothing. */
const DIRECTORY = {
  organization: {
    severityLabel: 'priority',
    severityMapping: [],
    criticalIsUrgent: true,
    instanceLabels: [],
  },
  routes: [ROUTE],
  routesById: new Map([[ROUTE.id, ROUTE]]),
  integrationsById: new Map([
    [BUILTIN, { id: BUILTIN, name: 'Tocsin', builtin: true, staticLabels: {}, duplicateWindowSeconds: 45 }],
  ]),
  destinationsById: new Map(),
  connectionsById: new Map(),
  usersById: new Map(),
} as unknown as Directory;

export type InternalWorld = ReturnType<typeof createInternalWorld>;

interface Queued {
  readonly id: PublicId;
  readonly receivedAt: Micros;
  readonly body: string;
  readonly replayed: boolean;
}

interface StoredGroup {
  readonly state: unknown;
  readonly rows: GroupRows;
  readonly wakeAt: Micros | null;
}

export function createInternalWorld() {
  let now: Micros = 20_000 * DAY;
  let seed = 0;
  let drawn = 0;
  const random = (size: number) => createHash('sha512').update(String(++seed)).digest().subarray(0, size);
  const entities = new Map<PublicId, LiveEntity>(
    DESTINATIONS.map(({ id, name }) => [id, { id, name, staticLabels: {} }]),
  );
  const conditions = new Map<string, Condition>();
  const queue: Queued[] = [];
  const processed: Queued[] = [];
  /** Messages to the feed that wait in its inbox. */
  const endings: FeedMessage[] = [];
  const groups = new Map<PublicId, StoredGroup>();
  const slots = new Map<string, PublicId>();
  const events: string[] = [];
  const logged: string[] = [];
  let dropped = 0;

  const homesOf = (fingerprint: string) => {
    const found: (Home & { readonly isFiring: boolean })[] = [];
    for (const [groupId, group] of groups) {
      const alert = group.rows.get(alertKey(BUILTIN, fingerprint));
      const state = stateOf(group);
      if (!alert || state.stage === 'unstarted') continue;
      const isFiring = alert.state === 'firing';
      const { startsAt, endedStart, resolvedAt, resolvedBy } = alert;
      const history = { state: alert.state, startsAt, endedStart, resolvedAt, resolvedBy };
      found.push({ groupId, live: isFiring || (isOpen(state) && !isMoved(state)), history, isFiring });
    }
    const rank = (home: (typeof found)[number]) =>
      home.isFiring ? Number.POSITIVE_INFINITY : (home.history.resolvedAt ?? 0);
    return found.sort((left, right) => rank(right) - rank(left));
  };

  const groupActor = createAlertGroup({
    directory: { current: () => DIRECTORY, reload: () => Promise.resolve() },
    contested: createContestedAlerts(),
    related: {
      newerOpen: async () => null,
      slotTargets: async (asked) =>
        new Map(
          asked.flatMap((slot) => [[slotKey(slot), slots.get(slotKey(slot))] as const].filter(hasTarget)),
        ),
      homesOf: async (keys) =>
        new Map(
          keys.flatMap((key) => {
            const home = homesOf(key.slice(key.indexOf('/') + 1)).find(({ isFiring }) => isFiring);
            return home ? [[key, home.groupId] as const] : [];
          }),
        ),
      feedsHeardAt: async () => new Map(),
      eventHandled: async () => null,
    },
  });
  const feedActor = createFeedActor({
    directory: () => DIRECTORY,
    places: placesBy(
      (fingerprint) => homesOf(fingerprint)[0],
      (slot) => {
        const target = slots.get(slotKey(slot)) ?? newPublicId('AG', random);
        slots.set(slotKey(slot), target);
        return target;
      },
    ),
  });
  let feed = { state: feedActor.persist(feedActor.start('')), rows: [...feedActor.emptyRows('')] };

  function stateOf({ state }: Pick<StoredGroup, 'state'>): GroupState {
    return groupActor.restore(state);
  }

  /** Everything that follows from a message is committed with it, or nothing when `isLost`. */
  async function deliverToFeed(message: FeedMessage, isLost: boolean): Promise<void> {
    const self = feedAddress(feedKey(BUILTIN, 'x'.repeat(26)));
    const rows: FeedRows = new Map(JSON.parse(JSON.stringify(feed.rows)));
    const actor = { self, state: feedActor.restore(feed.state), rows };
    const prepared = (await feedActor.prepare?.(actor, message)) ?? undefined;
    const turn = feedActor.receive(actor, message, { now, from: null, prepared, random });
    if (isLost) return;
    feed = { state: JSON.parse(JSON.stringify(feedActor.persist(turn.state))), rows: [...rows] };
    for (const perform of turn.performs as readonly (InternalAlertReported | SnapshotReported)[]) {
      if (perform.type === 'internal_alert.reported') logged.push(`${perform.change} ${perform.alertname}`);
      else dropped += perform.counts.dropped;
    }
    for (const send of turn.sends) {
      const sent = JSON.parse(JSON.stringify(send.message)) as AlertGroupMessage;
      await deliverToGroup(send.to.key as PublicId, sent);
    }
  }

  async function deliverToGroup(to: PublicId, message: AlertGroupMessage): Promise<void> {
    const known = groups.get(to);
    const rows: GroupRows = new Map(known?.rows);
    const state = known ? stateOf(known) : UNSTARTED;
    const actor = { self: alertGroupAddress(to), state, rows };
    const prepared = (await groupActor.prepare?.(actor, message)) ?? undefined;
    const turn = groupActor.receive(actor, message, { now, from: null, prepared, random });
    const after = turn.claim ? (groupActor.numbered?.(turn.state, ++drawn) ?? turn.state) : turn.state;
    groups.set(to, {
      state: JSON.parse(JSON.stringify(groupActor.persist(after))),
      rows,
      wakeAt: turn.wakeAt,
    });
    keep(turn);
    for (const send of turn.sends) {
      const sent = JSON.parse(JSON.stringify(send.message));
      if (send.to.kind === groupActor.kind) await deliverToGroup(send.to.key as PublicId, sent);
      if (send.to.kind === feedActor.kind) endings.push(sent);
    }
  }

  function keep({ records, performs }: Turn<GroupState>): void {
    for (const record of records as readonly GroupRecord[]) {
      if (record.type === 'slot.moved') slots.set(slotKey(record), record.groupId);
      if (record.type === 'timeline.added' && isLifecycle(record.entry)) events.push(record.entry.event);
    }
    for (const perform of performs) if (perform.type === 'alerts.resolve_dropped') dropped += 1;
  }

  function store(telling: Telling | null): void {
    if (telling === null) return;
    const { condition, alert, receivedAt } = telling;
    conditions.set(condition.fingerprint, condition);
    enqueue(internalAlertBody(alert, RUNBOOKS), receivedAt);
  }

  function enqueue(body: string, receivedAt: Micros): void {
    queue.push({ id: newPublicId('SS', random), receivedAt, body, replayed: false });
  }

  function conditionOf({ id }: Destination): Condition {
    const fingerprint = internalFingerprint(NAME, id);
    const nothing = { raised: false, extras: {}, labels: {}, date: '', since: 0, toldAt: 0 };
    return conditions.get(fingerprint) ?? { fingerprint, name: NAME, entityId: id, ...nothing };
  }

  async function take(next: Queued, isLost: boolean): Promise<void> {
    const parsed = parseSnapshot(Buffer.from(next.body));
    if (!parsed.ok) throw new Error(parsed.error);
    const message: SnapshotReceived = {
      type: 'snapshot',
      seq: ++seed,
      snapshotId: next.id,
      receivedAt: next.receivedAt,
      snapshot: parsed.snapshot,
      replayed: next.replayed,
    };
    await deliverToFeed(message, isLost);
  }

  async function processOne(): Promise<void> {
    const next = queue.shift();
    if (!next) return;
    await take(next, false);
    if (!processed.some(({ id }) => id === next.id)) processed.push(next);
  }

  async function hearEndings(): Promise<void> {
    for (const ending of endings.splice(0)) await deliverToFeed(ending, false);
  }

  function firingAlerts() {
    return [...groups.values()].flatMap(({ rows }) =>
      [...rows.values()].filter(({ state }) => state === 'firing'),
    );
  }

  return {
    async record(change: 'raise' | 'resolve', destination: Destination): Promise<void> {
      const entity = entities.get(destination.id);
      if (!entity) return;
      now += 1;
      store(afterChange(conditionOf(destination), { change, name: NAME, entity, at: now }, entity));
    },

    async rename(destination: Destination, name: string): Promise<void> {
      const entity = entities.get(destination.id);
      if (!entity) return;
      const renamed = { ...entity, name };
      entities.set(destination.id, renamed);
      store(afterEdit(conditionOf(destination), renamed, now));
    },

    /** A raise comes again with other labels, and with a start of its own. */
    tellAgain({ id }: Destination, extras: Labels): void {
      const alert = {
        name: NAME,
        entity: entities.get(id) ?? null,
        extras,
        date: '',
        status: 'firing',
        at: now,
      } as const;
      enqueue(internalAlertBody(alert, RUNBOOKS), now);
    },

    tellEnd({ id }: Destination): void {
      const alert = {
        name: NAME,
        entity: { id, name: '' },
        extras: {},
        date: '',
        status: 'resolved',
        at: now,
      } as const;
      enqueue(internalAlertBody(alert, RUNBOOKS), now);
    },

    async remove(destination: Destination): Promise<void> {
      if (!entities.delete(destination.id)) return;
      const condition = conditionOf(destination);
      store(afterEnd(condition, now));
      conditions.delete(condition.fingerprint);
    },

    processOne,
    hearEndings,

    async processAll(): Promise<void> {
      while (queue.length > 0) await processOne();
      await hearEndings();
    },

    /** The turn is lost before its commit; the Snapshot waits as before. */
    async crashWhileProcessing(): Promise<void> {
      const [next] = queue;
      if (next) await take(next, true);
    },

    /** @param marked whether the queue knows that it was processed before */
    replay(index: number, marked: boolean): void {
      const again = processed[index % Math.max(processed.length, 1)];
      if (again) queue.push({ ...again, replayed: marked });
    },

    async replayAll(marked = true): Promise<void> {
      for (const again of processed) queue.push({ ...again, replayed: marked });
      await this.processAll();
    },

    async pass(time: Micros): Promise<void> {
      const until = now + time;
      for (;;) {
        const [due] = [...groups]
          .filter(([, { wakeAt }]) => wakeAt !== null && wakeAt <= until)
          .sort(([, left], [, right]) => (left.wakeAt ?? 0) - (right.wakeAt ?? 0));
        if (!due) break;
        now = Math.max(now, due[1].wakeAt ?? now);
        await deliverToGroup(due[0], { type: 'wake' });
      }
      now = until;
    },

    async personResolves(): Promise<void> {
      for (const groupId of [...groups.keys()]) {
        await deliverToGroup(groupId, { type: 'command', command: { name: 'resolve', note: null }, by: ANN });
      }
    },

    firing: () =>
      firingAlerts().map(({ report }) => ({
        name: report.labels.destination_name,
        severityLevel: report.severityLevel,
        severityRaw: report.severityRaw,
      })),
    starts: () =>
      firingAlerts()
        .map(({ startsAt }) => startsAt)
        .sort(),
    startOf: (destination: Destination) => conditionOf(destination).since,
    raised: () =>
      [...conditions.values()].filter(({ raised }) => raised).map(({ labels }) => labels.destination_name),
    raisedSince: () =>
      [...conditions.values()]
        .filter(({ raised }) => raised)
        .map(({ since }) => since)
        .sort(),
    events: () => [...events],
    logged: () => [...logged],
    dropped: () => dropped,

    expectOneFiringEach(): void {
      const fingerprints = firingAlerts().map(({ report }) => report.fingerprint);
      expect(new Set(fingerprints).size).toBe(fingerprints.length);
    },
  };
}

function hasTarget(pair: readonly [string, PublicId | undefined]): pair is readonly [string, PublicId] {
  return pair[1] !== undefined;
}
