import { expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { chartOf } from './chart.ts';
import { arranged, choicesOfRows, lanesHeight, rowPaths } from './rows.ts';

const chart = chartOf(
  createMachine({
    id: 'lift',
    initial: 'moving',
    states: {
      moving: {
        initial: 'slow',
        on: { reset: '.slow' },
        states: {
          slow: { on: { go: 'fast', stop: 'shut' } },
          fast: { on: { near: 'slow', check: 'fast' } },
          shut: { on: { open: '#lift.idle' } },
        },
      },
      idle: {},
    },
  }),
);
const ROWS = new Set(['moving']);
const box = (x: number, width = 80) => ({ x, y: 100, width, height: 30 });

test('states that hold no composite state may be rows', () => {
  expect(choicesOfRows(chart)).toEqual([new Set(), ROWS]);
});

test('the states of a row come in the order of the machine, but for those that arrows from outside reach', () => {
  const boxes = new Map([
    ['moving', { x: 0, y: 50, width: 400, height: 120 }],
    ['moving.fast', box(20)],
    ['moving.slow', box(120, 100)],
    ['moving.shut', box(240)],
  ]);
  expect(arranged(chart, 'moving', ROWS, boxes)).toEqual(
    new Map([
      ['moving.slow', box(20, 100)],
      ['moving.fast', box(140)],
      ['moving.shut', box(240)],
    ]),
  );
  const uneven = new Map(boxes).set('moving.shut', { ...box(240), y: 160 });
  expect(arranged(chart, 'moving', ROWS, uneven)).toBeNull();
});

test('lines between neighbours are straight, and others run below the states between', () => {
  const boxes = new Map([
    ['moving', { x: 0, y: 50, width: 400, height: 120 }],
    ['moving.slow', box(20)],
    ['moving.fast', box(120)],
    ['moving.shut', box(220)],
  ]);
  const paths = rowPaths(chart, 'moving', ROWS, boxes);
  expect(Object.fromEntries(paths)).toEqual({
    'moving moving.slow': [
      { x: 0, y: 115 },
      { x: 20, y: 115 },
    ],
    'moving.slow moving.fast': [
      { x: 100, y: 115 },
      { x: 120, y: 115 },
    ],
    'moving.fast moving.slow': [
      { x: 120, y: 115 },
      { x: 100, y: 115 },
    ],
    'moving.slow moving.shut': [
      { x: 60, y: 130 },
      { x: 60, y: 138 },
      { x: 260, y: 138 },
      { x: 260, y: 130 },
    ],
  });
  const lowest = Math.max(...[...paths.values()].flat().map(({ y }) => y));
  expect(lowest).toBeLessThanOrEqual(130 + lanesHeight(chart, 'moving', ROWS));
});
