/** G: authentication, errors, what is not known (bridge §1.1, §2.2, §1.2). */
import { isDeepStrictEqual } from 'node:util';
import { demand, isObject, isProblem } from '../client.ts';
import { expectClass, expectPosted, expectSame, expectStatus } from '../expect.ts';
import { INFO_FAULTS, type InfoCheck } from '../info.ts';
import { checkChannel, envelope, given, newKey, part, post } from '../requests.ts';
import type { Check, Run } from '../run.ts';

const WRONG_TOKEN = 'bridge-check-wrong-token';
/** Members that no version of the protocol has. */
const EXTRA = { bridge_check_extra: { unknown: ['to', 'everyone'] } };

export const GENERAL_CHECKS: readonly Check[] = [
  {
    ...{ id: 'G1', needs: [], level: 'must', text: 'getInfo without a token is answered 401' },
    run: async ({ client }) =>
      expectStatus(await client.call({ method: 'GET', path: '/v1/info', token: null }), 401),
  },
  {
    ...{ id: 'G2', needs: [], level: 'must', text: 'getInfo with a wrong token is answered 401' },
    run: async ({ client }) =>
      expectStatus(await client.call({ method: 'GET', path: '/v1/info', token: WRONG_TOKEN }), 401),
  },
  {
    ...{ id: 'G3', needs: [], level: 'must', text: 'getInfo answers 200 with a valid Info' },
    async run(run) {
      const info = await getInfo(run);
      for (const id of ['I1', 'I2', 'I3', 'I4', 'I5', 'I6'] as const) {
        const fault = INFO_FAULTS[id](info);
        demand(fault === null, fault ?? '');
      }
    },
  },
  {
    ...{ id: 'G4', needs: [], level: 'must' },
    text: 'postMessage without a token is answered 401 and posts nothing',
    async run(run) {
      const key = newKey(run);
      expectStatus(await post(run, {}, key, { token: null }), 401);
      if (run.given.channel === null) return;
      const { replayed } = expectPosted(await post(run, {}, key));
      demand(!replayed, 'the key was used by the request without a token');
    },
  },
  {
    ...{ id: 'G5', needs: ['poll'], level: 'must', text: 'pollEvents without a token is answered 401' },
    run: async ({ client }) =>
      expectStatus(await client.call({ method: 'GET', path: '/v1/events?wait=0', token: null }), 401),
  },
  {
    ...{ id: 'G6', needs: [], level: 'must', text: 'a body that is no JSON is invalid' },
    async run(run) {
      const key = newKey(run);
      expectClass(await run.client.call({ method: 'POST', path: '/v1/messages', raw: '{', key }), 'invalid');
    },
  },
  {
    ...{ id: 'G7', needs: [], level: 'must', text: 'a path that does not exist is no success' },
    async run({ client }) {
      const { status } = await client.call({ method: 'GET', path: '/v1/no-such-thing' });
      demand(status >= 400, `an error was expected, not ${status}`);
    },
  },
  {
    ...{
      id: 'G8',
      needs: ['channel'],
      level: 'must',
      text: 'members that the bridge does not know are ignored',
    },
    async run(run) {
      const { link, ...rest } = envelope(run);
      const user = { external_id: 'u-bridge-check', display_name: 'Bridge check', ...EXTRA };
      const buttons = run.declared.has('buttons')
        ? [{ text: 'Extra', data: 'extra', style: 'default', ...EXTRA }]
        : [];
      const mentions = [{ ref: 'm1', type: 'user', user, ...EXTRA }];
      const extended = {
        ...rest,
        link: { ...Object(link), ...EXTRA },
        buttons,
        mentions,
        notify: true,
        ...EXTRA,
      };
      expectPosted(await post(run, extended));
    },
  },
];

/** G9 looks back at everything, so it comes last. */
export const ERRORS_CHECK: Check = {
  ...{ id: 'G9', needs: [], level: 'should' },
  text: 'every error is application/problem+json with one of the five classes',
  async run({ client: { errors } }) {
    const bad = errors.find((error) => !isProblem(error) || error.fields.class == null);
    demand(
      bad === undefined,
      `an error (${bad?.status}, ${bad?.headers['content-type'] ?? 'no Content-Type'}) has no class: ${bad?.body.slice(0, 200)}`,
    );
  },
};

