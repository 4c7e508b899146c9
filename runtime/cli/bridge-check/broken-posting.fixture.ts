/** Broken bridges: channels and posts. */
import type { BridgeAnswer } from '../bridge-reference/wire.ts';
import {
  answering,
  answeringWith,
  asFirst,
  asIfNoKey,
  asking,
  askingWith,
  type BrokenBridge,
  countOf,
  cut,
  erring,
  type Fields,
  fieldsOf,
  fresh,
  isFor,
  late,
  refusing,
  withHeader,
  withoutNeed,
} from './breaking.fixture.ts';
import type { Broken } from './in-memory.fixture.ts';

const refusingBodies = (when: (body: string, fields: Fields) => boolean) => () =>
  refusing(
    'postMessage',
    (request) => when(String(fieldsOf(request).body), fieldsOf(request)),
    400,
    'invalid',
  );

function postingFirst(): Broken {
  const post = {
    ...{
      status: 'firing',
      color: '#d32f2f',
      emoji: '🔴',
      title: 'Hello',
      body: 'Hello',
      buttons: [],
      mentions: [],
    },
    ...{
      link: { url: 'https://example.org/', text: 'Open' },
      channel_id: 'alerts',
      kind: 'test',
      notify: false,
    },
  };
  return {
    async answer(request, next) {
      const { headers, gone } = withHeader(request, 'idempotency-key', fresh());
      if (isFor(request, 'checkChannel'))
        await next({ method: 'POST', target: '/v1/messages', headers, body: JSON.stringify(post), gone });
      return next(request);
    },
  };
}

function forgetfulWhileBusy(): Broken {
  let busy = 0;
  return {
    async answer(request, next) {
      if (!isFor(request, 'postMessage')) return next(request);
      busy++;
      const answer = await next(busy > 1 ? withHeader(request, 'idempotency-key', fresh()) : request);
      busy--;
      return answer;
    },
  };
}

function rememberingFailures(): Broken {
  const failures = new Map<string | undefined, BridgeAnswer>();
  return {
    async answer(request, next) {
      const key = request.headers['idempotency-key'];
      const answer = failures.get(key) ?? (await next(request));
      if (key !== undefined && answer.status >= 400) failures.set(key, answer);
      return answer;
    },
  };
}

function knowingOneKey(): Broken {
  let newest: string | undefined;
  let drawn = fresh();
  return asking('postMessage', (request) => {
    const key = request.headers['idempotency-key'];
    if (key !== newest) drawn = fresh();
    newest = key;
    return withHeader(request, 'idempotency-key', drawn);
  });
}

export const POSTING_BREAKS: readonly BrokenBridge[] = [
  {
    fails: 'C1',
    bridge: 'has channels without names',
    broken: () => answeringWith('checkChannel', (fields) => ({ ...fields, name: '' })),
  },
  {
    fails: 'C2',
    bridge: 'says that a missing channel is gone',
    broken: () => erring('checkChannel', 410, 'gone'),
  },
  {
    fails: 'C2',
    bridge: 'does not say why',
    broken: () => erring('checkChannel', 403, 'forbidden', { detail: '' }),
  },
  {
    fails: 'C3',
    bridge: 'decodes paths before it routes',
    broken: () => refusing('checkChannel', ({ target }) => target.includes('%2F'), 404, undefined),
  },
  {
    fails: 'C4',
    bridge: 'tries channels out with a message',
    broken: postingFirst,
  },
  {
    fails: 'P1',
    bridge: 'does not say whether it replays',
    broken: () => answeringWith('postMessage', ({ replayed, ...rest }) => rest),
  },
  {
    fails: 'P1',
    bridge: 'numbers messages',
    broken: () => answeringWith('postMessage', (fields) => ({ ...fields, message_id: 17 })),
  },
  { fails: 'P1', bridge: 'is slow', broken: () => late('postMessage', 11) },
  {
    fails: 'P1',
    bridge: 'has a class of its own',
    broken: () =>
      answering('postMessage', () => ({
        status: 400,
        headers: { 'content-type': 'application/problem+json' },
        body: '{"class":"too_lazy"}',
      })),
  },
  { fails: 'P2', bridge: 'knows no keys', broken: () => asIfNoKey('postMessage') },
  {
    fails: 'P3',
    bridge: 'thinks that a key with another body is another',
    broken: () =>
      asking('postMessage', (request) =>
        withHeader(
          request,
          'idempotency-key',
          `${request.headers['idempotency-key']}-${fieldsOf(request).title?.toString().length}`,
        ),
      ),
  },
  {
    fails: 'P4',
    bridge: 'thinks that one body is one message',
    broken: () => asking('postMessage', (request) => withHeader(request, 'idempotency-key', 'always')),
  },
  { fails: 'P5', bridge: 'remembers keys when it is done', broken: forgetfulWhileBusy },
  {
    fails: 'P6',
    bridge: 'knows no Storms',
    broken: refusingBodies((_, { kind }) => kind === 'storm_summary'),
  },
  { fails: 'P7', bridge: 'cannot be quiet', broken: refusingBodies((_, { notify }) => notify === false) },
  { fails: 'P8', bridge: 'does without a key', broken: () => withoutNeed('postMessage') },
  {
    fails: 'P9',
    bridge: 'takes a missing channel for a deleted message',
    broken: () => erring('postMessage', 410, 'gone'),
  },
  {
    fails: 'P9',
    bridge: 'answers a missing channel with a bare 404',
    broken: () => erring('postMessage', 404, undefined),
  },
  { fails: 'P10', bridge: 'remembers failures', broken: rememberingFailures },
  { fails: 'P11', bridge: 'counts in UTF-16', broken: refusingBodies((body) => body.length > 4000) },
  {
    fails: 'P12',
    bridge: 'cuts and says nothing',
    broken: () => askingWith('postMessage', cut('body', 1000)),
  },
  { fails: 'P13', bridge: 'knows no quotes', broken: refusingBodies((body) => body.includes('> a quote')) },
  {
    fails: 'P14',
    bridge: 'is afraid of titles',
    broken: refusingBodies((_, { title }) => String(title).includes('<b>')),
  },
  {
    fails: 'P15',
    bridge: 'refuses markers that name nobody',
    broken: refusingBodies((body, { mentions }) => body.includes('svc-mention:') && countOf(mentions) === 0),
  },
  {
    fails: 'P16',
    bridge: 'has room for five buttons',
    broken: refusingBodies((_, { buttons }) => countOf(buttons) > 5),
  },
  {
    fails: 'P17',
    bridge: 'paints in any color',
    broken: () => askingWith('postMessage', (fields) => ({ ...fields, color: '#ffffff' })),
  },
  {
    fails: 'P18',
    bridge: 'shares keys between tokens',
    broken: () => asking('postMessage', (request) => asFirst(request)),
  },
  { fails: 'P19', bridge: 'has room for one key', broken: knowingOneKey, with: ['P4'] },
];
