/** L: pollEvents (bridge protocol §4, §6). */
import { type Check, demand, Unmet } from '../check.ts';
import { expectPage, poll, pollPage } from '../events.ts';
import { expectClass } from '../expect.ts';
import { newToken, part } from '../requests.ts';
import type { Run } from '../run.ts';

const AT_ONCE_SECONDS = 2;
/** How often a quiet moment is looked for in a busy messenger. */
const MOST_TRIES = 3;
const EVENT_ID = /^[!-~]{1,200}$/;
/** How long an answer to a wrong query may take before it counts as waited for. */
const REFUSAL_SECONDS = 0;

/** Polls from the end of what is there, and demands an empty answer after `least` to `most` seconds. */
async function quietPoll(
  run: Run,
  { wait, least, most }: { readonly wait: number | null; readonly least: number; readonly most: number },
): Promise<void> {
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const cursor = encodeURIComponent(await part(run, 'polled').end());
    const query = wait === null ? `cursor=${cursor}` : `cursor=${cursor}&wait=${wait}`;
    const answer = await poll(run.client, query, wait ?? 25);
    if (expectPage(answer).events.length > 0) continue;
    const took = `it was answered after ${answer.seconds.toFixed(1)} s`;
    demand(answer.seconds >= least && answer.seconds <= most, `${took}, not after ${least} to ${most} s`);
    return;
  }
  throw new Unmet('there was no quiet moment to check it');
}

export const POLLING_CHECKS: readonly Check[] = [
  {
    ...{
      id: 'L1',
      needs: ['poll'],
      level: 'must',
      text: 'a poll without a cursor that does not wait is answered at once',
    },
    async run(run) {
      const answer = await poll(run.client, 'wait=0', 0);
      expectPage(answer);
      demand(answer.seconds <= AT_ONCE_SECONDS, `it took ${answer.seconds.toFixed(1)} s`);
    },
  },
  {
    ...{
      id: 'L2',
      needs: ['poll'],
      level: 'must',
      text: 'a poll of 3 s in a quiet moment is empty after 3 to 6 s',
    },
    run: (run) => quietPoll(run, { wait: 3, least: 3, most: 6 }),
  },
  {
    ...{
      id: 'L3',
      needs: ['poll'],
      level: 'must',
      text: 'a poll with the same cursor brings the same events again',
    },
    async run(run) {
      const cursor = await part(run, 'polled').end();
      await run.person?.writeToBot(newToken(run));
      const first = await pollPage(run.client, cursor, run.person ? 5 : 0);
      demand(
        run.person === null || first.events.length > 0,
        'what a person sent to the bot did not come as an event',
      );
      const again = (await pollPage(run.client, cursor, 0)).events.map(({ id }) => id);
      demand(
        first.events.every(({ id }) => again.includes(id)),
        'events of the first answer are missing in the second',
      );
    },
  },
  {
    ...{ id: 'L4', needs: ['poll'], level: 'must', text: 'an unknown cursor is invalid' },
    run: async (run) => expectClass(await poll(run.client, 'cursor=no-such-cursor&wait=0', 0), 'invalid'),
  },
  {
    ...{ id: 'L5', needs: ['poll'], level: 'must', text: 'a wait that is not 0 to 60 is invalid' },
    async run(run) {
      for (const wait of ['61', '-1', 'x'])
        expectClass(await poll(run.client, `wait=${wait}`, REFUSAL_SECONDS), 'invalid');
    },
  },
  {
    ...{
      id: 'L6',
      needs: ['poll'],
      level: 'must',
      text: 'a poll without wait in a quiet moment is empty after 20 to 40 s',
    },
    run: (run) => quietPoll(run, { wait: null, least: 20, most: 40 }),
  },
  {
    ...{
      id: 'L7',
      needs: ['poll'],
      level: 'must',
      text: 'two polls with one cursor at the same time are both answered',
    },
    async run(run) {
      const cursor = await part(run, 'polled').end();
      await Promise.all([pollPage(run.client, cursor, 1), pollPage(run.client, cursor, 1)]);
    },
  },
];

/** L8 looks at all events of the run, so it comes near the end. */
export const ALL_EVENTS_CHECK: Check = {
  ...{ id: 'L8', needs: ['poll'], level: 'must' },
  text: 'the ids of all events fit their pattern and come once, oldest first',
  async run(run) {
    const feed = part(run, 'polled');
    await feed.end();
    const bad = feed.seen.find(({ id }) => typeof id !== 'string' || !EVENT_ID.test(id));
    demand(bad === undefined, `an id does not fit: ${JSON.stringify(bad?.id)}`);
    const ids = feed.seen.map(({ id }) => id);
    demand(new Set(ids).size === ids.length, 'an id came twice though the cursor had passed it');
    const times = feed.seen.map(({ occurred_at: at }) =>
      typeof at === 'string' ? Date.parse(at) : Number.NaN,
    );
    demand(!times.some(Number.isNaN), 'an occurred_at is no time');
    demand(
      times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0)),
      'events are not oldest first',
    );
  },
};
