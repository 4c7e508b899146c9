/**
 * The real feed, Alert Group and Integration actors under the real engine, on a database in memory. Every Snapshot is
 * followed until nothing is under way; a restart keeps what was committed and nothing else.
 */
import { Registry } from 'prom-client';
import { createAlertGroup } from '../../actors/alert-group/actor.ts';
import { createContestedAlerts } from '../../actors/alert-group/ports.ts';
import { EMPTY_DIRECTORY } from '../../actors/directory.fixture.ts';
import type { Directory, RouteConfig } from '../../actors/directory.ts';
import { createFeedActor } from '../../actors/feed/actor.ts';
import { feedKey } from '../../actors/feed/identity.ts';
import { feedAddress, type SnapshotReceived } from '../../actors/feed/messages.ts';
import { parseSnapshot } from '../../actors/feed/snapshot.ts';
import { createIntegrationActor } from '../../actors/integration/actor.ts';
import { type Configured, integrationAddress } from '../../actors/integration/messages.ts';
import { ON_CALL_POLICY } from '../../actors/route/policy.ts';
import {
  type ActorSystem,
  createActorMetrics,
  createActorSystem,
  type EngineLimits,
  SHARDS,
} from '../../runtime/actor/index.ts';
import { HOUR, type Micros, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createManualClock, type ManualClock } from '../fakes/manual-clock.ts';
import { seededRandom } from '../simulation/random.ts';
import { scripted } from '../simulation/scripted-engine.ts';
import type { Picture } from './picture.ts';
import type { Received } from './story.ts';
import { IngestionTables } from './tables.ts';

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

export const INSTANCE_LABELS = ['pod', 'instance'];

/** Begin of every story. */
export const BEGIN: Micros = 1_790_000_000 * SECOND;

/** A batch waits for nothing: there is nothing to be won by it in memory. */
const LIMITS: Partial<EngineLimits> = { closeWait: 0, commitDistance: 0 };
const METRICS = createActorMetrics(new Registry());
/** Nobody is behind by so much: what was received before is processed, and what is due meanwhile is done. */
const LONG_PAUSE: Micros = 12 * HOUR;
/** Rounds of the event loop after which something hangs. */
const MOST_ROUNDS = 1_000;

export class Engine {
  readonly #tables = new IngestionTables(BEGIN);
  readonly #clock: ManualClock = createManualClock(BEGIN);
  readonly #random = seededRandom(1);
  readonly #directory: Directory;
  #system: ActorSystem;

  /** @param window duplicate_window, µs */
  constructor(window: Micros) {
    this.#directory = directoryWith(window);
    this.#system = this.#begin();
  }

  /** Drops every actor and the engine itself; what follows begins with what is stored. */
  async restart(): Promise<void> {
    await this.stop();
    this.#system = this.#begin();
  }

  /** Receives Snapshots without waiting for what comes of one before the next. */
  async receive(...together: readonly Received[]): Promise<void> {
    let waiting = together.length;
    for (const received of together) {
      await this.#pass(BEGIN + received.at);
      this.#clock.advance(Math.max(0, BEGIN + received.at - this.#clock.now()));
      if (received === together[0]) await this.#settle();
      void this.#deliver(received).then(() => waiting--);
    }
    await this.#settle(() => waiting === 0);
  }

  /** Passes a long pause step by step, so that what an Integration finds is found in time. */
  async #pass(until: Micros): Promise<void> {
    if (until - this.#clock.now() < LONG_PAUSE) return;
    await this.#settle();
    for (;;) {
      const due = this.#tables.wakeOf(integrationAddress(INTEGRATION));
      if (due === null) throw new Error('the Integration looks at nothing any more');
      if (due >= until) return;
      this.#clock.advance(Math.max(0, due - this.#clock.now()));
      this.#system.poke();
      await this.#settle();
    }
  }

  #deliver(received: Received): Promise<void> {
    const receivedAt = BEGIN + received.at;
    const parsed = parseSnapshot(Buffer.from(received.body ?? JSON.stringify(bodyOf(received))));
    if (!parsed.ok) throw new Error(parsed.error);
    const { snapshot } = parsed;
    const to = feedAddress(feedKey(INTEGRATION, snapshot.groupKeyHash));
    const snapshotId = newPublicId('SS', (size) => this.#random.bytes(size));
    const message: SnapshotReceived = {
      ...{ type: 'snapshot', seq: 0, snapshotId, receivedAt },
      ...{ snapshot, replayed: false },
    };
    const seq = this.#tables.accept(to, message);
    const numbered: SnapshotReceived = { ...message, seq };
    return this.#system.deliver(to, numbered, { kind: 'snapshot', seq, receivedAt });
  }

