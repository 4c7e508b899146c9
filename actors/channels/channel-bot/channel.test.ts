import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import type { LostPost, LostPosts } from '../../connection/ports.ts';
import type { ContentReader } from '../../destination/sending/content.ts';
import { NO_NOTES } from '../../messages/index.ts';
import { alerts, groupOf } from '../../messages/messages.fixture.ts';
import type { SendAccepted, SendOutcome } from '../calls.ts';
import { endLostPosts } from './channel.ts';
import { ANN, CONNECTION, DESTINATION, GROUP, keyring, TOKEN, world } from './world.fixture.ts';

function accepted(outcome: SendOutcome): SendAccepted & { readonly messageId: string } {
  if (outcome.class !== 'ok') throw new Error(JSON.stringify(outcome));
  return { ...outcome, messageId: outcome.messageId ?? '' };
}

async function published() {
  const on = world();
  const { messageId, threadRef } = accepted(await on.publish());
  return { ...on, id: messageId, threadRef };
}

describe('a Root message', () => {
  test('is one post of HTML with two rows of buttons of 55 bytes, without previews', async () => {
    const on = world();
    const outcome = accepted(await on.publish());
    expect(outcome).toMatchObject({
      ...{ messageId: '-1001234567890/1', messageUrl: 'https://t.me/alerts/1' },
      signedWith: keyring.activeKeyId,
    });
    const [post, ...others] = on.posts();
    expect(others).toEqual([]);
    expect(post).toMatchObject({ isQuiet: true, replyTo: null });
    expect(post?.text).toMatch(/^🔴 #412 HighErrorRate\n/);
    expect(post?.keyboard.map((row) => row.map(({ text }) => text))).toEqual([
      ['Ack', 'Resolve'],
      ['Snooze 1 h', 'Snooze 4 h'],
    ]);
    for (const { callback_data: data } of post?.keyboard.flat() ?? []) {
      expect(Buffer.byteLength(data)).toBe(55);
      expect(readButtonData(keyring, data)).toMatchObject({ ok: true, button: { id: GROUP } });
    }
    expect(on.server.violations).toEqual([]);
  });

  test('of a private channel is opened by its number', async () => {
    const on = world();
    on.server.world.channel.username = null;
    on.place.is = { ...on.place.is, username: null } as typeof on.place.is;
    expect(accepted(await on.publish()).messageUrl).toBe('https://t.me/c/1234567890/1');
  });

  test('names nobody by what an alert says', async () => {
    const on = world();
    const name = '@channel <b>x</b> @ann &amp; &lt;';
    await on.publish({ title: name, summary: name, alerts: alerts([{ labels: { pod: name } }]) }, []);
    expect(on.server.notices).toEqual([]);
    expect(on.posts()[0]?.text.split('\n')[0]).toBe(`🔴 #412 ${name.replaceAll('@', '@\u200B')}`);
    expect(on.server.violations).toEqual([]);
  });

  test('rings linked people when it is Loud, and no edit does', async () => {
    const on = world();
    const { messageId } = accepted(await on.publish({}, [{ type: 'user', id: ANN }]));
    expect(on.server.notices).toEqual([`${messageId} 5001`]);
    expect(on.posts()[0]?.isQuiet).toBe(false);
    await on.edit(messageId, { status: 'resolved', resolution: { by: 'system', reason: 'gone' } });
    expect(on.posts()[0]?.entities.some(({ user }) => user !== undefined)).toBe(false);
  });

  test('that the messenger cannot read is sent once more as plain text, and the Timeline is told', async () => {
    const on = world();
    const said = 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 5';
    on.script.push({ status: 400, headers: {}, body: refusal(400, said) });
    expect(accepted(await on.publish()).markupRejected).toBe(true);
    expect(on.posts()).toMatchObject([{ entities: [], text: expect.stringContaining('#412 HighErrorRate') }]);
  });

  test('stays within the bytes that the messenger takes, however long its links are', async () => {
    const on = world();
    const links = Array.from({ length: 60 }, (_, index) => ({
      ...{ kind: 'link_rule', name: `link ${index}`, url: `https://x.example/${'&'.repeat(1900)}${index}` },
    })) as never;
    accepted(await on.publish({ links }));
    expect(on.server.violations).toEqual([]);
  });

  test('prints an address that the messenger would not link, and only there', async () => {
    const on = world();
    const links = [{ kind: 'runbook', url: 'http://wiki/run?a=1&b=2' }] as const;
    accepted(await on.publish({ links }));
    const [post] = on.posts();
    expect(post?.text).toContain('Runbook (http://wiki/run?a=1&b=2)');
    expect(post?.entities.filter(({ url }) => url?.includes('wiki'))).toEqual([]);
    expect(on.server.violations).toEqual([]);
  });

  test('with very many Alerts keeps heading, link and buttons', async () => {
    const on = world();
    const many = groupOf(500, (index) => ({ pod: `🔥${'p'.repeat(300)}${index}` }), {
      title: 'x'.repeat(5000),
    });
    accepted(await on.publish(many));
    const [post] = on.posts();
    expect(post?.text.length).toBeLessThanOrEqual(4096);
    expect(post?.entities.filter(({ url }) => url?.endsWith(many.id)).length).toBeGreaterThanOrEqual(1);
    expect(post?.keyboard).toHaveLength(2);
  });
});

describe('a Root message whose answer was lost', () => {
  const lost = async (on: ReturnType<typeof world>) => {
    on.script.push('lost_after');
    expect(await on.publish()).toMatchObject({ class: 'transient', unsure: true });
    return { unsureSince: on.time.now };
  };
  const copied = (on: ReturnType<typeof world>, postId: string) =>
    on.lostPosts.unshift({
      ...{ postId, groupId: '-1009876543210', copyId: '1' },
      about: GROUP,
      at: on.time.now,
    });

  test('is known by its copy: nothing is posted again', async () => {
    const on = world();
    const asked = await lost(on);
    copied(on, '1');
    const outcome = accepted(await on.publish({}, null, asked));
    expect(outcome).toMatchObject({ messageId: '-1001234567890/1', replayed: true, isDuplicate: false });
    expect(outcome.messageUrl).toBe('https://t.me/alerts/1');
    expect(on.posts()).toHaveLength(1);
    accepted(await on.edit(outcome.messageId ?? '', { status: 'acknowledged' }));
    expect(on.posts()[0]?.text).toMatch(/^🟠/);
    expect(accepted(await on.reply(outcome.messageId ?? '', outcome.threadRef)).thread).toBe('attached');
  });

  test('and was posted by two attempts is the newer one, and named a duplicate', async () => {
    const on = world();
    const asked = await lost(on);
    copied(on, '1');
    copied(on, '2');
    expect(accepted(await on.publish({}, null, asked))).toMatchObject({
      ...{ messageId: '-1001234567890/2', isDuplicate: true },
    });
  });

  test('is posted again while no copy is known, or that of an earlier time', async () => {
    const on = world();
    copied(on, '1');
    on.time.now += SECOND;
    accepted(await on.publish({}, null, await lost(on)));
    expect(on.posts()).toHaveLength(2);
    // A first attempt asks nobody.
    accepted(await on.publish());
    expect(on.posts()).toHaveLength(3);
  });
});

describe('a post that was made again', () => {
  /** @param others posts after the first one */
  const ending = (
    on: ReturnType<typeof world>,
    messageId: string,
    others: readonly Partial<LostPost>[] = [],
  ) => {
    const ended: string[] = [];
    const later: (readonly [of: string | null, wait: number])[] = [];
    const logged: unknown[] = [];
    const post: LostPost = {
      ...{ messageId, connectionId: CONNECTION, groupId: GROUP, destinationId: DESTINATION, target: 1 },
      postedAt: on.time.now,
    };
    const posts: LostPosts = {
      learn: async () => 0,
      read: async () => [post, ...others.map((other) => ({ ...post, ...other }))],
      ended: async (one) => void ended.push(one.messageId),
      later: async (of, at) => void later.push([of.messageId, at - on.time.now]),
    };
    const scene = on.scene({ status: 'acknowledged' });
    const contents: ContentReader = {
      async read({ operation, subject }) {
        if (subject.kind === 'group' && subject.groupId !== GROUP) throw new Error('cannot be laid out');
        const notes = { ...NO_NOTES, final: operation.kind === 'edit' && operation.isFinal };
        return { is: 'content', content: { kind: 'edit', shown: { kind: 'group', scene }, notes } };
      },
    };
    const log = (event: string, { error }: { error?: unknown } = {}) => void logged.push([event, error]);
    const clock = { now: () => on.time.now };
    const deps = { posts, contents, channel: on.channel, log, clock, held: new Map() };
    return { ended, later, logged, run: () => endLostPosts(deps, () => true) };
  };

  test('says that it is kept up to date no more, leads to the Alert Group, and has no buttons', async () => {
    const on = world();
    const { messageId } = accepted(await on.publish());
    const { ended, run } = ending(on, messageId ?? '');
    await run();
    expect(on.posts()).toMatchObject([
      { keyboard: [], text: expect.stringContaining('Not kept up to date') },
    ]);
    expect(ended).toEqual([messageId]);
  });

  test('and was deleted is left alone', async () => {
    const on = world();
    const { ended, run } = ending(on, '-1001234567890/7');
    await run();
    expect(ended).toHaveLength(1);
  });

  test('is edited a minute later where the messenger does not answer or refuses, which is logged', async () => {
    const on = world();
    const { messageId } = accepted(await on.publish());
    const { ended, later, logged, run } = ending(on, messageId);
    on.script.push('lost_before', {
      status: 403,
      headers: {},
      body: refusal(403, 'Forbidden: bot was kicked'),
    });
    await run();
    await run();
    expect([ended, later]).toEqual([
      [],
      [
        [messageId, MINUTE],
        [messageId, MINUTE],
      ],
    ]);
    expect(logged).toEqual([
      ['lost_post_not_edited', expect.stringContaining('no answer')],
      ['lost_post_not_edited', expect.stringContaining('kicked')],
    ]);
    await run();
    expect(ended).toEqual([messageId]);
  });

  test('waits with all of its Connection when the bot is asked to wait, and no other Connection does', async () => {
    const on = world();
    const { messageId } = accepted(await on.publish());
    const other = { messageId: '-1001234567890/8', connectionId: newPublicId('CN') };
    const { ended, later, logged, run } = ending(on, '-1001234567890/7', [{ messageId }, other]);
    const body = JSON.stringify({ ok: false, error_code: 429, parameters: { retry_after: 9 } });
    on.script.push({ status: 429, headers: {}, body });
    const before = on.server.calls.length;
    await run();
    expect(later).toEqual([[null, 9 * SECOND]]);
    expect(ended).toEqual([other.messageId]);
    expect(on.server.calls.length - before).toBe(1);
    expect(logged).toHaveLength(1);
    // One that is found meanwhile waits, too.
    on.time.now += 2 * SECOND;
    await run();
    expect(later.slice(1)).toEqual([[null, 7 * SECOND]]);
    expect(ended).toEqual([other.messageId, other.messageId]);
    on.time.now += 7 * SECOND;
    await run();
    expect(ended.slice(-3)).toEqual(['-1001234567890/7', messageId, other.messageId]);
  });

  test('of a bot that stays Broken costs some 30 calls a day: each wait is as long as the post is old', async () => {
    const on = world();
    const { messageId } = accepted(await on.publish());
    const { later, run } = ending(on, messageId);
    on.server.settings.instead = { status: 401, headers: {}, body: refusal(401, 'Unauthorized') };
    const end = on.time.now + 24 * 60 * MINUTE;
    while (on.time.now < end) {
      await run();
      on.time.now += later.at(-1)?.[1] ?? 0;
    }
    expect(later.map(([, wait]) => wait / MINUTE).slice(0, 9)).toEqual([1, 1, 2, 4, 8, 16, 32, 60, 60]);
    expect(later).toHaveLength(30);
  });

  test('that cannot be laid out keeps no other from its edit', async () => {
    const on = world();
    const { messageId } = accepted(await on.publish());
    const broken = { messageId: '-1001234567890/7', groupId: newPublicId('AG') };
    const { ended, later, logged, run } = ending(on, messageId, [broken, {}]);
    await run();
    expect(ended).toEqual([messageId, messageId]);
    expect(later).toEqual([[broken.messageId, MINUTE]]);
    expect(logged).toEqual([['lost_post_not_edited', 'cannot be laid out']]);
  });
});

describe('an edit', () => {
  test('carries all buttons again, and none once it is resolved', async () => {
    const on = await published();
    accepted(await on.edit(on.id, { status: 'acknowledged', owner: 'Ann' }));
    expect(on.posts()[0]?.keyboard[0]?.map(({ text }) => text)).toEqual(['Unack', 'Resolve']);
    accepted(await on.edit(on.id, { status: 'resolved', resolution: { by: 'system', reason: 'gone' } }));
    expect(on.posts()[0]?.keyboard).toEqual([]);
  });

  test('that changes nothing there counts as delivered', async () => {
    const on = await published();
    expect(await on.edit(on.id)).toMatchObject({ class: 'ok' });
    expect(on.server.calls).toEqual(['sendMessage', 'editMessageText']);
  });

  test('of a deleted post finds it gone, and so does one without the right to edit', async () => {
    const on = await published();
    const [post] = on.posts();
    on.server.setRights(on.server.world.channel, { canPost: false, canEdit: false });
    expect(await on.edit(on.id, { owner: 'Ann', status: 'acknowledged' })).toMatchObject({ class: 'gone' });
    if (post) post.isDeleted = true;
    expect(await on.edit(on.id)).toMatchObject({ class: 'gone' });
  });
});

describe('a reply', () => {
  test('is a comment under the copy of the post', async () => {
    const on = await published();
    on.seeCopies();
    const first = accepted(await on.reply(on.id, on.threadRef));
    expect(first).toMatchObject({ thread: 'attached', messageId: '-1009876543210/2' });
    on.copies.clear();
    expect(accepted(await on.reply(on.id, first.threadRef))).toMatchObject({ thread: 'attached' });
    expect(on.comments()).toMatchObject([{ replyTo: 1 }, { replyTo: 1 }]);
    expect(on.server.violations).toEqual([]);
  });

  test('waits for the copy, without a request, and at most a minute', async () => {
    const on = await published();
    const until = on.time.now + 2 * SECOND;
    expect(await on.reply(on.id, on.threadRef)).toEqual({ class: 'not_sent', because: 'not_yet', until });
    expect(on.server.calls).toEqual(['sendMessage']);
    on.time.now += MINUTE;
    const outcome = accepted(await on.reply(on.id, on.threadRef));
    expect(outcome).toMatchObject({ thread: 'unattached' });
    expect(on.comments()).toMatchObject([
      { replyTo: null, text: expect.stringMatching(/^#412 HighErrorRate\n/) },
    ]);
  });

  test('without a copy continues the chain, until a copy is learned', async () => {
    const on = await published();
    on.time.now += MINUTE;
    const first = accepted(await on.reply(on.id, on.threadRef));
    const second = accepted(await on.reply(on.id, first.threadRef));
    on.seeCopies();
    accepted(await on.reply(on.id, second.threadRef));
    expect(on.comments().map(({ replyTo }) => replyTo)).toEqual([null, 2, 1]);
    expect(on.comments()[1]?.text).not.toContain('HighErrorRate\n');
  });

  test('under a copy that was deleted is sent again at once, and later ones follow it for good', async () => {
    const on = await published();
    on.seeCopies();
    const [copy] = on.server.world.group.messages;
    if (copy) copy.isDeleted = true;
    for (const saysReplyNotFound of [false, true]) {
      on.server.settings.saysReplyNotFound = saysReplyNotFound;
      const lost = accepted(await on.reply(on.id, on.threadRef));
      expect(lost).toMatchObject({ thread: 'unattached' });
      expect(accepted(await on.reply(on.id, lost.threadRef))).toMatchObject({ thread: 'unattached' });
    }
    expect(on.comments().map(({ replyTo }) => replyTo)).toEqual([null, 2, null, 4]);
  });

  test('of a chain whose end was deleted begins a new one', async () => {
    const on = await published();
    on.time.now += MINUTE;
    const { threadRef } = accepted(await on.reply(on.id, on.threadRef));
    const [first] = on.comments();
    if (first) first.isDeleted = true;
    accepted(await on.reply(on.id, threadRef));
    expect(on.comments()).toMatchObject([{ replyTo: null }]);
  });

  test('follows a group that became a supergroup, if the channel did', async () => {
    const on = await published();
    const { world: there } = on.server;
    on.seeCopies();
    const next = there.addChat(-1_001_112_223_334, 'supergroup', 'Alerts talk');
    there.group.movedTo = next.id;
    expect(await on.reply(on.id, on.threadRef)).toMatchObject({ class: 'fatal' });
    there.link(there.channel, next);
    expect(accepted(await on.reply(on.id, on.threadRef)).thread).toBe('unattached');
    expect(on.moved).toEqual([String(next.id)]);
    expect(next.messages).toMatchObject([{ replyTo: null }]);
  });
});

describe('an answer of the messenger', () => {
  test.each<readonly [string, number, string, object]>([
    [
      'a revoked token',
      401,
      'Unauthorized',
      { class: 'fatal', error: 'The messenger refuses the bot token.' },
    ],
    ['a wrong path', 404, 'Not Found', { class: 'fatal' }],
    ['a token of another server', 421, 'Misdirected Request: unallowed token', { class: 'fatal' }],
    ['a bot that was removed', 403, 'Forbidden: bot was kicked from the channel chat', { class: 'fatal' }],
    ['a chat that is gone', 400, 'Bad Request: chat not found', { class: 'fatal' }],
    ['rights that were taken', 400, 'Bad Request: need administrator rights', { class: 'fatal' }],
    ['a text that is too long', 400, 'Bad Request: message is too long', { class: 'unknown' }],
    ['a conflict', 409, 'Conflict: terminated', { class: 'transient' }],
    [
      'a limit without a time',
      429,
      'Too Many Requests',
      { class: 'transient', error: 'answered 429: Too Many Requests' },
    ],
    ['a restart', 500, 'Internal Server Error: restart', { class: 'transient', unsure: false }],
  ])('%s', async (_rule, status, said, expected) => {
    const on = world();
    on.script.push({ status, headers: {}, body: refusal(status, said) });
    expect(await on.publish()).toMatchObject(expected);
  });

  test('counts by what it says where a proxy made its status 200', async () => {
    const on = world();
    on.script.push({ status: 200, headers: {}, body: refusal(403, 'Forbidden: bot was kicked') });
    expect(await on.publish()).toMatchObject({ class: 'fatal' });
    on.script.push({ status: 200, headers: {}, body: '<html>' });
    expect(await on.publish()).toMatchObject({ class: 'transient', unsure: true });
  });

  test('that the channel has another id breaks, to a post and to an edit', async () => {
    const on = await published();
    const said = 'Bad Request: group chat was upgraded to a supergroup chat';
    const parameters = { migrate_to_chat_id: -1_001_112_223_334 };
    const body = JSON.stringify({ ok: false, error_code: 400, description: said, parameters });
    const answer = { status: 400, headers: {}, body };
    on.script.push(answer, answer);
    const broken = { class: 'fatal', error: expect.stringContaining('Save it again.') };
    expect(await on.publish()).toMatchObject(broken);
    expect(await on.edit(on.id, { status: 'acknowledged' })).toMatchObject(broken);
  });

  test('with a number that no message has is none', async () => {
    const on = world();
    const result = { message_id: -7, date: 1, chat: { id: -1001234567890 } };
    on.script.push({ status: 200, headers: {}, body: JSON.stringify({ ok: true, result }) });
    expect(await on.publish()).toMatchObject({ class: 'transient', unsure: true });
  });

  test('that asks to wait holds the Destination, and the bot when a second one is asked, too', async () => {
    const on = world();
    const body = JSON.stringify({
      ...{ ok: false, error_code: 429, description: 'Too Many Requests: retry after 7' },
      parameters: { retry_after: 7 },
    });
    const limited = { status: 429, headers: {}, body };
    on.script.push(limited, limited, limited);
    const until = on.time.now + 7 * SECOND;
    expect(await on.publish()).toMatchObject({ class: 'retry_after', until, scope: 'destination' });
    expect(await on.publish()).toMatchObject({ scope: 'destination' });
    const other = { destinationId: 'DS1111111111AA' as PublicId };
    expect(await on.publish({}, null, other)).toMatchObject({ scope: 'connection' });
  });

  test('that asks for more than 15 minutes is kept, and breaks the Destination meanwhile', async () => {
    const on = world();
    const parameters = { retry_after: 5_000 };
    const body = JSON.stringify({ ok: false, error_code: 429, description: 'Too Many Requests', parameters });
    on.script.push({ status: 429, headers: {}, body });
    expect(await on.publish()).toEqual({
      ...{ class: 'retry_after', until: on.time.now + 5_000 * SECOND, scope: 'destination', breaks: true },
      error: expect.stringMatching(/^asked to wait until \d\d:\d\d UTC$/),
    });
  });

  test('never shows the token, which is in the path of every call', async () => {
    const on = world();
    on.script.push({ status: 400, headers: {}, body: refusal(400, `Bad Request: /bot${TOKEN}/sendMessage`) });
    const outcome = await on.publish();
    expect(outcome).toMatchObject({ class: 'unknown' });
    expect(on.records).toHaveLength(1);
    expect(JSON.stringify([outcome, on.records])).not.toContain(TOKEN.slice(8));
    expect(on.records[0]?.url).toBe('https://bot-api.example/bot[redacted]/sendMessage');
  });
});

describe('a probe', () => {
  test('posts nothing and passes where the bot may post', async () => {
    const on = world();
    expect(await on.probe()).toMatchObject({ class: 'ok', messageId: null });
    expect(on.posts()).toEqual([]);
  });

  test('fails for another discussion group than the one that was saved', async () => {
    const on = world();
    const { world: there } = on.server;
    there.link(there.channel, there.addChat(-1_005_555_555_555, 'supergroup', 'Other'));
    expect(await on.probe()).toMatchObject({
      class: 'fatal',
      error: expect.stringContaining('changed since'),
    });
  });
});

function refusal(status: number, description: string): string {
  return JSON.stringify({ ok: false, error_code: status, description });
}
