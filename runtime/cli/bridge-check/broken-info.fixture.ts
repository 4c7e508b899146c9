/** Broken bridges: tokens, errors, what they say of themselves. */
import { json } from '../bridge-reference/wire.ts';
import {
  answering,
  answeringWith,
  asFirst,
  asking,
  type BrokenBridge,
  bearer,
  type Fields,
  fresh,
  isFor,
  late,
  refusing,
} from './breaking.fixture.ts';

const trusting = (operation: 'getInfo' | 'postMessage' | 'pollEvents', taken: string | undefined) =>
  asking(operation, (request) => (request.headers.authorization === taken ? asFirst(request) : request));
const info = (change: (fields: Fields) => Fields) => () => answeringWith('getInfo', change);
const limits = (change: Fields) =>
  info((fields) => ({ ...fields, limits: { ...Object(fields.limits), ...change } }));
const capabilities = (change: Fields) =>
  info((fields) => ({ ...fields, capabilities: { ...Object(fields.capabilities), ...change } }));

export const INFO_BREAKS: readonly BrokenBridge[] = [
  { fails: 'G1', bridge: 'asks for no token', broken: () => trusting('getInfo', undefined) },
  {
    fails: 'G2',
    bridge: 'takes any token',
    broken: () => trusting('getInfo', bearer('bridge-check-wrong-token')),
  },
  {
    fails: 'G3',
    bridge: 'calls its Info text',
    broken: () =>
      answering('getInfo', (answer) => ({ ...answer, headers: { 'content-type': 'text/plain' } })),
  },
  { fails: 'G3', bridge: 'has an Info without limits', broken: info(({ limits: _, ...rest }) => rest) },
  { fails: 'G4', bridge: 'posts without a token', broken: () => trusting('postMessage', undefined) },
  {
    fails: 'G4',
    bridge: 'answers 401 after it has posted',
    broken: () => ({
      async answer(request, next) {
        if (!isFor(request, 'postMessage') || request.headers.authorization) return next(request);
        await next(asFirst(request));
        return next(request);
      },
    }),
  },
  { fails: 'G5', bridge: 'lists events without a token', broken: () => trusting('pollEvents', undefined) },
  {
    fails: 'G6',
    bridge: 'stumbles over what is no JSON',
    broken: () => refusing('postMessage', ({ body }) => body === '{', 500, undefined),
  },
  {
    fails: 'G7',
    bridge: 'answers every path',
    broken: () => ({
      answer: async (request, next) =>
        request.target === '/v1/no-such-thing' ? json(200, {}) : next(request),
    }),
  },
  {
    fails: 'G7',
    bridge: 'redirects unknown paths',
    broken: () => ({
      answer: async (request, next) =>
        request.target === '/v1/no-such-thing'
          ? { status: 302, headers: { location: 'https://elsewhere.example.org/' }, body: '' }
          : next(request),
    }),
  },
  {
    fails: 'G8',
    bridge: 'refuses what it does not know',
    broken: () => refusing('postMessage', ({ body }) => body.includes('bridge_check_extra'), 400, 'invalid'),
  },
  {
    fails: 'G9',
    bridge: 'has pages as errors',
    with: ['G1'],
    broken: () =>
      answering('getInfo', (answer) =>
        answer.status < 400
          ? answer
          : { status: 401, headers: { 'content-type': 'text/html' }, body: '<h1>No</h1>' },
      ),
  },
  {
    fails: 'I1',
    bridge: 'counts versions in numbers',
    broken: info((fields) => ({ ...fields, protocol_version: 1 })),
  },
  {
    fails: 'I2',
    bridge: 'has no name',
    broken: info((fields) => ({ ...fields, bridge: { name: '', version: '1' } })),
  },
  { fails: 'I3', bridge: 'says yes instead of true', broken: capabilities({ buttons: 'yes' }) },
  {
    fails: 'I3',
    bridge: 'does not say who may start a direct chat',
    broken: capabilities({ direct_messages: true }),
  },
  { fails: 'I4', bridge: 'takes hardly any text', broken: limits({ max_body_length: 499 }) },
  { fails: 'I4', bridge: 'closes the edit window at once', broken: limits({ edit_max_age_seconds: 59 }) },
  {
    fails: 'I5',
    bridge: 'looks people up by telephone',
    broken: info((fields) => ({ ...fields, user_lookup: 'telephone' })),
  },
  {
    fails: 'I5',
    bridge: 'delivers by pigeon',
    broken: info((fields) => ({ ...fields, event_delivery: ['poll', 'pigeon'] })),
  },
  {
    fails: 'I6',
    bridge: 'has a link that needs a login',
    broken: info((fields) => ({ ...fields, link_url_template: 'https://a.example/{token}/{login}' })),
  },
  {
    fails: 'I6',
    bridge: 'has a link that runs a script',
    broken: info((fields) => ({ ...fields, link_url_template: 'javascript:{token}' })),
  },
  {
    fails: 'I7',
    bridge: 'answers presses privately without buttons',
    broken: capabilities({ buttons: false }),
  },
  { fails: 'I7', bridge: 'counts buttons in words', broken: limits({ max_buttons: 'eight' }) },
  {
    fails: 'I8',
    bridge: 'says something else each time',
    broken: info((fields) => ({ ...fields, bridge: { name: fresh(), version: '1' } })),
  },
  { fails: 'I8', bridge: 'thinks before it says what it is', broken: () => late('getInfo', 4) },
];
