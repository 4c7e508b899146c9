import { expect, test } from 'vitest';
import type { Diagram } from '../../../../scripts/machines/diagram.ts';
import { arrowText, lineName, linesOf, transitionsOfLine } from './lines.ts';

const arrow = (from: string, to: string, ...labels: string[]) => ({ from, to, labels, points: [] });
const transition = (from: string | null, to: string | null, event: string, guard: string | null = null) => ({
  ...{ from, to, event, guard },
  actions: [],
  row: null,
});
const diagram: Pick<Diagram, 'arrows' | 'transitions'> = {
  arrows: [
    arrow('shut', 'open', 'push [unlocked]', 'kick'),
    arrow('open', 'shut', 'always'),
    arrow('open', 'broken', 'kick'),
  ],
  transitions: [
    transition(null, null, 'ring'),
    transition('shut', null, 'push'),
    transition('shut', 'open', 'push', 'unlocked'),
    transition('shut', 'open', 'kick'),
    transition('open', 'shut', 'always'),
    transition('open', 'broken', 'kick'),
  ],
};

test('arrows both ways between two states share a line, with the transitions of both', () => {
  const [both, one, ...more] = linesOf(diagram);
  expect(more).toEqual([]);
  expect([lineName(both!), lineName(one!)]).toEqual(['shut ↔ open', 'open → broken']);
  expect(both!.arrows.map(arrowText)).toEqual(['shut → open: push [unlocked], kick', 'open → shut: always']);
  expect(transitionsOfLine(diagram, both!)).toEqual(diagram.transitions.slice(2, 5));
  expect(transitionsOfLine(diagram, one!)).toEqual(diagram.transitions.slice(5));
});
