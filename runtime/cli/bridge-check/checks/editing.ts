/** E and D: editMessage and deleteMessage (bridge §2.1). */
import { classOf, demand } from '../client.ts';
import {
  expectClass,
  expectPosted,
  expectReplay,
  expectReplied,
  expectSame,
  expectStatus,
  expectSuccess,
} from '../expect.ts';
import { buttonsOf, edit, given, newKey, posted, remove, reply, TITLE } from '../requests.ts';
import type { Check, Run } from '../run.ts';

const NEVER_EXISTED = 'bridge-check-never-existed';
/** How long after its end the edit window is tried. */
const AFTER_WINDOW_SECONDS = 2;
const ACKNOWLEDGED = { status: 'acknowledged', color: '#f57c00', emoji: '🟠' };

function changed(run: Run): Readonly<Record<string, unknown>> {
  const buttons = run.declared.has('buttons') ? buttonsOf(run, 'Changed') : [];
  return { ...ACKNOWLEDGED, title: `${TITLE}: changed`, body: 'Another text', buttons };
}

async function expectEdited(
  run: Run,
  messageId: string,
  change: Readonly<Record<string, unknown>>,
): Promise<void> {
  const answer = await edit(run, messageId, change);
  expectStatus(answer, 200);
  demand(typeof answer.fields.truncated === 'boolean', 'truncated is not true or false');
}

export const EDITING_CHECKS: readonly Check[] = [
  {
    ...{ id: 'E1', needs: ['channel'], level: 'must', text: 'editMessage replaces text, color and buttons' },
    async run(run) {
      const { messageId } = await posted(run);
      await expectEdited(run, messageId, changed(run));
    },
  },
  {
    ...{
      id: 'E2',
      needs: ['channel'],
      level: 'must',
      text: 'an edit to what the message shows already succeeds',
    },
    async run(run) {
      const { messageId } = await posted(run);
      const change = changed(run);
      await expectEdited(run, messageId, change);
      await expectEdited(run, messageId, change);
    },
  },
  {
    ...{
      id: 'E3',
      needs: ['channel', 'buttons'],
      level: 'must',
      text: 'an edit without buttons removes them',
    },
    async run(run) {
      const title = `${TITLE}: this message loses its button`;
      const { messageId } = await posted(run, { title, buttons: buttonsOf(run, 'Soon gone') });
      await expectEdited(run, messageId, { title, buttons: [] });
      const areGone = await run.person?.confirms(`Is "${title}" without a button?`, (messages) =>
        messages.some(({ message_id, buttons }) => message_id === messageId && buttons?.length === 0),
      );
      demand(areGone !== false, 'the buttons are still there');
    },
  },
  {
    ...{
      id: 'E4',
      needs: ['channel'],
      level: 'must',
      text: 'an edit of what never existed is gone or invalid',
    },
    run: async (run) => expectClass(await edit(run, NEVER_EXISTED), 'gone', 'invalid'),
  },
  {
    ...{
      id: 'E5',
      needs: ['channel', 'delete'],
      level: 'must',
      text: 'an edit of a deleted message is gone, without a reason',
    },
    async run(run) {
      const { messageId } = await posted(run);
      expectSuccess(await remove(run, messageId));
      const answer = await edit(run, messageId);
      expectClass(answer, 'gone');
      demand(answer.fields.reason == null, `reason is ${JSON.stringify(answer.fields.reason)}`);
    },
  },
  {
    ...{ id: 'E6', needs: ['channel', 'second-token'], level: 'must' },
    text: 'the messages of one token cannot be edited with another',
    async run(run) {
      const { messageId } = await posted(run);
      const { status } = await edit(run, messageId, {}, { token: given(run, 'secondToken') });
      demand(status >= 400, `an error was expected, not ${status}`);
    },
  },
  {
    ...{ id: 'E7', needs: ['channel', 'short_edit_window'], level: 'must' },
    text: 'an edit after the edit window is gone with reason edit_window_closed',
    async run(run) {
      const { messageId } = await posted(run, { title: `${TITLE}: this message becomes too old` });
      await run.client.pause((run.declared.editMaxAgeSeconds ?? 0) + AFTER_WINDOW_SECONDS);
      const answer = await edit(run, messageId);
      expectClass(answer, 'gone');
      const { reason } = answer.fields;
      demand(reason === 'edit_window_closed', `reason is ${JSON.stringify(reason ?? null)}`);
    },
  },
  {
    ...{ id: 'D1', needs: ['channel', 'delete'], level: 'must', text: 'deleteMessage succeeds, and again' },
    async run(run) {
      const { messageId } = await posted(run);
      expectSuccess(await remove(run, messageId));
      expectSuccess(await remove(run, messageId));
    },
  },
];

/** R: replyInThread (bridge §2.1). */
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