/** An id that a bridge which decodes twice, or not at all, gets wrong. */
const AWKWARD = 'a/b?c#d%2F';

export const CHANNEL_CHECKS: readonly Check[] = [
  {
    ...{
      id: 'C1',
      needs: ['channel'],
      level: 'must',
      text: 'checkChannel answers the channel with its id and a name',
    },
    async run(run) {
      const channel = given(run, 'channel');
      const answer = await checkChannel(run, channel);
      expectStatus(answer, 200);
      expectSame(String(answer.fields.channel_id), channel, 'channel_id');
      const { name } = answer.fields;
      demand(typeof name === 'string' && name !== '', 'name is missing or empty');
    },
  },
  {
    ...{ id: 'C2', needs: ['missing-channel'], level: 'must' },
    text: 'a channel that does not exist is forbidden, and the detail says why',
    async run(run) {
      const answer = await checkChannel(run, given(run, 'missingChannel'));
      expectClass(answer, 'forbidden');
      const { detail } = answer.fields;
      demand(typeof detail === 'string' && detail !== '', 'detail is missing or empty');
    },
  },
  {
    ...{ id: 'C3', needs: [], level: 'must' },
    text: 'an id with a slash, a question mark and percent signs is one path segment',
    async run(run) {
      const answer = await checkChannel(run, AWKWARD);
      if (answer.status !== 200) return expectClass(answer, 'forbidden');
      expectSame(String(answer.fields.channel_id), AWKWARD, 'channel_id');
    },
  },
  {
    ...{ id: 'C4', needs: ['channel', 'person'], level: 'must', text: 'checkChannel posts nothing' },
    async run(run) {
      const person = part(run, 'person');
      const before = await person.look();
      expectStatus(await checkChannel(run, given(run, 'channel')), 200);
      const isQuiet = await person.confirms(
        `The channel ${given(run, 'channel')} was just checked. Did nothing new appear in it?`,
        (messages) => messages.length === before?.length,
      );
      demand(isQuiet, 'something appeared in the channel');
    },
  },
];

/** I: what the bridge declares of itself (bridge §3.1). */
const QUICK_SECONDS = 3;

/** @throws Unmet when there is none */
async function getInfo({ client }: Pick<Run, 'client'>): Promise<Readonly<Record<string, unknown>>> {
  const answer = await client.call({ method: 'GET', path: '/v1/info' });
  expectStatus(answer, 200);
  const type = answer.headers['content-type'] ?? 'missing';
  demand(/^application\/json\b/i.test(type), `Content-Type is ${type}`);
  demand(isObject(answer.json), 'the body is not a JSON object');
  return answer.json;
}

function looked(id: InfoCheck, level: Check['level'], text: string): Check {
  return {
    ...{ id, needs: [], level, text },
    async run(run) {
      const fault = INFO_FAULTS[id](await getInfo(run));
      demand(fault === null, fault ?? '');
    },
  };
}

export const INFO_CHECKS: readonly Check[] = [
  looked('I1', 'must', 'protocol_version is the string "1"'),
  looked('I2', 'must', 'bridge.name, bridge.version and messenger.name are there'),
  looked('I3', 'must', 'capabilities are true or false; direct_messages is false or has bot_can_start'),
  looked('I4', 'must', 'max_body_length is 500 to 1,000,000; edit_max_age_seconds is null or at least 60'),
  looked('I5', 'must', 'user_lookup is a known kind; event_delivery names poll, push or both'),
  looked(
    'I6',
    'must',
    'link_url_template, where there is one, is http(s) with {token} once and nothing else',
  ),
  looked('I7', 'should', 'private_answers comes with buttons only; limits have their types'),
  {
    ...{ id: 'I8', needs: [], level: 'must', text: 'getInfo answers the same twice, each within 3 s' },
    async run(run) {
      const started = run.clock.now();
      const first = await getInfo(run);
      const between = run.clock.now();
      const second = await getInfo(run);
      const slowest = Math.max(between - started, run.clock.now() - between) / 1_000_000;
      demand(slowest < QUICK_SECONDS, `an answer took ${slowest.toFixed(1)} s`);
      demand(isDeepStrictEqual(first, second), 'the two answers differ');
    },
  },
];
