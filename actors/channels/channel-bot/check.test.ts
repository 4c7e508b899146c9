import { describe, expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { WireAnswer } from '../../../test/fakes/listener.ts';
import type { TokenOwners } from '../../connection/tokens.ts';
import type { FoundPlace, MessengerFields, StoredDestination } from '../../destination/ports.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import { group412, settings } from '../../messages/messages.fixture.ts';
import type { AskedTrial } from '../interactive.ts';
import { createBotConnectionCheck, createChannelBotCheck } from './check.ts';
import { openBot } from './client.ts';
import { createChannelBotTrial } from './trial.ts';
import { CONNECTION, DESTINATION, keyring, TOKEN, world } from './world.fixture.ts';

const RUN = 'RN5Q8V2K7WXM3D' as PublicId;

function checking() {
  const on = world();
  const access = openBot(on.opener, on.connection());
  if (!access) throw new Error('no access');
  let tokens = 100;
  const owners: TokenOwners[] = [];
  const ended: TokenOwners[] = [];
  const take = async () => (tokens-- > 0 ? ('granted' as const) : { retryAfterSeconds: 4 });
  const spent: unknown[] = [];
  const limits = {
    async take(of: TokenOwners) {
      owners.push(of);
      return take();
    },
    ended: (of: TokenOwners) => void ended.push(of),
    spent: (_id: PublicId, outcome: unknown) => void spent.push(outcome),
  };
  const deps = {
    ...on,
    copies: on.copyReader,
    tokens: limits,
    keyring,
    settings: async () => on.connection(),
  };
  const place = createChannelBotCheck(deps);
  const trial = createChannelBotTrial({
    ...deps,
    clock: {
      now: on.clock.now,
      after(by, run) {
        on.time.now += by;
        on.seeCopies();
        run();
        return { cancel: () => undefined };
      },
    },
    target: async () => ({ place: on.place.is, connection: on.connection() }),
  });
  const scene = { group: group412(), settings: settings() } as GroupScene;
  const destination = { id: DESTINATION } as StoredDestination;
  return {
    ...on,
    ...{ spent, owners, ended },
    tokens: (left: number) => {
      tokens = left;
    },
    async connect(token: string | null = TOKEN) {
      const asked = { address: access.baseUrl, access: { ...access, token }, run: RUN, take };
      const came = await createBotConnectionCheck(deps).run(asked);
      if (!('steps' in came)) throw new Error('busy');
      return came;
    },
    async check(channel = '@alerts', found: FoundPlace | null = null) {
      const fields = {
        type: 'channel_bot',
        connection_id: CONNECTION,
        channel_id: channel,
      } as MessengerFields;
      const came = await place({ destinationId: DESTINATION, fields, found }, RUN);
      if (!('checks' in came)) throw new Error('busy');
      return { ...came, failed: came.checks.find(({ ok }) => !ok) };
    },
    test: () => trial.test({ destination, scene, run: RUN } as AskedTrial),
    preview: () => trial.preview({ destination, scene }),
  };
}

describe('the check of a Connection', () => {
  test('tries the address without the token, then names the bot and says how updates arrive', async () => {
    const on = checking();
    on.server.write(on.server.world.group, on.server.world.addPerson(5001, 'bob'), 'on it');
    expect(await on.connect()).toMatchObject({
      ok: true,
      steps: [{ name: 'dry_probe' }, { name: 'get_me' }, { name: 'get_webhook_info', message: null }],
      info: { bot_id: '123456', bot_username: 'oncall_bot' },
      updates: { webhookSet: false, pending: 1 },
      learned: { ok: true },
    });
    expect(on.records.map(({ url }) => url).join()).not.toContain(TOKEN.slice(8));
    expect(on.records.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  });

  test('without a token for the address tries the address alone', async () => {
    const on = checking();
    expect(await on.connect(null)).toMatchObject({
      ok: true,
      steps: [{ ok: true }, { skipped: true }, { skipped: true }],
      info: null,
      updates: null,
    });
    expect(on.server.calls).toHaveLength(1);
  });

  test.each<readonly [string, WireAnswer | 'lost_before', string]>([
    ['a page', { status: 200, headers: {}, body: '<html>' }, 'not the answer that a Bot API server gives'],
    ['no such path', { status: 404, headers: {}, body: '' }, 'nothing here: check the path prefix (404)'],
    ['no answer', 'lost_before', 'no answer within 10 s'],
  ])('stops at an address with %s, and the token goes nowhere', async (_what, answer, message) => {
    const on = checking();
    on.script.push(answer);
    const came = await on.connect();
    expect(came).toMatchObject({
      ok: false,
      steps: [{ ok: false, message }, { skipped: true }, { skipped: true }],
    });
    expect(on.records).toHaveLength(1);
  });

  test('takes no name that no bot can have', async () => {
    const on = checking();
    Object.assign(on.server.world.bot, { username: 'x'.repeat(65) });
    const message = 'not the answer that a Bot API server gives';
    expect(await on.connect()).toMatchObject({ info: null, steps: [{}, { ok: false, message }, {}] });
  });

  test('tells of a token that was revoked, and of a webhook that does not take updates', async () => {
    const on = checking();
    on.server.updates.setWebhook({ url: 'https://x.example', secret: 's', allowed: [] });
    on.server.updates.lastError = { at: on.time.now / 1e6 - 60, text: 'Wrong response: 500' };
    expect((await on.connect()).steps[2]).toMatchObject({ ok: true, message: 'Wrong response: 500' });
    on.server.settings.token = 'another';
    expect((await on.connect()).steps[1]).toMatchObject({
      ok: false,
      message: 'The messenger refuses the bot token.',
    });
  });
});

describe('the check of a channel', () => {
  test('takes tokens of the Connection alone, and says when each of its calls is over', async () => {
    const on = checking();
    expect(await on.check()).toMatchObject({ ok: true });
    expect(on.owners.length).toBeGreaterThan(3);
    expect(on.owners.every(({ destinationId }) => destinationId === null)).toBe(true);
    expect(on.ended).toEqual(on.owners);
  });

  test('finds the channel by its name, with its discussion group, and posts nothing', async () => {
    const on = checking();
    const { channel, group } = on.server.world;
    const came = await on.check();
    expect(came).toMatchObject({ ok: true, failed: undefined });
    expect(came.found).toEqual({
      ...{ channelName: 'Alerts', teamName: null, teamPath: null },
      channel: {
        ...{ channelId: String(channel.id), username: 'alerts' },
        ...{ groupId: String(group.id), groupName: 'Alerts talk' },
      },
    });
    expect([...channel.messages, ...group.messages]).toEqual([]);
    expect((await on.check(String(channel.id))).found).toEqual(came.found);
  });

  test('finds names that can be stored', async () => {
    const on = checking();
    Object.assign(on.server.world.channel, { title: 'A\0lerts' });
    expect((await on.check()).found).toMatchObject({ channelName: 'A\ufffdlerts' });
  });

  test.each<readonly [string, string, string, (on: ReturnType<typeof checking>) => void]>([
    [
      'a token that was revoked',
      'token',
      'The messenger refuses the bot token.',
      ({ server }) => {
        server.settings.token = 'another';
      },
    ],
    [
      'no such channel',
      'channel_exists',
      'The channel does not exist or the bot cannot see it.',
      (on) => void on.server.world.chats.delete(on.server.world.channel.id),
    ],
    [
      'a private channel that the bot was removed from',
      'channel_exists',
      'The channel does not exist or the bot cannot see it.',
      (on) => on.server.setRights(on.server.world.channel, { status: 'kicked' }),
    ],
    [
      'a group',
      'channel_exists',
      'This chat is not a channel.',
      (on) => {
        on.server.world.channel.username = null;
        on.server.world.group.username = 'alerts';
      },
    ],
    [
      'no comments',
      'discussion_group',
      'Comments are not enabled: this channel has no discussion group. Add one under Discussion in its settings.',
      (on) => on.server.world.link(on.server.world.channel, null),
    ],
    [
      'a bot that is a member only',
      'bot_rights_channel',
      'The bot is not an admin of the channel.',
      (on) => on.server.setRights(on.server.world.channel, { status: 'member' }),
    ],
    [
      'no right to post',
      'bot_rights_channel',
      'The bot may not post messages in the channel.',
      (on) => on.server.setRights(on.server.world.channel, { canPost: false }),
    ],
    [
      'no right to edit',
      'bot_rights_channel',
      'The bot may not edit messages in the channel.',
      (on) => on.server.setRights(on.server.world.channel, { canEdit: false }),
    ],
    [
      'a group where it is no admin',
      'bot_rights_group',
      'The bot is not an admin of the discussion group (Alerts talk), so it cannot see the copies of posts.',
      (on) => on.server.setRights(on.server.world.group, { status: 'member' }),
    ],
    [
      'a group that it was removed from',
      'bot_rights_group',
      'The bot is not an admin of the discussion group (-1009876543210), so it cannot see the copies of posts.',
      (on) => on.server.setRights(on.server.world.group, { status: 'left' }),
    ],
  ])('says in words what is wrong with %s, and goes no further', async (_what, step, message, change) => {
    const on = checking();
    change(on);
    const came = await on.check();
    expect(came).toMatchObject({ ok: false, found: null, failed: { name: step, message } });
    expect(came.checks.at(-1)?.name).toBe(step);
  });

  test('of a saved Destination tells of another group; saving it again takes that', async () => {
    const on = checking();
    const { found } = await on.check();
    const { world: there } = on.server;
    there.link(there.channel, there.addChat(-1_005_555_555_555, 'supergroup', 'Other'));
    expect(await on.check('@alerts', found)).toMatchObject({
      failed: { name: 'discussion_group', message: expect.stringContaining('Save it again.') },
    });
    expect((await on.check()).found?.channel).toMatchObject({
      groupId: '-1005555555555',
      groupName: 'Other',
    });
  });

  test('keeps a wait that the messenger asks for, for all of its calls', async () => {
    const on = checking();
    const body = JSON.stringify({ ok: false, error_code: 429, parameters: { retry_after: 9 } });
    on.script.push({ status: 429, headers: {}, body });
    expect((await on.check()).failed).toMatchObject({ name: 'token' });
    expect(on.spent).toEqual([{ class: 'retry_after', until: on.time.now + 9e6, scope: 'bot' }]);
  });
});

describe('a test message', () => {
  test('is a Quiet post that says so, and its buttons are of the Destination', async () => {
    const on = checking();
    const { steps, message } = await on.test();
    expect(steps).toMatchObject([
      { name: 'message', errorClass: 'none', responseStatus: 200 },
      { name: 'copy', errorClass: 'none', error: null, request: null },
    ]);
    expect(message).toEqual({ connectionId: CONNECTION, messageId: '-1001234567890/1' });
    expect(on.posts()).toMatchObject([
      { isQuiet: true, text: expect.stringContaining('Test message: #412') },
    ]);
    expect(on.posts()[0]?.keyboard).toHaveLength(2);
    expect(JSON.stringify(steps)).not.toContain(TOKEN.slice(8));
  });

  test.each([
    ['is forwarded into the group', 'always', null],
    ['is forwarded without its buttons only', 'without_buttons', 'No copy of the post was seen'],
    ['is never forwarded', 'never', 'No copy of the post was seen'],
  ] as const)('that %s says what that means for replies', async (_world, copies, said) => {
    const on = checking();
    on.server.settings.copies = copies;
    const { steps, message } = await on.test();
    expect(steps[1]).toMatchObject({
      ...{ name: 'copy', errorClass: 'none' },
      error: said && expect.stringContaining(said),
    });
    expect(steps[1]?.duration).toBeLessThan(5 * SECOND);
    expect(message).not.toBeNull();
  });

  test('waits for no limiter token, and is shown before as HTML', async () => {
    const on = checking();
    on.tokens(0);
    expect((await on.test()).steps).toMatchObject([{ errorClass: 'limited', request: null }]);
    expect(on.posts()).toEqual([]);
    expect(await on.preview()).toMatchObject([
      { format: 'html', text: expect.stringContaining('<b><a href=') },
    ]);
  });
});
