/** Somebody at the messenger: a person who is asked, or a bridge's `/_sim/` that acts without one. */
import { createInterface } from 'node:readline';
import * as v from 'valibot';
import { SECOND, systemClock } from '../../clock.ts';
import type { CommandIo } from '../command.ts';
import { type BridgeClient, demand, Unmet } from './client.ts';
import { expectSuccess } from './expect.ts';

export const MESSAGES = v.array(
  v.looseObject({
    message_id: v.string(),
    channel_id: v.nullish(v.string(), null),
    root_id: v.nullish(v.string(), null),
    thread_ref: v.nullish(v.string(), null),
    buttons: v.nullish(v.array(v.unknown()), []),
    deleted: v.nullish(v.boolean(), false),
  }),
);
export type Messages = v.InferOutput<typeof MESSAGES>;

export interface PressedButton {
  readonly messageId: string;
  /** Text on the button, and where it is. */
  readonly text: string;
  readonly where: string;
  readonly data: string;
}

/** Each act resolves when it is done. @throws Unmet when nobody does it */
export interface Person {
  press(button: PressedButton): Promise<void>;
  writeInThread(messageId: string, title: string, text: string): Promise<void>;
  writeToBot(text: string): Promise<void>;
  /** In the channel, or in a Thread there: where others read it too. */
  writeInChannel(messageId: string, channel: string, text: string): Promise<void>;
  delete(messageId: string, title: string): Promise<void>;
  /** What stands in the messenger; null: only a person can see it. */
  look(): Promise<Messages | null>;
  /** Whether it is so: the person is asked, or `proof` decides by what stands there. */
  confirms(question: string, proof: (messages: Messages) => boolean): Promise<boolean>;
}

const SIM_USER = { external_id: 'u-bridge-check', username: 'bridge-check', display_name: 'Bridge check' };

/** Acts by `/_sim/` of the bridge under the same base URL. */
export function createSimPerson(client: BridgeClient): Person {
  const act = async (name: string, body: Readonly<Record<string, unknown>>): Promise<void> => {
    const path = `/_sim/${name}`;
    expectSuccess(
      await client.call({ method: 'POST', path, token: null, body: { user: SIM_USER, ...body } }),
    );
  };
  const look = async (): Promise<Messages> => {
    const { json } = await client.call({ method: 'GET', path: '/_sim/messages', token: null });
    const read = v.safeParse(MESSAGES, json);
    demand(read.success, '/_sim/messages does not answer a list of messages');
    return read.output;
  };
  return {
    press: ({ messageId, data }) => act('press', { message_id: messageId, data }),
    writeInThread: (messageId, _title, text) => act('thread-message', { message_id: messageId, text }),
    writeToBot: (text) => act('direct', { text }),
    writeInChannel: (messageId, _channel, text) => act('thread-message', { message_id: messageId, text }),
    delete: (messageId) => act('delete', { message_id: messageId }),
    look,
    confirms: async (_question, proof) => proof(await look()),
  };
}

/** Shows a line and resolves with what is typed, or with null when nothing came within the seconds. */
export type Ask = (line: string, seconds: number) => Promise<string | null>;

const PATIENCE_SECONDS = 60;

/** Asks the person at the terminal. */
export function createAskedPerson(ask: Ask): Person {
  const please = async (what: string): Promise<void> => {
    const answer = await ask(`${what} Then press Enter here.`, PATIENCE_SECONDS);
    if (answer === null) throw new Unmet(`nobody did it within ${PATIENCE_SECONDS} s`);
  };
  return {
    press: ({ text, where }) => please(`Press the button "${text}" of ${where}.`),
    writeInThread: (_id, title, text) => please(`Write "${text}" in the Thread of "${title}".`),
    writeToBot: (text) => please(`Send this to the bot in a direct chat: ${text}`),
    writeInChannel: (_id, channel, text) =>
      please(`Write this in the channel ${channel}, not to the bot: ${text}`),
    delete: (_id, title) => please(`Delete the message "${title}".`),
    look: async () => null,
    confirms: async (question) => {
      const answer = await ask(`${question} (y/n)`, PATIENCE_SECONDS);
      if (answer === null) throw new Unmet(`nobody answered within ${PATIENCE_SECONDS} s`);
      return /^y/i.test(answer.trim());
    },
  };
}

/** Reads lines from the terminal for as long as the checks go on. Its end (Ctrl-D) is nobody's answer. */
export function openTerminal(io: CommandIo): { readonly ask: Ask; close(): void } {
  const lines = createInterface({ input: process.stdin });
  let answer: ((typed: string | null) => void) | null = null;
  let isOver = false;
  lines.on('line', (typed) => answer?.(typed));
  lines.on('close', () => {
    isOver = true;
    answer?.(null);
  });
  return {
    ask: (line, seconds) =>
      new Promise((resolve) => {
        io.out(`     ${line}`);
        if (isOver) return resolve(null);
        const timer = systemClock.after(seconds * SECOND, () => answer?.(null));
        answer = (typed) => {
          answer = null;
          timer.cancel();
          resolve(typed);
        };
      }),
    close: () => lines.close(),
  };
}
