import { describe, expect, it } from 'vitest';
import type { Diagram } from '../../../../scripts/machines/diagram.ts';
import {
  actorHref,
  type Choice,
  chosenTransitions,
  commitDelay,
  countsByState,
  drawnTransitions,
  EVERYTHING,
  effectsByKind,
  eventsOf,
  groupStates,
  isArrowOf,
  isPossible,
  pictureSize,
  presentStates,
  splitActor,
  subjectHref,
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

it('transitions that were taken are shown as they are drawn, and others as they are', () => {
  const [, snooze] = diagram.transitions;
  const { from, to, event, guard } = snooze!;
  const taken = { from, to, event, guard, actions: [] };
  expect(drawnTransitions(diagram.transitions, [taken])[0]).toBe(snooze);
  for (const difference of [{ from: 'open' }, { to: null }, { event: 'sleep' }, { guard: null }]) {
    expect(drawnTransitions(diagram.transitions, [{ ...taken, ...difference }])).toMatchObject([
      { ...taken, ...difference },
    ]);
  }
});

describe('what a message led to', () => {
  const i18n = {
    locale: 'en' as const,
    word: (_: string, word: string) => (word === 'feed' ? 'Feed' : word),
  };

  it('is grouped by its sort, with how many there are of each', () => {
    const effects = [
      { kind: 'perform', type: 'hint', to: null, count: 1 },
      { kind: 'send', type: 'ended', to: 'feed', count: 1 },
      { kind: 'send', type: 'seen', to: 'alert_group', count: 1_200 },
    ] as const;
    expect(effectsByKind(i18n, [...effects])).toEqual([
      { kind: 'send', texts: ['ended → Feed', 'seen → alert group × 1,200'] },
      { kind: 'perform', texts: ['hint'] },
    ]);
    expect(effectsByKind(i18n, [])).toEqual([]);
  });

  it.each([
    ['2026-10-03T10:00:00.012Z', 12],
    ['2026-10-03T09:59:59Z', 0],
    [null, null],
  ])('committed at %s is %j ms after the turn', (committed_at, delay) => {
    expect(commitDelay({ at: '2026-10-03T10:00:00Z', committed_at })).toBe(delay);
  });
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

describe('a picture of a drawing', () => {
  it.each([
    [334, 481, 2],
    [2_098, 2_328, 1.809],
    [5_248, 2_374, 1.133],
    [16_000, 100, 0.512],
  ])('of %d × %d is %d times as large, so that a phone can draw it', (width, height, scale) => {
    const [wide, high] = pictureSize(width, height);
    expect([wide / width, high / height]).toEqual([expect.closeTo(scale, 1), expect.closeTo(scale, 1)]);
    expect(wide * high).toBeLessThanOrEqual(16_000_000);
    expect(Math.max(wide, high)).toBeLessThanOrEqual(8_192);
  });
});
