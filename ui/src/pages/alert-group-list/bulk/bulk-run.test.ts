import { expect, it } from 'vitest';
import { isThrough, outcomeOf, PORTION, runInPortions } from './bulk-run.ts';

const IDS = Array.from({ length: 2 * PORTION + 5 }, (_, n) => `AG${n}`);

/** Runs a Command whose portion number `fails` gets `problem`, and that is stopped after `stopAfter` portions. */
async function run({ fails = 0, stopAfter = 9, problem = { status: 429, type: 'rate-limited' } }) {
  const sent: (readonly string[])[] = [];
  const progress: number[] = [];
  const outcome = await runInPortions(
    IDS,
    async (portion) => {
      sent.push(portion);
      if (sent.length === fails) return { ok: false, problem: problem as never };
      const results = portion.map((id) => ({ alert_group_id: id, outcome: 'done' }) as never);
      return { ok: true, value: { results }, etag: null };
    },
    (_, { done, of }) => progress.push(done / of),
    () => sent.length < stopAfter,
  );
  return { sent, progress, outcome };
}

it('sends each group once, in portions that a request takes, and says how far it is', async () => {
  const { sent, progress, outcome } = await run({});
  expect(sent.flat()).toEqual(IDS);
  expect(sent.map(({ length }) => length)).toEqual([PORTION, PORTION, 5]);
  expect(progress).toEqual([100 / 205, 200 / 205, 1]);
  expect(outcome).toMatchObject({ problem: null, left: 0 });
  expect(outcome.results.map((each) => each.alert_group_id)).toEqual(IDS);
});

it('sends no portion after one that is refused as a whole, and keeps what came before', async () => {
  const { sent, outcome } = await run({ fails: 2 });
  expect(sent).toHaveLength(2);
  expect(outcome).toMatchObject({ problem: { status: 429 }, left: 105 });
  expect(outcome.results).toHaveLength(100);
});

it.each([
  { status: 0, type: 'unanswered' },
  { status: 504, type: 'unanswered' },
  { status: 500, type: 'internal' },
])(
  'does not know what became of a portion without an answer, apart from those not sent: $type',
  async (problem) => {
    const { sent, outcome } = await run({ fails: 2, problem });
    expect(sent).toHaveLength(2);
    expect(outcome).toMatchObject({ problem, left: 5 });
    const unknown = outcome.results.filter((result) => outcomeOf(result) === 'unknown');
    expect(unknown.map((result) => result.alert_group_id)).toEqual(IDS.slice(100, 200));
    expect(unknown.some(isThrough)).toBe(false);
  },
);

it('leaves all that was not even sent, because the service is away', async () => {
  const { outcome } = await run({ fails: 1, problem: { status: 0, type: 'not-sent' } });
  expect(outcome).toMatchObject({ results: [], left: 205 });
});

it('sends no portion after somebody stopped it', async () => {
  const { sent, outcome } = await run({ stopAfter: 1 });
  expect(sent).toHaveLength(1);
  expect(outcome).toMatchObject({ problem: null, left: 105 });
});
