/** Broken bridges: edits, Threads, people. */
import { json } from '../bridge-reference/wire.ts';
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
  fieldsOf,
  fresh,
  isFor,
  refusing,
  withoutNeed,
} from './breaking.fixture.ts';
import type { Broken } from './in-memory.fixture.ts';

function refusingRepeatedEdits(): Broken {
  const last = new Map<string, string>();
  return refusing(
    'editMessage',
    ({ target, body }) => {
      const isSame = last.get(target) === body;
      last.set(target, body);
      return isSame;
    },
    400,
    'invalid',
  );
}

function refusingSecondDelete(): Broken {
  const deleted = new Set<string>();
  return refusing('deleteMessage', ({ target }) => deleted.has(target) || !deleted.add(target), 404, 'gone');
}

function namingThreadsAnew(): Broken {
  return {
    async answer(request, next) {
      if (!isFor(request, 'replyInThread')) return next(request);
      const answer = await next({
        ...request,
        body: JSON.stringify({ ...fieldsOf(request), thread_ref: null }),
      });
      return { ...answer, body: JSON.stringify({ ...fieldsOf(answer), thread_ref: fresh() }) };
    },
  };
}

export const THREAD_BREAKS: readonly BrokenBridge[] = [
  {
    fails: 'E1',
    bridge: 'does not say whether it cut',
    broken: () => answeringWith('editMessage', () => ({})),
  },
  { fails: 'E2', bridge: 'refuses to change nothing', broken: refusingRepeatedEdits },
  {
    fails: 'E3',
    bridge: 'keeps buttons for ever',
    broken: () =>
      askingWith('editMessage', (fields) =>
        countOf(fields.buttons) > 0 ? fields : { ...fields, buttons: [{ text: 'Ack', data: 'ack' }] },
      ),
  },
  { fails: 'E4', bridge: 'forbids edits of nothing', broken: () => erring('editMessage', 403, 'forbidden') },
  {
    fails: 'E5',
    bridge: 'takes every deleted message for an old one',
    broken: () => erring('editMessage', 410, 'gone', { reason: 'edit_window_closed' }),
  },
  {
    fails: 'E6',
    bridge: 'lets every token edit',
    broken: () => asking('editMessage', (request) => asFirst(request)),
  },
  {
    fails: 'E7',
    bridge: 'does not say why an edit came too late',
    broken: () => erring('editMessage', 410, 'gone'),
  },
  { fails: 'D1', bridge: 'cannot delete twice', broken: refusingSecondDelete },
  {
    fails: 'R1',
    bridge: 'keeps its Threads to itself',
    broken: () => answeringWith('replyInThread', ({ thread_ref, ...rest }) => rest),
  },
  { fails: 'R2', bridge: 'names a Thread anew each time', broken: namingThreadsAnew },
  { fails: 'R3', bridge: 'replies again to a repeat', broken: () => asIfNoKey('replyInThread') },
  {
    fails: 'R4',
    bridge: 'begins a Thread for every reply',
    broken: () =>
      answering('/_sim/messages', (answer) => ({
        ...answer,
        body: answer.body.replace(/"thread_ref":"[^"]+"/g, () => `"thread_ref":"${fresh()}"`),
      })),
  },
  {
    fails: 'R5',
    bridge: 'replies to what is not there',
    broken: () =>
      answering('replyInThread', (answer) =>
        answer.status === 410
          ? json(201, { message_id: 'm', thread_ref: 't', truncated: false, replayed: false })
          : answer,
      ),
  },
  { fails: 'R6', bridge: 'replies without a key', broken: () => withoutNeed('replyInThread') },
  {
    fails: 'R6',
    bridge: 'cuts replies and says nothing',
    broken: () => askingWith('replyInThread', cut('body', 1000)),
  },
  {
    fails: 'R7',
    bridge: 'has no buttons in Threads',
    broken: () =>
      refusing('replyInThread', (request) => countOf(fieldsOf(request).buttons) > 0, 400, 'invalid'),
  },
  {
    fails: 'R8',
    bridge: 'compares ids as they are written',
    broken: () => refusing('replyInThread', ({ target }) => target.includes('%6D'), 410, 'gone'),
  },
  { fails: 'F1', bridge: 'finds nobody', broken: () => answeringWith('findPerson', () => ({ items: [] })) },
  {
    fails: 'F2',
    bridge: 'always finds somebody',
    broken: () => answeringWith('findPerson', () => ({ items: [{ external_id: 'u-1' }] })),
  },
  {
    fails: 'F3',
    bridge: 'looks for anything',
    broken: () =>
      answering('findPerson', (answer) => (answer.status === 400 ? json(200, { items: [] }) : answer)),
  },
  {
    fails: 'F4',
    bridge: 'numbers people anew each time',
    broken: () => answeringWith('findPerson', () => ({ items: [{ external_id: fresh() }] })),
  },
  { fails: 'M1', bridge: 'writes again to a repeat', broken: () => asIfNoKey('sendDirectMessage') },
  { fails: 'M2', bridge: 'says that nobody is gone', broken: () => erring('sendDirectMessage', 410, 'gone') },
  {
    fails: 'M3',
    bridge: 'writes whatever it gets',
    broken: () => askingWith('sendDirectMessage', cut('body', 2000)),
  },
  {
    fails: 'A1',
    bridge: 'finds unknown events malformed',
    broken: () => erring('answerEvent', 400, 'invalid'),
  },
  { fails: 'A2', bridge: 'looks for the event first', broken: () => erring('answerEvent', 410, 'gone') },
];
