/** Ingestion, put together: what the composition root gets to see. */
import type { TemplatedApp } from 'uWebSockets.js';
import type { RefusedProofs } from '../../actors/access/refused-proofs.ts';
import type { SnapshotQueue, SnapshotWriter } from '../../actors/feed/ports.ts';
import type { IntegrationTokens } from '../../actors/integration/ports.ts';
import type { ActorSystem, Placement } from '../../runtime/actor/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { ClientAddress } from '../server/exchange.ts';
import { createBodyPace, type Peers } from '../server/inflow.ts';
import { createAccept } from './accept.ts';
import { createAcceptQueue } from './accept-queue.ts';
import { createHeartbeatSignal, type HeartbeatSignals } from './heartbeat.ts';
import type { Intake } from './intake.ts';
import { createDirectIntake } from './intake-direct.ts';
import { createPassingIntake, type OtherReplicas } from './intake-passes.ts';
import type { IngestMetrics } from './metrics.ts';
import { createParseCache, createSnapshotShard, largeSnapshotShard, type ParseCache } from './parse-cache.ts';
import { registerIngest } from './routes.ts';

export type { OtherReplicas } from './intake-passes.ts';
export { createIngestMetrics, createSnapshotReport, type IngestMetrics } from './metrics.ts';

export interface IngestDeps {
  readonly tokens: IntegrationTokens;
  readonly signals: HeartbeatSignals;
  readonly clientAddress: ClientAddress;
  readonly refusedProofs: RefusedProofs;
  readonly writer: SnapshotWriter;
  readonly queue: SnapshotQueue;
  readonly system: Pick<ActorSystem, 'deliver' | 'backlog'>;
  /** Says which feeds are in the care of this process. */
  readonly placement: Pick<Placement, 'epochOf' | 'owned' | 'onChange'>;
  /** Null in an installation of one process. */
  readonly others: OtherReplicas | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
  /** Whether the log writes events of level info. */
  readonly logsInfo: boolean;
  /** Whether an error means that the database cannot be reached or cannot serve now. */
  readonly isUnavailable: (error: unknown) => boolean;
}

export interface Ingest {
  /** Adds the paths of the ingest listener to an app. */
  register(app: TemplatedApp, peers: Peers | null): void;
  /** Lets requests in. Before, senders are told to come again: a process that waits for its turn must store nothing. */
  open(): void;
  /** Begins to process what is stored, the oldest first. Until then Snapshots are stored only. */
  start(): void;
  /**
   * From now on new requests get 503 and end their connection, and so does every other answer. What is being received
   * or written is finished.
   */
  beginDrain(): void;
  /** Begins to drain, stops processing, and resolves when every request that was let in is answered. */
  stop(): Promise<void>;
  /** Another replica says that it stored Snapshots of these shards; of any shard when not given. */
  poke(shards?: readonly number[]): void;
  /** This process committed Snapshots of these shards together with something else. */
  stored(shards: readonly number[]): void;
}

export function createIngest(deps: IngestDeps): Ingest {
  const { clock, log, metrics } = deps;
  const cache = createParseCache();
  const intake = createIntake(deps, cache);
  const acceptQueue = createAcceptQueue({
    ...deps,
    committed: intake.accepted,
    uncertain(error) {
      log('ingest_failed', { error: String(error) });
      intake.uncertain();
    },
  });
  metrics.watchAcceptQueue(() => acceptQueue.size);
  let draining = false;
  const isDraining = () => draining;
  const beginDrain = () => {
    draining = true;
  };
  let isOpen = false;
  const isClosed = () => draining || !isOpen;
  const shardOf = deps.others ? createSnapshotShard(cache) : largeSnapshotShard;
  const accept = createAccept({ ...deps, queue: acceptQueue, isClosed, shardOf });
  const signal = createHeartbeatSignal({ ...deps, queue: acceptQueue, isClosed });

  return {
    register: (app, peers) =>
      registerIngest(app, peers, { ...deps, accept, signal, isDraining, pace: createBodyPace(clock) }),
    open() {
      isOpen = true;
    },
    start: intake.start,
    beginDrain,
    async stop() {
      beginDrain();
      intake.stop();
      await acceptQueue.drained();
    },
    poke: intake.poke,
    stored: intake.stored,
  };
}

function createIntake(deps: IngestDeps, cache: ParseCache): Intake {
  const { others } = deps;
  return others ? createPassingIntake({ ...deps, cache, others }) : createDirectIntake({ ...deps, cache });
}
