import { expect, test } from 'vitest';
import { World } from '../../test/simulation/world.ts';
import { SECOND } from '../clock.ts';
import { createDatabaseAnswers } from './database-answers.ts';

type Trouble = 'none' | 'refuses' | 'swallows';

function stage() {
  const world = new World(1, false);
  let trouble: Trouble = 'none';
  let asked = 0;
  const answers = createDatabaseAnswers({
    ask: () => {
      asked++;
      if (trouble === 'none') return Promise.resolve();
      return trouble === 'refuses' ? Promise.reject(new Error('away')) : new Promise(() => undefined);
    },
    clock: world.clock,
    monotonic: () => world.now,
  });
  answers.start();
  return {
    answers,
    asked: () => asked,
    set(next: Trouble) {
      trouble = next;
    },
    pass: (seconds: number) => world.runUntil(() => false, world.now + seconds * SECOND),
  };
}

test.each(['refuses', 'swallows'] as const)(
  'a database that %s is missing after some three seconds, until it answers once',
  async (trouble) => {
    const { answers, set, pass } = stage();
    await pass(5.5);
    expect([answers.arrive, answers.areMissing]).toEqual([true, false]);
    set(trouble);
    await pass(1.6);
    expect([answers.arrive, answers.areMissing]).toEqual([false, false]);
    await pass(2.4);
    expect(answers.areMissing).toBe(true);
    set('none');
    await pass(1.1);
    expect([answers.arrive, answers.areMissing]).toEqual([true, false]);
  },
);

test('one answer that is lost is not worth a word', async () => {
  const { answers, set, pass } = stage();
  await pass(0.5);
  set('swallows');
  await pass(1);
  set('none');
  await pass(2);
  expect(answers.arrive).toBe(true);
  expect(answers.areMissing).toBe(false);
});

test('after its stop it asks no more', async () => {
  const { answers, asked, pass } = stage();
  await pass(2.5);
  answers.stop();
  const before = asked();
  await pass(5);
  expect(asked()).toBe(before);
});
