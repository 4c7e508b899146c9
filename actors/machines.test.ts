import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Elk from 'elkjs/lib/elk.bundled.js';
import { describe, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { chartOf } from '../scripts/machines/chart.ts';
import { diagramOf } from '../scripts/machines/diagram.ts';
import { DRAWN, drawings } from '../scripts/machines/draw.ts';
import { machines } from './machines.ts';

describe('docs/machines', async () => {
  const fresh = await drawings();

  test('holds a drawing of every machine and nothing else', () => {
    expect(readdirSync(DRAWN).sort()).toEqual([...fresh.keys()].sort());
  });

  test.each([...fresh.keys()])('%s is current (npm run machines writes it)', (file) => {
    expect(readFileSync(path.join(DRAWN, file), 'utf8')).toBe(fresh.get(file));
  });

  test.each(Object.entries(machines))(
    '%s is the id of its machine, by which its events are told',
    (kind, { id }) => {
      expect(id).toBe(kind);
    },
  );

  test.each(Object.entries(machines))('%s.json makes the same machine again', (kind, machine) => {
    const again = createMachine(JSON.parse(fresh.get(`${kind}.json`) ?? ''));
    expect(chartOf(again)).toEqual(chartOf(machine));
  });

  test('is drawn the same every time', async () => {
    expect(await drawings()).toEqual(fresh);
  });
});

describe('the drawing on pages', () => {
  test.each(Object.entries(machines))(
    'of %s fits a window of 1,440 × 900 and runs one way',
    async (kind, machine) => {
      const { width, height, states, arrows } = await diagramOf(kind, machine, new Elk.default());
      expect(width).toBeLessThan(1_100);
      expect(height).toBeLessThan(1_020);
      // States without others in them: one in which a life begins has no other of its parent above it.
      const leaves = states.filter(({ hasChildren }) => !hasChildren);
      for (const { id, parent, y } of leaves.filter(({ initial }) => initial))
        for (const other of leaves.filter((leaf) => leaf.parent === parent && leaf.id !== id))
          expect(other.y + other.height, `${other.id} is not above ${id}`).toBeGreaterThan(y);
      for (const { from, to, points } of arrows) {
        expect(from).not.toBe(to);
        const back = arrows.find((other) => other.from === to && other.to === from);
        if (back) expect(back.points.toReversed()).toEqual(points);
      }
    },
  );

  test('of an Alert Group runs downwards: what does not lead back leads below, or to the right within a row', async () => {
    const { states, arrows } = await diagramOf('alert_group', machines.alert_group!, new Elk.default());
    const boxOf = (id: string) => states.find((state) => state.id === id)!;
    const placeOf = (id: string) => states.findIndex((state) => state.id === id);
    const onward = arrows.filter(({ from, to }) => placeOf(to) > placeOf(from) && !to.startsWith(`${from}.`));
    const isBelow = (from: string, to: string) => boxOf(to).y >= boxOf(from).y + boxOf(from).height;
    const isInRow = (from: string, to: string) =>
      boxOf(from).parent !== null &&
      boxOf(from).parent === boxOf(to).parent &&
      boxOf(to).x >= boxOf(from).x + boxOf(from).width;
    expect(onward.filter(({ from, to }) => !isBelow(from, to) && !isInRow(from, to))).toEqual([]);
    // Outermost states are never side by side.
    const outermost = onward.filter(({ from }) => boxOf(from).parent === null);
    expect(outermost.length).toBeGreaterThan(5);
    expect(outermost.filter(({ from, to }) => !isBelow(from, to))).toEqual([]);
  });
});
