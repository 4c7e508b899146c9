import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { WireAnswer } from '../../../test/fakes/listener.ts';
import type { MessengerFields } from '../../destination/ports.ts';
import { createChatConnectionCheck, createChatServerCheck, listChatChannels } from './check.ts';
import { openChatServer } from './client.ts';
import type { AskServer } from './place.ts';
import { CONNECTION, TOKEN, world } from './world.fixture.ts';

const RUN = 'RN5Q8V2K7WXM3D' as PublicId;
const PAGE: WireAnswer = { status: 200, headers: {}, body: '<html>' };

function checking() {
  const on = world();
  const access = openChatServer(on.opener, on.connection());
  if (!access) throw new Error('no access');
  let tokens = 100;
  let isGone = false;
  const spent: unknown[] = [];
  const take = async () => (tokens-- > 0 ? ('granted' as const) : { retryAfterSeconds: 4 });
  const ask: AskServer = async (request) =>
    tokens-- > 0
      ? { is: 'answered', outcome: await on.chat.call(access, request, { class: 'interactive' }) }
      : { is: 'busy', wait: { retryAfterSeconds: 4 } };
  return {
    ...on,
    ask,
    tokens: (left: number) => (tokens = left),
    check: async (changes: Partial<typeof access> = {}) => {
      const check = createChatConnectionCheck({ ...on, settings: async () => on.connection() });
      const asked = { address: access.serverUrl, access: { ...access, ...changes }, run: RUN, take };
      const came = await check.run(asked);
      if (!('steps' in came)) throw new Error(`busy for ${came.retryAfterSeconds} s`);
      return came;
    },
    place: (channelId = on.server.channel.id, changes: Partial<MessengerFields> = {}) =>
      createChatServerCheck({
        ...{ chat: on.chat, opener: on.opener },
        tokens: { take, ended: () => undefined, spent: (_id, outcome) => void spent.push(outcome) },
        settings: async () => (isGone ? null : on.connection()),
      })(
        {
          ...{ destinationId: null, found: null },
          fields: {
            ...{ type: 'chat_server', connection_id: CONNECTION, team_id: on.server.team.id },
            ...{ channel_id: channelId, ...changes },
          } as MessengerFields,
        },
        RUN,
      ),
    gone: () => (isGone = true),
    spent,
  };
}

describe('the check of a Connection', () => {
  test('tries the address without the token, then with it, and says what the bot may', async () => {
    const on = checking();
    const came = await on.check();
    expect(came).toMatchObject({
      ok: true,
      steps: [
        { name: 'dry_probe', ok: true },
        { name: 'token', ok: true },
      ],
      info: { bot_username: 'tocsin', max_post_size: 16_383, answers_privately: false },
    });
    expect(on.records[0]?.request.headers.map(([name]) => name)).not.toContain('Authorization');
    on.server.settings.permissions.add('create_post_ephemeral');
    expect(await on.check()).toMatchObject({ info: { answers_privately: true }, learned: { ok: true } });
  });

  test.each<readonly [string, readonly (WireAnswer | 'lost_before')[], string]>([
    ['a page', [PAGE], 'not a Mattermost server'],
    ['404', [{ status: 404, headers: {}, body: '' }], 'nothing here: check the path prefix (404)'],
    ['500', [{ status: 500, headers: {}, body: '' }], 'unexpected status 500'],
    ['no answer', ['lost_before'], 'no answer within 10 s'],
  ])('never sends the token to what answers the first step with %s', async (_what, answers, message) => {
    const on = checking();
    on.script.push(...answers);
    expect(await on.check()).toMatchObject({
      ok: false,
      steps: [
        { name: 'dry_probe', ok: false, message },
        { name: 'token', ok: false, skipped: true, message: null },
      ],
      info: null,
    });
    expect(JSON.stringify(on.records)).not.toContain(TOKEN);
    expect(on.server.calls).toEqual([]);
  });

  test('says that the token was refused: revoked, of a disabled bot, or switched off', async () => {
    const on = checking();
    on.server.bot.deleteAt = 1;
    expect(await on.check()).toMatchObject({
      ok: false,
      steps: [{ ok: true }, { name: 'token', ok: false, message: 'the token was refused' }],
    });
    expect(JSON.stringify(on.records)).not.toContain(TOKEN);
  });

  test('takes no name that no account can have', async () => {
    const on = checking();
    on.server.bot.username = 'x'.repeat(65);
    expect(await on.check()).toMatchObject({ ok: false, info: null });
  });

  test('passes with what it can say without a token', async () => {
    const on = checking();
    expect(await on.check({ token: null })).toMatchObject({
      ok: true,
      steps: [{ ok: true }, { skipped: true, message: 'no token for this address' }],
    });
  });

  test('reads more once the token is good, and passes without it', async () => {
    const on = checking();
    on.server.settings.maxPostSize = '4000';
    expect(await on.check()).toMatchObject({ info: { max_post_size: 4_000 } });
    on.server.settings.maxPostSize = '12';
    expect(await on.check()).toMatchObject({ ok: true, info: { max_post_size: 16_383 } });
  });
});

