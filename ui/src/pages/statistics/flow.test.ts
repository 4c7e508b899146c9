import { expect, test } from 'vitest';
import type { Flow, FlowNode } from '../../api/statistics.ts';
import { bandPath, flowCells, flowPicture } from './flow.ts';

const node = (column: FlowNode['column'], name: string | null, count: number): FlowNode => ({
  ...{ column, kind: name === null ? 'none' : 'subject', subject: name === null ? null : { id: name, name } },
  ...{ deleted: false, subject_count: name === null ? 0 : 1, alert_group_count: count },
});
const link = (source: number, target: number, count: number) => ({
  source,
  target,
  alert_group_count: count,
});

/** Of Disk's three groups one has Alerts of both Integrations, and all went to two Destinations. */
const FLOW: Flow = {
  ...{ from: '', to: '', alert_group_count: 1004 },
  nodes: [
    node('integration', 'zoo', 1003),
    node('integration', 'ant', 2),
    node('route', 'Net', 1000),
    node('route', 'Disk', 3),
    node('route', 'One', 1),
    node('destination', 'Chat', 1003),
    node('destination', 'Pager', 3),
    node('destination', null, 1),
  ],
  links: [
    ...[link(0, 2, 1000), link(0, 3, 2), link(0, 4, 1), link(1, 3, 2)],
    ...[link(2, 5, 1000), link(3, 5, 3), link(3, 6, 3), link(4, 7, 1)],
  ],
};
const picture = flowPicture(FLOW, 100, 900);

test('heights are in proportion, of nodes and of bands', () => {
  const measure = (picture.bands[0]?.height ?? 0) / 1000;
  for (const { height, count } of picture.bands) expect(height).toBeCloseTo(count * measure);
  const heights = picture.nodes.map(({ height }) => height / measure);
  // Disk is as high as what leaves it.
  for (const [place, size] of [1003, 2, 1000, 6, 1, 1003, 3, 1].entries())
    expect(heights[place]).toBeCloseTo(size);
});

test('nodes of a column do not overlap, stand in the order of the answer, and leave a line for a label', () => {
  for (const column of [0, 1, 2]) {
    const own = picture.nodes.filter((one) => one.column === column);
    for (const [place, one] of own.entries()) {
      const next = own[place + 1];
      if (next) expect(next.y - (one.y + one.height)).toBeGreaterThanOrEqual(20);
      expect(one.y).toBeGreaterThan(0);
      expect(one.y + one.height).toBeLessThan(picture.height);
    }
  }
  expect(picture.nodes.map(({ node: one }) => one)).toEqual(FLOW.nodes);
  expect([...new Set(picture.nodes.map(({ x }) => x))]).toEqual([100, 495, 890]);
});

test('bands leave and reach their nodes one below the other, whatever the order of the links', () => {
  const ends = (side: 'from' | 'to', of: 'source' | 'target') => {
    for (const { node: one, y, height } of picture.nodes) {
      const own = picture.bands.filter((band) => band[of] === one).toSorted((a, b) => a[side].y - b[side].y);
      let edge = y;
      for (const band of own) {
        expect(band[side].y).toBeCloseTo(edge);
        edge += band.height;
      }
      expect(edge).toBeLessThanOrEqual(y + height + 0.001);
    }
  };
  ends('from', 'source');
  ends('to', 'target');
  expect(flowPicture({ ...FLOW, links: FLOW.links.toReversed() }, 100, 900)).toEqual(picture);
});

test('a band is drawn between its ends', () => {
  const [band] = flowPicture({ ...FLOW, links: FLOW.links.slice(0, 1) }, 100, 900).bands;
  const { from, to, height } = band as NonNullable<typeof band>;
  const path = bandPath({ ...(band as NonNullable<typeof band>) });
  expect(path.startsWith(`M${from.x} ${from.y}C`)).toBe(true);
  expect(path).toContain(`${to.x} ${to.y}V${to.y + height}C`);
  expect(path.endsWith(`${from.x} ${from.y + height}Z`)).toBe(true);
});

test('nothing is an empty picture', () => {
  const { nodes, bands } = flowPicture({ ...FLOW, nodes: [], links: [] }, 0, 100);
  expect([nodes, bands]).toEqual([[], []]);
});

test('the table has a row for each band', () => {
  const rows = flowCells(FLOW, ({ subject }) => subject?.name ?? 'nowhere');
  expect(rows[0]).toEqual(['zoo', 'Net', '1000']);
  expect(rows.at(-1)).toEqual(['One', 'nowhere', '1']);
  expect(rows.length).toBe(8);
});
