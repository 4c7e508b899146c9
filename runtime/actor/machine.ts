import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EmittedFrom,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
} from 'xstate';

/**
 * Applies one event to an XState machine without a live actor.
 * @returns the next snapshot (the same object when the event changed nothing) and what the machine emitted, in order
 */
export function step<Machine extends AnyStateMachine>(
  machine: Machine,
  snapshot: SnapshotFrom<Machine>,
  event: EventFromLogic<Machine>,
): { snapshot: SnapshotFrom<Machine>; emitted: EmittedFrom<Machine>[] } {
  const stage = stageOf(machine);
  const actions: Action[] = [];
  stage.actions = actions;
  const next = machine.transition(snapshot, event, stage.scope) as SnapshotFrom<Machine>;
  stage.actions = [];
  if (next !== snapshot && taken.length < MOST_TAKEN) taken.push(machine, event.type);
  return { snapshot: next, emitted: emittedBy<Machine>(actions) };
}

/** Machines and the types of events that they took since {@link forgetTaken}, one after the other. */
const taken: (AnyStateMachine | string)[] = [];
/** Twice as many as are noted: other machines that a turn steps are among them. */
const MOST_TAKEN = 32;
/** Events of one turn that are told. */
const MOST_TOLD = 4;
const NONE: readonly string[] = [];

/**
 * Events that the machine of a kind of actor took in the turn that ended, at most {@link MOST_TOLD}. A turn runs to its
 * end before another begins, so that they are of one turn.
 */
export function takenEvents(kind: string): readonly string[] {
  if (taken.length === 0) return NONE;
  const events: string[] = [];
  for (let index = 0; index < taken.length && events.length < MOST_TOLD; index += 2) {
    if ((taken[index] as AnyStateMachine).id === kind) events.push(taken[index + 1] as string);
  }
  return events;
}

/** Before a turn. */
export function forgetTaken(): void {
  taken.length = 0;
}

/** The machine's first snapshot. */
export function begin<Machine extends AnyStateMachine>(
  machine: Machine,
  input?: InputFrom<Machine>,
): SnapshotFrom<Machine> {
  const stage = stageOf(machine);
  const snapshot = machine.getInitialSnapshot(stage.scope, input);
  stage.actions = [];
  return snapshot as SnapshotFrom<Machine>;
}

/** What is written to the `actors` row: XState's persisted snapshot. */
export function persistSnapshot(machine: AnyStateMachine, snapshot: AnyMachineSnapshot): unknown {
  return machine.getPersistedSnapshot(snapshot);
}

/** The way back from {@link persistSnapshot}. */
export function restoreSnapshot<Machine extends AnyStateMachine>(
  machine: Machine,
  persisted: unknown,
): SnapshotFrom<Machine> {
  // The machines here invoke nothing and spawn nothing, so the actor scope that XState asks for is never touched.
  const scope = {} as Parameters<Machine['restoreSnapshot']>[1];
  return machine.restoreSnapshot(
    persisted as Parameters<Machine['restoreSnapshot']>[0],
    scope,
  ) as SnapshotFrom<Machine>;
}

/**
 * The state of the machine of an actor, as XState writes it. What an actor keeps is its machine's snapshot, or has that
 * as `snapshot` among what else it keeps. Null before the machine began, and without one.
 */
export function machineValue(state: unknown): unknown {
  if (typeof state !== 'object' || state === null) return null;
  const { snapshot = state } = state as { readonly snapshot?: { readonly value?: unknown } | null };
  return (snapshot as { readonly value?: unknown } | null)?.value ?? null;
}

function emittedBy<Machine extends AnyStateMachine>(
  actions: readonly { type: string; params?: unknown }[],
): EmittedFrom<Machine>[] {
  const emitted: EmittedFrom<Machine>[] = [];
  for (const action of actions) {
    if (action.type !== 'xstate.emit') continue;
    emitted.push((action.params as { event: EmittedFrom<Machine> }).event);
  }
  return emitted;
}

type Scope = Parameters<AnyStateMachine['transition']>[2];
type Action = Parameters<Scope['actionExecutor']>[0];

interface Stage {
  readonly scope: Scope;
  /** What the transition under way asks to be done. */
  actions: Action[];
}

const stages = new WeakMap<AnyStateMachine, Stage>();

/**
 * Where a machine's transitions take place. XState's own `transition` and `initialTransition` set up an actor with its
 * first snapshot for each event; the machines here invoke nothing and spawn nothing, so that one which never starts
 * serves for all.
 */
function stageOf(machine: AnyStateMachine): Stage {
  let stage = stages.get(machine);
  if (stage === undefined) {
    stage = createStage(machine);
    stages.set(machine, stage);
  }
  return stage;
}

function createStage(machine: AnyStateMachine): Stage {
  const self = createActor(machine);
  const nothing = () => undefined;
  const stage: Stage = {
    scope: {
      self,
      system: self.system,
      id: self.id,
      sessionId: self.sessionId,
      logger: nothing,
      defer: nothing,
      emit: nothing,
      stopChild: nothing,
      actionExecutor: (action) => void stage.actions.push(action),
    },
    actions: [],
  };
  return stage;
}
