/** E and D: editMessage and deleteMessage (bridge protocol §4). */
import { type Check, demand } from '../check.ts';
import { expectClass, expectStatus, expectSuccess } from '../expect.ts';
import { buttonsOf, edit, given, posted, remove, TITLE } from '../requests.ts';
import type { Run } from '../run.ts';

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
