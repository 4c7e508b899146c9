import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What the gauges read when metrics are collected. */
export interface EngineView {
  /** By kind: actors in memory, and the length of the longest mailbox. */
  kinds(): Iterable<{ readonly kind: string; readonly actors: number; readonly longestMailbox: number }>;
  backlog(): number;
}

export interface ActorMetrics {
  readonly turns: Counter;
  readonly activations: Counter;
  readonly passivations: Counter;
  readonly setAside: Counter;
  readonly fenced: Counter;
  readonly commitTurns: Histogram;
  readonly commitSeconds: Histogram;
  /** Makes the gauges show this engine. */
  watch(view: EngineView): void;
}

/** Registers the engine's metrics (operations §8; docs/engine.md says what each means). */
export function createActorMetrics(registry: Registry): ActorMetrics {
  const registers = [registry];
  let view: EngineView | null = null;
  const perKind = (gauge: Gauge<'kind'>, pick: 'actors' | 'longestMailbox') => {
    for (const it of view?.kinds() ?? []) gauge.set({ kind: it.kind }, it[pick]);
  };
  new Gauge({
    name: 'svc_actors',
    help: 'Actors in memory',
    labelNames: ['kind'] as const,
    registers,
    collect() {
      perKind(this, 'actors');
    },
  });
  new Gauge({
    name: 'svc_actor_mailbox_depth',
    help: 'Messages in the longest mailbox',
    labelNames: ['kind'] as const,
    registers,
    collect() {
      perKind(this, 'longestMailbox');
    },
  });
  new Gauge({
    name: 'svc_actor_backlog',
    help: 'Messages waiting in memory for a turn',
    registers,
    collect() {
      this.set(view?.backlog() ?? 0);
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  return {
    turns: counter('svc_actor_turns_total', 'Turns committed'),
    activations: counter('svc_actor_activations_total', 'Actors loaded into memory'),
    passivations: counter('svc_actor_passivations_total', 'Idle actors that left memory'),
    setAside: counter('svc_actor_messages_set_aside_total', 'Messages that no actor could apply'),
    fenced: counter('svc_lease_fenced_total', 'Commits refused because a shard has a newer owner'),
    commitTurns: new Histogram({
      name: 'svc_actor_commit_turns',
      help: 'Turns in one commit',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000],
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'svc_actor_commit_duration_seconds',
      help: 'Time of one commit, with its repetitions while the database was away',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
      registers,
    }),
    watch(it) {
      view = it;
    },
  };
}
