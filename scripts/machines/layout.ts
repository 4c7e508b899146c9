/** Places the states and arrows of a chart with ELK (layered). The same chart always gives the same places. */
import type { ELK, ElkEdgeSection, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartArrow, ChartState } from './chart.ts';
import { arranged, choicesOfRows, lanesHeight, type Rows, rowOf, rowPaths } from './rows.ts';

/** px per character of the fonts that the drawing uses. */
const STATE_CHARACTER = 8.5;
const LABEL_CHARACTER = 6.2;
export const LABEL_LINE = 15;
/** Of the page: names of 15 px in bold, second lines of 13.5 px. */
const NAME_CHARACTER = 9.6;
const KEPT_CHARACTER = 7.4;

/** px that the page has for a drawing in a window of 1440 × 900. */
const PAGE = { width: 850, height: 680 };
/** Of the size that it is drawn in: a drawing this large is not laid out again. */
const LARGE = 0.95;

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
 * arrows between two states; a state holds the names of the events that leave it as it is. Children of composite states
 * are put side by side where the drawing is then larger in its page.
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
    'elk.layered.spacing.nodeNodeBetweenLayers': '24',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '5',
    'elk.layered.spacing.edgeNodeBetweenLayers': '9',
    'elk.spacing.nodeNode': '14',
    'elk.spacing.edgeNode': '8',
    'elk.spacing.edgeEdge': '5',
    'elk.padding': '[top=16,left=8,bottom=8,right=8]',
  },
};
/** Of a state with and without a second line. */
const STATE_HEIGHT = { written: 40, compact: 30, twoLines: 44 };

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
  const first = await laidOut(chart, elk, style, new Set());
  if (first === null) throw new Error(`the machine ${chart.id} has no layout`);
  let best = first;
  for (const rows of style === 'compact' ? choicesOfRows(chart).slice(1) : []) {
    if (scaleOf(best) >= LARGE) break;
    const other = await laidOut(chart, elk, style, rows);
    if (other !== null && scaleOf(other) > scaleOf(best)) best = other;
  }
  return best;
}

/** How large the drawing is shown in its page. */
const scaleOf = ({ width, height }: Placed): number => Math.min(PAGE.width / width, PAGE.height / height);

/** Null when the rows do not become rows. */
async function laidOut(
  chart: Chart,
  elk: Pick<ELK, 'layout'>,
  style: Style,
  rows: Rows,
): Promise<Placed | null> {
  const arrows = chart.arrows.filter(
    ({ from, to }) => from !== chart.id && (style === 'written' || from !== to),
  );
  const routed = arrows.filter((arrow) => rowOf(chart, arrow, rows) === null);
  const lines = new Map(routed.map((arrow, index) => [lineOf(chart, arrow, index, style), arrow]));
  const root: ElkNode = await elk.layout({
    id: chart.id,
    layoutOptions: OPTIONS[style],
    children: nodesUnder(chart, null, style, rows),
    edges: [...lines].map(([id, arrow]) => edgeOf(chart, arrow, id, style)),
  });
  const states = new Map<string, Box>();
  collect(root, states);
  const paths = new Map<string, PlacedArrow['points']>();
  for (const row of rows) {
    const boxes = arranged(chart, row, rows, states);
    if (boxes === null) return null;
    for (const [id, box] of boxes) states.set(id, box);
    for (const [arrow, points] of rowPaths(chart, row, rows, states)) paths.set(arrow, points);
  }
  const edges = new Map((root.edges ?? []).map((edge) => [edge.id, edge]));
  return {
    width: Math.ceil(root.width ?? 0),
    height: Math.ceil(root.height ?? 0),
    states,
    arrows: arrows.map((arrow) => {
      const points = paths.get(`${arrow.from} ${arrow.to}`);
      if (points) return { arrow, points: points.map(roundedPoint), label: null };
      const edge = edges.get(lineOf(chart, arrow, routed.indexOf(arrow), style));
      return placedArrow(arrow, edge, runsBack(chart, arrow));
    }),
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

function nodesUnder(chart: Chart, parent: string | null, style: Style, rows: Rows): ElkNode[] {
  return chart.states
    .filter((state) => state.parent === parent)
    .map((state) => ({
      id: state.id,
      ...(state.hasChildren
        ? {
            layoutOptions: { ...OPTIONS[style], ...nestOptions(chart, state, style, rows) },
            children: nodesUnder(chart, state.id, style, rows),
          }
        : sizeOf(chart, state, style)),
    }));
}

/** A composite state has room for its name and its second line above its children. */
function nestOptions(
  chart: Chart,
  { id, name }: ChartState,
  style: Style,
  rows: Rows,
): Readonly<Record<string, string>> {
  if (style === 'written') return {};
  const kept = keptLine(chart, id);
  // The arrow from the border to the first child of a row needs room.
  const [left, bottom] = rows.has(id) ? [20, 12 + lanesHeight(chart, id, rows)] : [10, 10];
  return {
    'elk.padding': `[top=${kept === '' ? 32 : 46},left=${left},bottom=${bottom},right=10]`,
    'elk.nodeSize.constraints': '[MINIMUM_SIZE]',
    // ELK turns a drawing that runs downwards after it applied this: the second number is the width.
    'elk.nodeSize.minimum': `(0,${widthOf(name, kept)})`,
  };
}

function sizeOf(chart: Chart, { id, name }: ChartState, style: Style): { width: number; height: number } {
  if (style === 'written')
    return { width: Math.max(110, name.length * STATE_CHARACTER + 44), height: STATE_HEIGHT.written };
  const kept = keptLine(chart, id);
  const height = kept === '' ? STATE_HEIGHT.compact : STATE_HEIGHT.twoLines;
  return { width: widthOf(name, kept), height };
}

function widthOf(name: string, kept: string): number {
  return Math.ceil(Math.max(70, name.length * NAME_CHARACTER + 36, kept.length * KEPT_CHARACTER + 14));
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
  return [startPoint, ...bendPoints, endPoint].map(roundedPoint);
}

function roundedPoint({ x, y }: { readonly x: number; readonly y: number }) {
  return { x: rounded(x), y: rounded(y) };
}

function boxOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box {
  return { x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) };
}

/** Tenths of a pixel: enough for the eye, and the same on every machine. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
