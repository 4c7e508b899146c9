/** Runs of several replicas that place themselves (operations §5): what the engine promises must hold all the same. */
import {
  type ActorSystem,
  type Address,
  type AnyActorDefinition,
  addressText,
  BusyError,
  type Placement,
  shardOf,
  UnavailableError,
} from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { ReplicaRecords } from '../../runtime/placement/replica-record.ts';
import type { EpochStore } from '../../runtime/placement/shard-book.ts';
import { MeetingPlace } from '../fakes/coordination.ts';
import { Database } from './database.ts';
import { drawLimits } from './draw-limits.ts';
import { drawFaultPlan, FAULT_PLANS, type FaultPlanName } from './fault-plans.ts';
import { drawRates, Faults, SOUND, unmoving } from './faults.ts';
import { type Arrival, type AskSeen, violations } from './invariants.ts';
import { misplaced } from './placed.ts';
import { type ReplicaDeps, SimReplica } from './replica.ts';
import { SignalsBetween } from './sim-signals.ts';
import type { Run } from './simulate.ts';
import { type Call, toyDefinitions, type Work } from './toy.ts';
import { drawWorkload, type Step } from './workload.ts';
import { World } from './world.ts';

/** Seams through which a test breaks the world on purpose. */
export interface ReplicaSeams {
  readonly database?: () => Database;
  readonly wrapEpochs?: (epochs: EpochStore) => EpochStore;
  readonly wrapRecords?: (records: ReplicaRecords) => ReplicaRecords;
  /** What the engine is told of placement. */
  readonly wrapPlacement?: (placement: Placement) => Placement;
  readonly signals?: (world: World) => SignalsBetween;
  /** The plot in which it shows. */
  readonly plot?: FaultPlanName;
  readonly stillOwns?: (system: ActorSystem, actor: Address) => Promise<boolean>;
}

/** How long a run may take to come to rest, how long it is watched then, and how long ownership may be proven. */
const REST: Micros = 600 * SECOND;
const WATCHED: Micros = 10 * SECOND;
const PROOF: Micros = 2 * SECOND;
const MOST_EVENTS = 300_000;

/** Changes nothing and is answered. */
const PROBE: Work = {
  ...{ type: 'work', id: 'probe', n: 0, sends: [], arm: null, claims: false, performs: false, flaw: null },
  ...{ asksOutside: false, reads: true, isSilent: false, isLarge: false },
};

