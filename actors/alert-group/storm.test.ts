/** What a Storm of its Route does to an Alert Group (alert-groups §9). Minutes are virtual. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE } from '../../runtime/clock.ts';
import { ANN, createWorld, DEFAULT_ROUTE, ROUTE } from './world.fixture.ts';

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld({ destination: 'accepts' });
});

const hold = (number = 1) => world.send(number, { type: 'held', at: 0 });
const release = (number = 1) => world.send(number, { type: 'released', at: 0 });
const shown = (number = 1) => {
  const { held, firstPublishedAt, noticeAt } = world.context(number);
  return [held, firstPublishedAt === null ? null : firstPublishedAt / MINUTE, noticeAt && noticeAt / MINUTE];
};

describe('the Route', () => {
  test('is told of a new Alert Group and of nothing else', async () => {
    await world.at(1);
    await world.tell({ fires: ['X1'] });
    expect(world.takeToldRoutes()).toEqual([
      { routeId: ROUTE, type: 'group_created', groupId: expect.any(String), urgent: false, at: MINUTE },
    ]);
    await world.tell({ fires: ['X2'], resolves: ['X1'] });
    await world.command(1, { name: 'acknowledge' }, ANN);
    await world.tell({ resolves: ['X2'] });
    await world.tell({ fires: ['X2'] });
    expect(world.takeToldRoutes()).toEqual([]);
  });

  test('is told of an Urgent one as such', async () => {
    await world.tell({ fires: ['XC'] });
    expect(world.takeToldRoutes()).toMatchObject([{ urgent: true }]);
  });

  test('is told of one that begins at the end of a Grace period', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, { name: 'resolve', note: null }, ANN);
    world.takeToldRoutes();
    await world.at(15);
    expect(world.takeToldRoutes()).toMatchObject([{ type: 'group_created', at: 15 * MINUTE }]);
  });
});

describe('a held Alert Group', () => {
  test('is not published, though a webhook accepted it, until the hold ends', async () => {
    await world.tell({ fires: ['X1'] });
    expect(shown()).toEqual([false, 0, 15]);
    await hold();
    expect(shown()).toEqual([true, null, null]);
    await world.at(30);
    expect(world.events(1)).toEqual(['created L [new_alert_group]']);
    await release();
    expect(shown()).toEqual([false, 30, 45]);
    expect(world.takeToldRoutes()).toHaveLength(1);
  });

  test('is posted at once when it rises to Urgent, and tells the Route', async () => {
    await world.tell({ fires: ['X1'] });
    await hold();
    world.takeToldRoutes();
    await world.at(2);
    await world.tell({ fires: ['XC'] });
    expect(shown()).toEqual([false, 2, 17]);
    expect(world.takeToldRoutes()).toMatchObject([
      { routeId: ROUTE, type: 'group_unheld', becameUrgent: true },
    ]);
    await release();
    expect(world.takeToldRoutes()).toEqual([]);
  });

  test('is posted at once when an edit makes it Urgent', async () => {
    await world.tell({ fires: ['X1'] });
    await hold();
    world.takeToldRoutes();
    await world.send(1, { type: 'urgency_edited' });
    expect(shown()).toEqual([true, null, null]);
    world.route(ROUTE, { urgent: true });
    await world.send(1, { type: 'urgency_edited' });
    expect(shown()[0]).toBe(false);
    expect(world.takeToldRoutes()).toMatchObject([{ type: 'group_unheld', becameUrgent: true }]);
  });

  test('that is Urgent by the time of the word is not held', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['XC'] });
    await hold();
    expect(shown()).toEqual([false, 0, 15]);
  });

  test('that is moved away is held no more, and the Route it left is told', async () => {
    await world.tell({ fires: ['X1'] });
    await hold();
    world.takeToldRoutes();
    await world.send(1, { type: 'route_moved', fromRouteId: ROUTE, toRouteId: DEFAULT_ROUTE });
    expect(shown()[0]).toBe(false);
    expect(world.takeToldRoutes()).toMatchObject([
      { routeId: ROUTE, type: 'group_unheld', becameUrgent: false },
    ]);
  });

  test('that resolves stays held until the Storm ends, and is let go quietly', async () => {
    await world.tell({ fires: ['X1'] });
    await hold();
    await world.tell({ resolves: ['X1'] });
    expect(shown()[0]).toBe(true);
    await release();
    expect([shown()[0], world.row(1).status]).toEqual([false, 'resolved']);
    expect(world.events(1)).toEqual(['created L [new_alert_group]', 'resolved Q']);
  });

  test('keeps a Snooze, an Owner and everything else it is told', async () => {
    await world.tell({ fires: ['X1'] });
    await hold();
    await world.command(1, { name: 'acknowledge' }, ANN);
    expect([world.row(1).status, ...shown()]).toEqual(['acknowledged', true, null, null]);
    await world.at(5);
    await release();
    // Reminders begin with the Publication.
    expect(shown()).toEqual([false, 5, 5 + 240]);
  });
});
