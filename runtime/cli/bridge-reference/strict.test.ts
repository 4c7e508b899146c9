/** What the protocol forbids is invalid, and the detail begins with the field: the fake of the service's tests depends on it. */
import { expect, test } from 'vitest';
import { type Fields, fieldsOf, MESSAGE, REPLY, ROOT, stage } from './bridge.fixture.ts';
import type { Switch } from './shapes.ts';

const button = { text: 'Ack', data: 'ack', style: 'default' };
const mention = { ref: 'm1', type: 'user', user: { external_id: 'u-17' } };
const marker = '[@Alice](svc-mention:m1)';
const many = (count: number) => Array.from({ length: count }, () => button);

const POSTS: readonly (readonly [string, Fields, string])[] = [
  ['an unknown status', { status: 'closed' }, 'status: must be one of'],
  ['a color in capitals', { color: '#D32F2F' }, 'color: must match'],
  ['no emoji', { emoji: undefined }, 'emoji: is missing'],
  ['nine emoji', { emoji: '🔴'.repeat(9) }, 'emoji: must have 1 to 8 characters'],
  ['an empty title', { title: '' }, 'title: must have'],
  ['a title of 513 code points', { title: '🔴'.repeat(513) }, 'title: must have'],
  [
    'a link that runs a script',
    { link: { url: 'javascript:alert(1)', text: 'x' } },
    'link.url: must be an http(s) URL',
  ],
  ['a link without a text', { link: { url: 'https://a.example/' } }, 'link.text: is missing'],
  ['a body that is no text', { body: null }, 'body: must be a string'],
  ['a body that is too long', { body: 'x'.repeat(4001) }, 'body: has more than 4000 code points'],
  ['a heading', { body: '# Loud' }, 'body: holds a heading'],
  ['an image', { body: '![x](https://a.example/x.png)' }, 'body: holds an image'],
  ['a tag', { body: 'a <b>bold</b> word' }, 'body: holds raw HTML'],
  ['a block of HTML', { body: '<div>\nx\n</div>' }, 'body: holds raw HTML'],
  [
    'a link that is not http(s)',
    { body: '[x](file:///etc/passwd)' },
    'body: holds a link that is not http(s)',
  ],
  ['a marker in a Quiet message', { body: marker, notify: false }, 'body: holds a Mention marker'],
  ['a Mention in a Quiet message', { mentions: [mention], notify: false }, 'mentions: must be empty'],
  ['two Mentions with one ref', { mentions: [mention, mention] }, 'mentions: must not name a ref twice'],
  ['a Mention of nobody', { mentions: [{ ref: 'm1', type: 'user' }] }, 'mentions: must have their user'],
  ['a ref in capitals', { mentions: [{ ...mention, ref: 'M1' }] }, 'mentions.0.ref: must match'],
  [
    'a button with a space in its data',
    { buttons: [{ ...button, data: 'a b' }] },
    'buttons.0.data: must match',
  ],
  ['a button without a text', { buttons: [button, { data: 'x' }] }, 'buttons.1.text: is missing'],
  ['too many buttons', { buttons: many(13) }, 'buttons: are more than 12'],
  [
    'a button with a long text',
    { buttons: [{ ...button, text: 'x'.repeat(41) }] },
    'buttons.0.text: has more than 40',
  ],
  ['no channel', { channel_id: '' }, 'channel_id: must have'],
  ['an unknown kind', { kind: 'note' }, 'kind: must be one of'],
  ['notify as a text', { notify: 'true' }, 'notify: must be true or false'],
  ['no mentions', { mentions: undefined }, 'mentions: is missing'],
];

test.each(POSTS)('a post with %s is invalid', async (_name, change, detail) => {
  const { post, bridge } = stage();
  const refused = await post({ buttons: [], ...change });
  expect(refused).toMatchObject({ status: 400, class: 'invalid', detail: expect.stringContaining(detail) });
  expect(String(refused.detail).indexOf(detail)).toBe(0);
  expect(bridge.messenger.posts).toEqual([]);
});

test('buttons that were not declared are invalid', async () => {
  const refused = await stage({ without: new Set(['buttons']) }).post({ buttons: [button] });
  expect(refused).toMatchObject({ class: 'invalid', detail: 'buttons: are not declared' });
});

test.each(['channel_id', 'kind', 'mentions', 'notify'] as const)(
  'an edit with %s is invalid',
  async (field) => {
    const { post, send } = stage();
    const target = `/v1/messages/${encodeURIComponent(String((await post()).message_id))}`;
    const refused = await send('PUT', target, { ...MESSAGE, [field]: ROOT[field] });
    expect(fieldsOf(refused)).toMatchObject({
      class: 'invalid',
      detail: `${field}: must not be part of an edit`,
    });
    expect((await send('PUT', target, MESSAGE)).status).toBe(200);
  },
);

test('a reply with a thread_ref that is not null or a text is invalid, and one of another Thread is gone', async () => {
  const { post, send } = stage();
  const target = `/v1/messages/${encodeURIComponent(String((await post()).message_id))}/replies`;
  const reply = (change: Fields, key: string) =>
    send('POST', target, { ...REPLY, ...change }, { 'idempotency-key': key }).then(fieldsOf);
  expect(await reply({ thread_ref: undefined }, 'a')).toMatchObject({ detail: 'thread_ref: is missing' });
  expect(await reply({ thread_ref: 17 }, 'b')).toMatchObject({ class: 'invalid' });
  expect(await reply({ thread_ref: 't-elsewhere' }, 'c')).toMatchObject({ class: 'gone' });
});

test.each([
  ['POST', '/v1/messages', 'Idempotency-Key: is missing', {}],
  ['POST', '/v1/messages', 'Idempotency-Key: must match', { 'idempotency-key': 'a b' }],
  ['POST', '/v1/direct-messages', 'Idempotency-Key: is missing', {}],
  ['POST', '/v1/event-answers', 'Idempotency-Key: is missing', {}],
  ['GET', '/v1/events?wait=61', 'wait: must be', {}],
  ['GET', '/v1/events?cursor=c-000000-0-1', 'cursor: is not known', {}],
  ['GET', '/v1/people?handle=alice', 'handle: must be an e-mail address', {}],
  ['PUT', '/v1/messages/9001', 'message_id: names no message', {}],
  ['GET', '/v1/channels/%E0%A4%A', 'path: is not percent-encoded', {}],
])('%s %s is invalid: %s', async (method, target, detail, headers) => {
  const { send } = stage();
  const body = target.endsWith('/9001') ? MESSAGE : undefined;
  const refused = fieldsOf(await send(method, target, body, headers));
  expect(refused).toMatchObject({ class: 'invalid', detail: expect.stringContaining(detail) });
});

test('what was not declared is not there', async () => {
  const without = new Set<Switch>(['delete', 'user_lookup', 'direct_messages', 'poll']);
  const { send } = stage({ without, push: { url: 'http://service.invalid/', secret: 'whsec_' } });
  const requests = [
    ['DELETE', '/v1/messages/m'],
    ['GET', '/v1/people?handle=alice%40example.org'],
    ['POST', '/v1/direct-messages'],
    ['GET', '/v1/events?wait=0'],
    ['GET', '/v1/no-such-thing'],
    ['POST', '/v1/info'],
  ] as const;
  for (const [method, target] of requests) {
    const answer = await send(method, target);
    expect([answer.status, fieldsOf(answer).class]).toEqual([404, 'invalid']);
  }
});
