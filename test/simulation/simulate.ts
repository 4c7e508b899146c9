import {
  type AnyActorDefinition,
  addressText,
  BusyError,
  UnavailableError,
} from '../../runtime/actor/index.ts';
import { SECOND } from '../../runtime/clock.ts';
import { Cluster, type Replica } from './cluster.ts';
import { Database } from './database.ts';
import { drawLimits } from './draw-limits.ts';
import { drawRates, Faults } from './faults.ts';
import { type AskSeen, type Observation, violations } from './invariants.ts';
import { type Call, toyDefinitions } from './toy.ts';
import { drawWorkload, type Step } from './workload.ts';
import { World } from './world.ts';

/** Seams through which a test breaks the world on purpose, to see that the invariants notice. */
export interface Seams {
  readonly database?: () => Database;
  readonly definitions?: (definitions: readonly AnyActorDefinition[]) => readonly AnyActorDefinition[];
}

export interface Run {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly commits: number;
  readonly turns: number;
  readonly events: number;
  readonly trace: readonly string[];
}

/** How long things happen and go wrong, and how long a run may take to come to rest after that, µs. */
const LENGTH = 15 * SECOND;
const REST = 600 * SECOND;

/** Runs one seed from beginning to rest. The same seed gives the same run, to the last event. */
export async function simulate(seed: number, options: { trace?: boolean } & Seams = {}): Promise<Run> {
  const world = new World(seed, options.trace ?? false);
  const { random } = world;
  const database = options.database?.() ?? new Database();
  const faults = new Faults(drawRates(random), random.fork());
  const workload = drawWorkload(random.fork(), LENGTH * 0.8);
  const definitions: readonly AnyActorDefinition[] = toyDefinitions(world, () => faults.isCalm);
  const asks: AskSeen[] = [];
  const accepted: string[] = [];
  const performed: { id: string; wasStored: boolean }[] = [];
  const size = random.chance(0.6) ? 1 : 2;
  const cluster = new Cluster(
    {
      ...{ world, database, faults },
      limits: drawLimits(random),
      definitions: options.definitions?.(definitions) ?? definitions,
      perform: (effect) => {
        const { id } = effect as Call;
        performed.push({ id, wasStored: database.appliedIds.has(id) });
      },
    },
    size,
  );

  cluster.start();
  for (const step of workload.steps) world.after(step.at, () => take(step));
  scheduleTrouble(world, cluster, size);
  if (size > 1) pokeNowAndThen(world, cluster);
  world.after(LENGTH, () => {
    world.note(() => 'calm');
    faults.calm();
  });

  const start = world.now;
  await world.runUntil(() => false, start + LENGTH + SECOND);
  await world.runUntil(() => isAtRest(database), start + LENGTH + REST);
  await world.runUntil(() => false, world.now + 30 * SECOND);
  const seen: Observation = {
    database,
    workload,
    accepted,
    asks,
    performed,
    arrivals: new Map(),
    conflicts: faults.conflicts,
    brokenWakes: cluster.brokenWakes,
  };
  const waiting = cluster.alive().filter((replica) => replica.system.backlog() > 0);
  return {
    seed,
    violations: [...violations(seen), ...waiting.map((it) => `messages wait in the memory of ${it.name}`)],
    commits: database.commits.length,
    turns: database.journal.length,
    events: world.events,
    trace: world.trace,
  };

  function take(step: Step): void {
    const { by, to, work } = step;
    world.note(() => `${by} ${work.id} to ${addressText(to)}`);
    if (by === 'deliver') {
      accepted.push(work.id);
      cluster.accept(to, work);
      return;
    }
    const owner = cluster.ownerOf(to);
    if (owner === null) return;
    if (by === 'tell') owner.system.tell(to, work);
    else void ask(owner, step);
  }

  async function ask({ system, name }: Replica, { to, work }: Step): Promise<void> {
    const { id } = work;
    const askedAt = world.now;
    let outcome: AskSeen['outcome'];
    try {
      await system.ask(to, work);
      outcome = 'replied';
    } catch (error) {
      outcome =
        error instanceof BusyError ? 'busy' : error instanceof UnavailableError ? 'unavailable' : 'broken';
    }
    world.note(() => `${name} ask ${id}: ${outcome}`);
    asks.push({ id, askedAt, outcome, wasStored: work.reads || database.appliedIds.has(id) });
  }
}

function isAtRest({ inboxRows, snapshots, actors }: Database): boolean {
  if (inboxRows.size > 0 || snapshots.size > 0) return false;
  for (const { wakeAt } of actors.values()) if (wakeAt !== null) return false;
  return true;
}

/** Crashes out of nothing, and shards that move while their owner goes on. */
function scheduleTrouble(world: World, cluster: Cluster, size: number): void {
  const { random } = world;
  for (let crashes = random.int(4); crashes > 0; crashes--) {
    world.after(random.between(0, LENGTH), () => random.pick(cluster.alive())?.crash());
  }
  if (size === 1) return;
  for (let moves = random.int(4); moves > 0; moves--) {
    world.after(random.between(0, LENGTH), () => cluster.move());
  }
}

/** One replica alone has to notice its own messages; several have a fallback. */
function pokeNowAndThen(world: World, cluster: Cluster): void {
  world.after(SECOND, () => {
    cluster.poke();
    pokeNowAndThen(world, cluster);
  });
}
