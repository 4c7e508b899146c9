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
    { from: null, to: null, event: 'ring', guard: null, actions: ['chime'] },
    { from: 'shut', to: 'open', event: 'push', guard: 'unlocked', actions: ['creak', 'greet'] },
    { from: 'open', to: 'shut', event: 'always', guard: 'windy', actions: [] },
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
