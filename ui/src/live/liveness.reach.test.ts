import { describe, expect, it } from 'vitest';
import { createVirtualTime } from './live.fixture.ts';
import { createReach } from './liveness.ts';

function setUp() {
  const time = createVirtualTime();
  const state = { answer: 'none' as 'ok' | 'none' | 'refused' | 'error', asked: 0 };
  const request: typeof fetch = (_, init) => {
    state.asked += 1;
    if (state.answer === 'error') return Promise.reject(new TypeError('network'));
    if (state.answer === 'ok') return Promise.resolve(new Response());
    if (state.answer === 'refused') return Promise.resolve(new Response('', { status: 503 }));
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError')));
    });
  };
  return { time, state, reach: createReach(request, time.timers) };
}

describe('whether the service answers', () => {
  it.each([
    ['ok', true],
    ['refused', false],
    ['error', false],
    ['none', false],
  ] as const)('when it does: %s', async (answer, answers) => {
    const { time, state, reach } = setUp();
    state.answer = answer;
    reach.start();
    await time.pass(2);
    expect(await reach.answers()).toBe(answers);
  });

  it('is known at once after the first question, and asked again every 4 s', async () => {
    const { time, state, reach } = setUp();
    reach.start();
    await time.pass(2);
    state.answer = 'ok';
    expect([await reach.answers(), state.asked]).toEqual([false, 1]);
    await time.pass(4);
    expect([await reach.answers(), state.asked]).toEqual([true, 2]);
    // The verdict before stands while the next question is open.
    state.answer = 'none';
    await time.pass(5);
    expect([await reach.answers(), state.asked]).toEqual([true, 3]);
  });

  it('is asked no more once that is stopped, and by one series after another start', async () => {
    const { time, state, reach } = setUp();
    state.answer = 'ok';
    reach.start();
    reach.stop();
    reach.start();
    await time.pass(0);
    expect(state.asked).toBe(2);
    await time.pass(8);
    expect(state.asked).toBe(4);
    reach.stop();
    await time.pass(60);
    expect(state.asked).toBe(4);
  });
});
