import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../../runtime/public-id.ts';
import { readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import type { Confirmation, LinkRequestStore } from '../../account-links/link.ts';
import { createAccountLinking } from '../../account-links/linking.ts';
import { createChatServerPlaces } from './links.ts';
import { CONNECTION, keyring, world } from './world.fixture.ts';

const USER = 'SRK7M3QX9P2RTA' as PublicId;

function linking(given: { readonly conflict?: boolean; readonly noTokenAfter?: number } = {}) {
  const on = world();
  const alice = on.server.addUser('alice');
  const begun: Parameters<LinkRequestStore['beginCode']>[0][] = [];
  const voided: string[] = [];
  const nobodies: PublicId[] = [];
  const logged: string[] = [];
  let granted = 0;
  const chatServer = createChatServerPlaces({
    ...{ chat: on.chat, infos: on.infos, opener: on.opener, keyring, ingestUrl: 'https://ingest.example' },
    settings: async (id) => (id === CONNECTION ? on.connection() : null),
  });
  const links = createAccountLinking({
    publicUrl: 'https://oncall.example.org',
    places: { chat_server: chatServer, channel_bot: async () => null, bridge: async () => null },
    requests: {
      beginToken: async () => null,
      codesExhausted: async () => null,
      async beginCode(request) {
        if (given.conflict) return 'conflict';
        begun.push(request);
        return null;
      },
      codeForNobody: async (connectionId) => void nobodies.push(connectionId),
      codeNotSent: async (id) => void voided.push(id),
      confirmCode: async (): Promise<Confirmation> => ({
        is: 'linked',
        connection: { id: CONNECTION, name: 'Chat' },
        link: {
          ...{ id: 'AKK7M3QX9P2RTA' as PublicId, messenger: 'chat_server', connection: null },
          ...{ externalId: alice.id, username: 'alice', lastUsedAt: null, createdAt: 0 },
        } as Extract<Confirmation, { is: 'linked' }>['link'],
      }),
    },
    tokens: {
      take: async () =>
        granted++ >= (given.noTokenAfter ?? 100) ? { retryAfterSeconds: 3 } : ('granted' as const),
    },
    log: (event) => void logged.push(event),
    random: (size) => new Uint8Array(size).fill(7),
    languageOf: async () => null,
  });
  const author = { userId: USER, at: on.time.now } as Parameters<typeof links.start>[1]['author'];
  const person = { author, name: 'Alice', login: 'alice' };
  return {
    ...{ on, alice, begun, voided, nobodies, logged },
    start: (handle = '@Alice', connectionId = CONNECTION) =>
      links.start({ messenger: 'chat_server', connectionId, method: 'code', handle }, person),
    token: () =>
      links.start(
        { messenger: 'chat_server', connectionId: CONNECTION, method: 'token', handle: '' },
        person,
      ),
    confirm: () =>
      links.confirm(
        { messenger: 'chat_server', requestId: 'ARK7M3QX9P2RTA' as PublicId, code: 'abcd' },
        person,
      ),
  };
}

describe('linking an account of a chat server', () => {
  test('sends a code in a direct channel, and shows it nowhere else', async () => {
    const it = linking();
    expect(await it.start()).toMatchObject({ is: 'code' });
    const [post] = it.on.server.posts;
    expect(it.on.server.channels.get(post?.channelId ?? '')?.members.has(it.alice.id)).toBe(true);
    const code = /[2-9A-HJ-NP-Z]{8}/.exec(post?.message ?? '')?.[0] ?? '';
    expect(code).toHaveLength(8);
    expect(it.begun).toMatchObject([{ account: { externalId: it.alice.id, username: 'alice' } }]);
    expect(JSON.stringify(it.on.records)).not.toContain(code);
    expect(it.on.server.violations).toEqual([]);
  });

  test('finds nobody by an unknown or impossible name, a deactivated account or a bot, counts each and sends nothing', async () => {
    const it = linking();
    it.on.server.addUser('gone').deleteAt = 1;
    for (const name of ['nobody', 'gone', 'tocsin', '.', '@..'])
      expect(await it.start(name)).toEqual({ is: 'nobody' });
    expect([it.begun, it.on.server.posts]).toEqual([[], []]);
    expect(it.nobodies).toEqual(Array.from({ length: 5 }, () => CONNECTION));
    await it.start();
    expect(it.nobodies).toHaveLength(5);
  });

  test('is void where the bot may not write to the person', async () => {
    const it = linking();
    it.on.server.settings.directMessages = 'team';
    expect(await it.start()).toEqual({ is: 'unreachable' });
    expect(it.voided).toHaveLength(1);
  });

  test('of somebody else is refused before anything is sent', async () => {
    const it = linking({ conflict: true });
    expect(await it.start()).toEqual({ is: 'linked_elsewhere' });
    expect(it.on.server.posts).toEqual([]);
  });

  test('names what hinders it', async () => {
    expect(await linking().start('alice', 'CN0000000000AA' as PublicId)).toEqual({
      is: 'unknown_connection',
    });
    expect(await linking().token()).toEqual({ is: 'unsupported' });
    expect(await linking({ noTokenAfter: 0 }).start()).toEqual({ is: 'busy', retryAfterSeconds: 3 });
    const it = linking({ noTokenAfter: 2 });
    expect(await it.start()).toEqual({ is: 'busy', retryAfterSeconds: 3 });
    expect([it.begun, it.on.server.posts]).toEqual([[], []]);
    const refused = linking();
    refused.on.server.settings.token = 'other';
    expect(await refused.start()).toEqual({ is: 'failed', error: 'The server refuses the bot token.' });
  });

  test('is confirmed to the person, who stays linked when that fails', async () => {
    const it = linking();
    expect(await it.confirm()).toMatchObject({ is: 'linked' });
    await expect.poll(() => it.on.server.posts.length).toBe(1);
    const [post] = it.on.server.posts;
    expect(post?.message).toContain('Alice');
    const [unlink] = post?.props.attachments?.[0]?.actions ?? [];
    expect(unlink).toMatchObject({ id: 'unlink', name: 'Unlink this account' });
    const data = String(unlink?.integration.context.action);
    expect(readButtonData(keyring, data)).toMatchObject({
      button: { subject: 'account_link', id: 'AKK7M3QX9P2RTA' },
    });
    expect(it.on.server.violations).toEqual([]);
    it.on.server.settings.directMessages = 'team';
    expect(await it.confirm()).toMatchObject({ is: 'linked' });
    await expect.poll(() => it.logged).toEqual(['link_not_confirmed']);
  });
});
