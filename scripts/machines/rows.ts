/**
 * Composite states whose children are drawn side by side. A drawing that runs downwards is often higher than its page:
 * ELK puts the children of such a state on one layer, and the arrows between them are routed here. Pure.
 */
import type { Chart, ChartArrow } from './chart.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** Ids of the composite states whose children are drawn side by side. */
export type Rows = ReadonlySet<string>;

/** Between lines that run below a row. */
const LANE = 8;

/** Every set of the states that may be drawn as rows: those that hold no composite state. The smallest sets first. */
export function choicesOfRows({ states }: Chart): readonly Rows[] {
  const able = states.filter(
    ({ id, hasChildren }) =>
      hasChildren && states.every((child) => child.parent !== id || !child.hasChildren),
  );
  let choices: readonly (readonly string[])[] = [[]];
  for (const { id } of able) choices = [...choices, ...choices.map((set) => [...set, id])];
  return choices.toSorted((one, other) => one.length - other.length).map((set) => new Set(set));
}

/** The row that the arrow stays within; null when ELK routes it. */
export function rowOf({ states }: Chart, { from, to }: ChartArrow, rows: Rows): string | null {
  const parentOf = (id: string) => states.find((state) => state.id === id)?.parent ?? null;
  const parent = parentOf(to);
  if (parent === null || !rows.has(parent)) return null;
  return parentOf(from) === parent || from === parent ? parent : null;
}

/** Arrows in opposite directions share one line. */
const lineOf = ({ from, to }: ChartArrow): string => [from, to].sort().join(' ');

/** Height of the space below the children of a row for the lines that pass others. */
export function lanesHeight(chart: Chart, row: string, rows: Rows): number {
  const lines = chart.arrows.filter(
    (arrow) => arrow.from !== arrow.to && arrow.from !== row && rowOf(chart, arrow, rows) === row,
  );
  return new Set(lines.map(lineOf)).size * LANE;
}

/**
 * The children of a row as far as possible in the order of the machine: those that arrows from outside reach keep their
 * place. Null when ELK did not put them side by side.
 */
export function arranged(
  chart: Chart,
  row: string,
  rows: Rows,
  boxes: ReadonlyMap<string, Box>,
): ReadonlyMap<string, Box> | null {
  const children = chart.states.filter(({ parent }) => parent === row).map(({ id }) => id);
  const placed = children.map((id) => ({ id, box: boxes.get(id) as Box }));
  const middles = placed.map(({ box }) => box.y + box.height / 2);
  if (Math.max(...middles) - Math.min(...middles) > 1) return null;
  const isReached = (id: string) =>
    chart.arrows.some(
      (arrow) => (arrow.from === id || arrow.to === id) && rowOf(chart, arrow, rows) === null,
    );
  const across = placed.toSorted((one, other) => one.box.x - other.box.x);
  const free = placed.filter(({ id }) => !isReached(id));
  const inOrder = across.map((each) => (isReached(each.id) ? each : (free.shift() ?? each)));
  const moved = packed(inOrder, across, isReached);
  const end = (each: Placed) => each.box.x + each.box.width;
  const isApart = moved.every((each, index) => index === 0 || end(moved[index - 1] as Placed) < each.box.x);
  const fits = isApart && end(moved.at(-1) as Placed) <= end(across.at(-1) as Placed);
  return new Map((fits ? moved : placed).map(({ id, box }) => [id, box]));
}

interface Placed {
  readonly id: string;
  readonly box: Box;
}

/** Between two that keep their place the others share the space that they had. */
function packed(
  inOrder: readonly Placed[],
  across: readonly Placed[],
  isFixed: (id: string) => boolean,
): Placed[] {
  let shift = 0;
  return inOrder.map(({ id, box }, index) => {
    const was = across[index]?.box ?? box;
    if (isFixed(id)) {
      shift = 0;
      return { id, box };
    }
    const x = was.x + shift;
    shift += box.width - was.width;
    return { id, box: { ...box, x } };
  });
}

/** The points of every arrow within a row, by `from to`. */
export function rowPaths(
  chart: Chart,
  row: string,
  rows: Rows,
  boxes: ReadonlyMap<string, Box>,
): ReadonlyMap<string, readonly Point[]> {
  const children = chart.states
    .filter(({ parent }) => parent === row)
    .map(({ id }) => id)
    .toSorted((one, other) => boxOf(boxes, one).x - boxOf(boxes, other).x);
  const bottom = Math.max(...children.map((id) => boxOf(boxes, id).y + boxOf(boxes, id).height));
  const arrows = chart.arrows.filter((arrow) => arrow.from !== arrow.to && rowOf(chart, arrow, rows) === row);
  const passing = [...new Set(arrows.map(lineOf))].filter((line) => !isShort(line, row, children));
  const paths = new Map<string, readonly Point[]>();
  for (const arrow of arrows) {
    const line = lineOf(arrow);
    const lane = passing.indexOf(line);
    const points =
      lane === -1 ? straight(arrow, boxes) : below(arrow, passing, bottom + (lane + 1) * LANE, boxes);
    paths.set(`${arrow.from} ${arrow.to}`, points);
  }
  return paths;
}

/** Whether it passes no other child. */
function isShort(line: string, row: string, children: readonly string[]): boolean {
  const [one = '', other = ''] = line.split(' ');
  if (one === row || other === row) return children[0] === (one === row ? other : one);
  return Math.abs(children.indexOf(one) - children.indexOf(other)) === 1;
}

function straight({ from, to }: ChartArrow, boxes: ReadonlyMap<string, Box>): readonly Point[] {
  const [source, target] = [boxOf(boxes, from), boxOf(boxes, to)];
  const y = target.y + target.height / 2;
  // From the border of the row to its first child.
  if (to.startsWith(`${from}.`))
    return [
      { x: source.x, y },
      { x: target.x, y },
    ];
  return source.x < target.x
    ? [
        { x: source.x + source.width, y },
        { x: target.x, y },
      ]
    : [
        { x: source.x, y },
        { x: target.x + target.width, y },
      ];
}

function below(
  { from, to }: ChartArrow,
  passing: readonly string[],
  y: number,
  boxes: ReadonlyMap<string, Box>,
): readonly Point[] {
  const start = boxOf(boxes, from);
  const own = lineOf({ from, to, labels: [] });
  const end = footOf(to, own, passing, boxes);
  if (to.startsWith(`${from}.`)) return [{ x: start.x, y }, { x: end.x, y }, end];
  const foot = footOf(from, own, passing, boxes);
  return [foot, { x: foot.x, y }, { x: end.x, y }, end];
}

/** Where a line leaves a child downwards; several lines stand beside each other. */
function footOf(id: string, own: string, passing: readonly string[], boxes: ReadonlyMap<string, Box>): Point {
  const { x, y, width, height } = boxOf(boxes, id);
  const lines = passing.filter((line) => line.split(' ').includes(id));
  return { x: x + (width * (lines.indexOf(own) + 1)) / (lines.length + 1), y: y + height };
}

function boxOf(boxes: ReadonlyMap<string, Box>, id: string): Box {
  const box = boxes.get(id);
  if (!box) throw new Error(`the state ${id} has no place`);
  return box;
}
