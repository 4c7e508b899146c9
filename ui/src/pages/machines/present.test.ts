import { describe, expect, it } from 'vitest';
import type { Diagram } from '../../../../runtime/cli/machines/diagram.ts';
import {
  actorHref,
  type Choice,
  chosenTransitions,
  countsByState,
  EVERYTHING,
  eventsOf,
  groupStates,
  isArrowOf,
  isPossible,
  presentStates,
  splitActor,
  subjectHref,
  transitionsBetween,
} from './present.ts';

const diagram = {
  transitions: [
    { from: null, to: null, event: 'note', guard: null, actions: ['keepNote'] },
    { from: 'open.firing', to: 'open.snoozed', event: 'snooze', guard: 'future', actions: ['setTimer'] },
    { from: 'open', to: 'resolved', event: 'resolve', guard: null, actions: [] },
  ],
} as unknown as Diagram;
const events = (choice: Partial<Choice>) =>
  chosenTransitions(diagram, { ...EVERYTHING, ...choice }).map(({ event }) => event);

it.each([
  [['snooze'], ['open', 'open.firing'], ['open', 'open.snoozed'], ['snooze']],
  [['snooze'], ['open', 'open.firing'], ['open', 'open.firing'], []],
  [['note'], ['open'], ['open'], ['note']],
  [['note', 'resolve'], ['open'], ['resolved'], ['note', 'resolve']],
  [['resolve'], [], ['resolved'], ['resolve']],
  [[], ['open'], ['open'], []],
])('the transitions of %j from %j to %j', (events, before, after, found) => {
  expect(transitionsBetween(diagram, events, before, after).map(({ event }) => event)).toEqual(found);
});

it('counts the actors of a kind in each state, with those of the states within it', () => {
  const states = ['open', 'open.firing', 'open.snoozed', 'resolved'].map((id) => ({ id }));
  const drawn = (kind: string) => ({ kind, states }) as unknown as Diagram;
  const counts = [
    { kind: 'thing', state: { open: 'firing' }, count: 2 },
    { kind: 'thing', state: { open: 'snoozed' }, count: 3 },
    { kind: 'thing', state: null, count: 4 },
    { kind: 'other', state: 'resolved', count: 7 },
  ];
  expect([...(countsByState(drawn('thing'), counts) ?? [])]).toEqual([
    ['open', 5],
    ['open.firing', 2],
    ['open.snoozed', 3],
    ['resolved', 0],
  ]);
  expect(countsByState(drawn('delivery'), counts)).toBeNull();
});

describe('present states', () => {
  it.each([
    ['firing', ['firing']],
    [{ open: 'firing' }, ['open', 'open.firing']],
    [{ a: { b: 'c' }, d: 'e' }, ['a', 'a.b', 'a.b.c', 'd', 'd.e']],
    [null, []],
  ])('of %j', (value, states) => expect(presentStates(value)).toEqual(states));

  const resolution = { actor: null, reason: null, reason_text: null };
  it.each([
    [{ status: 'firing', unclaimed: false, resolution: null }, ['firing']],
    [{ status: 'firing', unclaimed: true, resolution: null }, ['firing', 'firing.unclaimed']],
    [{ status: 'snoozed', unclaimed: false, resolution: null }, ['snoozed']],
    [
      { status: 'resolved', unclaimed: false, resolution: { ...resolution, by: 'user' } },
      ['resolved', 'resolved.person'],
    ],
    [
      { status: 'resolved', unclaimed: false, resolution: { ...resolution, by: 'system' } },
      ['resolved', 'resolved.system'],
    ],
  ] as const)('as everybody sees them of %j', (group, states) => expect(groupStates(group)).toEqual(states));

  it('say which transitions are possible', () => {
    const present = presentStates({ open: 'firing' });
    expect(diagram.transitions.map((each) => isPossible(each, present))).toEqual([true, true, true]);
    expect(diagram.transitions.map((each) => isPossible(each, ['resolved']))).toEqual([true, false, false]);
  });
});

describe('a choice of transitions', () => {
  it('takes those that leave or reach the state, and those of every state', () => {
    expect(events({ state: 'open.snoozed', text: '' })).toEqual(['note', 'snooze']);
  });

  it('takes those of an event', () => {
    expect(eventsOf(diagram)).toEqual(['note', 'resolve', 'snooze']);
    expect(events({ event: 'resolve' })).toEqual(['resolve']);
    expect(events({ event: 'resolve', state: 'open.snoozed' })).toEqual([]);
  });

  it.each([
    ['SNOOZE', ['snooze']],
    ['future', ['snooze']],
    ['settimer', ['snooze']],
    ['resolved', ['resolve']],
    ['nothing', []],
  ])('finds %s in any name', (text, found) => expect(events({ text })).toEqual(found));
});

it('an arrow belongs to the transitions that it stands for', () => {
  const arrow = {
    from: 'open.firing',
    to: 'open.snoozed',
    labels: ['snooze [future]'],
    points: [],
  };
  expect(isArrowOf(arrow, diagram.transitions)).toBe(true);
  expect(isArrowOf({ ...arrow, labels: ['snooze'] }, diagram.transitions)).toBe(false);
  expect(isArrowOf(arrow, diagram.transitions.slice(2))).toBe(false);
});

it('the address of an actor survives a key with slashes, braces and quotes', () => {
  const key = 'NT1/{}:{alertname="x"}';
  const [, , kind, encoded] = actorHref('feed', key).split('/');
  expect(splitActor(`${kind}/${decodeURIComponent(encoded!)}`)).toEqual({ kind: 'feed', key });
  expect(subjectHref('feed', key)).toBeNull();
  expect(subjectHref('route', 'RT1')).toBe('/routes/RT1');
});
