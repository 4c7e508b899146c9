import { expect, test } from 'vitest';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { SECOND } from '../clock.ts';
import { memberText, type Picture } from './coordination.ts';
import { createIsolatedReplicas } from './isolated-replicas.ts';
import { Listeners } from './leadership.ts';

const A = { id: 'a', boot: '1' };
const B = { id: 'b', boot: '1' };
const EMPTY: Picture = { replicas: [], leader: null, generation: 0, targets: null, granted: [] };

function stage() {
  const clock = createManualClock();
  const members = new Listeners();
  const state = { leased: [A, B], live: [A, B], looks: 0 };
  let answer: Promise<void> = Promise.resolve();
  const isolated = createIsolatedReplicas({
    placement: {
      picture: () => ({
        ...EMPTY,
        replicas: state.leased.map((member) => ({ ...member, version: '1', isDraining: false })),
      }),
      onMembers: (listener) => members.add(listener),
    },
    records: {
      async live() {
        state.looks++;
        await answer;
        return state.live;
      },
    },
    clock,
    log: (event) => expect.unreachable(event),
  });
  return {
    ...{ clock, state, isolated },
    hold(until: Promise<void>) {
      answer = until;
    },
    async change() {
      members.call();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('one that lost its lease is mirrored at once, and no longer once its record is gone', async () => {
  const { clock, state, isolated, change } = stage();
  await change();
  expect(isolated.any()).toBe(false);
  state.leased = [A];
  expect(isolated.any(), memberText(B)).toBe(true);
  await change();
  expect(isolated.any()).toBe(true);
  state.live = [A];
  clock.advance(30 * SECOND);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isolated.any()).toBe(false);
});

test('after its stop it looks no more, not even when a look was under way', async () => {
  const { clock, state, isolated, hold, change } = stage();
  let go: () => void = () => undefined;
  hold(
    new Promise((resolve) => {
      go = resolve;
    }),
  );
  await change();
  isolated.stop();
  go();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(60 * SECOND);
  expect(state.looks).toBe(1);
});
