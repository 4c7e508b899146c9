/** Places the states and arrows of a chart with ELK (layered). The same chart always gives the same places. */
import type { ELK, ElkEdgeSection, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartArrow } from './chart.ts';

/** px per character of the fonts that the drawing uses. */
const STATE_CHARACTER = 8;
const LABEL_CHARACTER = 6.2;
export const LABEL_LINE = 15;
const STATE_HEIGHT = 40;

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.spacing.nodeNodeBetweenLayers': '60',
  'elk.spacing.nodeNode': '60',
  'elk.spacing.edgeNode': '24',
  'elk.spacing.edgeLabel': '6',
  'elk.randomSeed': '1',
  'elk.padding': '[top=44,left=24,bottom=24,right=24]',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
};

export interface Placed {
  readonly width: number;
  readonly height: number;
  /** By state id. */
  readonly states: ReadonlyMap<string, Box>;
  readonly arrows: readonly PlacedArrow[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedArrow {
  readonly arrow: ChartArrow;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly label: Box | null;
}

export async function placed(chart: Chart, elk: Pick<ELK, 'layout'>): Promise<Placed> {
  const arrows = chart.arrows.filter(({ from }) => from !== chart.id);
  const laidOut: ElkNode = await elk.layout({
    id: chart.id,
    layoutOptions: OPTIONS,
    children: nodesUnder(chart, null),
    edges: arrows.map(edgeOf),
  });
  const states = new Map<string, Box>();
  collect(laidOut, states);
  const edges = new Map((laidOut.edges ?? []).map((edge) => [edge.id, edge]));
  return {
    width: Math.ceil(laidOut.width ?? 0),
    height: Math.ceil(laidOut.height ?? 0),
    states,
    arrows: arrows.map((arrow, index) => placedArrow(arrow, edges.get(`arrow-${index}`))),
  };
}

function nodesUnder(chart: Chart, parent: string | null): ElkNode[] {
  return chart.states
    .filter((state) => state.parent === parent)
    .map((state) => ({
      id: state.id,
      ...(state.hasChildren
        ? { layoutOptions: OPTIONS, children: nodesUnder(chart, state.id) }
        : { width: Math.max(110, state.name.length * STATE_CHARACTER + 44), height: STATE_HEIGHT }),
    }));
}

function edgeOf({ from, to, labels }: ChartArrow, index: number): ElkExtendedEdge {
  const width = Math.max(...labels.map((label) => label.length)) * LABEL_CHARACTER + 8;
  const height = labels.length * LABEL_LINE + 4;
  const label = { text: labels.join('\n'), width: Math.ceil(width), height };
  return { id: `arrow-${index}`, sources: [from], targets: [to], labels: [label] };
}

function collect(node: ElkNode, states: Map<string, Box>): void {
  for (const child of node.children ?? []) {
    states.set(child.id, boxOf(child));
    collect(child, states);
  }
}

function placedArrow(arrow: ChartArrow, edge: ElkExtendedEdge | undefined): PlacedArrow {
  const [label] = edge?.labels ?? [];
  return {
    arrow,
    points: (edge?.sections ?? []).flatMap(pointsOf),
    label: label ? boxOf(label) : null,
  };
}

function pointsOf({ startPoint, bendPoints = [], endPoint }: ElkEdgeSection) {
  return [startPoint, ...bendPoints, endPoint].map(({ x, y }) => ({ x: rounded(x), y: rounded(y) }));
}

function boxOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box {
  return { x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) };
}

/** Tenths of a pixel: enough for the eye, and the same on every machine. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
