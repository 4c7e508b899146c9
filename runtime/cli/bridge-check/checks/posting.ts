/** P: postMessage (bridge §3.5, §3.6, §2.1). */
import { classOf, demand } from '../client.ts';
import { expectClass, expectPosted, expectReplay, expectSame } from '../expect.ts';
import { buttonsOf, findPerson, given, newKey, post, TITLE } from '../requests.ts';
import type { Check, Run } from '../run.ts';

const AT_ONCE = 5;
const MOST_TITLE = 512;
const LONGEST_DATA = 64;
/** Every construct that bodies may hold, and some of them inside others. */
const CONSTRUCTS = `Bridge check: *emphasis*, **strong**, ~~struck out~~, \`code\`, [a link](https://example.org/a_(b)?c=d&e=f)
after a soft break, a hard one\\
and escapes: \\*not emphasis\\* \\<not a tag\\> \\&amp; \\@\u200beveryone

- first
- second with **strong *emphasis***
  - inside the second

> a quote
>
> > a quote in it
>
> - a list in it`;

export const POSTING_CHECKS: readonly Check[] = [
  {
    ...{
      id: 'P1',
      needs: ['channel'],
      level: 'must',
      text: 'a Loud message is posted and answered with its id',
    },
    async run(run) {
      const key = newKey(run);
      const posted = expectPosted(await post(run, { notify: true }, key));
      expectReplay(posted.replayed, false);
      run.left.posted = { key, messageId: posted.messageId };
    },
  },
  {
    ...{
      id: 'P2',
      needs: ['channel'],
      level: 'must',
      text: 'the same key answers the same message, replayed',
    },
    run: (run) => repeats(run, {}),
  },
  {
    ...{
      id: 'P3',
      needs: ['channel'],
      level: 'must',
      text: 'the key decides, whatever the body of the repeat',
    },
    run: (run) => repeats(run, { title: `${TITLE}: another title`, body: 'Another body' }),
  },
  {
    ...{
      id: 'P4',
      needs: ['channel'],
      level: 'must',
      text: 'another key with the same body is another message',
    },
    async run(run) {
      const first = expectPosted(await post(run));
      const second = expectPosted(await post(run));
      demand(first.messageId !== second.messageId, 'both keys were answered with one message_id');
    },
  },
  {
    ...{
      id: 'P5',
      needs: ['channel'],
      level: 'must',
      text: 'requests with one key at the same time make one message',
    },
    run: atOnce,
  },
  {
    ...{ id: 'P6', needs: ['channel'], level: 'must', text: 'Root messages and Storm summaries are posted' },
    async run(run) {
      expectPosted(await post(run, { kind: 'root', title: `${TITLE}: Root message` }));
      const storm = {
        kind: 'storm_summary',
        status: 'storm',
        emoji: '⛈',
        title: `${TITLE}: Storm on everything`,
      };
      expectPosted(await post(run, storm));
    },
  },
  {
    ...{ id: 'P7', needs: ['channel'], level: 'must', text: 'a Quiet message without Mentions is posted' },
    async run(run) {
      expectPosted(await post(run, { notify: false, mentions: [] }));
    },
  },
  {
    ...{
      id: 'P8',
      needs: ['channel'],
      level: 'must',
      text: 'postMessage without an Idempotency-Key is invalid',
    },
    run: async (run) => expectClass(await post(run, {}, null), 'invalid'),
  },
  {
    ...{ id: 'P9', needs: ['missing-channel'], level: 'must' },
    text: 'posting to a channel that does not exist is forbidden, never gone',
    run: async (run) =>
      expectClass(await post(run, { channel_id: given(run, 'missingChannel') }), 'forbidden'),
  },
  {
    ...{ id: 'P10', needs: ['channel', 'missing-channel'], level: 'must' },
    text: 'a request that failed leaves its key unused',
    async run(run) {
      const key = newKey(run);
      expectClass(await post(run, { channel_id: given(run, 'missingChannel') }, key), 'forbidden');
      expectReplay(expectPosted(await post(run, {}, key)).replayed, false);
    },
  },
  {
    ...{ id: 'P11', needs: ['channel'], level: 'must' },
    text: 'a body of exactly max_body_length code points is posted, emoji counted as one each',
    async run(run) {
      expectPosted(await post(run, { body: bodyOf(run.declared.maxBodyLength) }));
    },
  },
  {
    ...{
      id: 'P12',
      needs: ['channel'],
      level: 'must',
      text: 'a body that is longer is invalid or truncated',
    },
    async run(run) {
      const answer = await post(run, { body: bodyOf(run.declared.maxBodyLength + 1) });
      if (classOf(answer) !== null) return expectClass(answer, 'invalid');
      expectPosted(answer);
      demand(answer.fields.truncated === true, 'truncated is false');
    },
  },
  {
    ...{ id: 'P13', needs: ['channel'], level: 'must', text: 'every construct of the body is accepted' },
    async run(run) {
      expectPosted(await post(run, { body: CONSTRUCTS }));
    },
  },
  {
    ...{
      id: 'P14',
      needs: ['channel'],
      level: 'must',
      text: 'a title of 512 characters is plain text, whatever it holds',
    },
    async run(run) {
      expectPosted(await post(run, { title: '<b>&"*_[x](y)@all'.padEnd(MOST_TITLE, '.') }));
    },
  },
  {
    ...{
      id: 'P15',
      needs: ['channel'],
      level: 'must',
      text: 'markers of known and of unknown Mentions are accepted',
    },
    run: mentions,
  },
  {
    ...{
      id: 'P16',
      needs: ['channel', 'buttons'],
      level: 'must',
      text: 'eight buttons with 64 characters of data each',
    },
    async run(run) {
      const buttons = buttonsOf(run, ...'12345678').map((button) => ({
        ...button,
        data: button.data.padEnd(LONGEST_DATA, '_'),
      }));
      expectPosted(await post(run, { buttons }));
    },
  },
  {
    ...{
      id: 'P17',
      needs: ['channel'],
      level: 'should',
      text: 'a wrong color, an empty title, a wrong status are invalid',
    },
    async run(run) {
      expectClass(await post(run, { color: 'red' }), 'invalid');
      expectClass(await post(run, { title: '' }), 'invalid');
      expectClass(await post(run, { status: 'x' }), 'invalid');
    },
  },
  {
    ...{
      id: 'P18',
      needs: ['channel', 'second-token'],
      level: 'must',
      text: 'the keys of another token are others',
    },
    async run(run) {
      const key = newKey(run);
      expectPosted(await post(run, {}, key));
      const answer = await post(run, {}, key, { token: given(run, 'secondToken') });
      if (classOf(answer) !== null) return expectClass(answer, 'forbidden');
      expectReplay(expectPosted(answer).replayed, false);
    },
  },
];

