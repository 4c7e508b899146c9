/** The picture of which Alert Groups went where: places of nodes and bands; and its rows for the CSV (ui §5). */
import type { Flow, FlowNode } from '../../api/statistics.ts';

/** Height of all nodes of the largest column. */
const BODY = 260;
/** Between nodes of a column: the label of the smallest node has its line. */
const GAP = 24;
/** Above the first and below the last node, for the same reason. */
const MARGIN = 12;
export const NODE_WIDTH = 10;
const COLUMNS = ['integration', 'route', 'destination'] as const satisfies readonly FlowNode['column'][];

export interface PlacedNode {
  readonly node: FlowNode;
  /** 0 is the left one. */
  readonly column: number;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export interface Band {
  readonly source: FlowNode;
  readonly target: FlowNode;
  readonly count: number;
  /** Where it begins and ends, by its upper edge; its height is the same all along. */
  readonly from: { readonly x: number; readonly y: number };
  readonly to: { readonly x: number; readonly y: number };
  readonly height: number;
}

export interface FlowPicture {
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly bands: readonly Band[];
}

/**
 * Nodes and bands, in the order of the answer. Heights are in proportion to Alert Groups, with one measure for all; a
 * node is as high as its groups, or as the bands at its fuller side, which are more where groups count for several.
 * @param left edges of the first column's nodes @param right edges of the last column's
 */
export function flowPicture({ nodes, links }: Flow, left: number, right: number): FlowPicture {
  const sides = nodes.map(() => ({ in: 0, out: 0 }));
  for (const { source, target, alert_group_count: count } of links) {
    const [from, to] = [sides[source], sides[target]];
    if (from) from.out += count;
    if (to) to.in += count;
  }
  const size = (place: number) =>
    Math.max(nodes[place]?.alert_group_count ?? 0, sides[place]?.in ?? 0, sides[place]?.out ?? 0);
  const columns = COLUMNS.map((column) =>
    nodes.flatMap((node, place) => (node.column === column ? [place] : [])),
  );
  const sizeOf = (places: readonly number[]) => places.reduce((sum, place) => sum + size(place), 0);
  const measure = BODY / Math.max(1, ...columns.map(sizeOf));
  const gaps = (places: readonly number[]) => Math.max(0, places.length - 1) * GAP;
  const heights = columns.map((places) => sizeOf(places) * measure + gaps(places));
  const tallest = Math.max(...heights);

  const placed: PlacedNode[] = [];
  for (const [column, places] of columns.entries()) {
    const x = left + ((right - NODE_WIDTH - left) * column) / (COLUMNS.length - 1);
    let y = MARGIN + (tallest - (heights[column] ?? 0)) / 2;
    for (const place of places) {
      const node = nodes[place];
      if (node === undefined) continue;
      const height = size(place) * measure;
      placed[place] = { node, column, x, y, height };
      y += height + GAP;
    }
  }

  const used = nodes.map(() => ({ in: 0, out: 0 }));
  const ordered = links.toSorted((one, two) => one.source - two.source || one.target - two.target);
  const bands = ordered.flatMap(({ source, target, alert_group_count: count }) => {
    const [from, to, out, into] = [placed[source], placed[target], used[source], used[target]];
    if (!from || !to || !out || !into) return [];
    const band = {
      ...{ source: from.node, target: to.node, count, height: count * measure },
      from: { x: from.x + NODE_WIDTH, y: from.y + out.out * measure },
      to: { x: to.x, y: to.y + into.in * measure },
    };
    out.out += count;
    into.in += count;
    return [band];
  });
  return { height: tallest + 2 * MARGIN, nodes: placed, bands };
}

/** The outline of a band, for the attribute `d`. */
export function bandPath({ from, to, height }: Band): string {
  const middle = (from.x + to.x) / 2;
  const edge = (y: number, end: number) => `${middle} ${y} ${middle} ${end}`;
  return [
    `M${from.x} ${from.y}C${edge(from.y, to.y)} ${to.x} ${to.y}`,
    `V${to.y + height}C${edge(to.y + height, from.y + height)} ${from.x} ${from.y + height}Z`,
  ].join('');
}

/** How many from where to where: first from Integrations, then from Routes. @param nameOf what a node is called */
export function flowCells(
  { nodes, links }: Flow,
  nameOf: (node: FlowNode) => string,
): readonly (readonly [string, string, string])[] {
  return links.flatMap(({ source, target, alert_group_count: count }) => {
    const [from, to] = [nodes[source], nodes[target]];
    return from && to ? [[nameOf(from), nameOf(to), String(count)] as const] : [];
  });
}
