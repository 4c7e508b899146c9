/** K, T, X and N: what people do in the messenger comes as events and can be answered (bridge §3.4). */
import { SECOND } from '../../../clock.ts';
import { demand, isObject } from '../client.ts';
import type { BridgeEvent } from '../events.ts';
import { expectPosted, expectReplay, expectReplied, expectSame, isId } from '../expect.ts';
import { answerEvent, buttonsOf, given, newKey, newToken, part, posted, reply, TITLE } from '../requests.ts';
import type { Check, Run } from '../run.ts';

const EVENT_SECONDS = 5;
const REACTION_SECONDS = 3;
/** How long it is watched that something does not come. */
const QUIET_SECONDS = 10;
const SHOWN_AS = ['ephemeral', 'popup', 'thread', 'direct'];

async function expectEvent(
  run: Run,
  type: string,
  fits: (event: BridgeEvent) => boolean,
): Promise<BridgeEvent> {
  const event = await part(run, 'events').find((one) => one.type === type && fits(one), EVENT_SECONDS);
  demand(event !== null, `no ${type} came within ${EVENT_SECONDS} s`);
  return event;
}

async function expectNoEvent(run: Run, type: string, fits: (event: BridgeEvent) => boolean): Promise<void> {
  const event = await part(run, 'events').find((one) => one.type === type && fits(one), QUIET_SECONDS);
  demand(event === null, `${type} came though it should not: ${JSON.stringify(event)}`);
}

function expectUser({ user }: BridgeEvent): void {
  demand(isObject(user) && isId(user.external_id), 'user.external_id is not a string of 1 to 512 characters');
}

interface Pressed {
  readonly event: BridgeEvent;
  /** How long the messenger took to take the press; says nothing when a person was asked. */
  readonly reactionSeconds: number;
}

/** Posts a message with a button, has it pressed and waits for the event. */
async function pressed(run: Run, title: string): Promise<Pressed> {
  const [button] = buttonsOf(run, 'Press me');
  const { messageId } = await posted(run, { title, buttons: [button] });
  return pressOf(run, messageId, `"${title}"`, button);
}

async function pressOf(
  run: Run,
  messageId: string,
  where: string,
  button: { readonly text: string; readonly data: string } | undefined,
): Promise<Pressed> {
  const { text = '', data = '' } = button ?? {};
  const started = run.clock.now();
  await part(run, 'person').press({ messageId, text, data, where });
  const reactionSeconds = (run.clock.now() - started) / SECOND;
  const event = await expectEvent(run, 'press', (one) => one.data === data || one.message_id === messageId);
  expectSame(String(event.message_id), messageId, 'message_id');
  expectSame(String(event.data), data, 'data');
  expectUser(event);
  return { event, reactionSeconds };
}

/** Answers an event. @returns shown_as */
async function answered(run: Run, event: BridgeEvent | undefined, key = newKey(run)) {
  const answer = await answerEvent(
    run,
    { event_id: event?.id, text: 'Bridge check: this is the answer.' },
    key,
  );
  demand(
    answer.status === 200 || answer.status === 201,
    `status 200 or 201 was expected, not ${answer.status}`,
  );
  return { shownAs: String(answer.fields.shown_as), replayed: answer.fields.replayed === true };
}

async function expectShown(
  run: Run,
  event: BridgeEvent | undefined,
  ...as: readonly string[]
): Promise<void> {
  const { shownAs } = await answered(run, event);
  demand(as.includes(shownAs), `shown_as is ${JSON.stringify(shownAs)}, not ${as.join(' or ')}`);
}

