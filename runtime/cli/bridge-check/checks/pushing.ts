/** W: events that the bridge pushes (bridge protocol §4, §5). A token sent to the bot is the event of every bridge. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SECOND } from '../../../clock.ts';
import { type Check, demand } from '../check.ts';
import type { Arrival, ScriptedAnswer } from '../inbox.ts';
import { given, newToken, part } from '../requests.ts';
import type { Run } from '../run.ts';

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
