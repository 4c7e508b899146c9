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
  /** Place of its row among the rows of the contract's tables; null where no table has the transition. */
  readonly row: number | null;
}

/** A row of a transition table of the contract. */
export interface ContractRow {
  /** Null in a table whose rows have no names. */
  readonly name: string | null;
  /** The lifecycle event; null when nothing is recorded. */
  readonly records: {
    readonly event: string;
    readonly loudness: 'loud' | 'quiet';
    readonly mentions: readonly string[];
    /** Instead of the others when there is an Owner. */
    readonly ownedMentions: readonly string[];
  } | null;
  /** The reason, in a table that gives one. */
  readonly why: string | null;
}

/** The place of the row of a transition. @param actions as the machine has them, with their parameters */
export type RowOf = (
  transition: Omit<Transition, 'row' | 'actions'>,
  actions: readonly unknown[],
) => number | null;

export async function diagramOf(
  kind: string,
  machine: AnyStateMachine,
  elk: Pick<ELK, 'layout'>,
  rowOf: RowOf = () => null,
): Promise<Diagram> {
  const chart = chartOf(machine);
  const { width, height, states, arrows } = await placed(chart, elk, 'compact');
  return {
    ...{ kind, width, height },
    states: chart.states.map((state) => ({
      ...{ ...state, ...placeOf(states, state.id) },
      kept: keptLine(chart, state.id),
    })),
    arrows: arrows.map(({ arrow: { from, to, labels }, points }) => ({
      ...{ from, to, labels },
      points: points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) })),
    })),
    transitions: transitionsOf(machine.root, rowOf),
  };
}

function placeOf(places: ReadonlyMap<string, Box>, id: string): Box {
  const place = places.get(id);
  if (!place) throw new Error(`the state ${id} has no place`);
  const { x, y, width, height } = place;
  // Whole pixels: the page loads the diagrams.
  return {
    ...{ x: Math.round(x), y: Math.round(y) },
    ...{ width: Math.round(width), height: Math.round(height) },
  };
}

function transitionsOf(node: AnyStateNode, rowOf: RowOf): Transition[] {
  const own = [...node.transitions.values(), node.always ?? []].flat();
  return [
    ...own.map((each) => {
      const transition = {
        from: pathOf(node),
        to: each.target?.map(pathOf).join(', ') ?? null,
        event: each.eventType === '' ? 'always' : each.eventType,
        guard: each.guard === undefined ? null : nameOf(each.guard),
      };
      const { actions } = each;
      return { ...transition, actions: actions.map(nameOf), row: rowOf(transition, actions) };
    }),
    ...Object.values(node.states).flatMap((child) => transitionsOf(child, rowOf)),
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