export async function simulateReplicas(
  seed: number,
  options: { trace?: boolean } & ReplicaSeams = {},
): Promise<Run> {
  const world = new World(seed, options.trace ?? false, MOST_EVENTS);
  const { random } = world;
  const database = options.database?.() ?? new Database();
  const drawn = drawFaultPlan(random);
  const plot = FAULT_PLANS[options.plot ?? drawn];
  world.note(() => `plot: ${options.plot ?? drawn}`);
  const rates = drawRates(random);
  const rough = { slow: { ...SOUND, slow: 0.5 }, unmoving: unmoving(rates), any: rates }[plot.faults];
  const faults = new Faults(rough, random.fork());
  const meeting = { now: () => world.now, travel: () => world.pause(100, 2000) };
  const places = [new MeetingPlace(meeting), new MeetingPlace(meeting)] as const;
  const signals = options.signals?.(world) ?? new SignalsBetween(world);
  signals.lossRate = random.pick([0, 0.05, 0.5]);
  const pauseRate = random.pick([0, 0.05, 0.3]);
  const workload = drawWorkload(random.fork(), plot.length * 0.9);
  const asks: AskSeen[] = [];
  const arrivals = new Map<string, Arrival>();
  const performed: { id: string; wasStored: boolean }[] = [];
  const stale: string[] = [];
  const brokenWakes: string[] = [];
  let fencings = 0;
  const definitions: readonly AnyActorDefinition[] = toyDefinitions(world, () => faults.isCalm);
  const deps: ReplicaDeps = {
    ...{ world, database, faults, places, signals, definitions },
    limits: drawLimits(random),
    intakePage: random.pick([1, 3, 100]),
    wrapEpochs: options.wrapEpochs ?? ((epochs) => epochs),
    wrapRecords: options.wrapRecords ?? ((records) => records),
    wrapPlacement: options.wrapPlacement ?? ((placement) => placement),
    stillOwns: options.stillOwns ?? ((system, actor) => system.stillOwns(actor)),
    called(effect, from, by) {
      const { id } = effect as Call;
      performed.push({ id, wasStored: database.appliedIds.has(id) });
      const shard = shardOf(from);
      const { owners, takenAt } = database.table;
      if (owners[shard] !== by && world.now - takenAt[shard]! > PROOF)
        stale.push(`${by} calls for ${from.key}`);
    },
    pauseBeforeCall: () =>
      faults.isCalm || plot.faults !== 'any' || !random.chance(pauseRate)
        ? 0
        : random.between(SECOND / 2, 10 * SECOND),
    fenced() {
      fencings++;
    },
    setAside: (what) => {
      if (what.includes('"message":"wake"')) brokenWakes.push(what);
    },
  };
  const replicas: SimReplica[] = [];
  let boots = 0;
  const alive = () => replicas.filter((it) => it.isAlive);
  const launch = (id: string): void => {
    const replica = new SimReplica(deps, { id, boot: String(++boots) }, random.between(-2e6, 2e6) | 0);
    replicas.push(replica);
    world.note(() => `${replica.name} starts`);
    void replica.start();
  };
  for (const id of ['a', 'b', 'c'].slice(0, 2 + random.int(2))) launch(id);
  for (const step of workload.steps) world.after(SECOND + step.at, () => take(step));
  const judge = plot.play({
    ...{ world, places, alive, launch, isPlaced },
    epochs: () => database.epochs,
    fencings: () => fencings,
  });
  world.after(plot.length, calm);

  const start = world.now;
  await world.runUntil(() => false, start + plot.length + SECOND);
  await world.runUntil(() => isAtRest(database) && isPlaced(), start + plot.length + REST);
  const wrong = judge();
  const unanswered = await askEverywhere();
  await world.runUntil(() => false, world.now + WATCHED);
  const accepted = [...arrivals.keys()];
  const found = violations({
    ...{ database, workload, accepted, arrivals, asks, performed, brokenWakes },
    conflicts: [],
  });
  if (!isPlaced()) found.push(`placement: ${misplaced(alive(), database.epochs)}`);
  found.push(...wrong);
  found.push(...unanswered.map((name) => `whoever asks is answered: not ${name}`));
  found.push(...stale.map((what) => `a process that lost its shard calls nobody: ${what}`));
  return {
    seed,
    violations: found,
    commits: database.commits.length,
    turns: database.journal.length,
    events: world.events,
    trace: world.trace,
  };

  /** Everything works again; those that died come back on their own. */
  function calm(): void {
    world.note(() => 'calm');
    faults.calm();
    signals.lossRate = 0;
    for (const place of places) {
      place.isAway = false;
      place.thaw();
    }
    for (const replica of alive()) {
      replica.isCut = false;
      replica.isThere = false;
      replica.resume();
    }
    if (alive().length === 0) launch('z');
  }

  function take(step: Step): void {
    const { by, to, work } = step;
    const replica = random.pick(alive());
    if (!replica?.isServing || replica.isPaused) return;
    world.note(() => `${by} ${work.id} to ${addressText(to)} at ${replica.name}`);
    if (by === 'deliver') store(replica, step);
    else if (by === 'tell') replica.system.tell(to, work);
    else void ask(replica, step);
  }

  /** Its number is drawn before anybody can see it; whoever sent it is answered then. */
  function store(replica: SimReplica, { to, work }: Step): void {
    const [seq, begunAt] = [database.draw(), world.now];
    world.after(random.chance(0.3) ? random.between(0, SECOND / 10) : 0, () => {
      database.show(seq, to, work);
      arrivals.set(work.id, { begunAt, answeredAt: world.now });
      replica.accepted(to);
    });
  }

  async function ask({ system, name }: SimReplica, { to, work }: Step): Promise<void> {
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

  /** Once all is well every process gets an answer from every actor. @returns who did not */
  async function askEverywhere(): Promise<string[]> {
    const waiting = new Set<string>();
    for (const { system, name } of alive()) {
      for (const to of new Set(workload.steps.map((step) => step.to))) {
        const who = `${name} from ${addressText(to)}`;
        waiting.add(who);
        system.ask(to, PROBE).then(
          () => waiting.delete(who),
          (error) => world.note(() => `${who}: ${error}`),
        );
      }
    }
    await world.runUntil(() => waiting.size === 0, world.now + 10 * SECOND);
    return [...waiting];
  }

  function isPlaced(): boolean {
    return misplaced(alive(), database.epochs) === null;
  }
}

function isAtRest({ inboxRows, snapshots, actors }: Database): boolean {
  if (inboxRows.size > 0 || snapshots.size > 0) return false;
  for (const { wakeAt } of actors.values()) if (wakeAt !== null) return false;
  return true;
}
