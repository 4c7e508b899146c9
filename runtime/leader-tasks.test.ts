import { beforeEach, describe, expect, test } from 'vitest';
import { settableLeadership } from '../test/fakes/leadership.ts';
import { createManualClock } from '../test/fakes/manual-clock.ts';
import { SECOND } from './clock.ts';
import { createLeaderTasks, untilNext } from './leader-tasks.ts';

function setting({ leads = false, run = async (): Promise<void> => {} } = {}) {
  const clock = createManualClock();
  const leadership = settableLeadership(leads);
  const logged: unknown[] = [];
  const runs: (() => boolean)[] = [];
  const tasks = createLeaderTasks({
    leadership,
    clock,
    log: (event, fields) => logged.push([event, fields]),
    tasks: [
      {
        name: 'counted',
        every: 10 * SECOND,
        run(goesOn) {
          runs.push(goesOn);
          return run();
        },
      },
    ],
  });
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(SECOND);
      await settled();
    }
  };
  return { leadership, tasks, logged, runs, pass, clock };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a task runs once the lead is taken and then at its interval', async () => {
  const { tasks, leadership, runs, pass } = setting();
  tasks.start();
  await pass(30);
  expect(runs).toHaveLength(0);
  leadership.set(true);
  expect(runs).toHaveLength(0);
  await pass(1);
  expect(runs).toHaveLength(1);
  await pass(21);
  expect(runs).toHaveLength(3);
});

test('a process that leads already begins when it is told to start', async () => {
  const { tasks, runs, pass } = setting({ leads: true });
  await pass(1);
  expect(runs).toHaveLength(0);
  tasks.start();
  await pass(1);
  expect(runs).toHaveLength(1);
});

test('being told of the lead again changes nothing', async () => {
  const { tasks, leadership, runs, pass } = setting({ leads: true });
  tasks.start();
  await pass(1);
  leadership.set(true);
  await pass(5);
  expect(runs).toHaveLength(1);
});

test('without the lead nothing begins, and what is under way is told', async () => {
  const { tasks, leadership, runs, pass } = setting({ leads: true });
  tasks.start();
  await pass(1);
  expect(runs[0]?.()).toBe(true);
  leadership.set(false);
  expect(runs[0]?.()).toBe(false);
  await pass(60);
  expect(runs).toHaveLength(1);
});

test('a failure is logged, and the task comes again at the next interval', async () => {
  const { tasks, logged, runs, pass } = setting({
    leads: true,
    run: () => Promise.reject(new Error('away')),
  });
  tasks.start();
  await pass(12);
  expect(runs).toHaveLength(2);
  expect(logged).toEqual([
    ['leader_task_failed', { task: 'counted', error: 'Error: away' }],
    ['leader_task_failed', { task: 'counted', error: 'Error: away' }],
  ]);
});

test('a run that the end of the leadership cuts is no failure', async () => {
  let cut: (error: Error) => void = () => undefined;
  const run = () => new Promise<void>((_, reject) => (cut = reject));
  const { tasks, leadership, logged, pass } = setting({ leads: true, run });
  tasks.start();
  await pass(1);
  leadership.set(false);
  cut(new Error('the connection ended'));
  await settled();
  expect(logged).toEqual([]);
});

describe('a long run', () => {
  let end: () => void;
  let at: ReturnType<typeof setting>;
  beforeEach(async () => {
    const run = () =>
      new Promise<void>((resolve) => {
        end = resolve;
      });
    at = setting({ leads: true, run });
    at.tasks.start();
    await at.pass(1);
  });

  test('is never overlapped', async () => {
    await at.pass(60);
    expect(at.runs).toHaveLength(1);
    end();
    await at.pass(11);
    expect(at.runs).toHaveLength(2);
  });

  test('that outlives the lead is followed by nothing', async () => {
    at.leadership.set(false);
    end();
    await at.pass(60);
    expect(at.runs).toHaveLength(1);
  });

  test('across a change of the lead is followed at once by the run of the new one', async () => {
    at.leadership.set(false);
    at.leadership.set(true);
    await at.pass(20);
    expect(at.runs).toHaveLength(1);
    end();
    await at.pass(2);
    expect(at.runs).toHaveLength(2);
  });
});

test('after the stop nothing begins, whoever leads and whoever starts', async () => {
  const { tasks, leadership, runs, pass } = setting({ leads: true });
  tasks.start();
  tasks.stop();
  tasks.start();
  leadership.set(false);
  leadership.set(true);
  await pass(60);
  expect(runs).toHaveLength(0);
});

test.each([
  [{ every: 60 * SECOND }, 5, 60],
  [{ every: 60 * SECOND, isAligned: true } as const, 5, 55],
  [{ every: 60 * SECOND, isAligned: true } as const, 60, 60],
])('a task of %j whose run ended at second %i runs again %i s later', (task, now, wait) => {
  expect(untilNext(task, now * SECOND)).toBe(wait * SECOND);
});
