import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AlertGroup, BulkResult } from '../../../api/shapes.ts';
import type { Undo } from '../../../state/toasts.svelte.ts';
import { outcomeOf, PORTION } from './bulk-run.ts';
import { createBulks } from './bulks.svelte.ts';

const ME = 'U1';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
});

afterEach(() => void vi.unstubAllGlobals());

/** Groups that fire and that nobody has, from #1 on. */
const groups = (count: number) =>
  new Map(
    Array.from({ length: count }, (_, n) => [
      `AG${n + 1}`,
      { id: `AG${n + 1}`, number: n + 1, status: 'firing', owner: null } as AlertGroup,
    ]),
  );

/** Bulk Commands on a service that refuses those in `refused`; `owners` has who took over which group. */
function setUp() {
  const refused = new Set<string>();
  const owners = new Map<string, string>();
  const sent: number[] = [];
  const through: string[] = [];
  const again: string[] = [];
  const said: string[] = [];
  let undo: Undo | null = null;
  let reads = 0;
  let readsInPlace = 0;
  let isSilent = false;
  let before = async () => {};
  const result = (id: string): BulkResult => ({
    alert_group_id: id,
    number: Number(id.slice(2)),
    outcome: refused.has(id) ? 'refused' : 'done',
    code: refused.has(id) ? 'owned_by_other' : null,
    message: null,
  });
  const bulks = createBulks({
    alertGroups: {
      bulk: async (ids: readonly string[]) => {
        sent.push(ids.length);
        await before();
        if (isSilent) return { ok: false, problem: { type: 'unanswered' } };
        return { ok: true, value: { results: ids.map(result) } };
      },
      read: async (id: string) => {
        await before();
        return { ok: true, value: { id, owner: { id: owners.get(id) ?? ME } } };
      },
      command: async () => ({ ok: true, value: { outcome: 'done' } }),
    },
    groupList: {
      items: [{ id: 'AG2', owner: { name: 'Grace' } }],
      read: async () => void reads++,
      hinted: () => void readsInPlace++,
    },
    session: { active: { user: { id: ME } } },
    toasts: {
      done: (text: string) => said.push(text),
      command: (text: string, _: null, offered: Undo | null) => {
        said.push(text);
        undo = offered;
      },
    },
    i18n: { t: (key: string, { count = '' } = {}) => `${key} ${count}`.trim() },
  } as never);
  return {
    bulks,
    titles: () => bulks.works.map(({ title }) => title),
    progress: () => bulks.works.map(({ done, of }) => ({ done, of })),
    stop: () => bulks.works.at(-1)?.stop(),
    refused,
    owners,
    sent,
    through,
    again,
    said,
    acknowledge: (count: number) =>
      bulks.run(
        { command: 'acknowledge' },
        groups(count),
        (id) => through.push(id),
        (ids) => again.push(...ids),
      ),
    undo: () => undo,
    reads: () => reads,
    readsInPlace: () => readsInPlace,
    silence: () => (isSilent = true),
    beforeAnswers: (run: () => Promise<void>) => (before = run),
  };
}

it('says how many it was done for, reads the list again, and is taken back', async () => {
  const { bulks, acknowledge, through, said, undo, reads } = setUp();
  expect(await acknowledge(2)).toBeNull();
  expect([through, said, reads()]).toEqual([['AG1', 'AG2'], ['bulk.done 2'], 1]);
  expect(undo()?.text).toBe('action.undo');
  await undo()?.run();
  expect([said.at(-1), bulks.results, reads()]).toEqual(['bulk.done 2', null, 2]);
});

it('offers the Undo once the results of what did not go through were read', async () => {
  const { bulks, acknowledge, refused, through, said, undo } = setUp();
  refused.add('AG2');
  await acknowledge(3);
  expect(bulks.results).toMatchObject({ left: 0, problem: null });
  expect(bulks.results?.ownerOf('AG2')).toBe('Grace');
  expect([through, said]).toEqual([['AG1', 'AG3'], []]);
  bulks.closeResults();
  expect([bulks.results, said, undo()?.text]).toEqual([null, ['bulk.done 2'], 'action.undo']);
});