export const PEOPLE_ACTING_CHECKS: readonly Check[] = [
  {
    ...{ id: 'K1', needs: ['channel', 'buttons', 'person', 'events'], level: 'must' },
    text: 'a press comes within 5 s with message, data and person, and is confirmed to the person within 3 s',
    async run(run) {
      const { event, reactionSeconds } = await pressed(run, `${TITLE}: press the button`);
      const question = `Did the messenger react to the press within ${REACTION_SECONDS} s?`;
      demand(
        await part(run, 'person').confirms(question, () => reactionSeconds <= REACTION_SECONDS),
        'the press was not confirmed in time',
      );
      run.left.press = event;
    },
  },
  {
    ...{
      id: 'K2',
      needs: [{ check: 'K1' }],
      level: 'must',
      text: 'the answer to a press is shown, and replayed by its key',
    },
    async run(run) {
      const key = newKey(run);
      const first = await answered(run, run.left.press, key);
      demand(SHOWN_AS.includes(first.shownAs), `shown_as is ${JSON.stringify(first.shownAs)}`);
      expectReplay((await answered(run, run.left.press, key)).replayed, true);
    },
  },
  {
    ...{
      id: 'K3',
      needs: [{ check: 'K1' }],
      level: 'must',
      text: 'a press on the button of a reply names the reply',
    },
    async run(run) {
      const title = `${TITLE}: press the button of the reply`;
      const { messageId } = await posted(run, { title });
      const [button] = buttonsOf(run, 'Press me too');
      const { messageId: replyId } = expectReplied(await reply(run, messageId, { buttons: [button] }));
      await pressOf(run, replyId, `the reply in the Thread of "${title}"`, button);
    },
  },
  {
    ...{ id: 'K4', needs: [{ check: 'K1' }, 'private_answers'], level: 'must' },
    text: 'an answer right after a press is seen by that person alone',
    async run(run) {
      const { event } = await pressed(run, `${TITLE}: press for a private answer`);
      await expectShown(run, event, 'ephemeral', 'popup');
    },
  },
  {
    ...{ id: 'T1', needs: ['channel', 'thread_messages', 'person', 'events'], level: 'must' },
    text: 'what a person writes in a Thread comes with the Root message and the text',
    async run(run) {
      const title = `${TITLE}: write in the Thread`;
      const { messageId } = await posted(run, { title });
      expectPosted(await reply(run, messageId, { body: 'Here is the Thread\\.' }));
      const text = `written for ${newKey(run)}`;
      await part(run, 'person').writeInThread(messageId, title, text);
      const event = await expectEvent(
        run,
        'thread_message',
        (one) => one.message_id === messageId || one.text === text,
      );
      expectSame(String(event.message_id), messageId, 'message_id');
      expectSame(String(event.text), text, 'text');
      expectUser(event);
      run.left.threadMessage = event;
    },
  },
  {
    ...{ id: 'T2', needs: ['channel', 'thread_messages', 'events'], level: 'must' },
    text: "the bridge's own replies do not come back as events",
    async run(run) {
      const { messageId } = await posted(run, { title: `${TITLE}: a reply of the bot` });
      expectPosted(await reply(run, messageId));
      await expectNoEvent(run, 'thread_message', (one) => one.message_id === messageId);
    },
  },
  {
    ...{
      id: 'T3',
      needs: [{ check: 'T1' }],
      level: 'must',
      text: 'the answer to a message in a Thread is shown there',
    },
    run: (run) => expectShown(run, run.left.threadMessage, 'thread'),
  },
  {
    ...{ id: 'X1', needs: ['channel', 'deletion_events', 'person', 'events'], level: 'must' },
    text: 'a message that a person deletes is reported',
    async run(run) {
      const title = `${TITLE}: delete this message`;
      const { messageId } = await posted(run, { title });
      await part(run, 'person').delete(messageId, title);
      await expectEvent(run, 'message_deleted', (one) => one.message_id === messageId);
    },
  },
  {
    ...{ id: 'N1', needs: ['person', 'events'], level: 'must' },
    text: 'a token sent to the bot comes as account_link with the person',
    async run(run) {
      const token = newToken(run);
      await part(run, 'person').writeToBot(token);
      const event = await expectEvent(run, 'account_link', (one) => one.token === token);
      expectUser(event);
      run.left.link = event;
    },
  },
  {
    ...{
      id: 'N2',
      needs: [{ check: 'N1' }],
      level: 'must',
      text: 'the answer to a token is shown in the direct chat',
    },
    run: (run) => expectShown(run, run.left.link, 'direct'),
  },
  {
    ...{
      id: 'N3',
      needs: ['channel', 'person', 'events'],
      level: 'must',
      text: 'a token posted in the channel is not reported',
    },
    async run(run) {
      const { messageId } = await posted(run, { title: `${TITLE}: a token among others` });
      const token = newToken(run);
      await part(run, 'person').writeInChannel(messageId, given(run, 'channel'), token);
      await expectNoEvent(run, 'account_link', (one) => one.token === token);
    },
  },
];
