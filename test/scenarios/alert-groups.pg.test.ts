/** alert-groups §11, row by row, through the whole service; together they take every transition there is. */
import { expect, test, vi } from 'vitest';
import { runCases } from './case.ts';
import { ALERT_GROUP_CASES } from './tables.ts';
import { useWorld } from './world.ts';

/** Rows of the transition table that groups took. */
const taken = vi.hoisted(() => new Set<string>());

vi.mock('../../runtime/actor/machine.ts', async (importOriginal) => {
  const machine = await importOriginal<typeof import('../../runtime/actor/machine.ts')>();
  const begin: typeof machine.begin = (...words) => {
    if (words[0].id === 'alert_group') taken.add('create');
    return machine.begin(...words);
  };
  const step: typeof machine.step = (...words) => {
    const stepped = machine.step(...words);
    for (const emitted of stepped.emitted) if ('row' in emitted) taken.add(String(emitted.row));
    return stepped;
  };
  return { ...machine, begin, step };
});

runCases(useWorld(), ALERT_GROUP_CASES);

test('the cases above take every row of the transition table', async () => {
  const { ROW_NAMES } = await import('../../actors/alert-group/transitions.ts');
  expect(ROW_NAMES.filter((name) => !taken.has(name))).toEqual([]);
});
