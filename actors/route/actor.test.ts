import { describe, expect, test } from 'vitest';
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { createStormWorld, groupId } from './storm.fixture.ts';

const T: Micros = 1_791_020_467_000_000;

/** One every second: with threshold 2 the third starts a Storm, which ends 360 s after the instant two before the last. */
async function storm(count: number, threshold = 2) {
  const world = createStormWorld(threshold);
  for (let index = 0; index < count; index++) await world.created(T + index * SECOND);
  return world;
}

describe('a Storm', () => {
  test('holds the one that starts it and those after it, and releases them in order of #N', async () => {
    const world = await storm(5);
    expect(world.takeTold()).toEqual(['held #3', 'held #4', 'held #5']);
    expect(world.storms.at(-1)).toMatchObject({ since: T + 2 * SECOND, groupCount: 3, endedAt: null });
    expect(world.hints).toEqual(['route', 'system-status']);
    const end = T + 2 * SECOND + MINUTE + 5 * MINUTE;
    await world.runTo(end - 1);
    expect(world.takeTold()).toEqual([]);
    await world.runTo(end + SECOND);
    expect(world.takeTold()).toEqual(['released #3', 'released #4', 'released #5']);
    expect(world.storms).toHaveLength(1);
    expect(world.storms[0]).toMatchObject({ endedAt: end, groupCount: 3 });
    expect(world.hints).toHaveLength(4);
    expect([world.held(), world.wakeAt()]).toEqual([0, null]);
  });

  test('posts Urgent ones individually and counts them', async () => {
    const world = await storm(3);
    await world.created(T + 4 * SECOND, { urgent: true });
    expect(world.takeTold()).toEqual(['held #3']);
    expect(world.storms.at(-1)).toMatchObject({ groupCount: 2, urgentCount: 1 });
  });

  test('that ended while nobody looked ends at its own instant; a later burst is a new Storm', async () => {
    const world = await storm(3);
    world.takeTold();
    const later = T + 20 * MINUTE;
    for (const index of [0, 1, 2]) await world.created(later + index, { late: true });
    expect(world.storms).toMatchObject([
      { since: T + 2 * SECOND, endedAt: T + 6 * MINUTE },
      { since: later + 2, endedAt: null },
    ]);
    // The next Storm has its row; its summary is still to be finished wherever it waits.
    expect(world.state().past).toEqual([
      { since: T + 2 * SECOND, groupCount: 1, urgentCount: 0, endedAt: T + 6 * MINUTE },
    ]);
    await world.runTo(later + 3);
    expect(world.takeTold()).toEqual(['held #6', 'released #3']);
    expect(world.held()).toBe(1);
  });

  test('releases very many page by page', async () => {
    const world = createStormWorld(1);
    const count = world.pageSize * 2 + 1;
    for (let index = 0; index < count + 1; index++) await world.created(T + index);
    world.takeTold();
    const before = world.wakeUps();
    await world.runTo(T + 10 * MINUTE);
    expect(world.takeTold()).toEqual(Array.from({ length: count }, (_, index) => `released #${index + 2}`));
    expect(world.wakeUps() - before).toBe(4);
    expect(world.held()).toBe(0);
  });

  test('of a Route that another replica made is judged once the configuration is read', async () => {
    const world = createStormWorld(1, { isKnown: false });
    await world.created(T);
    await world.created(T + 1);
    expect(world.takeTold()).toEqual(['held #2']);
  });

  test('that is judged with the threshold of now', async () => {
    const world = await storm(2);
    world.setThreshold(5);
    await world.created(T + 3 * SECOND);
    expect(world.takeTold()).toEqual([]);
    world.setThreshold(1);
    await world.created(T + 4 * SECOND);
    expect(world.takeTold()).toEqual(['held #4']);
  });
});

describe('held Alert Groups', () => {
  test('look at themselves after an edit of what makes them Urgent', async () => {
    const world = await storm(4);
    world.takeTold();
    await world.give({ type: 'urgency_edited' });
    await world.runTo(T + 10 * SECOND);
    expect(world.takeTold()).toEqual(['urgency_edited #3', 'urgency_edited #4']);
    expect(world.held()).toBe(2);
    await world.give({ type: 'group_unheld', groupId: groupId(3), becameUrgent: true });
    expect(world.storms.at(-1)).toMatchObject({ groupCount: 2, urgentCount: 1 });
    await world.runTo(T + 10 * MINUTE);
    expect(world.takeTold()).toEqual(['released #4']);
  });

  test('are not spoken to while calm', async () => {
    const world = await storm(2);
    await world.give({ type: 'urgency_edited' });
    expect([world.takeTold(), world.wakeAt()]).toEqual([[], null]);
  });

  test('are released when the Route is deleted', async () => {
    const world = await storm(4);
    world.takeTold();
    await world.give({ type: 'deleted', at: T + MINUTE });
    await world.runTo(T + MINUTE + SECOND);
    expect(world.takeTold()).toEqual(['released #3', 'released #4']);
    expect(world.storms.at(-1)).toMatchObject({ endedAt: T + MINUTE });
    expect([world.held(), world.wakeAt()]).toEqual([0, null]);
  });
});

describe('Destinations of messages', () => {
  const shown = (world: Awaited<ReturnType<typeof storm>>) =>
    world.takeChat().map((message) => {
      expect(message.to).toBe('DS000000000001');
      if (message.type === 'storm') return `storm ${message.change}`;
      return `${message.event} #${Number(message.groupId.slice(2))} ${message.judged}`;
    });

  test('hear of each new Alert Group once it is judged, and of the Storm before the first that it holds', async () => {
    const world = await storm(4);
    expect(shown(world)).toEqual([
      'created #1 free',
      'created #2 free',
      'storm started',
      'created #3 held',
      'storm changed',
      'created #4 held',
    ]);
    await world.created(T + 5 * SECOND, { urgent: true });
    expect(shown(world)).toEqual(['storm changed', 'created #5 free']);
    await world.runTo(T + 10 * MINUTE);
    expect(shown(world)).toEqual(['storm ended']);
  });

  test('are told the same Storm by the time at which it began', async () => {
    const world = await storm(4);
    const storms = world.takeChat().filter((message) => message.type === 'storm');
    expect(storms.map((message) => message.since)).toEqual([T + 2 * SECOND, T + 2 * SECOND]);
  });
});
