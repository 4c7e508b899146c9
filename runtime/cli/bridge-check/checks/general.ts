/** G: authentication, errors, what is not known (bridge protocol §5, §7, §9). */
import { type Check, demand } from '../check.ts';
import { isProblem } from '../client.ts';
import { expectClass, expectPosted, expectStatus } from '../expect.ts';
import { INFO_FAULTS } from '../info.ts';
import { envelope, newKey, post } from '../requests.ts';
import { getInfo } from './info.ts';

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