describe('the check of a Destination', () => {
  test('learns the names of channel and team', async () => {
    const on = checking();
    expect(await on.place()).toMatchObject({
      ...{ ok: true, found: { channelName: 'Alerts', teamName: 'Operations', teamPath: 'ops' } },
      checks: [{ name: 'token' }, { name: 'bot_in_channel' }],
    });
    expect(on.server.posts).toEqual([]);
  });

  test('learns names that can be stored', async () => {
    const on = checking();
    Object.assign(on.server.channel, { displayName: 'A\0lerts' });
    expect(await on.place()).toMatchObject({ found: { channelName: 'A\ufffdlerts' } });
  });

  test('takes direct channels, which are of no team', async () => {
    const on = checking();
    const direct = on.server.addChannel('', 'a__b', '', [on.server.bot.id]);
    expect(await on.place(direct.id)).toMatchObject({ found: { channelName: 'a__b', teamName: null } });
  });

  test.each<readonly [string, (on: ReturnType<typeof checking>) => string | undefined]>([
    ['The bot has not joined this channel.', (on) => on.server.addChannel(on.server.team.id, 'x', 'X').id],
    ['The bot has not joined this channel.', () => 'c'.repeat(26)],
    ['No channel has this id.', () => 'nowhere'],
    ['The channel is archived.', (on) => archived(on)],
    [
      'The channel belongs to another team.',
      (on) => on.server.addChannel(on.server.addTeam('b', 'B').id, 'x', 'X', [on.server.bot.id]).id,
    ],
  ])('fails with "%s"', async (message, spoil) => {
    const on = checking();
    expect(await on.place(spoil(on))).toMatchObject({
      ...{ ok: false, found: null },
      checks: [
        { name: 'token', ok: true },
        { name: 'bot_in_channel', ok: false, message },
      ],
    });
  });

  test('fails with the token, and waits for the limiter', async () => {
    const on = checking();
    on.server.settings.token = 'other';
    const message = 'The server refuses the bot token.';
    expect(await on.place()).toMatchObject({ checks: [{ name: 'token', ok: false, message }] });
    on.server.limit(true);
    await on.place();
    expect(on.spent).toMatchObject([{ class: 'retry_after', scope: 'bot' }]);
    on.tokens(0);
    expect(await on.place()).toEqual({ retryAfterSeconds: 4 });
    on.gone();
    expect(await on.place()).toMatchObject({
      checks: [{ name: 'token', message: 'the Connection was deleted' }],
    });
    await expect(on.place('c', { type: 'bridge' })).rejects.toThrow('no channel of a chat server');
  });
});

function archived(on: ReturnType<typeof checking>): undefined {
  on.server.channel.deleteAt = 1;
}

describe('the list of channels', () => {
  test('has those of the bot, by team and name, and finds by a part of either name', async () => {
    const on = checking();
    const dev = on.server.addTeam('dev', 'Development');
    on.server.addTeam('empty', 'Empty');
    on.server.addChannel(dev.id, 'zeta', 'Beta', [on.server.bot.id]);
    on.server.addChannel(dev.id, 'alpha', '', [on.server.bot.id]);
    on.server.addChannel(dev.id, 'other', 'Other');
    const names = async (wanted: { teamId?: string; q?: string }) => {
      const came = await listChatChannels({ teamId: null, q: null, ...wanted }, on.ask);
      if (came.is !== 'listed') throw new Error(came.is);
      return came.channels.map(({ team_name: team, display_name: name }) => `${team}/${name}`);
    };
    expect(await names({})).toEqual(['Development/Beta', 'Development/alpha', 'Operations/Alerts']);
    expect(await names({ q: 'ETA' })).toEqual(['Development/Beta']);
    expect(await names({ teamId: on.server.team.id })).toEqual(['Operations/Alerts']);
  });

  test('says what the server answers instead', async () => {
    const on = checking();
    on.server.settings.token = 'other';
    const all = { teamId: null, q: null };
    expect(await listChatChannels(all, on.ask)).toMatchObject({
      ...{ is: 'failed', error: 'The server refuses the bot token.' },
    });
    on.tokens(1);
    on.server.settings.token = TOKEN;
    expect(await listChatChannels(all, on.ask)).toMatchObject({ is: 'busy' });
  });
});
