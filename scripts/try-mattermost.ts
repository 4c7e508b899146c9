/** `npm run try:mattermost`: the strict Mattermost of the tests on a port, for trying a Connection without a server. */
import { createInterface } from 'node:readline';
import { startChatServer } from '../test/fakes/chat-server/http.ts';
import type { FakePost } from '../test/fakes/chat-server/server.ts';

const PORT = 8095;
/** Milliseconds between two looks at the posts. */
const LOOK_EVERY = 300;

const { server, url, token } = await startChatServer(PORT);
const alice = server.addUser('alice');
server.settings.permissions.add('create_post_ephemeral');

console.log(`address  ${url}`);
console.log(`token    ${token}`);
console.log(
  'channel  alerts of the team Operations; the user alice. Type "ack 1" to press a button, ^C to stop.\n',
);

const shownAt = new Map<string, number>();
let answers = 0;

function show(post: FakePost, number: number): void {
  const isNew = !shownAt.has(post.id);
  shownAt.set(post.id, post.updateAt);
  const where = post.rootId === '' ? '' : `  under ${numberOf(post.rootId)}`;
  console.log(`${isNew ? 'post' : 'edit'} ${number}${where}: ${post.message}`);
  for (const { text, actions } of post.props.attachments ?? []) {
    for (const line of text.split('\n')) console.log(`  | ${line}`);
    if (actions.length > 0) console.log(`  [${actions.map(({ id }) => id).join('] [')}]`);
  }
}

function numberOf(postId: string): number {
  return server.posts.findIndex(({ id }) => id === postId) + 1;
}

setInterval(() => {
  for (const [index, post] of server.posts.entries())
    if (shownAt.get(post.id) !== post.updateAt) show(post, index + 1);
  for (const { message } of server.ephemeral.slice(answers)) console.log(`to one person: ${message}`);
  answers = server.ephemeral.length;
  for (const wrong of server.violations.splice(0)) console.log(`a server would refuse or warn: ${wrong}`);
}, LOOK_EVERY);

createInterface({ input: process.stdin }).on('line', async (line) => {
  const [, action = '', number = ''] = /^\s*(\w+)\s+(\d+)\s*$/.exec(line) ?? [];
  const post = server.posts[Number(number) - 1];
  if (!post) return console.log('Type the name of a button and the number of a post, such as "ack 1".');
  const [answer] = await server.press(post.id, action, alice);
  if (answer?.status !== 200) console.log(`answered ${answer?.status}: ${answer?.body}`);
});