it('names what an Undo was refused as refused, not as left', async () => {
  const { bulks, acknowledge, owners, said, undo } = setUp();
  await acknowledge(2);
  owners.set('AG1', 'U2').set('AG2', 'U2');
  await undo()?.run();
  expect(bulks.results).toMatchObject({
    left: 0,
    results: [1, 2].map((number) => ({ number, outcome: 'refused', message: 'command.overtaken' })),
  });
  bulks.closeResults();
  expect(said).toEqual(['bulk.done 2']);
});

it('gives the problem of a single request back, and reads the list again', async () => {
  const { bulks, acknowledge, silence, reads, said } = setUp();
  silence();
  expect(await acknowledge(2)).toMatchObject({ type: 'unanswered' });
  expect([bulks.results, reads(), said]).toEqual([null, 1, []]);
});

it('names the groups of a portion without an answer, and selects them again beside those not sent', async () => {
  const { bulks, acknowledge, silence, sent, again, beforeAnswers } = setUp();
  beforeAnswers(async () => void (sent.length === 2 && silence()));
  await acknowledge(3 * PORTION);
  await vi.waitFor(() => expect(bulks.hasUnread).toBe(true));
  bulks.showResults();
  const { left, results, numberOf } = bulks.results!;
  const unknown = results.filter((result) => outcomeOf(result) === 'unknown');
  expect([left, unknown.length, numberOf(unknown[0]!.alert_group_id)]).toEqual([PORTION, PORTION, 101]);
  bulks.closeResults();
  expect(again).toHaveLength(2 * PORTION);
});

it('shows how far a long one is, ends it when it is stopped, and offers to take back what it did', async () => {
  const { bulks, acknowledge, sent, said, undo, beforeAnswers, progress, titles, stop } = setUp();
  const shown: unknown[] = [];
  beforeAnswers(async () => {
    expect(titles()).toEqual(['command.acknowledge']);
    shown.push(...progress());
    if (sent.length === 2) stop();
  });
  expect(await acknowledge(3 * PORTION)).toBeNull();
  await vi.waitFor(() => expect(bulks.hasUnread).toBe(true));
  expect(shown).toEqual([0, PORTION].map((done) => ({ done, of: 3 * PORTION })));
  expect([sent, progress()]).toEqual([[PORTION, PORTION], []]);
  bulks.showResults();
  expect(bulks.results).toMatchObject({ left: PORTION });
  bulks.closeResults();
  expect(said).toEqual([`bulk.done ${2 * PORTION}`]);

  beforeAnswers(async () => {
    expect(bulks.works).toMatchObject([{ title: 'command.unacknowledge', isStopping: false }]);
    stop();
  });
  await undo()?.run();
  bulks.showResults();
  expect(bulks.results).toMatchObject({ results: [{ outcome: 'done' }], left: 2 * PORTION - 1 });
});

it('groups that a long one still has to reach take no second one, and are off the selection until then', async () => {
  const { bulks, acknowledge, refused, sent, through, again, beforeAnswers } = setUp();
  const underWay = () => ['AG1', `AG${PORTION + 1}`].map(bulks.isUnderWay);
  const seen: unknown[] = [];
  refused.add('AG1');
  beforeAnswers(async () => {
    seen.push(underWay());
    if (sent.length === 2) await acknowledge(PORTION + 30);
  });
  await acknowledge(PORTION + 20);
  expect(through).toHaveLength(PORTION + 20);
  await vi.waitFor(() => expect(bulks.hasUnread).toBe(true));
  expect(sent).toEqual([PORTION, 20, PORTION, 10]);
  expect(seen.slice(0, 2)).toEqual([
    [true, true],
    [false, true],
  ]);
  await vi.waitFor(() => expect([bulks.works, ...underWay()]).toEqual([[], false, false]));
  bulks.showResults();
  bulks.closeResults();
  expect(again).toEqual(['AG1']);
});

it('moves no row at the end of a long one', async () => {
  const { acknowledge, said, reads, readsInPlace } = setUp();
  await acknowledge(2 * PORTION);
  await vi.waitFor(() => expect(said).toHaveLength(1));
  expect([reads(), readsInPlace()]).toEqual([0, 1]);
});

it('opens the results of a single request, those of a long one only when somebody asks for them', async () => {
  const { bulks, acknowledge, refused } = setUp();
  refused.add('AG1');
  await acknowledge(2 * PORTION);
  await vi.waitFor(() => expect(bulks.hasUnread).toBe(true));
  expect(bulks.results).toBeNull();
  bulks.showResults();
  expect([bulks.hasUnread, bulks.results?.results.length]).toEqual([false, 2 * PORTION]);
  bulks.closeResults();
  await acknowledge(1);
  expect([bulks.hasUnread, bulks.results?.results.length]).toEqual([false, 1]);
});

