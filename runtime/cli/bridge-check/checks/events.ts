/** L: pollEvents (bridge §2.1, §3.4). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SECOND } from '../../../clock.ts';
import { demand, Unmet } from '../client.ts';
import { expectPage, poll, pollPage } from '../events.ts';
import { expectClass } from '../expect.ts';
import type { Arrival, ScriptedAnswer } from '../inbox.ts';
import { given, newToken, part } from '../requests.ts';
import type { Check, Run } from '../run.ts';

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

/** W: events that the bridge pushes (bridge §2.1, §1.1). A token sent to the bot is the event of every bridge. */
const FIRST_SECONDS = 10;
/** How long another attempt is waited for, and how long it is watched that none comes. */
const AGAIN_SECONDS = 60;
const LATE_SECONDS = 15;
const TOLERANCE_SECONDS = 300;

/** Has an event made that is answered like this, and waits until it was pushed so often. */
async function pushes(
  run: Run,
  answers: readonly ScriptedAnswer[],
  count: number,
): Promise<readonly Arrival[]> {
  const inbox = part(run, 'inbox');
  const token = newToken(run);
  inbox.script(token, answers);
  await part(run, 'person').writeToBot(token);
  return arrivals(run, token, count, (seen) =>
    seen === 0 ? FIRST_SECONDS : AGAIN_SECONDS + lateness(answers),
  );
}

function lateness(answers: readonly ScriptedAnswer[]): number {
  return Math.max(0, ...answers.map(({ afterSeconds = 0 }) => afterSeconds));
}

/** @returns those that came before `count` was reached or one was waited for too long */
async function arrivals(
  run: Run,
  token: string,
  count: number,
  patience: (seen: number) => number,
): Promise<readonly Arrival[]> {
  const inbox = part(run, 'inbox');
  const mine = () => inbox.arrivals.filter(({ event }) => event?.token === token);
  let since = run.clock.now();
  for (let seen = 0; seen < count; ) {
    const left = patience(seen) - (run.clock.now() - since) / SECOND;
    if (left <= 0) break;
    if (mine().length === seen) await inbox.next(left);
    if (mine().length > seen) since = run.clock.now();
    seen = mine().length;
  }
  return mine();
}

async function expectAgain(run: Run, answer: ScriptedAnswer): Promise<void> {
  const all = await pushes(run, [answer], 2);
  demand(all.length > 0, `nothing was pushed within ${FIRST_SECONDS} s`);
  demand(all.length > 1, `it was not sent again within ${AGAIN_SECONDS} s`);
}

function isSigned({ headers, raw }: Arrival, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw}`;
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return (headers['webhook-signature'] ?? '').split(' ').some((text) => {
    const given = Buffer.from(text);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

export const PUSHING_CHECKS: readonly Check[] = [
  {
    ...{ id: 'W1', needs: ['listener', 'person'], level: 'must' },
    text: 'an event is pushed by POST as JSON with its three headers and a valid signature',
    async run(run) {
      const [push] = await pushes(run, [], 1);
      demand(push !== undefined, `nothing was pushed within ${FIRST_SECONDS} s`);
      demand(push.method === 'POST', `the method is ${push.method}`);
      demand(
        /^application\/json\b/i.test(push.headers['content-type'] ?? ''),
        'Content-Type is not application/json',
      );
      demand(/^[!-~]{1,200}$/.test(push.headers['webhook-id'] ?? ''), 'webhook-id is missing or malformed');
      demand(
        /^\d{1,12}$/.test(push.headers['webhook-timestamp'] ?? ''),
        'webhook-timestamp is missing or malformed',
      );
      demand(isSigned(push, given(run, 'pushSecret')), 'webhook-signature does not fit --push-secret');
      run.left.push = push;
    },
  },
  {
    ...{ id: 'W2', needs: [{ check: 'W1' }], level: 'must' },
    text: "webhook-id is the event's id, and webhook-timestamp is now",
    async run({ left: { push } }) {
      demand(push?.headers['webhook-id'] === push?.event?.id, 'webhook-id and id differ');
      const skew = Math.abs(Number(push?.headers['webhook-timestamp']) - (push?.at ?? 0) / SECOND);
      demand(skew <= TOLERANCE_SECONDS, `webhook-timestamp is ${Math.round(skew)} s off`);
    },
  },
  {
    ...{ id: 'W3', needs: ['listener', 'person'], level: 'must' },
    text: 'after 500 it is pushed again with the same id, a new timestamp and growing pauses',
    async run(run) {
      const all = await pushes(run, [{ status: 500 }, { status: 500 }], 3);
      const [first, second, third] = all;
      demand(first !== undefined, `nothing was pushed within ${FIRST_SECONDS} s`);
      demand(second !== undefined && third !== undefined, `it was sent ${all.length} times, not three times`);
      demand(new Set(all.map(({ headers }) => headers['webhook-id'])).size === 1, 'webhook-id changed');
      const stamps = all.map(({ headers }) => Number(headers['webhook-timestamp']));
      demand((stamps[2] ?? 0) > (stamps[0] ?? 0), 'webhook-timestamp stayed the same');
      demand(third.at - second.at > second.at - first.at, 'the second pause is not longer than the first');
    },
  },
  {
    ...{ id: 'W4', needs: ['listener', 'person'], level: 'must', text: 'after 401 it is pushed again' },
    run: (run) => expectAgain(run, { status: 401 }),
  },
  {
    ...{ id: 'W5', needs: ['listener', 'person'], level: 'must', text: 'after 400 it is not pushed again' },
    async run(run) {
      const all = await pushes(run, [{ status: 400 }], 2);
      demand(all.length > 0, `nothing was pushed within ${FIRST_SECONDS} s`);
      demand(all.length === 1, 'it was sent again');
    },
  },
  {
    ...{
      id: 'W6',
      needs: ['listener', 'person'],
      level: 'must',
      text: 'after 15 s without an answer it is pushed again',
    },
    run: (run) => expectAgain(run, { status: 204, afterSeconds: LATE_SECONDS }),
  },
];
