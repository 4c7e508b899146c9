import { expect, it } from 'vitest';
import { MOVED_AT_ONCE, moveOpen } from './move-open.ts';

/** Moves on a service with `open` groups that fails at request number `fails`, in a session that ends at number `ends`. */
async function move(open: number, { fails = 0, ends = 0 } = {}) {
  const asked: number[] = [];
  const said: string[] = [];
  const titles: string[] = [];
  let left = open;
  const problem = await moveOpen(
    {
      bulks: {
        async work(title: string, _: number, step: () => Promise<number>) {
          titles.push(title);
          let done = 0;
          for (let more = 1; more > 0; done += more) {
            more = await step();
            if (asked.length === ends) return null;
          }
          return done;
        },
      },
      configuration: {
        routes: {
          async moveOpenAlertGroups(_: string, limit: number) {
            asked.push(limit);
            if (asked.length === fails) return { ok: false, problem: { status: 503 } };
            const moved = Math.min(limit, left);
            left -= moved;
            return { ok: true, value: { moved } };
          },
        },
      },
      toasts: { done: (text: string) => said.push(text) },
      i18n: { t: (_: string, { count }: { count: number }) => `${count} moved` },
    } as never,
    { id: 'RT1', name: 'Storage' },
    open,
  );
  return { requests: asked.length, said, titles, problem, left };
}

it('asks for portions until one is not full, and says how many were moved', async () => {
  expect(await move(2 * MOVED_AT_ONCE + 5)).toEqual({
    requests: 3,
    said: [`${2 * MOVED_AT_ONCE + 5} moved`],
    titles: ['Storage'],
    problem: null,
    left: 0,
  });
  expect(await move(3)).toMatchObject({ requests: 1, said: ['3 moved'] });
});

it('ends with a portion that fails, and says how many were moved before', async () => {
  expect(await move(2 * MOVED_AT_ONCE, { fails: 2 })).toMatchObject({
    requests: 2,
    said: [`${MOVED_AT_ONCE} moved`],
    problem: { status: 503 },
  });
  expect(await move(5, { fails: 1 })).toMatchObject({ said: [], problem: { status: 503 } });
});

it('says nothing when the session ended meanwhile', async () => {
  expect(await move(2 * MOVED_AT_ONCE, { ends: 1 })).toMatchObject({ requests: 1, said: [], problem: null });
});
