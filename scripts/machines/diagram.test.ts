import Elk from 'elkjs/lib/elk.bundled.js';
import { expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { diagramOf } from './diagram.ts';

const door = createMachine({
  id: 'door',
  initial: 'shut',
  on: { ring: { actions: 'chime' } },
  states: {
    shut: { on: { push: [{ guard: 'unlocked', target: 'open', actions: ['creak', 'greet'] }] } },
    open: { always: { guard: 'windy', target: 'shut' } },
  },
});

test('every transition is told with its guard and its actions, and every state and arrow has a place', async () => {
  const diagram = await diagramOf('door', door, new Elk.default());
  expect(diagram.transitions).toEqual([
    { from: null, to: null, event: 'ring', guard: null, actions: ['chime'], row: null },
    { from: 'shut', to: 'open', event: 'push', guard: 'unlocked', actions: ['creak', 'greet'], row: null },
    { from: 'open', to: 'shut', event: 'always', guard: 'windy', actions: [], row: null },
  ]);
  expect(diagram.states.map(({ id, initial }) => ({ id, initial }))).toEqual([
    { id: 'shut', initial: true },
    { id: 'open', initial: false },
  ]);
  for (const { x, y, width, height } of diagram.states) {
    expect(x + width).toBeLessThanOrEqual(diagram.width);
    expect(y + height).toBeLessThanOrEqual(diagram.height);
  }
  expect(diagram.arrows.map(({ from, to, labels }) => ({ from, to, labels }))).toEqual([
    { from: 'shut', to: 'open', labels: ['push [unlocked]'] },
    { from: 'open', to: 'shut', labels: ['always [windy]'] },
  ]);
});

const phone = createMachine({
  id: 'phone',
  initial: 'idle',
  states: {
    idle: { on: { ring: {}, charge: [{ guard: 'plugged' }, { actions: 'beep' }], call: 'busy' } },
    busy: { on: { ring: {}, charge: {}, mute: {}, unmute: {}, hang_up: 'idle' } },
    broken: {},
  },
});

test('a state names the first two events that leave it as it is, and no arrow stands for these', async () => {
  const { states, arrows } = await diagramOf('phone', phone, new Elk.default());
  expect(states.map(({ id, kept }) => [id, kept])).toEqual([
    ['idle', '↻ ring, charge'],
    ['busy', '↻ ring, charge +2'],
    ['broken', ''],
  ]);
  expect(arrows.map(({ from, to }) => `${from} ${to}`)).toEqual(['idle busy', 'busy idle']);
});

/** Of a row of states that follow each other. */
const chain = (length: number) =>
  Object.fromEntries(
    Array.from({ length }, (_, step) => [
      `step_${step}`,
      step < length - 1 ? { on: { next: `step_${step + 1}` } } : {},
    ]),
  );
const lengths = [6, 7, 5];
const tall = createMachine({
  id: 'tall',
  initial: 'part_0',
  states: Object.fromEntries(
    lengths.map((length, part) => [
      `part_${part}`,
      {
        ...{ initial: 'step_0', states: chain(length) },
        on: part < lengths.length - 1 ? { end: `part_${part + 1}` } : {},
      },
    ]),
  ),
});

test('children of composite states are side by side where the drawing is larger then', async () => {
  const { states, arrows, height } = await diagramOf('tall', tall, new Elk.default());
  const boxOf = (id: string) => states.find((state) => state.id === id)!;
  const isRow = (part: number) => boxOf(`part_${part}.step_0`).y === boxOf(`part_${part}.step_1`).y;
  expect(lengths.map((_, part) => isRow(part))).toContain(true);
  expect(height).toBeLessThan(1_000);
  expect(arrows.length).toBe(lengths.reduce((sum, length) => sum + length, 0) - 1);
  for (const { from, to, points } of arrows) {
    for (const [id, point] of [
      [from, points[0]],
      [to, points.at(-1)],
    ] as const) {
      const { x, y, width, height: high } = boxOf(id);
      expect(point!.x, `${from} ${to}`).toBeGreaterThanOrEqual(x - 1);
      expect(point!.x).toBeLessThanOrEqual(x + width + 1);
      expect(point!.y).toBeGreaterThanOrEqual(y - 1);
      expect(point!.y).toBeLessThanOrEqual(y + high + 1);
    }
  }
});
