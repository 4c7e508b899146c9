/**
 * Whatever happens, in whatever order: the invariants of alert-groups §1 hold, and the same happenings lead to the
 * same end.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MINUTE } from '../../runtime/clock.ts';
import { ON_CALL_POLICY } from '../route/policy.ts';
import type { Command } from './messages.ts';
import { isLifecycle } from './reading/timeline.ts';
import { firingAlerts, keyOf } from './rows.ts';
import { contextOf, isMoved, isOpen, isUnclaimed, statusOf } from './state.ts';
import {
  ANN,
  BOB,
  createWorld,
  DEFAULT_ROUTE,
  type DestinationHealth,
  OTHER_SENDER,
  ROB,
  ROUTE,
  SENDER,
  type Telling,
} from './world.fixture.ts';

type World = ReturnType<typeof createWorld>;

/** One thing that happens. Groups are chosen by how many are newer. */
type Happening =
  | { readonly is: 'told'; readonly telling: Telling }
  | { readonly is: 'time'; readonly minutes: number; readonly away: boolean }
  | {
      readonly is: 'command';
      readonly group: number;
      readonly command: Command;
      readonly by: typeof ANN | typeof ROB;
    }
  | { readonly is: 'user'; readonly who: typeof ANN; readonly active: boolean }
  | { readonly is: 'policy'; readonly change: Partial<typeof ON_CALL_POLICY> }
  | { readonly is: 'route'; readonly urgent: boolean; readonly groupKey: readonly string[] }
  | { readonly is: 'destination'; readonly health: DestinationHealth }
  | { readonly is: 'integration_deleted'; readonly integrationId: typeof SENDER }
  | {
      readonly is: 'message';
      readonly group: number;
      readonly type: 'move' | 'held' | 'released' | 'downtime';
    };

const names = fc.uniqueArray(fc.constantFrom('X1', 'X2', 'XC', 'XI', 'Xb', 'P1', 'P2'), { maxLength: 3 });
const group = fc.constantFrom(0, 0, 1, 2);
const person = fc.constantFrom(ANN, BOB);

const telling: fc.Arbitrary<Telling> = fc.record({
  fires: names,
  resolves: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: names }),
  gone: fc.uniqueArray(fc.constantFrom('X1', 'X2', 'P1'), { maxLength: 1 }),
  stale: fc.uniqueArray(fc.constantFrom('XC', 'Xb'), { maxLength: 1 }),
  annotations: fc.constantFrom({}, { summary: 's' }, { summary: 't' }),
  newStart: fc.boolean(),
  feed: fc.constantFrom('G', 'H'),
  integration: fc.constantFrom(SENDER, SENDER, OTHER_SENDER),
});

const command: fc.Arbitrary<Command> = fc.constantFrom<Command>(
  { name: 'acknowledge' },
  { name: 'acknowledge' },
  { name: 'acknowledge' },
  { name: 'acknowledge', sparesOwner: true },
  { name: 'unacknowledge' },
  { name: 'resolve', note: null },
  { name: 'resolve', note: 'done' },
  { name: 'unresolve' },
  { name: 'snooze', until: null },
  { name: 'snooze', until: 100 * MINUTE },
  { name: 'unsnooze' },
  { name: 'still_on_it' },
  { name: 'add_note', body: 'n' },
);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ is: fc.constant('told' as const), telling }) },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant('time' as const),
      minutes: fc.constantFrom(1, 14, 15, 60, 300, 500, 3_000),
      away: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant('command' as const),
      group,
      command,
      by: fc.constantFrom(ANN, ANN, BOB, ROB),
    }),
  },
  fc.record({ is: fc.constant('user' as const), who: person, active: fc.boolean() }),
  fc.record({
    is: fc.constant('policy' as const),
    change: fc.record({
      ack_timeout: fc.record({ enabled: fc.boolean(), first_interval_seconds: fc.constantFrom(1, 900) }),
      reminders: fc.record({
        enabled: fc.boolean(),
        first_interval_seconds: fc.constantFrom(60, 14_400),
        cap_seconds: fc.constantFrom(3_600, 86_400),
      }),
      auto_unacknowledge: fc.boolean(),
      urgent_rise_removes_ack: fc.boolean(),
      reopen_window_seconds: fc.constantFrom(0, 900),
      grace_period_seconds: fc.constantFrom(0, 900),
    }),
  }),
  fc.record({
    is: fc.constant('route' as const),
    urgent: fc.boolean(),
    groupKey: fc.constantFrom(['alertname', 'cluster'], ['cluster'], []),
  }),
  fc.record({
    is: fc.constant('destination' as const),
    health: fc.constantFrom<DestinationHealth>('accepts', 'accepts', 'none', 'broken'),
  }),
  fc.record({
    is: fc.constant('integration_deleted' as const),
    integrationId: fc.constantFrom(SENDER, OTHER_SENDER),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('message' as const),
      group,
      type: fc.constantFrom('move', 'held', 'released', 'downtime'),
    }),
  },
);

