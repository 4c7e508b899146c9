import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  createActor,
  type EmittedFrom,
  type EventFromLogic,
  type InputFrom,
  type InspectionEvent,
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
  return { snapshot: next, emitted: emittedBy<Machine>(actions) };
}

/** A transition by the names in its machine. */
export interface NamedTransition {
  /** Path of the state joined by dots; null: in every state. */
  readonly from: string | null;
  /** Null: the state stays. */
  readonly to: string | null;
  /** `always` for one that happens by itself. */
  readonly event: string;
  readonly guard: string | null;
  readonly actions: readonly string[];
}

/** Transitions of one turn that are kept. */
export const MOST_TAKEN = 8;
/** Kind of actor whose machine is followed: its turn is under way. */
let followed: string | null = null;
/** Not emptied for each turn, which would allocate it anew; a turn that took fewer is given a copy of its part. */
const taken: AnyTransitionDefinition[] = [];
let takenCount = 0;

/**
 * From now on, the transitions that the machine of a kind of actor takes are kept, at most {@link MOST_TAKEN}. A turn
 * runs to its end before another begins, so that they are of one turn.
 */
export function followTransitions(kind: string): void {
  followed = kind;
  takenCount = 0;
}

/** Ends {@link followTransitions}. What it gives is valid until the next turn. */
export function takenTransitions(): readonly AnyTransitionDefinition[] {
  followed = null;
  return taken.length === takenCount ? taken : taken.slice(0, takenCount);
}

function keepTaken(event: InspectionEvent): void {
  if (event.type !== '@xstate.microstep') return;
  for (const transition of event._transitions) if (takenCount < MOST_TAKEN) taken[takenCount++] = transition;
}

/** The transition in words. */
export function nameTransition(definition: AnyTransitionDefinition): NamedTransition {
  const { source, target, eventType, guard, actions } = definition;
  return {
    from: pathOf(source),
    to: target?.map(pathOf).join(', ') ?? null,
    event: eventType === '' ? 'always' : eventType,
    guard: guard === undefined ? null : nameOf(guard),
    actions: actions.map(nameOf),
  };
}

function pathOf({ path }: AnyStateNode): string | null {
  return path.length === 0 ? null : path.join('.');
}

/** Guards and actions of the machines have names (architecture); built-in ones are called what they are. */
function nameOf(part: unknown): string {
  if (typeof part === 'string') return part;
  const { type } = part as { readonly type?: unknown };
  return typeof type === 'string' ? type : 'inline';
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

/** Of machines that are followed, and of the others, which pay nothing for it. */
const followedStages = new WeakMap<AnyStateMachine, Stage>();
const stages = new WeakMap<AnyStateMachine, Stage>();

/**
 * Where a machine's transitions take place. XState's own `transition` and `initialTransition` set up an actor with its
 * first snapshot for each event; the machines here invoke nothing and spawn nothing, so that one which never starts
 * serves for all.
 */
function stageOf(machine: AnyStateMachine): Stage {
  const isFollowed = machine.id === followed;
  const known = isFollowed ? followedStages : stages;
  let stage = known.get(machine);
  if (stage === undefined) {
    stage = createStage(machine, isFollowed);
    known.set(machine, stage);
  }
  return stage;
}

function createStage(machine: AnyStateMachine, isFollowed: boolean): Stage {
  const self = createActor(machine);
  const nothing = () => undefined;
  // What `system.inspect` does, without a copy of every event for each observer.
  const system = isFollowed ? { ...self.system, _sendInspectionEvent: keepTaken } : self.system;
  const stage: Stage = {
    scope: {
      self,
      system,
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
