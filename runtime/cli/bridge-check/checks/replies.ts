/** R: replyInThread (bridge protocol §4). */
import { type Check, demand } from '../check.ts';
import { classOf } from '../client.ts';
import {
  expectClass,
  expectPosted,
  expectReplay,
  expectReplied,
  expectSame,
  expectSuccess,
} from '../expect.ts';
import { buttonsOf, newKey, posted, remove, reply, TITLE } from '../requests.ts';

export const REPLY_CHECKS: readonly Check[] = [
  {
    ...{
      id: 'R1',
      needs: ['channel'],
      level: 'must',
      text: 'the first reply makes the Thread and answers its thread_ref',
    },
    async run(run) {
      const { messageId } = await posted(run);
      expectReplay(expectReplied(await reply(run, messageId)).replayed, false);
    },
  },
  {
    ...{
      id: 'R2',
      needs: ['channel'],
      level: 'must',
      text: 'a reply with the thread_ref stays in that Thread',
    },
    async run(run) {
      const { messageId } = await posted(run);
      const first = expectReplied(await reply(run, messageId));
      const second = expectReplied(await reply(run, messageId, { thread_ref: first.threadRef }));
      expectSame(second.threadRef, first.threadRef, 'thread_ref');
    },
  },
  {
    ...{ id: 'R3', needs: ['channel'], level: 'must', text: 'the same key answers the same reply, replayed' },
    async run(run) {
      const { messageId } = await posted(run);
      const key = newKey(run);
      const first = expectReplied(await reply(run, messageId, {}, key));
      const second = expectReplied(await reply(run, messageId, {}, key));
      expectReplay(second.replayed, true);
      expectSame(second.messageId, first.messageId, 'message_id');
      expectSame(second.threadRef, first.threadRef, 'thread_ref');
    },
  },
  {
    ...{
      id: 'R4',
      needs: ['channel'],
      level: 'must',
      text: 'a second reply without thread_ref goes to the same Thread',
    },
    async run(run) {
      const title = `${TITLE}: two replies in one Thread`;
      const { messageId } = await posted(run, { title });
      const first = expectReplied(await reply(run, messageId));
      const second = expectReplied(await reply(run, messageId));
      const isReply = (id: string) => (message: { message_id: string }) => message.message_id === id;
      const areTogether = await run.person?.confirms(
        `Are both replies in one Thread of "${title}"?`,
        (messages) => {
          const refs = [first, second].map((one) => messages.find(isReply(one.messageId))?.thread_ref);
          return refs[0] != null && refs[0] === refs[1];
        },
      );
      demand(areTogether !== false, 'the replies are not in one Thread');
    },
  },
  {
    ...{
      id: 'R5',
      needs: ['channel', 'delete'],
      level: 'must',
      text: 'a reply to a deleted message is gone',
    },
    async run(run) {
      const { messageId } = await posted(run);
      expectSuccess(await remove(run, messageId));
      expectClass(await reply(run, messageId), 'gone');
    },
  },
  {
    ...{ id: 'R6', needs: ['channel'], level: 'must' },
    text: 'a reply without a key is invalid; one that is too long is invalid or truncated',
    async run(run) {
      const { messageId } = await posted(run);
      expectClass(await reply(run, messageId, {}, null), 'invalid');
      const answer = await reply(run, messageId, { body: 'x'.repeat(run.declared.maxBodyLength + 1) });
      if (classOf(answer) !== null) return expectClass(answer, 'invalid');
      expectPosted(answer);
      demand(answer.fields.truncated === true, 'truncated is false');
    },
  },
  {
    ...{ id: 'R7', needs: ['channel', 'buttons'], level: 'must', text: 'a reply takes buttons' },
    async run(run) {
      const { messageId } = await posted(run);
      expectReplied(await reply(run, messageId, { buttons: buttonsOf(run, 'One', 'Two') }));
    },
  },
  {
    ...{ id: 'R8', needs: ['channel'], level: 'must' },
    text: 'a message id is decoded, however much of it is percent-encoded',
    async run(run) {
      const { messageId } = await posted(run);
      const encoded = [...Buffer.from(messageId)].map(
        (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
      );
      const path = `/v1/messages/${encoded.join('')}/replies`;
      expectReplied(await reply(run, messageId, {}, newKey(run), path));
    },
  },
];