async function apply(world: World, event: Happening): Promise<void> {
  const at = world.now();
  const count = world.count();
  switch (event.is) {
    case 'told':
      return world.tell(event.telling);
    case 'time': {
      const until = at / MINUTE + event.minutes;
      return event.away ? world.awayUntil(until) : world.at(until);
    }
    case 'command': {
      if (count === 0) return;
      const { command: given } = event;
      // A Snooze ends some time from now.
      const ends = given.name === 'snooze' && given.until !== null;
      const chosen = ends ? { ...given, until: at + (given.until ?? 0) } : given;
      await world.command(count - (event.group % count), chosen, event.by);
      return;
    }
    case 'user': {
      if (event.active) return void world.enable(event.who);
      world.disable(event.who);
      const released = { type: 'owner_released', userId: event.who.id, reason: 'owner_disabled' } as const;
      for (const { groupId } of world.groups()) await world.sendTo(groupId, released);
      return;
    }
    case 'policy':
      return world.route(ROUTE, { policy: { ...ON_CALL_POLICY, ...event.change } });
    case 'route':
      return world.route(ROUTE, { urgent: event.urgent, groupKey: event.groupKey });
    case 'destination':
      return world.destination(event.health);
    case 'integration_deleted': {
      const deleted = {
        type: 'integration_deleted',
        integrationId: event.integrationId,
        name: 'lab',
        at,
      } as const;
      for (const { groupId } of world.groups()) await world.sendTo(groupId, deleted);
      return;
    }
    case 'message': {
      if (count === 0) return;
      const number = count - (event.group % count);
      if (event.type === 'move')
        await world.send(number, { type: 'route_moved', fromRouteId: ROUTE, toRouteId: DEFAULT_ROUTE });
      else if (event.type === 'downtime') await world.send(number, { type: 'downtime', from: 0, to: at });
      else await world.send(number, { type: event.type, at });
      return;
    }
  }
}

function checkInvariants(world: World): void {
  const firingIn = new Map<string, number>();
  const openSlots = new Set<string>();
  for (const { state, rows, wakeAt, row } of world.groups()) {
    const context = contextOf(state);
    const status = statusOf(state);
    const firing = firingAlerts(rows);
    const number = state.number ?? 0;
    const bySystem = context.resolution?.by === 'system';
    expect(row?.status).toBe(status);
    expect(row?.firingAlertCount).toBe(firing.length);
    const summaries = firing.map(({ report }) => report.annotations.summary ?? null);
    const said = summaries.filter((summary) => summary !== null);
    if (firing.length > 0) expect(said.length > 0 ? said : summaries).toContain(row?.summary);
    if (isOpen(state)) expect(firing.length).toBeGreaterThan(0);
    if (bySystem) expect(firing).toEqual([]);

    expect(context.owner !== null).toBe(status === 'acknowledged');
    if (context.owner) expect(world.isActive(context.owner.id)).toBe(true);
    expect(context.snooze !== null).toBe(status === 'snoozed');
    expect(context.resolvedAt !== null).toBe(status === 'resolved');
    expect(context.resolution !== null).toBe(status === 'resolved');
    if (context.reopenDeadline !== null) expect([bySystem, isMoved(state)]).toEqual([true, false]);
    if (context.graceDeadline !== null) expect(context.resolution?.by).toBe('user');
    if (isUnclaimed(state)) expect([status, context.noticesSent]).toEqual(['firing', 3]);
    if (context.noticeAt !== null) {
      expect(['firing', 'acknowledged']).toContain(status);
      expect([context.held, context.firstPublishedAt === null]).toEqual([false, false]);
    }
    // Nothing that was due is left behind; what a step makes due at once is woken next.
    if (wakeAt !== null) expect(wakeAt).toBeGreaterThanOrEqual(world.now());

    for (const alert of firing) {
      expect(firingIn.get(keyOf(alert)) ?? number).toBe(number);
      firingIn.set(keyOf(alert), number);
    }
    if (isOpen(state) && !isMoved(state)) {
      const slot = `${state.slot.routeId} ${state.slot.keyHash}`;
      expect(openSlots.has(slot)).toBe(false);
      openSlots.add(slot);
    }
    const entries = world.entries(number).filter(isLifecycle);
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.map(({ event }) => event).lastIndexOf('created')).toBe(0);
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).sort((a, b) => a - b));
  }
}

test('the invariants hold after every step, and neither a replay nor a process that never restarts differs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 40 }), async (happenings) => {
      const [first, again, immortal] = [
        createWorld({ destination: 'accepts' }),
        createWorld({ destination: 'accepts' }),
        createWorld({ destination: 'accepts', stores: false }),
      ];
      for (const one of happenings) {
        await apply(first, one);
        checkInvariants(first);
        await apply(again, one);
        await apply(immortal, one);
      }
      expect(again.dump()).toEqual(first.dump());
      expect(immortal.dump()).toEqual(first.dump());
    }),
    { numRuns: 36 },
  );
}, 60_000);