/** No run lasts for 24 hours; a bridge that keeps too few keys, or for minutes only, is found out all the same. */
export const OLD_KEY_CHECK: Check = {
  ...{ id: 'P19', needs: ['channel', { check: 'P1' }], level: 'must' },
  text: 'the key of the first message is still known when everything else was done',
  async run(run) {
    const { posted } = run.left;
    demand(posted !== undefined, 'no message was posted');
    const again = expectPosted(await post(run, { notify: true }, posted.key));
    expectReplay(again.replayed, true);
    expectSame(again.messageId, posted.messageId, 'message_id');
  },
};

async function repeats(run: Run, change: Readonly<Record<string, unknown>>): Promise<void> {
  const key = newKey(run);
  const first = expectPosted(await post(run, {}, key));
  const second = expectPosted(await post(run, change, key));
  expectReplay(second.replayed, true);
  expectSame(second.messageId, first.messageId, 'message_id');
}

async function atOnce(run: Run): Promise<void> {
  const key = newKey(run);
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => post(run, {}, key)));
  const done = answers.filter((answer) => classOf(answer) === null).map(expectPosted);
  for (const answer of answers) if (classOf(answer) !== null) expectClass(answer, 'transient');
  demand(
    new Set(done.map(({ messageId }) => messageId)).size === 1,
    'not exactly one message_id was answered',
  );
  demand(done.filter(({ replayed }) => !replayed).length === 1, 'not exactly one answer was the first');
}

async function mentions(run: Run): Promise<void> {
  const user = await somebody(run);
  const named = `[@${user.display_name}](svc-mention:m1)`;
  expectPosted(await post(run, { body: named, mentions: [{ ref: 'm1', type: 'user', user }], notify: true }));
  expectPosted(await post(run, { body: '[@Nobody](svc-mention:m2)', mentions: [], notify: true }));
}

/** The person that the operator named, or one whom the messenger does not know. */
async function somebody(run: Run): Promise<{ external_id: string; display_name: string }> {
  const { handle } = run.given;
  if (handle !== null && run.declared.userLookup !== 'none') {
    const { items } = (await findPerson(run, handle)).fields;
    const found: unknown = Array.isArray(items) ? items[0]?.external_id : undefined;
    if (typeof found === 'string') return { external_id: found, display_name: 'Bridge check' };
  }
  return { external_id: 'no-such-person', display_name: 'Nobody' };
}

/** So many code points: words of plain letters with emoji from outside the basic plane between them. */
function bodyOf(length: number): string {
  const start = 'Bridge check 🟥🟠 ';
  const missing = length - [...start].length;
  return (start + 'letters and words '.repeat(Math.ceil(missing / 18)).slice(0, missing - 1)).concat('x');
}
