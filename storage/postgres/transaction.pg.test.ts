import { expect, test } from 'vitest';
import { useDatabase } from '../../test/postgres.ts';
import { inPlannedSnapshot } from './transaction.ts';

const database = useDatabase();

test.each(['a statement', 'a cursor'])(
  'plans are made anew from the first statement on: %s',
  async (kind) => {
    const modes = await inPlannedSnapshot(database.sql(), async (tx) => {
      const statement = tx<{ mode: string }[]>`select current_setting('plan_cache_mode') as mode`;
      if (kind === 'a statement') return (await statement).map(({ mode }) => mode);
      const found: string[] = [];
      for await (const rows of statement.cursor(1)) found.push(...rows.map(({ mode }) => mode));
      return found;
    });
    expect(modes).toEqual(['force_custom_plan']);
  },
);

test('a failed read is told, and leaves nothing set', async () => {
  const failing = inPlannedSnapshot(database.sql(), (tx) => tx`select 1 / 0`.then((rows) => rows));
  await expect(failing).rejects.toThrow('division by zero');
  const [row] = await database.sql()<{ mode: string }[]>`select current_setting('plan_cache_mode') as mode`;
  expect(row?.mode).toBe('auto');
});
