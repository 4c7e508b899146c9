import { describe, expect, test } from 'vitest';
import { HOUR, SECOND } from '../../../runtime/clock.ts';
import { readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import type { Attachment } from '../../../test/fakes/chat-server/shapes.ts';
import { alerts, groupOf } from '../../messages/messages.fixture.ts';
import { ANN, CONNECTION, GROUP, keyring, world } from './world.fixture.ts';

type World = ReturnType<typeof world>;

function attachment(on: World): Attachment {
  const [root] = on.server.posts;
  const [only, ...others] = root?.props.attachments ?? [];
  expect(others).toEqual([]);
  if (!only) throw new Error('no attachment');
  return only;
}

async function published(): Promise<World & { readonly id: string }> {
  const on = world();
  const outcome = await on.publish();
  if (outcome.class !== 'ok' || outcome.messageId === null) throw new Error(outcome.class);
  return { ...on, id: outcome.messageId };
}

describe('a Root message', () => {
  test('is one post with a summary line and everything else in one attachment', async () => {
    const on = world();
    expect(await on.publish()).toMatchObject({
      class: 'ok',
      messageUrl: expect.stringMatching(/^https:\/\/chat\.example\/ops\/pl\//),
      signedWith: keyring.activeKeyId,
    });
    expect(on.server.posts).toHaveLength(1);
    expect(on.server.posts[0]).toMatchObject({ message: '🔴 #412 HighErrorRate', rootId: '' });
    expect(attachment(on)).toMatchObject({
      ...{ fallback: '#412 HighErrorRate', color: '#d32f2f', title: '#412 HighErrorRate' },
      title_link: `https://oncall.example.org/alert-groups/${GROUP}`,
      footer: 'Tocsin 0.1.0',
    });
    expect(on.server.violations).toEqual([]);
  });

  test('has buttons that only Tocsin can have signed, and that come back to its Connection', async () => {
    const on = world();
    await on.publish();
    const { actions } = attachment(on);
    expect(actions.map(({ id, style }) => `${id} ${style}`)).toEqual([
      ...['ack primary', 'resolve success', 'snooze0 default', 'snooze1 default'],
    ]);
    const [first] = actions;
    expect(first?.integration.url).toBe(`https://ingest.example/api/v1/callbacks/chat-server/${CONNECTION}`);
    expect(first?.integration.context.key_id).toBe(keyring.activeKeyId);
    expect(readButtonData(keyring, String(first?.integration.context.action))).toMatchObject({
      ok: true,
      button: { subject: 'root_message', id: GROUP, command: 'acknowledge' },
    });
  });

  test('names nobody by what an alert says', async () => {
    const on = world();
    const name = '@channel <b>x</b> *y* @ann';
    on.server.addUser('ann');
    await on.publish({ title: name, summary: name, alerts: alerts([{ labels: { pod: name } }]) }, []);
    expect(on.server.notices).toEqual([]);
    expect(on.server.posts[0]?.message).toContain('@\u200Bchannel <b\\>x</b\\> \\*y\\*');
  });

  test('names whom its Destination says, at the end of the line and nowhere else', async () => {
    const on = world();
    on.server.addUser('ann');
    await on.publish({}, [
      { type: 'everyone', as: 'here' },
      { type: 'group', name: 'sre' },
      { type: 'user', id: ANN },
    ]);
    expect(on.server.posts[0]?.message).toBe('🔴 #412 HighErrorRate @here @sre @ann');
    expect(attachment(on).text).not.toContain('@');
    expect(on.server.notices).toHaveLength(2);
  });

  test('names people as they are called today, and whoever left in plain text', async () => {
    const on = world();
    const mention = [{ type: 'user', id: ANN }] as const;
    const ann = on.server.addUser('ann');
    on.account.externalId = ann.id;
    await on.publish({}, mention);
    ann.username = 'ann.smith';
    on.time.now += HOUR;
    await on.publish({}, mention, { key: 'root-a-c-1' });
    on.time.now += 24 * HOUR;
    await on.publish({}, mention, { key: 'root-a-d-1' });
    ann.deleteAt = 1;
    on.time.now += 25 * HOUR;
    await on.publish({}, mention, { key: 'root-a-e-1' });
    const names = on.server.posts.map(({ message }) => message.split(' ').at(-1));
    expect(names).toEqual(['@ann', '@ann', '@ann.smith', 'ann']);
    expect(on.server.calls.filter((call) => call.endsWith('/users/ids'))).toHaveLength(3);
  });

  test('waits for no name: the stored one is used, and the server is left alone for a while', async () => {
    const on = world();
    const mention = [{ type: 'user', id: ANN }] as const;
    on.server.addUser('ann');
    await on.publish();
    on.script.push('lost_before');
    expect(await on.publish({}, mention, { key: 'root-a-c-1' })).toMatchObject({ class: 'ok' });
    expect(await on.publish({}, mention, { key: 'root-a-d-1' })).toMatchObject({ class: 'ok' });
    expect(on.server.posts.map(({ message }) => message.endsWith('@ann'))).toEqual([false, true, true]);
    expect(on.server.calls.filter((call) => call.endsWith('/users/ids'))).toEqual([]);
  });

  test('is silent when it is Quiet, and posted again without where the bot may not be silent', async () => {
    const on = world();
    on.server.settings.mayPostSilently = false;
    expect(await on.publish()).toMatchObject({ class: 'ok' });
    expect(on.calls()).toEqual(['POST /api/v4/posts?silent=true', 'POST /api/v4/posts']);
    await on.publish({}, null, { key: 'root-a-c-1' });
    expect(on.calls()).toHaveLength(3);
    on.time.now += 24 * HOUR;
    await on.publish({}, null, { key: 'root-a-d-1' });
    expect(on.calls().slice(3)).toEqual(['POST /api/v4/posts?silent=true', 'POST /api/v4/posts']);
  });

  test.each(['16383', '4000', 'none'])('keeps to MaxPostSize %s with very many Alerts', async (size) => {
    const on = world();
    on.server.settings.maxPostSize = size === 'none' ? '16383' : size;
    if (size === 'none') on.script.push(...NO_CONFIG);
    const group = groupOf(600, (index) => ({ pod: `${'*'.repeat(900)}${index}` }), {
      title: '#'.repeat(5000),
    });
    expect(await on.publish(group, [])).toMatchObject({ class: 'ok' });
    const { text, actions } = attachment(on);
    const [root] = on.server.posts;
    const most = Number(on.server.settings.maxPostSize);
    expect([...(root?.message ?? '')].length).toBeLessThanOrEqual(most);
    expect([...text].length).toBeLessThanOrEqual(most);
    expect(text).toContain('[Open in Tocsin]');
    expect(actions).toHaveLength(4);
    expect(Buffer.byteLength(JSON.stringify(root))).toBeLessThan(250_000);
  });
});

/** getMe and getRoles as the server has them, then a page in place of the configuration. */
const NO_CONFIG = [
  {
    status: 200,
    headers: {},
    body: '{"id":"u1000000000000000000000000","username":"tocsin","roles":""}',
  },
  { status: 200, headers: {}, body: '<html>' },
];

describe('an edit', () => {
  test('replaces line, attachment and buttons, and names nobody', async () => {
    const on = await published();
    expect(await on.edit(on.id, { status: 'acknowledged', owner: 'ann' })).toMatchObject({ class: 'ok' });
    expect(on.server.posts).toHaveLength(1);
    expect(on.server.posts[0]?.message).toBe('🟠 #412 HighErrorRate');
    expect(attachment(on)).toMatchObject({ color: '#f57c00' });
    expect(attachment(on).actions.map(({ id }) => id)).toEqual(['unack', 'resolve', 'snooze0', 'snooze1']);
    expect(on.server.notices).toEqual([]);
  });

  test('of a deleted post is refused, read once, and gone', async () => {
    const on = await published();
    on.server.remove(on.id);
    expect(await on.edit(on.id)).toMatchObject({ class: 'gone' });
    expect(on.calls().slice(1)).toEqual([`PUT /api/v4/posts/${on.id}/patch`, `GET /api/v4/posts/${on.id}`]);
  });

  test('that the bot has no right to is fatal, since the post is there', async () => {
    const on = await published();
    on.server.settings.permissions.delete('create_post');
    expect(await on.edit(on.id)).toMatchObject({ class: 'fatal', error: expect.stringContaining('403') });
  });

  test('after the edit window is closed by its id, whatever the text', async () => {
    const on = await published();
    on.server.settings.postEditTimeLimit = 300;
    on.time.now += 301 * SECOND;
    expect(await on.edit(on.id)).toMatchObject({ class: 'edit_window_closed' });
    expect(on.calls()).toHaveLength(2);
  });

  test('in an archived channel is fatal', async () => {
    const on = await published();
    on.server.channel.deleteAt = 1;
    expect(await on.edit(on.id)).toMatchObject({ class: 'fatal' });
    expect(await on.publish()).toMatchObject({ class: 'fatal' });
  });
});

describe('a Thread reply', () => {
  test('is below the Root message and says its Mention in its first line', async () => {
    const on = await published();
    const added = alerts([{ labels: { pod: 'c' } }]);
    await on.reply(on.id, { event: 'alerts_added', alerts: added }, [{ type: 'everyone', as: 'channel' }]);
    const [, reply] = on.server.posts;
    expect(reply?.rootId).toBe(on.id);
    expect(reply?.message.split('\n')[0]).toMatch(/ @channel$/);
    expect(reply?.props.attachments).toBeUndefined();
    expect(on.server.notices).toEqual([`${reply?.id} channel`]);
  });

  test('with buttons has them in an attachment, bound to the reply', async () => {
    const on = await published();
    await on.reply(on.id, { event: 'reminder', owner: 'ann' }, [{ type: 'user', id: ANN }]);
    const [only] = on.server.posts[1]?.props.attachments ?? [];
    expect(only?.actions.map(({ id }) => id)).toEqual(['stillonit', 'unack']);
    const data = String(only?.actions[0]?.integration.context.action);
    expect(readButtonData(keyring, data)).toMatchObject({ ok: true, button: { subject: 'thread_reply' } });
  });

  test('to a deleted Root message is gone without a read', async () => {
    const on = await published();
    on.server.remove(on.id);
    expect(await on.reply(on.id, { event: 'resolved', reason: 'gone' })).toMatchObject({ class: 'gone' });
    expect(on.calls()).toHaveLength(2);
  });
});

describe('an outcome that nobody knows', () => {
  const unsureSince = 1_791_020_467 * SECOND;

  test('is settled by the mark of the post, before anything is posted again', async () => {
    const on = world();
    on.server.settings.deduplicates = false;
    await on.publish({}, null, { key: 'root-a-z-1' });
    on.script.push('lost_after');
    expect(await on.publish()).toMatchObject({ class: 'transient', unsure: true });
    on.time.now += 90 * SECOND;
    const again = await on.publish({ status: 'acknowledged' }, null, { unsureSince, attempt: 2 });
    expect(again).toMatchObject({ class: 'ok', messageId: on.server.posts[1]?.id, replayed: true });
    expect(on.server.posts).toHaveLength(2);
  });

  test('of a reply is settled the same way', async () => {
    const on = await published();
    on.server.settings.deduplicates = false;
    on.script.push('lost_after');
    await on.reply(on.id, { event: 'resolved', reason: 'gone' });
    on.time.now += 90 * SECOND;
    const again = await on.reply(on.id, { event: 'resolved', reason: 'gone' }, null, { unsureSince });
    expect(again).toMatchObject({ class: 'ok', messageId: on.server.posts[1]?.id, replayed: true });
    expect(on.server.posts).toHaveLength(2);
  });

  test('of a post that is not there is a new post, and counts as a possible duplicate', async () => {
    const on = world();
    await on.publish({}, null, { key: 'root-a-z-1' });
    on.script.push('lost_before');
    expect(await on.publish()).toMatchObject({ class: 'transient', unsure: true });
    const again = await on.publish({}, null, { unsureSince });
    expect(again).toMatchObject({ class: 'ok', replayed: false });
    expect(on.server.posts).toHaveLength(2);
  });

  test('is answered with the first post by a server that remembers it', async () => {
    const on = world();
    await on.publish();
    on.server.posts[0]!.props = {};
    const again = await on.publish({}, null, { unsureSince });
    expect(again).toMatchObject({ class: 'ok', messageId: on.server.posts[0]?.id, replayed: true });
    expect(on.server.posts).toHaveLength(1);
  });

  test('is looked for page by page, no further back than it can be, and in twenty pages at most', async () => {
    const on = world();
    on.server.settings.deduplicates = false;
    const [, first] = [await on.publish({}, null, { key: 'root-a-0-1' }), on.server.posts[0]!];
    const chatter = (count: number, earlier = 0) => {
      const createAt = first.createAt - earlier;
      const ids = Array.from({ length: count }, (_, index) => index.toString(36).padStart(26, '0'));
      on.server.posts.push(...ids.map((id) => ({ ...first, id, createAt })));
    };
    const searches = () => on.calls().filter((call) => call.startsWith('GET ')).length;
    on.script.push('lost_after');
    await on.publish();
    chatter(130);
    const again = await on.publish({}, null, { unsureSince });
    expect(again).toMatchObject({ class: 'ok', messageId: on.server.posts[1]?.id, replayed: true });
    expect(searches()).toBe(3);

    on.server.posts.length = 1;
    chatter(70, 3_600_000);
    await on.publish({}, null, { unsureSince });
    expect(searches()).toBe(4);

    on.server.posts.length = 1;
    chatter(1_500);
    expect(await on.publish({}, null, { unsureSince })).toMatchObject({ class: 'ok', replayed: false });
    expect(searches()).toBe(24);
    expect(on.server.violations).toEqual([]);
  });

  test('waits while the search for the mark fails: nothing is posted meanwhile', async () => {
    const on = world();
    await on.publish({}, null, { key: 'root-a-z-1' });
    on.script.push({ status: 500, headers: {}, body: '' });
    expect(await on.publish({}, null, { unsureSince })).toMatchObject({ class: 'transient', unsure: false });
    on.script.push({ status: 400, headers: {}, body: '' });
    expect(await on.publish({}, null, { unsureSince })).toMatchObject({ class: 'transient', unsure: false });
    expect(on.server.posts).toHaveLength(1);
  });

  test.each([
    ['502 of a proxy', { status: 502, headers: {}, body: '' }],
    ['504 of a proxy', { status: 504, headers: {}, body: '<html>' }],
    ['200 with a page', { status: 200, headers: {}, body: '<html>' }],
    [
      'a first attempt that is still running',
      { status: 500, headers: {}, body: '{"id":"api.post.deduplicate_create_post.pending"}' },
    ],
  ])('is what %s leaves', async (_what, answer) => {
    const on = world();
    await on.publish({}, null, { key: 'root-a-z-1' });
    on.script.push(answer);
    expect(await on.publish()).toMatchObject({ class: 'transient', unsure: true });
  });
});

describe('the probe of a Broken Destination', () => {
  test('reads and posts nothing', async () => {
    const on = world();
    expect(await on.probe()).toMatchObject({ class: 'ok' });
    expect(on.server.posts).toEqual([]);
  });

  test.each<readonly [string, (on: World) => void, string]>([
    ['token', (on) => (on.server.settings.token = 'other'), 'The server refuses the bot token.'],
    ['membership', (on) => on.server.channel.members.clear(), 'The bot has not joined this channel.'],
    ['archived', (on) => (on.server.channel.deleteAt = 1), 'The channel is archived.'],
  ])('says what is wrong: %s', async (_what, spoil, error) => {
    const on = world();
    await on.publish();
    spoil(on);
    expect(await on.probe()).toMatchObject({ class: 'fatal', error });
  });
});

test('the server is asked who the bot is once a day, and what it said is stored', async () => {
  const on = world();
  on.server.settings.permissions.add('create_post_ephemeral');
  await on.publish();
  await on.publish({}, null, { key: 'root-a-c-1' });
  expect(on.server.calls.filter((call) => call.endsWith('/users/me'))).toHaveLength(1);
  expect(on.learned).toEqual([
    { bot_id: on.server.bot.id, bot_username: 'tocsin', max_post_size: 16_383, answers_privately: true },
  ]);
  on.time.now += 25 * HOUR;
  await on.publish({}, null, { key: 'root-a-d-1' });
  expect(on.server.calls.filter((call) => call.endsWith('/users/me'))).toHaveLength(2);
});
