/**
 * `npm run try -- mattermost` or `telegram`: the strict server of the tests on a port, for trying a Connection without an
 * account of that messenger. What is posted is printed; typed lines are what a person does there.
 */
import { createInterface } from 'node:readline';
import { startBotApi } from '../test/fakes/channel-bot/http.ts';
import type { FakeMessage } from '../test/fakes/channel-bot/world.ts';
import { startChatServer } from '../test/fakes/chat-server/http.ts';
import type { FakePost } from '../test/fakes/chat-server/server.ts';

/** Milliseconds between two looks at the messages. */
const LOOK_EVERY = 300;

interface Shown<Message> {
  readonly text: string;
  /** What it stands under; null: it begins a Thread. */
  readonly under: Message | null;
  /** By what is typed to press them. */
  readonly buttons: readonly string[];
}

interface Messenger<Message extends object> {
  /** What to enter in Tocsin, and what can be typed beyond presses. */
  readonly intro: readonly string[];
  messages(): readonly Message[];
  shown(message: Message): Shown<Message>;
  /** @returns what went wrong; null: nothing */
  press(message: Message, button: string): Promise<string | null>;
  /** What the person was answered, in private, so far. */
  answers(): readonly string[];
  /** What a server would refuse or warn of; emptied once it is printed. */
  readonly violations: string[];
  /** Another line than a press. @returns whether it means something here */
  typed?(line: string): boolean;
}

async function mattermost(port: number): Promise<Messenger<FakePost>> {
  const { server, url, token } = await startChatServer(port);
  const alice = server.addUser('alice');
  server.settings.permissions.add('create_post_ephemeral');
  return {
    intro: [
      `address  ${url}`,
      `token    ${token}`,
      'channel  Alerts of the team Operations; the user is alice',
    ],
    messages: () => server.posts,
    shown({ message, rootId, props }) {
      const attachments = props.attachments ?? [];
      return {
        text: [message, ...attachments.map(({ text }) => text)].filter((each) => each !== '').join('\n'),
        under: server.posts.find(({ id }) => id === rootId) ?? null,
        buttons: attachments.flatMap(({ actions }) => actions.map(({ id }) => id)),
      };
    },
    async press(post, button) {
      const [answer] = await server.press(post.id, button, alice);
      return answer?.status === 200 ? null : `answered ${answer?.status}: ${answer?.body}`;
    },
    answers: () => server.ephemeral.map(({ message }) => message),
    violations: server.violations,
  };
}

const BOB = 5001;

async function telegram(port: number): Promise<Messenger<FakeMessage>> {
  const { server, url, token } = await startBotApi(port);
  const { world } = server;
  const bob = world.addPerson(BOB, 'bob');
  return {
    intro: [
      ...[`address  ${url}`, `token    ${token}`],
      `channel  @alerts, with the discussion group ${world.group.title}; the person is bob`,
      'Type "start" and the link that the dialog shows to link his account: it leads to Telegram itself.',
    ],
    messages: () => [...world.chats.values()].flatMap((chat) => world.messages(chat)),
    shown({ chatId, text, copyOf, replyTo, keyboard }) {
      const target = copyOf ?? (replyTo === null ? null : { chatId, messageId: replyTo });
      return {
        text: copyOf ? `the copy in ${world.group.title}` : text,
        under: (target && world.message(target.chatId, target.messageId)) ?? null,
        buttons: keyboard.flat().map((button) => button.text.toLowerCase()),
      };
    },
    async press(message, button) {
      const label = message.keyboard.flat().find(({ text }) => text.toLowerCase() === button)?.text;
      server.press(message, label ?? button, bob);
      return null;
    },
    answers: () => server.answers.map(({ text }) => text),
    violations: server.violations,
    typed(line) {
      const [, link = ''] = /^start\s+(\S+)$/.exec(line) ?? [];
      const chat = world.chats.get(BOB);
      if (link === '' || !chat) return false;
      const start = URL.canParse(link) ? new URL(link).searchParams.get('start') : link;
      server.write(chat, bob, `/start ${start}`);
      return true;
    },
  };
}

function watch<Message extends object>(messenger: Messenger<Message>): void {
  /** In the order in which they were seen; their places are their numbers. */
  const seen: Message[] = [];
  const printed: string[] = [];
  let answered = 0;

  function print(message: Message): void {
    const { text, under, buttons } = messenger.shown(message);
    const place = seen.indexOf(message);
    const lines = text.split('\n').map((line) => `  | ${line}`);
    const body = [...lines, ...(buttons.length > 0 ? [`  [${buttons.join('] [')}]`] : [])].join('\n');
    if (printed[place] === body) return;
    const where = under === null ? '' : `  under ${seen.indexOf(under) + 1}`;
    console.log(`${printed[place] === undefined ? 'post' : 'edit'} ${place + 1}${where}\n${body}`);
    printed[place] = body;
  }

  function look(): void {
    const messages = messenger.messages();
    seen.push(...messages.filter((message) => !seen.includes(message)));
    for (const message of messages) print(message);
    for (const text of messenger.answers().slice(answered)) console.log(`to one person: ${text}`);
    answered = messenger.answers().length;
    for (const wrong of messenger.violations.splice(0))
      console.log(`a server would refuse or warn: ${wrong}`);
  }

  async function type(line: string): Promise<void> {
    if (line === '' || messenger.typed?.(line)) return;
    const [, button = '', number = ''] = /^(.+?)\s+(\d+)$/.exec(line) ?? [];
    const message = seen[Number(number) - 1];
    const isOffered = message && messenger.shown(message).buttons.includes(button.toLowerCase());
    if (!isOffered) return console.log('Type a button and the number of its post, such as "ack 1".');
    const wrong = await messenger.press(message, button.toLowerCase());
    if (wrong !== null) console.log(wrong);
  }

  console.log([...messenger.intro, 'Type "ack 1" to press that button of post 1, ^C to stop.\n'].join('\n'));
  setInterval(look, LOOK_EVERY);
  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => {
    look();
    void type(line.trim()).then(look);
  });
}

const [name, port] = process.argv.slice(2);
if (name === 'mattermost') watch(await mattermost(Number(port ?? 8095)));
else if (name === 'telegram') watch(await telegram(Number(port ?? 8096)));
else {
  console.error('npm run try -- mattermost|telegram [port]');
  process.exitCode = 2;
}
