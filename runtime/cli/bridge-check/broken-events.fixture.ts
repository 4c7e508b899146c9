/** Broken bridges: events, polled and pushed. */
import { signedHeaders } from '../bridge-reference/push.ts';
import { type BridgeRequest, problem, Refusal } from '../bridge-reference/wire.ts';
import {
  answeringWith,
  asIfNoKey,
  asking,
  type BrokenBridge,
  type Fields,
  fieldsOf,
  fresh,
  isFor,
  late,
  mistaking,
  pushing,
  reporting,
} from './breaking.fixture.ts';
import { type Broken, PUSH_SECRET } from './in-memory.fixture.ts';

const requery = (from: RegExp, to: string) => () =>
  asking('pollEvents', (request) => ({ ...request, target: request.target.replace(from, to) }));
const silentAbout = (type: string) => () => reporting((event) => (event.type === type ? null : event));
const showingAs = (shown_as: string) => () =>
  answeringWith('answerEvent', (fields) => ({ ...fields, shown_as }));

function tellingOnce(): Broken {
  const told = new Set<unknown>();
  return reporting(({ id, ...event }) => (told.has(id) || !told.add(id) ? null : { id, ...event }));
}

function onePollAtATime(): Broken {
  let isBusy = false;
  return {
    async answer(request, next) {
      if (!isFor(request, 'pollEvents')) return next(request);
      if (isBusy) return problem(new Refusal(409, 'somebody polls already', { class: 'transient' }));
      isBusy = true;
      const answer = await next(request);
      isBusy = false;
      return answer;
    },
  };
}

function namingTheRoot(): Broken {
  const roots = new Map<unknown, string>();
  const renaming = reporting((event) => ({
    ...event,
    message_id: roots.get(event.message_id) ?? event.message_id,
  }));
  return {
    async answer(request, next, world) {
      const answer = (await renaming.answer?.(request, next, world)) ?? (await next(request));
      const [, root] = /^\/v1\/messages\/([^/]+)\/replies$/.exec(request.target) ?? [];
      if (root !== undefined) roots.set(fieldsOf(answer).message_id, decodeURIComponent(root));
      return answer;
    },
  };
}

function listeningToItself(): Broken {
  return {
    async answer(request, next) {
      const [, root] = /^\/v1\/messages\/([^/]+)\/replies$/.exec(request.target) ?? [];
      if (root !== undefined)
        await next(
          actOf(request, 'thread-message', { message_id: decodeURIComponent(root), text: 'A reply' }),
        );
      return next(request);
    },
  };
}

function takingTokensAnywhere(): Broken {
  return {
    async answer(request, next) {
      const { text } = fieldsOf(request);
      if (request.target === '/_sim/thread-message') await next(actOf(request, 'direct', { text }));
      return next(request);
    },
  };
}

function actOf({ gone }: BridgeRequest, name: string, fields: Fields): BridgeRequest {
  const headers = { 'content-type': 'application/json' };
  return {
    method: 'POST',
    target: `/_sim/${name}`,
    headers,
    body: JSON.stringify({ user: 'u-17', ...fields }),
    gone,
  };
}

/** Pushes something else, signed as it should be. */
function resigning(change: (event: Fields, at: number) => { event: Fields; at: number; id?: string }) {
  return (): Broken =>
    pushing((url, headers, body, gone) => {
      const { event, at, id } = change(fieldsOf({ body }), Number(headers['webhook-timestamp']));
      const changed = JSON.stringify(event);
      return [url, signedHeaders(id ?? headers['webhook-id'] ?? '', at, changed, PUSH_SECRET), changed, gone];
    });
}

