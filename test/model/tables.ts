/** The tables that feeds, Alert Groups and Integrations own and ask, in memory, as storage keeps and answers them. */
import type {
  AlertsSaved,
  AlertsSeen,
  GroupSaved,
  SlotMoved,
  TimelineAdded,
} from '../../actors/alert-group/effects.ts';
import { ALERT_GROUP } from '../../actors/alert-group/messages.ts';
import { type RelatedGroups, slotKey } from '../../actors/alert-group/ports.ts';
import { isLifecycle, type LifecycleEntry } from '../../actors/alert-group/reading/timeline.ts';
import { type GroupAlert, keyOf } from '../../actors/alert-group/rows.ts';
import type { FeedHeard, PresencesChanged } from '../../actors/feed/effects.ts';
import { placesBy } from '../../actors/feed/feed.fixture.ts';
import { FEED } from '../../actors/feed/messages.ts';
import type { Home, Places } from '../../actors/feed/ports.ts';
import { olderEndOf, type Presence } from '../../actors/feed/rows.ts';
import type { RoutesLearned, TruncationsChanged } from '../../actors/integration/effects.ts';
import { INTEGRATION } from '../../actors/integration/messages.ts';
import type { FeedsSeen, IntegrationWatch, SilenceQuery } from '../../actors/integration/ports.ts';
import { emptyIntegrationRows, type IntegrationRows } from '../../actors/integration/rows.ts';
import { alertKey } from '../../actors/model.ts';
import {
  type ActorStore,
  type Address,
  addressText,
  type CommitBatch,
  type LoadedActor,
  type RecordedEffect,
} from '../../runtime/actor/index.ts';
import type { Clock, Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { Database } from '../simulation/database.ts';
import type { AlertPicture, GroupPicture, Picture } from './picture.ts';
import { textOf } from './story.ts';

/** Severity is no matter of the model. */
const RISES: ReadonlySet<string> = new Set(['severity_raised', 'urgency_raised']);

interface StoredGroup {
  readonly id: PublicId;
  readonly open: boolean;
  readonly moved: boolean;
  /** Value of its one Group key label. */
  readonly key: string | null;
  readonly events: LifecycleEntry[];
  readonly alerts: Map<string, GroupAlert>;
}

export class IngestionTables extends Database {
  readonly #begin: Micros;
  readonly #groups = new Map<string, StoredGroup>();
  /** By feed, by fingerprint. */
  readonly #presences = new Map<string, Map<string, Presence>>();
  readonly #heardAt = new Map<string, Micros>();
  readonly #feedNames = new Map<string, string>();
  readonly #slots = new Map<string, PublicId>();
  readonly #integrations = new Map<string, IntegrationRows>();

  constructor(begin: Micros) {
    super();
    this.#begin = begin;
  }

  readonly related: RelatedGroups = {
    newerOpen: async () => null,
    slotTargets: async (asked) => {
      const named = asked.map((slot) => [slotKey(slot), this.#slots.get(slotKey(slot))] as const);
      return new Map(named.flatMap(([key, id]) => (id ? [[key, id] as const] : [])));
    },
    homesOf: async (keys) => {
      const homes = keys.map((key) => [key, this.#homeOf(key)] as const);
      return new Map(
        homes.flatMap(([key, home]) =>
          home?.history.state === 'firing' ? [[key, home.groupId] as const] : [],
        ),
      );
    },
    feedsHeardAt: async (feeds) => {
      const heard = feeds.map((feed) => [feed, this.#heardAt.get(feed)] as const);
      return new Map(heard.flatMap(([feed, at]) => (at === undefined ? [] : [[feed, at] as const])));
    },
    eventHandled: async () => null,
  };

  /** The Heartbeat is off. */
  readonly watch: IntegrationWatch = {
    heartbeat: () => Promise.reject(new Error('the Heartbeat is off')),
    waitingSince: async () => null,
    silentFeeds: async (id, query) => this.#silentFeeds(id, query),
    leftovers: () => Promise.reject(new Error('the Integration is not deleted')),
  };

  /** When an actor wakes next, µs. */
  wakeOf(address: Address): Micros | null {
    return this.actors.get(addressText(address))?.wakeAt ?? null;
  }

  #silentFeeds(id: PublicId, { unlearnedCutoff, among, limit }: SilenceQuery): FeedsSeen {
    if (among !== 'older_ends_and_truncated') throw new Error('the Heartbeat is off');
    const silent: FeedsSeen['silent'][number][] = [];
    const next: FeedsSeen['next'][number][] = [];
    for (const [feed, heardAt] of this.#heardAt) {
      const rows = [...(this.#presences.get(feed)?.values() ?? [])];
      const presences = rows.filter((presence) => olderEndOf(presence) !== null).length;
      if (presences === 0 && !this.#integrations.get(id)?.truncated.has(feed)) continue;
      const groupKey = this.#feedNames.get(feed) ?? feed;
      if (heardAt < unlearnedCutoff) silent.push({ feed, groupKey, routePath: null, heardAt, presences });
      else next.push({ routePath: null, listedAt: heardAt });
    }
    return { silent: silent.slice(0, limit), next };
  }

  places(newId: () => PublicId): Places {
    return {
      find: async (integrationId, asked) => {
        const fresh = new Set<PublicId>();
        const found = placesBy(
          (fingerprint) => this.#homeOf(alertKey(integrationId, fingerprint)) ?? undefined,
          (slot) => {
            const key = slotKey(slot);
            const known = this.#slots.get(key);
            if (known) return known;
            const id = newId();
            this.#slots.set(key, id);
            fresh.add(id);
            return id;
          },
        );
        return { ...(await found.find(integrationId, asked)), fresh };
      },
    };
  }

  connect(clock: Pick<Clock, 'now'>): ActorStore {
    return {
      load: async (addresses) => this.load(addresses),
      commit: async (batch: CommitBatch, bind) => this.commit(batch, bind, clock.now(), () => undefined),
      inbox: async (...query) => this.inbox(...query),
      due: async (...query) => this.due(...query),
      nextWake: async (shards) => this.nextWake(shards),
      post: async (messages) => this.post(messages),
      takeReplies: async (askedBy) => this.takeReplies(askedBy),
      epochs: async (shards) => shards.map((shard) => ({ shard, epoch: this.epochs[shard] ?? 0 })),
    };
  }

  override load(addresses: readonly Address[]): Map<string, LoadedActor> {
    const loaded = super.load(addresses);
    for (const address of addresses) {
      const text = addressText(address);
      const actor = loaded.get(text);
      if (actor) loaded.set(text, { ...actor, rows: this.#rowsOf(address) });
    }
    return loaded;
  }

  protected override record(records: readonly RecordedEffect[]): void {
    for (const record of records) this.#keep(record);
  }

  /** What is shown now, with the lifecycle events since the last time. */
  picture(): Picture {
    const groups: Record<string, GroupPicture> = {};
    const latest = new Map<string, { readonly alert: GroupAlert; readonly group: string }>();
    for (const [name, group] of this.#named()) {
      groups[name] = { open: group.open, events: group.events.splice(0).map(eventText) };
      for (const alert of group.alerts.values()) {
        const known = latest.get(alert.report.fingerprint)?.alert;
        const isLater =
          known?.state !== 'firing' && (alert.resolvedAt ?? Infinity) >= (known?.resolvedAt ?? 0);
        if (!known || isLater) latest.set(alert.report.fingerprint, { alert, group: name });
      }
    }
    const alerts: Record<string, AlertPicture> = {};
    const held = new Map<string, Map<string, Presence>>();
    for (const [feed, rows] of this.#presences) {
      for (const presence of rows.values()) {
        entryOf(held, presence.fingerprint, () => new Map<string, Presence>()).set(feed, presence);
      }
    }
    for (const [name, { alert, group }] of latest) {
      alerts[name] = this.#pictureOf(alert, group, held.get(name) ?? new Map());
    }
    return { alerts, groups };
  }

  /** Some feed still sends what it says of an Alert to a former home, which passes it on. */
  hasDetours(): boolean {
    const homes = new Map<string, PublicId>();
    for (const { id, alerts } of this.#groups.values()) {
      for (const { state, report } of alerts.values())
        if (state === 'firing') homes.set(report.fingerprint, id);
    }
    return [...this.#presences.values()].some((rows) =>
      [...rows.values()].some(({ groupId, fingerprint }) => homes.get(fingerprint) !== groupId),
    );
  }

  /** Alert Groups in the order in which they began, by the key and their place among those of the key. */
  *#named(): Iterable<[string, StoredGroup]> {
    const counts = new Map<string, number>();
    for (const group of this.#groups.values()) {
      const key = group.key ?? '';
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      yield [`${key}#${count}`, group];
    }
  }

  #pictureOf(alert: GroupAlert, group: string, held: ReadonlyMap<string, Presence>): AlertPicture {
    const { report, state, startsAt, endedStart, resolvedAt, resolvedBy } = alert;
    const since = (at: Micros) => at - this.#begin;
    const presences: Record<string, 'listed' | Micros> = {};
    for (const feed of new Set([...held.keys(), ...Object.keys(alert.feeds)])) {
      const presence = held.get(feed);
      const said = alert.feeds[feed];
      const here = presence?.state === 'missed' ? since(presence.since) : presence?.state;
      const there = said?.state === 'missed' ? since(said.since) : said?.state;
      const isOver = there === undefined || there === 'gone' || there === 'stale';
      const name = this.#feedNames.get(feed) ?? feed;
      if (here !== undefined && here === there) presences[name] = here;
      else if (!(here === undefined && isOver)) throw new Error(`${name} holds ${here}, the home ${there}`);
    }
    return {
      ...{ state, startsAt: since(startsAt), text: textOf(report.annotations) },
      endedStart: endedStart === null ? null : since(endedStart),
      resolvedAt: resolvedAt === null ? null : since(resolvedAt),
      resolvedBy: resolvedBy as AlertPicture['resolvedBy'],
      ...{ group, presences },
    };
  }

  #rowsOf({ kind, key }: Address): unknown {
    if (kind === FEED) return new Map(this.#presences.get(key));
    if (kind === ALERT_GROUP) return new Map(this.#groups.get(key)?.alerts);
    if (kind !== INTEGRATION) return null;
    const { routes, truncated } = this.#integrations.get(key) ?? emptyIntegrationRows();
    return { routes: new Map(routes), truncated: new Map(truncated) };
  }

  #homeOf(key: string): Home | null {
    let found: Home | null = null;
    for (const { id, open, moved, alerts } of this.#groups.values()) {
      const alert = alerts.get(key);
      if (!alert) continue;
      const { state, startsAt, endedStart, resolvedAt, resolvedBy } = alert;
      const history = { state, startsAt, endedStart, resolvedAt, resolvedBy };
      const home = { groupId: id, live: state === 'firing' || (open && !moved), history };
      if (state === 'firing') return home;
      if (!found || (resolvedAt ?? 0) > (found.history.resolvedAt ?? 0)) found = home;
    }
    return found;
  }

  #keep(record: RecordedEffect): void {
    switch (record.type) {
      case 'feed.heard': {
        const { feed, groupKey, receivedAt } = record as FeedHeard;
        this.#feedNames.set(feed, groupKey);
        this.#heardAt.set(feed, Math.max(receivedAt, this.#heardAt.get(feed) ?? receivedAt));
        return;
      }
      case 'feed.presences': {
        const { feed, saved, removed } = record as PresencesChanged;
        const rows = entryOf(this.#presences, feed, () => new Map<string, Presence>());
        for (const presence of saved) rows.set(presence.fingerprint, presence);
        for (const fingerprint of removed) rows.delete(fingerprint);
        return;
      }
      case 'group.saved': {
        const { row } = record as GroupSaved;
        const moved = row.routeId !== row.originalRouteId;
        const open = row.status !== 'resolved';
        const key = row.groupLabels.alertname ?? null;
        this.#groups.set(row.id, { ...this.#group(row.id), open, moved, key });
        return;
      }
      case 'alerts.saved': {
        const { groupId, alerts } = record as AlertsSaved;
        for (const alert of alerts) this.#group(groupId).alerts.set(keyOf(alert), alert);
        return;
      }
      case 'alerts.seen': {
        const { groupId, integrationId, fingerprints, at } = record as AlertsSeen;
        const { alerts } = this.#group(groupId);
        for (const fingerprint of fingerprints) {
          const key = alertKey(integrationId, fingerprint);
          const alert = alerts.get(key);
          if (alert) alerts.set(key, { ...alert, lastSeenAt: Math.max(alert.lastSeenAt, at) });
        }
        return;
      }
      case 'timeline.added': {
        const { groupId, entry } = record as TimelineAdded;
        if (isLifecycle(entry) && !RISES.has(entry.event)) this.#group(groupId).events.push(entry);
        return;
      }
      case 'slot.moved': {
        const moved = record as SlotMoved;
        this.#slots.set(slotKey(moved), moved.groupId);
        return;
      }
      case 'integration.routes': {
        const { integrationId, saved, removed } = record as RoutesLearned;
        const { routes } = entryOf(this.#integrations, integrationId, emptyIntegrationRows);
        for (const route of saved) routes.set(route.path, route);
        for (const path of removed) routes.delete(path);
        return;
      }
      case 'integration.truncations': {
        const { integrationId, saved, removed } = record as TruncationsChanged;
        const { truncated } = entryOf(this.#integrations, integrationId, emptyIntegrationRows);
        for (const feed of saved) truncated.set(feed.feed, feed);
        for (const feed of removed) truncated.delete(feed);
        return;
      }
      default:
    }
  }

  #group(id: string): StoredGroup {
    return entryOf(this.#groups, id, () => ({
      ...{ id: id as PublicId, open: true, moved: false, key: null, events: [], alerts: new Map() },
    }));
  }
}

/** `alert_resolved gone A1m B1m`. */
function eventText(entry: LifecycleEntry): string {
  const fingerprints = 'fingerprints' in entry ? entry.fingerprints.toSorted() : [];
  const reason = 'reason' in entry && entry.reason !== null ? [entry.reason] : [];
  const label = 'replacedLabel' in entry && entry.replacedLabel !== null ? [entry.replacedLabel] : [];
  return [entry.event, ...reason, ...label, ...fingerprints].join(' ');
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
