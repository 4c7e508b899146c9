/** A Destination that was pointed elsewhere owes nothing to the place that it left: delivery §3 rule 6, §6 and §10. */
import { describe, expect, test } from 'vitest';
import { MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import { createMessageWorld, ONE, OTHER_CONNECTION, type WorldSettings } from './world.fixture.ts';

const timedOut: SendOutcome = { class: 'transient', error: 'timed out', unsure: false };

async function begun(settings: WorldSettings = {}) {
  const world = createMessageWorld(settings);
  await world.begin();
  return world;
}
type World = Awaited<ReturnType<typeof begun>>;

async function pointElsewhere(world: World) {
  world.configure(ONE, { target: 2, connectionId: OTHER_CONNECTION });
  await world.give(ONE, { type: 'saved' });
}

describe('last edits at the former place, where every call times out,', () => {
  /** Each call takes its time. @returns how many were made at the former place */
  async function pass(world: World, time: Micros, began: Map<unknown, Micros>): Promise<number> {
    let former = 0;
    for (const end = world.now() + time; world.now() < end; ) {
      await world.advance(SECOND / 5);
      for (const call of world.waiting()) {
        const isFormer = call.connectionId !== OTHER_CONNECTION;
        const since = began.get(call) ?? world.now();
        began.set(call, since);
        if (world.now() - since < (isFormer ? 10 * SECOND : SECOND / 5)) continue;
        former += Number(isFormer);
        await world.answerCall(call, isFormer ? timedOut : undefined);
      }
    }
    return former;
  }

  test('do not keep what is due at the present one', async () => {
    const limiter = { limit: 5, per_seconds: 1 };
    const world = await begun({ limiter, connectionLimiter: limiter });
    for (let number = 1; number <= 60; number++) await world.create(`G${number}`);
    await world.advance(MINUTE);
    world.calls();
    world.pause();
    await pointElsewhere(world);
    const began = new Map<unknown, Micros>();
    await pass(world, MINUTE, began);
    expect(world.calls().filter((call) => call.startsWith('publish'))).toHaveLength(60);
    for (const urgent of [false, true]) {
      const name = urgent ? 'URGENT' : 'CALM';
      await world.create(name, { urgent });
      await pass(world, 2 * SECOND, began);
      expect(world.calls()).toContain(`publish ${name} L [new_alert_group]`);
    }
    expect(await pass(world, MINUTE, began)).toBeGreaterThan(4);
  });

  test('begin one by one, so that places are left', async () => {
    const world = await begun();
    for (const name of ['A', 'B', 'C', 'D', 'E']) await world.create(name);
    world.pause();
    await pointElsewhere(world);
    await world.advance(10);
    while (world.waiting().some(({ connectionId }) => connectionId === OTHER_CONNECTION))
      await world.answer();
    await world.advance(SECOND);
    expect(world.waiting()).toMatchObject([{ operation: { kind: 'edit', isFinal: true } }]);
    await world.answer();
    await world.advance(SECOND);
    expect(world.waiting()).toHaveLength(1);
  });
});

describe('what the messenger asked to wait for', () => {
  const asked = (world: World): SendOutcome => ({
    class: 'retry_after',
    ...{ until: world.now() + 10 * MINUTE, scope: 'destination', error: 'answered 429' },
  });
  const held = async () => {
    const world = await begun({ limiter: { limit: 1, per_seconds: 3600 } });
    world.script(asked(world));
    await world.create('A');
    await world.advance(MINUTE);
    world.calls();
    return world;
  };

  test('ends with the place, and so do the calls that count there', async () => {
    const world = await held();
    await pointElsewhere(world);
    await world.advance(SECOND);
    expect(world.calls()).toEqual(['publish A Q']);
  });

  test('ends with the bot, and with no other save', async () => {
    const world = await held();
    await world.give(ONE, { type: 'saved' });
    await world.advance(SECOND);
    expect(world.calls()).toEqual([]);
    await world.give(ONE, { type: 'saved', isOtherAccess: true });
    await world.advance(SECOND);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
  });

  test('in answer to a probe of the former place, does not hold the next one', async () => {
    const world = await begun();
    world.script({ class: 'fatal', error: 'not in the channel' });
    await world.create('A');
    world.pause();
    await world.give(ONE, { type: 'saved' });
    await pointElsewhere(world);
    await world.advance(SECOND);
    expect(world.waiting()).toMatchObject([{ type: 'message.probe' }, { connectionId: OTHER_CONNECTION }]);
    await world.answer(asked(world));
    await world.answer();
    expect(world.health()).toEqual({ state: 'healthy' });
    await world.resume();
    expect(world.calls()).toContain('publish A Q');
  });
});