export const EVENT_BREAKS: readonly BrokenBridge[] = [
  { fails: 'L1', bridge: 'takes its time', broken: () => late('pollEvents', 3) },
  { fails: 'L2', bridge: 'never waits', broken: requery(/wait=\d+/, 'wait=0') },
  { fails: 'L2', bridge: 'waits too long', broken: requery(/wait=3/, 'wait=9') },
  { fails: 'L3', bridge: 'tells events once', broken: tellingOnce },
  { fails: 'L4', bridge: 'takes any cursor', broken: requery(/cursor=no-such-cursor&/, '') },
  { fails: 'L5', bridge: 'takes any wait', broken: requery(/wait=(61|-1|x)/, 'wait=0') },
  {
    fails: 'L6',
    bridge: 'is impatient unless told',
    broken: () =>
      asking('pollEvents', (request) => ({
        ...request,
        target: request.target.includes('wait=') ? request.target : `${request.target}&wait=5`,
      })),
  },
  { fails: 'L7', bridge: 'takes one poll at a time', broken: onePollAtATime },
  {
    fails: 'L8',
    bridge: 'has ids with spaces',
    with: ['N1'],
    broken: () => reporting((event) => ({ ...event, id: `event ${event.id}` })),
  },
  {
    fails: 'L8',
    bridge: 'has one id for all',
    with: ['N1', 'N3', 'T1'],
    broken: () => reporting((event) => ({ ...event, id: 'evt' })),
  },
  {
    fails: 'L8',
    bridge: 'counts time backwards',
    with: ['N1', 'T1'],
    broken: () =>
      reporting((event) => ({
        ...event,
        occurred_at: new Date(1e12 - Number(String(event.id).split('-').pop()) * 1000).toISOString(),
      })),
  },
  { fails: 'K1', bridge: 'keeps presses to itself', broken: silentAbout('press') },
  {
    fails: 'K1',
    bridge: 'changes what a button says',
    broken: () => reporting((event) => ({ ...event, data: String(event.data).toLowerCase() })),
  },
  { fails: 'K1', bridge: 'keeps people waiting', broken: () => late('/_sim/press', 4) },
  { fails: 'K2', bridge: 'answers again to a repeat', broken: () => asIfNoKey('answerEvent') },
  { fails: 'K2', bridge: 'shows answers on the wall', broken: showingAs('wall') },
  { fails: 'K3', bridge: 'names the Root message for every press', broken: namingTheRoot },
  { fails: 'K4', bridge: 'tells everybody', broken: showingAs('thread') },
  {
    fails: 'T1',
    bridge: 'hears half of what is said',
    broken: () => reporting((event) => ({ ...event, text: String(event.text).slice(0, 5) })),
  },
  { fails: 'T2', bridge: 'listens to itself', broken: listeningToItself },
  { fails: 'T3', bridge: 'pops up answers to what is written', broken: showingAs('popup') },
  { fails: 'X1', bridge: 'does not notice deletions', broken: silentAbout('message_deleted') },
  {
    fails: 'N1',
    bridge: 'spells tokens in its own way',
    broken: () => reporting((event) => ({ ...event, token: String(event.token).toUpperCase() })),
  },
  {
    fails: 'N1',
    bridge: 'does not say who sent a token',
    broken: () => reporting((event) => ({ ...event, user: null })),
  },
  { fails: 'N2', bridge: 'answers tokens in public', broken: showingAs('thread') },
  { fails: 'N3', bridge: 'takes tokens from channels', broken: takingTokensAnywhere },
  {
    fails: 'W1',
    bridge: 'signs with another secret',
    broken: () =>
      pushing((url, headers, body, gone) => [
        url,
        { ...headers, 'webhook-signature': 'v1,c2lnbmF0dXJl' },
        body,
        gone,
      ]),
  },
  {
    fails: 'W1',
    bridge: 'signs another body',
    broken: () => pushing((url, headers, body, gone) => [url, headers, `${body} `, gone]),
  },
  { fails: 'W1', bridge: 'pushes nothing', broken: () => ({ deliver: async () => 204 }) },
  {
    fails: 'W2',
    bridge: 'sets its clock an hour late',
    broken: resigning((event, at) => ({ event, at: at - 3600 })),
  },
  {
    fails: 'W2',
    bridge: 'has ids for its requests',
    broken: resigning((event, at) => ({ event: { ...event, id: fresh() }, at })),
  },
  { fails: 'W3', bridge: 'gives up at 500', broken: () => mistaking(500, 204) },
  {
    fails: 'W3',
    bridge: 'repeats with other ids',
    broken: resigning((event, at) => ({ event, at, id: fresh() })),
  },
  { fails: 'W4', bridge: 'gives up at 401', broken: () => mistaking(401, 400) },
  { fails: 'W5', bridge: 'repeats what was refused', broken: () => mistaking(400, 500) },
  {
    fails: 'W6',
    bridge: 'takes silence for consent',
    broken: () => ({
      async deliver(next, ...push) {
        void next(...push);
        return 204;
      },
    }),
  },
];
