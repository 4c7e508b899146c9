/**
 * Two feeds of one Integration and the Alert Groups they speak to, where messages are under way for as long as the test
 * likes: what one actor sends another arrives in order, everything else in any order.
 */
import { createHash } from 'node:crypto';
import type { Send, Turn } from '../../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { EMPTY_DIRECTORY } from '../../directory.fixture.ts';
import type { Directory, RouteConfig } from '../../directory.ts';
import { createFeedActor } from '../../feed/actor.ts';
import type { FeedHeard } from '../../feed/effects.ts';
import { placesBy } from '../../feed/feed.fixture.ts';
import { FEED, type FeedMessage, feedAddress, type SnapshotReceived } from '../../feed/messages.ts';
import type { Home } from '../../feed/ports.ts';
import { parseSnapshot } from '../../feed/snapshot.ts';
import { alertKey, type UserActor } from '../../model.ts';
import { ON_CALL_POLICY } from '../../route/policy.ts';
import { createAlertGroup } from '../actor.ts';
import type { GroupRecord } from '../effects.ts';
import { ALERT_GROUP, type AlertGroupMessage, alertGroupAddress, type GroupCommand } from '../messages.ts';
import { createContestedAlerts, slotKey } from '../ports.ts';
import type { GroupRows } from '../rows.ts';
import { type GroupState, isMoved, isOpen, UNSTARTED } from '../state.ts';

export type PairFeed = 'G' | 'H';

/** The start in seconds. */
export interface PairEntry {
  readonly name: string;
  readonly firing: boolean;
  readonly start: number;
}

const INTEGRATION = 'NT0000000000AB' as PublicId;
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
const DIRECTORY: Directory = {
  ...EMPTY_DIRECTORY,
  routes: [ROUTE],
  routesById: new Map([[ROUTE.id, ROUTE]]),
  integrationsById: new Map([
    [
      INTEGRATION,
      {
        ...{ id: INTEGRATION, name: 'lab', builtin: false, deleted: false, deletedAt: null, ended: false },
        ...{ staticLabels: {}, duplicateWindowSeconds: 45 },
        heartbeat: { enabled: false, timeoutSeconds: 300 },
      },
    ],
  ]),
};

const ANN: UserActor = {
  kind: 'user',
  ...{ id: 'SR0000000000AB' as PublicId, name: 'ann', login: 'ann', tokenName: null, transport: 'ui' },
};

