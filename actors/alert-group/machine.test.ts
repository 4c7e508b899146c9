import { describe, expect, test } from 'vitest';
import type { AnyStateNode, SnapshotFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { begin, persistSnapshot, restoreSnapshot, step } from '../../runtime/actor/index.ts';
import { HOUR, MINUTE } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { UserActor } from '../model.ts';
import { alertGroupMachine } from './machine.ts';
import type { GroupContext, GroupEvent, Happening, TimerPolicy } from './machine-types.ts';
import { ROW_NAMES, type RowName, type TableState, transitionRow } from './transitions.ts';

const ROUTE = 'RT000000000001' as PublicId;
const DEFAULT = 'RT000000000002' as PublicId;

function user(name: string): UserActor {
  const id = `SR00000000000${name.length}` as PublicId;
  return { kind: 'user', id, name, login: name, tokenName: null, transport: 'ui' };
}

const ANN = user('ann');
const BORIS = user('boris');
const AT = 10 * MINUTE;
const TIMERS: TimerPolicy = {
  ackTimeout: 15 * MINUTE,
  reminders: { first: 4 * HOUR, cap: 24 * HOUR },
  autoUnacknowledge: false,
};
const OFF: TimerPolicy = { ackTimeout: null, reminders: null, autoUnacknowledge: false };
const LAST_REMINDER = 7;
const resolveAlerts = (remaining: number): Happening => ({
  type: 'alerts_resolve',
  at: AT,
  remaining,
  reason: 'gone',
  reasonText: null,
  reopenWindow: HOUR,
});
const reopen = (receivedAt: number, ownerActive: boolean): Happening => ({
  type: 'reopen',
  at: receivedAt,
  receivedAt,
  alerts: ['a'],
  ownerActive,
});
const snooze = (until: number | null, urgent = false): Happening => ({
  type: 'snooze',
  at: AT,
  by: ANN,
  until,
  urgent,
});

/** Every event in every variant that a guard tells apart. */
const HAPPENINGS: readonly Happening[] = [
  { type: 'annotate', at: AT, alerts: ['a'] },
  { type: 'continue', at: AT, alerts: ['a'] },
  { type: 'join', at: AT, alerts: ['b'] },
  { type: 'replace', at: AT, alerts: ['b'] },
  { type: 'severity_rises', at: AT },
  { type: 'rises_to_urgent', at: AT, removesAcknowledgement: true },
  { type: 'rises_to_urgent', at: AT, removesAcknowledgement: false },
  resolveAlerts(1),
  resolveAlerts(0),
  reopen(AT + 1, true),
  reopen(AT + 1, false),
  reopen(AT + 2 * HOUR, true),
  { type: 'acknowledge', at: AT, by: ANN },
  { type: 'acknowledge', at: AT, by: BORIS },
  { type: 'unacknowledge', at: AT },
  { type: 'resolve', at: AT, by: ANN, gracePeriod: HOUR },
  { type: 'unresolve', at: AT },
  snooze(AT + 2),
  snooze(null),
  snooze(null, true),
  { type: 'unsnooze', at: AT },
  { type: 'note', at: AT, by: ANN },
  { type: 'note', at: AT, by: BORIS },
  { type: 'still_on_it', at: AT },
  { type: 'unclaim', at: AT },
  { type: 'reminder_delivered', at: AT, sequence: LAST_REMINDER },
  { type: 'reminder_delivered', at: AT, sequence: LAST_REMINDER - 1 },
  { type: 'snooze_end', at: AT },
  { type: 'grace_end', at: AT },
  { type: 'window_end', at: AT },
  { type: 'owner_released', at: AT, userId: ANN.id },
  { type: 'move', at: AT, toRouteId: DEFAULT },
  { type: 'publish', at: AT },
  { type: 'hold', at: AT },
  { type: 'release', at: AT },
  { type: 'downtime', at: AT },
];

const noticeDue = (at: number): Happening => ({ type: 'notice_due', at, sequence: LAST_REMINDER });

const EVENTS: readonly GroupEvent[] = [
  ...HAPPENINGS.map((happening) => under(TIMERS, happening)),
  under(TIMERS, noticeDue(AT)),
  under(TIMERS, noticeDue(AT + 200 * HOUR)),
  under({ ...TIMERS, autoUnacknowledge: true }, noticeDue(AT)),
  under(OFF, noticeDue(AT)),
  under(OFF, { type: 'acknowledge', at: AT, by: ANN }),
  under(OFF, { type: 'publish', at: AT }),
  under(OFF, { type: 'unacknowledge', at: AT }),
];

function under(timers: TimerPolicy, happening: Happening): GroupEvent {
  return { ...happening, timers };
}

interface Declared {
  readonly from: TableState;
  readonly trigger: string;
  readonly guard: string | null;
  readonly to: TableState | 'same';
}

/** The state as the table speaks of it: a status, or one of the two ways to be resolved, whatever is inside them. */
function tableState({ path: [status, way] }: AnyStateNode): TableState {
  return (status === 'resolved' ? `resolved.${way}` : status) as TableState;
}

/** Every transition that the machine declares, by the row it names. */
function declared(): Map<string, Declared[]> {
  const found = new Map<string, Declared[]>();
  const visit = (node: AnyStateNode): void => {
    for (const candidates of node.transitions.values()) {
      for (const { eventType, guard, actions, target } of candidates) {
        const record = actions.find((action) => (action as { type?: string }).type === 'record');
        const row =
          (record as { params?: { row?: string } } | undefined)?.params?.row ?? `none: ${eventType}`;
        const [reached] = target ?? [];
        const inside = reached === undefined || tableState(reached) === tableState(node);
        const leaves = reached !== undefined && (!inside || reached === node);
        found.set(row, [
          ...(found.get(row) ?? []),
          {
            from: tableState(node),
            trigger: eventType,
            guard: (guard as string | undefined) ?? null,
            to: leaves ? tableState(reached) : 'same',
          },
        ]);
      }
    }
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(alertGroupMachine.root);
  return found;
}

describe('the machine and the transition table say the same', () => {
  const transitions = declared();
  const rows = ROW_NAMES.filter((name) => name !== 'create');

  test('every transition names a row, every row has a transition', () => {
    expect([...transitions.keys()].sort()).toEqual([...rows].sort());
  });

  test.each(rows)('%s', (name) => {
    const { from, trigger, guard, to } = transitionRow(name);
    const actual = transitions.get(name) ?? [];
    expect([...new Set(actual.map((one) => one.from))].sort()).toEqual([...from].sort());
    expect(new Set(actual.map((one) => one.trigger))).toEqual(new Set([trigger]));
    const guards = new Set(actual.map((one) => one.guard).filter((one) => one !== null));
    expect([...guards].filter((one) => one !== guard)).toEqual(name === 'resolve-tail' ? ['othersFire'] : []);
    expect(new Set(actual.map((one) => one.to))).toEqual(new Set([to]));
  });
});

/** What guards tell apart: of times and counts that only ever grow, whether they are there. */
function essence({ reminders, prior, ...context }: GroupContext) {
  const progress = prior?.status === 'acknowledged' ? prior.reminders : reminders;
  return {
    ...context,
    prior: prior && { ...prior, reminders: null },
    progress: progress && { ...progress, sent: 0, unanswered: Math.min(progress.unanswered, 2) },
    firstAcknowledgedAt: null,
    firstAcknowledgedBy: null,
    firstPublishedAt: context.firstPublishedAt !== null,
    noticeAt: context.noticeAt !== null,
    noticesSent: Math.min(context.noticesSent, 3),
  };
}

const machine = alertGroupMachine;
const paths = getShortestPaths(machine, {
  input: { at: 0, routeId: ROUTE },
  events: [...EVENTS],
  serializeState: ({ value, context }) => JSON.stringify([value, essence(context)]),
  limit: 40_000,
  stopWhen: ({ context }) => context.reopenCount > 0,
});

describe('walking every reachable state', () => {
  const taken = new Set<RowName>();
  const twice: string[] = [];
  for (const { state } of paths) {
    for (const event of EVENTS) {
      const rows = step(machine, state, event).emitted.map(({ row }) => row);
      for (const row of rows) taken.add(row);
      if (rows.length > 1) twice.push(rows.join(' and '));
    }
  }

  test('takes every row', () => {
    expect([...taken].sort()).toEqual(ROW_NAMES.filter((name) => name !== 'create').sort());
  });

  test('keeps the invariants of alert-groups §1', () => {
    for (const { state } of paths) {
      const { value, context } = state;
      const resolved = typeof value === 'object' && 'resolved' in value;
      const runs = (timers: object) => JSON.stringify(value) === JSON.stringify(timers);
      const counting = runs({ firing: 'counting' }) || runs({ acknowledged: 'counting' });
      expect(context.owner !== null).toBe(typeof value === 'object' && 'acknowledged' in value);
      expect(context.reminders !== null).toBe(context.owner !== null);
      if (context.noticeAt !== null) expect([counting, context.held]).toEqual([true, false]);
      if (counting) expect(context.firstPublishedAt).not.toBeNull();
      if (context.noticesSent > 0) expect(value).toHaveProperty('firing');
      if (runs({ firing: 'unclaimed' })) expect(context.noticesSent).toBeGreaterThan(2);
      expect(context.snooze !== null).toBe(value === 'snoozed');
      expect(context.resolvedAt !== null && context.resolution !== null).toBe(resolved);
      expect(context.prior !== null).toBe(resolved && context.resolution?.by === 'system');
      const moved = context.routeId !== context.originalRouteId;
      if (context.reopenDeadline !== null) expect([context.resolution?.by, moved]).toEqual(['system', false]);
      if (context.graceDeadline !== null) expect(context.resolution?.by).toBe('user');
    }
  });

  test('one event takes one row at most', () => {
    expect(twice).toEqual([]);
  });

  test('every state survives its way to storage and back', () => {
    for (const { state } of paths) {
      const stored: unknown = JSON.parse(JSON.stringify(persistSnapshot(machine, state)));
      const { value, context } = restoreSnapshot(machine, stored);
      expect({ value, context }).toEqual({ value: state.value, context: state.context });
    }
  });
});

test('a Reopen outside its window is not a transition', () => {
  const resolved = happens(begin(machine, { at: 0, routeId: ROUTE }), resolveAlerts(0));
  expect(step(machine, resolved, under(TIMERS, reopen(AT + HOUR, true))).emitted).toEqual([]);
  expect(step(machine, resolved, under(TIMERS, reopen(AT + HOUR - 1, true))).emitted).toEqual([
    { type: 'row', row: 'reopen-firing' },
  ]);
});

function happens(snapshot: SnapshotFrom<typeof machine>, happening: Happening, timers = TIMERS) {
  return step(machine, snapshot, under(timers, happening)).snapshot;
}

test('who acknowledged first is kept through a takeover and a second Acknowledge', () => {
  const by = (person: UserActor, at: number) => ({ type: 'acknowledge', at, by: person }) as const;
  const acknowledged = happens(begin(machine, { at: 0, routeId: ROUTE }), by(ANN, 1));
  const first = { firstAcknowledgedAt: 1, firstAcknowledgedBy: ANN.id };
  expect(acknowledged.context).toMatchObject(first);
  const taken = happens(acknowledged, by(BORIS, 2));
  expect(taken.context).toMatchObject({ ...first, owner: { id: BORIS.id } });
  const again = happens(happens(taken, { type: 'unacknowledge', at: 3 }), by(BORIS, 4));
  expect(again.context).toMatchObject(first);
});

test('who acknowledged first is not made up for a group of an older version', () => {
  const begun = begin(machine, { at: 0, routeId: ROUTE });
  const acknowledged = happens(begun, { type: 'acknowledge', at: 1, by: ANN });
  const { firstAcknowledgedBy: _, ...context } = acknowledged.context;
  const older = { ...acknowledged, context } as typeof acknowledged;
  const taken = happens(older, { type: 'acknowledge', at: 2, by: BORIS });
  expect(taken.context.firstAcknowledgedBy ?? null).toBeNull();
});

describe('a Storm holds the Publication', () => {
  const begun = begin(machine, { at: 0, routeId: ROUTE });
  const held = happens(begun, { type: 'hold', at: 1 });

  test('what a Destination accepts meanwhile counts from the release on', () => {
    const accepted = happens(held, { type: 'publish', at: 2 });
    expect(accepted.value).toEqual({ firing: 'waiting' });
    expect(accepted.context).toMatchObject({ firstPublishedAt: null, noticeAt: null });
    const released = happens(accepted, { type: 'release', at: 3 });
    expect(released.value).toEqual({ firing: 'counting' });
    expect(released.context).toMatchObject({
      held: false,
      firstPublishedAt: 3,
      noticeAt: 3 + 15 * MINUTE,
    });
  });

  test('said twice it is one hold', () => {
    const again = happens(happens(held, { type: 'publish', at: 2 }), { type: 'hold', at: 3 });
    expect(happens(again, { type: 'release', at: 4 }).context.firstPublishedAt).toBe(4);
  });

  test('a release without that waits for a Destination', () => {
    const released = happens(held, { type: 'release', at: 3 });
    expect(released.value).toEqual({ firing: 'waiting' });
    expect(happens(released, { type: 'publish', at: 4 }).context.firstPublishedAt).toBe(4);
  });

  test('a hold that comes after the Publication takes it back until the release', () => {
    const acknowledged = happens(happens(begun, { type: 'publish', at: 1 }), {
      type: 'acknowledge',
      at: 2,
      by: ANN,
    });
    const taken = happens(acknowledged, { type: 'hold', at: 3 });
    expect(taken.value).toEqual({ acknowledged: 'waiting' });
    expect(taken.context).toMatchObject({ firstPublishedAt: null, noticeAt: null });
    expect(happens(taken, { type: 'release', at: 5 }).context).toMatchObject({
      firstPublishedAt: 5,
      noticeAt: 5 + 4 * HOUR,
    });
  });
});
