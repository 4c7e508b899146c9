/** A machine as plain data: a compact drawing and every transition in words, for pages that show both. */
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { type ChartState, chartOf } from './chart.ts';
import { type Box, keptLine, placed } from './layout.ts';

export interface Diagram {
  readonly kind: string;
  readonly width: number;
  readonly height: number;
  readonly states: readonly (ChartState & Box & { readonly kept: string })[];
  readonly arrows: readonly DiagramArrow[];
  readonly transitions: readonly Transition[];
}

export interface DiagramArrow {
  readonly from: string;
  readonly to: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** `event [guard]` a line. */
  readonly labels: readonly string[];
}

export interface Transition {
  /** Path of the state joined by dots; null: in every state. */
  readonly from: string | null;
  /** Null: the state stays. */
  readonly to: string | null;
  /** `always` for one that happens by itself. */
  readonly event: string;
  readonly guard: string | null;
  readonly actions: readonly string[];
}

export async function diagramOf(
  kind: string,
  machine: AnyStateMachine,
  elk: Pick<ELK, 'layout'>,
): Promise<Diagram> {
  const chart = chartOf(machine);
  const { width, height, states, arrows } = await placed(chart, elk, 'compact');
  return {
    ...{ kind, width, height },
    states: chart.states.map((state) => ({
      ...{ ...state, ...placeOf(states, state.id) },
      kept: keptLine(chart, state.id),
    })),
    arrows: arrows.map(({ arrow: { from, to, labels }, points }) => ({ from, to, points, labels })),
    transitions: transitionsOf(machine.root),
  };
}

function placeOf(places: ReadonlyMap<string, Box>, id: string): Box {
  const place = places.get(id);
  if (!place) throw new Error(`the state ${id} has no place`);
  return place;
}

function transitionsOf(node: AnyStateNode): Transition[] {
  const own = [...node.transitions.values(), node.always ?? []].flat();
  return [
    ...own.map((each) => ({
      from: pathOf(node),
      to: each.target?.map(pathOf).join(', ') ?? null,
      event: each.eventType === '' ? 'always' : each.eventType,
      guard: each.guard === undefined ? null : nameOf(each.guard),
      actions: each.actions.map(nameOf),
    })),
    ...Object.values(node.states).flatMap((child) => transitionsOf(child)),
  ];
}

function pathOf(node: AnyStateNode): string | null {
  return node.path.length === 0 ? null : node.path.join('.');
}

/** Guards and actions of the machines have names (architecture); built-in ones are called what they are. */
function nameOf(part: unknown): string {
  if (typeof part === 'string') return part;
  const { type } = part as { type?: unknown };
  return typeof type === 'string' ? type : 'inline';
}