export function createPair() {
  let now: Micros = 1_790_000_000 * SECOND;
  let seed = 0;
  let drawn = 0;
  const random = (size: number) => createHash('sha512').update(String(++seed)).digest().subarray(0, size);
  const groups = new Map<PublicId, { state: GroupState; rows: GroupRows; wakeAt: Micros | null }>();
  const slots = new Map<string, PublicId>();
  const heardAt = new Map<string, Micros>();
  /** By sender and receiver. */
  const underWay = new Map<string, readonly Send[]>();
  const contested = createContestedAlerts();

  function homeOf(fingerprint: string): Home | undefined {
    const found = [...groups].flatMap(([groupId, { state, rows }]) => {
      const alert = rows.get(alertKey(INTEGRATION, fingerprint));
      if (!alert || state.stage === 'unstarted') return [];
      const { startsAt, endedStart, resolvedAt, resolvedBy } = alert;
      const history = { state: alert.state, startsAt, endedStart, resolvedAt, resolvedBy };
      return [{ groupId, live: alert.state === 'firing' || (isOpen(state) && !isMoved(state)), history }];
    });
    const rank = ({ history }: Home) => (history.state === 'firing' ? Infinity : (history.resolvedAt ?? 0));
    return found.sort((left, right) => rank(right) - rank(left))[0];
  }

  const group = createAlertGroup({
    directory: { current: () => DIRECTORY, reload: () => Promise.resolve() },
    contested,
    related: {
      newerOpen: async () => null,
      slotTargets: async (asked) => {
        const named = asked.map((slot) => [slotKey(slot), slots.get(slotKey(slot))] as const);
        return new Map(named.flatMap(([key, id]) => (id ? [[key, id] as const] : [])));
      },
      homesOf: async (keys) => {
        const homes = keys.map((key) => [key, homeOf(key.slice(key.indexOf('/') + 1))] as const);
        return new Map(
          homes.flatMap(([key, home]) =>
            home?.history.state === 'firing' ? [[key, home.groupId] as const] : [],
          ),
        );
      },
      eventHandled: async () => null,
      feedsHeardAt: async (keys) =>
        new Map(keys.flatMap((key) => (heardAt.has(key) ? [[key, heardAt.get(key) ?? 0] as const] : []))),
    },
  });
  const feed = createFeedActor({
    directory: () => DIRECTORY,
    places: placesBy(homeOf, (slot) => {
      const id = slots.get(slotKey(slot)) ?? newPublicId('AG', random);
      slots.set(slotKey(slot), id);
      return id;
    }),
  });
  const feeds = new Map(
    (['G', 'H'] as const).map((name) => [keyOf(name), { state: feed.start(''), rows: feed.emptyRows('') }]),
  );

  async function deliver({ to, message }: Send): Promise<void> {
    if (to.kind === FEED) await deliverToFeed(to.key, message as FeedMessage);
    if (to.kind === ALERT_GROUP) await deliverToGroup(to.key as PublicId, message as AlertGroupMessage);
  }

  async function deliverToFeed(key: string, message: FeedMessage): Promise<void> {
    const known = feeds.get(key);
    if (!known) throw new Error(`there is no feed ${key}`);
    const self = feedAddress(key);
    const actor = { self, ...known };
    const prepared = (await feed.prepare?.(actor, message)) ?? undefined;
    const turn = feed.receive(actor, message, { now, from: null, prepared, random });
    feeds.set(key, { ...known, state: turn.state });
    for (const record of turn.records as readonly FeedHeard[]) {
      if (record.type === 'feed.heard') heardAt.set(key, Math.max(heardAt.get(key) ?? 0, record.receivedAt));
    }
    send(key, turn);
  }

  async function deliverToGroup(key: PublicId, message: AlertGroupMessage): Promise<void> {
    const known = groups.get(key) ?? { state: UNSTARTED, rows: new Map(), wakeAt: null };
    const actor = { self: alertGroupAddress(key), ...known };
    const prepared = (await group.prepare?.(actor, message)) ?? undefined;
    const turn = group.receive(actor, message, { now, from: null, prepared, random });
    const state = turn.claim ? (group.numbered?.(turn.state, ++drawn) ?? turn.state) : turn.state;
    groups.set(key, { state, rows: known.rows, wakeAt: turn.wakeAt });
    for (const record of turn.records as readonly GroupRecord[]) {
      if (record.type === 'slot.moved') slots.set(slotKey(record), record.groupId);
    }
    send(key, turn);
  }

  function send(from: string, { sends }: Turn<unknown>): void {
    for (const { to, message } of sends) {
      const road = `${from} ${to.key}`;
      underWay.set(road, [
        ...(underWay.get(road) ?? []),
        { to, message: JSON.parse(JSON.stringify(message)) },
      ]);
    }
  }

  function roadWhere(leads: (road: string) => boolean): string {
    const road = [...underWay.keys()].find(leads);
    if (road === undefined) throw new Error(`nothing is under way there, only on ${[...underWay.keys()]}`);
    return road;
  }

  async function arriveOn(road: string): Promise<void> {
    const [next, ...rest] = underWay.get(road) ?? [];
    if (rest.length > 0) underWay.set(road, rest);
    else underWay.delete(road);
    if (next) await deliver(next);
  }

  async function personDoes(command: GroupCommand['command']): Promise<void> {
    for (const key of [...groups.keys()]) await deliverToGroup(key, { type: 'command', command, by: ANN });
  }

  return {
    /** A feed hears a Snapshot that is received now. */
    async hear(name: PairFeed, entries: readonly PairEntry[], status: 'firing' | 'resolved'): Promise<void> {
      const alerts = entries.map((entry) => ({
        status: entry.firing ? 'firing' : 'resolved',
        labels: { alertname: 'X', instance: entry.name },
        startsAt: new Date((1_700_000_000 + entry.start) * 1_000).toISOString(),
        fingerprint: entry.name,
      }));
      const parsed = parseSnapshot(Buffer.from(JSON.stringify({ groupKey: name, status, alerts })));
      if (!parsed.ok) throw new Error(parsed.error);
      const message: SnapshotReceived = {
        type: 'snapshot',
        ...{ seq: ++seed, snapshotId: newPublicId('SS', random), receivedAt: now },
        ...{ snapshot: parsed.snapshot, replayed: false },
      };
      await deliverToFeed(keyOf(name), message);
    },

    /** The oldest message of a road arrives; roads are counted around. */
    async arrive(place: number): Promise<void> {
      const roads = [...underWay.keys()];
      const road = roads[place % Math.max(roads.length, 1)];
      if (road !== undefined) await arriveOn(road);
    },

    /** The oldest message from one feed arrives. */
    arriveFrom: (name: PairFeed) => arriveOn(roadWhere((road) => road.startsWith(keyOf(name)))),

    /** The oldest message to one feed arrives. */
    arriveAt: (name: PairFeed) => arriveOn(roadWhere((road) => road.endsWith(keyOf(name)))),

    async arriveAll(): Promise<void> {
      for (;;) {
        const [road] = underWay.keys();
        if (road === undefined) return;
        await arriveOn(road);
      }
    },

    /** Time goes on. */
    async pass(time: Micros): Promise<void> {
      now += time;
      for (const [key, { wakeAt }] of groups) {
        if (wakeAt !== null && wakeAt <= now) await deliverToGroup(key, { type: 'wake' });
      }
    },

    /** A person resolves whatever is open. */
    personResolves: () => personDoes({ name: 'resolve', note: null }),

    personUnresolves: () => personDoes({ name: 'unresolve' }),

    /** As storage does when it refuses the second open group of a Slot; the refused message is still under way. */
    slotsAreRefused(): void {
      for (const slot of slots.keys()) contested.mark(slot);
    },

    openGroups: (): number =>
      [...groups.values()].filter(({ state }) => state.stage === 'started' && isOpen(state)).length,

    firing: (): readonly string[] =>
      [...groups.values()].flatMap(({ rows }) =>
        [...rows.values()].flatMap(({ state, report }) => (state === 'firing' ? [report.fingerprint] : [])),
      ),
  };
}

function keyOf(name: PairFeed): string {
  return `${INTEGRATION}.${name.repeat(26)}`;
}
