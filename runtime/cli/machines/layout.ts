/** Places the states and arrows of a chart with ELK (layered). The same chart always gives the same places. */
import type { ELK, ElkEdgeSection, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartArrow, ChartState } from './chart.ts';

/** px per character of the fonts that the drawing uses. */
const STATE_CHARACTER = 8.5;
const LABEL_CHARACTER = 6.2;
export const LABEL_LINE = 15;

const COMMON = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.randomSeed': '1',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
};

/**
 * `written`: with a label at each arrow, for pictures that stand alone. `compact`: without, and with one line for the
 * arrows between two states; a state holds the names of the events that leave it as it is.
 */
export type Style = 'written' | 'compact';

const OPTIONS: Readonly<Record<Style, Readonly<Record<string, string>>>> = {
  written: {
    ...COMMON,
    'elk.layered.spacing.nodeNodeBetweenLayers': '60',
    'elk.spacing.nodeNode': '60',
    'elk.spacing.edgeNode': '24',
    'elk.spacing.edgeLabel': '6',
    'elk.padding': '[top=44,left=24,bottom=24,right=24]',
  },
  compact: {
    ...COMMON,
    'elk.layered.spacing.nodeNodeBetweenLayers': '30',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '6',
    'elk.layered.spacing.edgeNodeBetweenLayers': '10',
    'elk.spacing.nodeNode': '18',
    'elk.spacing.edgeNode': '10',
    'elk.spacing.edgeEdge': '6',
    'elk.padding': '[top=48,left=16,bottom=16,right=16]',
  },
};
/** Of a state with and without a second line. */
const STATE_HEIGHT = { written: 40, compact: 32, twoLines: 46 };

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

export async function placed(chart: Chart, elk: Pick<ELK, 'layout'>, style: Style): Promise<Placed> {
  const arrows = chart.arrows.filter(
    ({ from, to }) => from !== chart.id && (style === 'written' || from !== to),
  );
  const lines = new Map(arrows.map((arrow, index) => [lineOf(chart, arrow, index, style), arrow]));
  const laidOut: ElkNode = await elk.layout({
    id: chart.id,
    layoutOptions: OPTIONS[style],
    children: nodesUnder(chart, null, style),
    edges: [...lines].map(([id, arrow]) => edgeOf(chart, arrow, id, style)),
  });
  const states = new Map<string, Box>();
  collect(laidOut, states);
  const edges = new Map((laidOut.edges ?? []).map((edge) => [edge.id, edge]));
  return {
    width: Math.ceil(laidOut.width ?? 0),
    height: Math.ceil(laidOut.height ?? 0),
    states,
    arrows: arrows.map((arrow, index) =>
      placedArrow(arrow, edges.get(lineOf(chart, arrow, index, style)), runsBack(chart, arrow)),
    ),
  };
}

/** Arrows of the same line have the same name. */
function lineOf(chart: Chart, arrow: ChartArrow, index: number, style: Style): string {
  if (style === 'written') return `arrow-${index}`;
  const { from, to } = arrow;
  return runsBack(chart, arrow) ? `${to} ${from}` : `${from} ${to}`;
}

/** States come in the order of the definition, from where a life begins; what leads back is laid out in reverse. */
function runsBack({ states }: Chart, { from, to }: ChartArrow): boolean {
  const placeOf = (id: string) => states.findIndex((state) => state.id === id);
  return placeOf(to) < placeOf(from) && !from.startsWith(`${to}.`);
}

function nodesUnder(chart: Chart, parent: string | null, style: Style): ElkNode[] {
  return chart.states
    .filter((state) => state.parent === parent)
    .map((state) => ({
      id: state.id,
      ...(state.hasChildren
        ? { layoutOptions: OPTIONS[style], children: nodesUnder(chart, state.id, style) }
        : sizeOf(chart, state, style)),
    }));
}

function sizeOf(chart: Chart, { id, name }: ChartState, style: Style): { width: number; height: number } {
  if (style === 'written')
    return { width: Math.max(110, name.length * STATE_CHARACTER + 44), height: STATE_HEIGHT.written };
  const kept = keptLine(chart, id);
  const width = Math.max(84, name.length * STATE_CHARACTER + 44, kept.length * LABEL_CHARACTER + 16);
  return { width: Math.ceil(width), height: kept === '' ? STATE_HEIGHT.compact : STATE_HEIGHT.twoLines };
}

/** Events named in a state; the others are counted. */
const MOST_NAMED = 2;

/** The events that leave a state as it is, as its second line; empty when there are none. */
export function keptLine({ arrows }: Chart, id: string): string {
  const labels = arrows.find(({ from, to }) => from === id && to === id)?.labels ?? [];
  const events = [...new Set(labels.map((label) => label.split(' ')[0] ?? ''))];
  if (events.length === 0) return '';
  const rest = events.length - MOST_NAMED;
  return `↻ ${events.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` +${rest}` : ''}`;
}

function edgeOf(chart: Chart, arrow: ChartArrow, id: string, style: Style): ElkExtendedEdge {
  const [source, target] = runsBack(chart, arrow) ? [arrow.to, arrow.from] : [arrow.from, arrow.to];
  const ends = { id, sources: [source], targets: [target] };
  if (style === 'compact') return ends;
  const { labels } = arrow;
  const width = Math.max(...labels.map((label) => label.length)) * LABEL_CHARACTER + 8;
  const height = labels.length * LABEL_LINE + 4;
  return { ...ends, labels: [{ text: labels.join('\n'), width: Math.ceil(width), height }] };
}

function collect(node: ElkNode, states: Map<string, Box>): void {
  for (const child of node.children ?? []) {
    states.set(child.id, boxOf(child));
    collect(child, states);
  }
}

function placedArrow(arrow: ChartArrow, edge: ElkExtendedEdge | undefined, back: boolean): PlacedArrow {
  const [label] = edge?.labels ?? [];
  const points = (edge?.sections ?? []).flatMap(pointsOf);
  return {
    arrow,
    points: back ? points.reverse() : points,
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