  picture(): Picture {
    return this.#tables.picture();
  }

  /** See {@link IngestionTables.hasDetours}. */
  hasDetours(): boolean {
    return this.#tables.hasDetours();
  }

  async stop(): Promise<void> {
    let isStopped = false;
    void this.#system.stop().then(() => {
      isStopped = true;
    });
    await this.#settle(() => isStopped);
  }

  #begin(): ActorSystem {
    const { related, watch } = this.#tables;
    const random = (size: number) => this.#random.bytes(size);
    const directory = () => this.#directory;
    const held = this.#tables.raise(Array.from({ length: SHARDS }, (_, shard) => shard));
    const epochs = new Map(held.map(({ shard, epoch }) => [shard, epoch]));
    const system = createActorSystem({
      definitions: [
        createFeedActor({ directory, places: this.#tables.places(() => newPublicId('AG', random)) }),
        createAlertGroup({
          directory: { current: directory, reload: () => Promise.resolve() },
          related,
          contested: createContestedAlerts(),
        }),
        createIntegrationActor({ watch, clock: this.#clock }),
        // Counts new Alert Groups, of which no story has enough for a Storm.
        scripted('route', () => ({})),
      ],
      limits: LIMITS,
      store: this.#tables.connect(this.#clock),
      placement: {
        isAlone: true,
        epochOf: (shard) => epochs.get(shard) ?? null,
        owned: () => held,
        onChange: () => () => undefined,
        followed: () => undefined,
        fenced: () => undefined,
      },
      clock: this.#clock,
      performer: () => undefined,
      random,
      log: (event, fields) => {
        if (event === 'message_set_aside') throw new Error(`set aside: ${JSON.stringify(fields)}`);
      },
      metrics: METRICS,
      peers: null,
      monotonic: () => this.#clock.now(),
      setAside: (to, message) => {
        throw new Error(`set aside: ${message.type} to ${to.kind}/${to.key}`);
      },
    });
    void system.start();
    const configured: Configured = {
      ...{ type: 'configured', version: 1, name: 'lab', staticLabels: {} },
      heartbeat: { enabled: false, timeoutSeconds: 300 },
    };
    system.tell(integrationAddress(INTEGRATION), configured);
    return system;
  }

  /** Waits until nothing is under way. */
  async #settle(isDone = () => true): Promise<void> {
    for (let round = 1; round < MOST_ROUNDS; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isDone() && this.#system.backlog() === 0 && this.#tables.inboxRows.size === 0) return;
      // What waits for time gets a little of it.
      if (round % 50 === 0) this.#clock.advance(SECOND / 20);
    }
    throw new Error('messages stay under way');
  }
}

function bodyOf({ feed, over, cut, entries }: Received): object {
  return {
    groupKey: feed,
    status: over ? 'resolved' : 'firing',
    truncatedAlerts: cut ? 1 : 0,
    alerts: entries.map(({ name, labels, firing, start, text }) => ({
      status: firing ? 'firing' : 'resolved',
      labels,
      annotations: text === '' ? {} : { text },
      startsAt: new Date((BEGIN + start) / 1000).toISOString(),
      fingerprint: name,
    })),
  };
}

function directoryWith(window: Micros): Directory {
  const integration = {
    ...{ id: INTEGRATION, name: 'lab', builtin: false, deleted: false, deletedAt: null, ended: false },
    ...{ staticLabels: {}, duplicateWindowSeconds: window / SECOND },
    heartbeat: { enabled: false, timeoutSeconds: 300 },
  };
  return {
    ...EMPTY_DIRECTORY,
    organization: { ...EMPTY_DIRECTORY.organization, instanceLabels: INSTANCE_LABELS },
    routes: [ROUTE],
    routesById: new Map([[ROUTE.id, ROUTE]]),
    integrationsById: new Map([[INTEGRATION, integration]]),
  };
}
