/** A machine as states and arrows: what every drawing starts from. Knows XState, nothing about what machines do. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

export interface Chart {
  readonly id: string;
  readonly states: readonly ChartState[];
  readonly arrows: readonly ChartArrow[];
}

export interface ChartState {
  /** Path joined by dots; unique. */
  readonly id: string;
  readonly name: string;
  /** Null for the outermost states. */
  readonly parent: string | null;
  /** Where the parent (or the machine) begins. */
  readonly initial: boolean;
  readonly final: boolean;
  readonly hasChildren: boolean;
}

export interface ChartArrow {
  readonly from: string;
  readonly to: string;
  /** `event [guard]`, one for every transition that this arrow stands for, in the machine's order. */
  readonly labels: readonly string[];
}

/** Arrows between the same two states are one arrow with several labels; the order is the machine's own. */
export function chartOf(machine: AnyStateMachine): Chart {
  const states: ChartState[] = [];
  const arrows = new Map<string, { from: string; to: string; labels: string[] }>();
  const visit = (node: AnyStateNode) => {
    if (node.parent) states.push(stateOf(node, machine));
    for (const candidates of node.transitions.values()) addArrows(node, candidates, arrows);
    addArrows(node, node.always ?? [], arrows);
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return { id: machine.id, states, arrows: [...arrows.values()] };
}

type Transitions = readonly NonNullable<AnyStateNode['always']>[number][];

function stateOf(node: AnyStateNode, machine: AnyStateMachine): ChartState {
  const { parent } = node;
  const isOuter = !parent || parent === machine.root;
  const starts = parent?.type === 'parallel' || parent?.initial?.target?.includes(node) === true;
  return {
    id: idOf(node),
    name: node.key,
    parent: isOuter ? null : idOf(parent),
    initial: starts,
    final: node.type === 'final',
    hasChildren: Object.keys(node.states).length > 0,
  };
}

function addArrows(
  node: AnyStateNode,
  transitions: Transitions,
  arrows: Map<string, { from: string; to: string; labels: string[] }>,
): void {
  for (const { target, eventType, guard } of transitions) {
    for (const reached of target ?? [node]) {
      const [from, to] = [idOf(node), idOf(reached)];
      const label = labelOf(eventType, guard);
      const arrow = arrows.get(`${from} ${to}`);
      if (!arrow) arrows.set(`${from} ${to}`, { from, to, labels: [label] });
      else if (!arrow.labels.includes(label)) arrow.labels.push(label);
    }
  }
}

function idOf(node: AnyStateNode): string {
  return node.path.length === 0 ? node.machine.id : node.path.join('.');
}

/** An event without a name happens by itself as soon as its guard holds. */
function labelOf(eventType: string, guard: unknown): string {
  const name = guardName(guard);
  const event = eventType === '' ? 'always' : eventType;
  return name === null ? event : `${event} [${name}]`;
}

function guardName(guard: unknown): string | null {
  if (guard === undefined || guard === null) return null;
  if (typeof guard === 'string') return guard;
  const { type } = guard as { type?: unknown };
  return typeof type === 'string' ? type : 'guard';
}