it('the results of a long one do not open after those of a single request', async () => {
  const { bulks, acknowledge, refused } = setUp();
  refused.add('AG1');
  await acknowledge(2 * PORTION);
  await vi.waitFor(() => expect(bulks.hasUnread).toBe(true));
  await acknowledge(1);
  expect([bulks.hasUnread, bulks.results?.results.length]).toEqual([true, 1]);
  bulks.closeResults();
  expect([bulks.hasUnread, bulks.results]).toEqual([true, null]);
  bulks.showResults();
  expect([bulks.hasUnread, bulks.results?.results.length]).toEqual([false, 2 * PORTION]);
});

it('two long ones go side by side, each with its own progress and Stop', async () => {
  const { bulks, progress } = setUp();
  const answers: ((done: number) => void)[] = [];
  const step = () => new Promise<number>((resolve) => void answers.push(resolve));
  const one = bulks.work('Route', 3 * PORTION, step);
  const other = bulks.work('Route', 2 * PORTION, step);
  answers.shift()?.(PORTION);
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  expect(progress()).toEqual([
    { done: PORTION, of: 3 * PORTION },
    { done: 0, of: 2 * PORTION },
  ]);
  bulks.works[1]?.stop();
  expect(bulks.works.map(({ isStopping }) => isStopping)).toEqual([false, true]);
  answers.shift()?.(PORTION);
  expect(await other).toBe(PORTION);
  expect(progress()).toEqual([{ done: PORTION, of: 3 * PORTION }]);
  answers.shift()?.(0);
  expect(await one).toBe(PORTION);
  expect(progress()).toEqual([]);
});

it('keeps the results of two that ended at about the same time', async () => {
  const { bulks, acknowledge, refused } = setUp();
  refused.add('AG1');
  await Promise.all([acknowledge(1), acknowledge(2)]);
  expect(bulks.results?.results).toHaveLength(1);
  bulks.closeResults();
  expect(bulks.results?.results).toHaveLength(2);
  bulks.closeResults();
  expect(bulks.results).toBeNull();
});

it('ends with the session: nothing is sent or said after it', async () => {
  const { bulks, acknowledge, refused, sent, said, beforeAnswers, progress } = setUp();
  refused.add('AG1');
  beforeAnswers(async () => bulks.forget());
  await acknowledge(2 * PORTION);
  expect(await acknowledge(2)).toBeNull();
  expect(sent).toEqual([PORTION, 2]);
  expect([said, bulks.results, bulks.hasUnread, progress()]).toEqual([[], null, false, []]);
});

it('other work has the same progress and Stop, and ends with its last step or the session', async () => {
  const { bulks, progress, stop } = setUp();
  const shown: unknown[] = [];
  const steps = (...sizes: number[]) => {
    return async () => {
      shown.push(...progress());
      return sizes.shift() ?? 0;
    };
  };
  expect(await bulks.work('Route', 150, steps(100, 80))).toBe(180);
  expect(shown).toEqual([
    { done: 0, of: 150 },
    { done: 100, of: 150 },
    { done: 180, of: 180 },
  ]);
  expect(progress()).toEqual([]);
  shown.length = 0;
  expect(await bulks.work('Route', PORTION, steps(3))).toBe(3);
  expect(shown).toEqual([]);
  const stopped = bulks.work('Route', 150, async () => {
    stop();
    return 100;
  });
  expect(await stopped).toBe(100);
  const ended = bulks.work('Route', 150, async () => {
    bulks.forget();
    return 100;
  });
  expect(await ended).toBeNull();
});

it('short other work leaves the progress and the Stop of a long one alone', async () => {
  const { bulks, progress, stop } = setUp();
  const short = (...sizes: number[]) => bulks.work('Route', 5, async () => sizes.shift() ?? 0);
  const long = bulks.work('Route', 3 * PORTION, async () => {
    expect(await short(5)).toBe(5);
    expect(progress()).toEqual([{ done: 0, of: 3 * PORTION }]);
    stop();
    expect(await short(3, 2)).toBe(5);
    expect(bulks.works).toMatchObject([{ isStopping: true }]);
    return PORTION;
  });
  expect(await long).toBe(PORTION);
});
