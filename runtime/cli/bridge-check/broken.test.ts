/** Each row is a bridge that gets one thing wrong, and the check that must say so. */
import { expect, test } from 'vitest';
import { EVENT_BREAKS } from './broken-events.fixture.ts';
import { INFO_BREAKS } from './broken-info.fixture.ts';
import { POSTING_BREAKS } from './broken-posting.fixture.ts';
import { THREAD_BREAKS } from './broken-threads.fixture.ts';
import { playChecks } from './in-memory.fixture.ts';
import { ALL_CHECKS } from './session.ts';

const BREAKS = [...INFO_BREAKS, ...POSTING_BREAKS, ...THREAD_BREAKS, ...EVENT_BREAKS];

test.each(BREAKS)('$fails fails a bridge that $bridge', async ({ fails, broken, with: others = [] }) => {
  const results = await playChecks({ broken: broken(), session: { only: [fails, ...others] } });
  const result = results.find(({ id }) => id === fails);
  const level = ALL_CHECKS.find(({ id }) => id === fails)?.level;
  expect(result).toMatchObject({
    verdict: level === 'must' ? 'FAIL' : 'WARN',
    reason: expect.not.stringContaining('connection failed'),
  });
});

test('every check has a bridge that it fails', () => {
  const failed = new Set(BREAKS.map(({ fails }) => fails));
  expect(ALL_CHECKS.filter(({ id }) => !failed.has(id)).map(({ id }) => id)).toEqual([]);
});
