import { expect, test } from 'vitest';
import { fieldsOf, MESSAGE, stage } from './bridge.fixture.ts';

const LINK_TOKEN = 'a'.repeat(43);
const USER = { external_id: 'u-17', username: null, display_name: 'Alice', bot: false };

test('messages, Threads and buttons are on the page, and what they say is never markup', async () => {
  const { post, send, bridge } = stage();
  const title = '#1 <script>alert("x")</script>';
  const buttons = [{ text: '<i>Ack</i>', data: 'ack', style: '"><script>' }];
  const { message_id } = await post({ title, body: 'a *nice* day', buttons });
  const user = { external_id: 'u-17', username: null, display_name: '<b>Alice</b>', bot: false };
  bridge.acts.writeInThread(String(message_id), '<img src=x>\nsecond', user);
  const { body, headers } = await send('GET', '/?as=u-18');
  expect(body).toContain('#1 &lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
  expect(body).toContain('a <em>nice</em> day');
  expect(body).toContain('class="default">&lt;i&gt;Ack&lt;/i&gt;</button>');
  expect(body).toContain('<b>&lt;b&gt;Alice&lt;/b&gt;</b>');
  expect(body).toContain('&lt;img src=x&gt;\nsecond');
  expect(body).not.toMatch(/ on\w+=|<script>| style=/);
  expect(headers['content-security-policy']).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self'",
  );
});

test('the buttons of the page are what people press, and private answers are seen by one', async () => {
  const { post, send, events } = stage();
  const message_id = String((await post()).message_id);
  const form = new URLSearchParams({ message_id, data: 'ack-412', as: 'u-18' }).toString();
  const pressed = await send('POST', '/press', form);
  expect([pressed.status, pressed.headers.location]).toEqual([303, '/?as=u-18']);
  const [event] = await events();
  expect(event).toMatchObject({ type: 'press', data: 'ack-412', user: { external_id: 'u-18' } });
  const answer = { event_id: event?.id, text: 'Done: Ack' };
  await send('POST', '/v1/event-answers', answer, { 'idempotency-key': 'key' });
  expect((await send('GET', '/?as=u-18')).body).toContain('Done: Ack');
  expect((await send('GET', '/?as=u-17')).body).not.toContain('Done: Ack');
});

test('whoever is asked to link an account can follow the address, and sees the e-mail that Tocsin asks for', async () => {
  const { post, send, events } = stage();
  const message_id = String((await post()).message_id);
  await send('POST', '/press', new URLSearchParams({ message_id, data: 'ack-412', as: 'u-18' }).toString());
  const [event] = await events();
  const text = 'Connect this account: https://oncall.example.org/profile?a=1&b="2".';
  await send('POST', '/v1/event-answers', { event_id: event?.id, text }, { 'idempotency-key': 'key' });
  const { body } = await send('GET', '/?as=u-18');
  const address = 'https://oncall.example.org/profile?a=1&amp;b=';
  expect(body).toContain(`<a href="${address}">${address}</a>&quot;2&quot;.`);
  expect(body).toContain('<small>bob@example.org</small>');
});

test('a form from another site does nothing', async () => {
  const { send, events } = stage();
  const form = new URLSearchParams({ text: LINK_TOKEN, as: 'u-17' }).toString();
  const refused = await send('POST', '/direct', form, { 'sec-fetch-site': 'cross-site' });
  expect(refused.status).toBe(403);
  expect(await events()).toEqual([]);
});

test('a name that somebody else made lead here gets nothing', async () => {
  const { send, post } = stage();
  await post();
  for (const target of ['/', '/_sim/messages']) {
    const refused = await send('GET', target, undefined, { host: 'evil.example:8090' });
    expect([refused.status, refused.body.includes('HighErrorRate')]).toEqual([403, false]);
    expect((await send('GET', target, undefined, { host: 'localhost:8090' })).status).toBe(200);
  }
});

test('of many messages the page shows the newest, each with its own Thread', async () => {
  const { post, bridge, send } = stage();
  for (let number = 1; number <= 60; number++) {
    const { message_id } = await post({ title: `#${number} Alert` });
    bridge.acts.writeInThread(String(message_id), `said under ${number}.`, USER);
  }
  const { body } = await send('GET', '/');
  expect(body).toContain('Older messages, not shown: 10<');
  expect(body).not.toContain('#10 Alert<');
  expect(body).not.toContain('said under 10.');
  expect(body).toMatch(/#11 Alert<[^#]*said under 11\./);
  expect(body).toMatch(/#60 Alert<[^#]*said under 60\./);
});

test('a messenger that keeps few messages has forgotten the first ones, and gives no id twice', async () => {
  const { post, send, bridge } = stage({ keeps: 3 });
  const ids: string[] = [];
  for (let number = 1; number <= 5; number++) ids.push(String((await post()).message_id));
  expect(new Set(ids).size).toBe(5);
  expect(bridge.messenger.posts.map(({ message_id }) => message_id)).toEqual(ids.slice(2));
  const edited = await Promise.all(
    ids.map((id) => send('PUT', `/v1/messages/${encodeURIComponent(id)}`, MESSAGE)),
  );
  expect(edited.map(({ status }) => status)).toEqual([410, 410, 200, 200, 200]);
});

test('the link of an Account link brings the token to the bot', async () => {
  const { send, events } = stage();
  const template = String(fieldsOf(await send('GET', '/v1/info')).link_url_template);
  const { pathname } = new URL(template.replace('{token}', LINK_TOKEN));
  const page = await send('GET', pathname);
  const [, text = ''] = /name="text" value="([^"]+)"/.exec(page.body) ?? [];
  await send('POST', '/direct', new URLSearchParams({ text, as: 'u-17' }).toString());
  expect(await events()).toMatchObject([{ type: 'account_link', token: LINK_TOKEN }]);
  expect((await send('GET', '/link/short')).status).toBe(404);
});
