import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../../runtime/public-id.ts';
import { readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import type { StoredDestination } from '../../destination/ports.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import { group412, settings } from '../../messages/messages.fixture.ts';
import type { AskedTrial } from '../interactive.ts';
import { testPressId } from './receiver.ts';
import { createChatServerTrial } from './trial.ts';
import { DESTINATION, keyring, TOKEN, world } from './world.fixture.ts';

const RUN = 'RN5Q8V2K7WXM3D' as PublicId;

function trying(
  given: { readonly tokens?: number; readonly arrives?: boolean; readonly gone?: boolean } = {},
) {
  const on = world();
  const { arrives = true } = given;
  let tokens = given.tokens ?? 10;
  const presses = new Set<string>();
  const spent: unknown[] = [];
  on.callBack.to = async (_url, body) => {
    if (arrives) presses.add(testPressId((JSON.parse(body) as { post_id: string }).post_id));
    return arrives ? { status: 200, body: '{}' } : { status: 403, body: '' };
  };
  const trial = createChatServerTrial({
    ...{ chat: on.chat, infos: on.infos, opener: on.opener, keyring, ingestUrl: 'https://ingest.example' },
    tokens: {
      take: async () => (tokens-- > 0 ? 'granted' : { retryAfterSeconds: 3 }),
      spent: (...what) => void spent.push(what),
      ended: () => undefined,
    },
    facts: { handled: async (_id, eventId) => (presses.has(eventId) ? { say: null } : null) },
    clock: {
      now: () => on.time.now,
      after(wait, then) {
        on.time.now += wait;
        queueMicrotask(then);
        return { cancel: () => undefined };
      },
    },
    target: async () =>
      given.gone
        ? null
        : {
            ...{ teamId: on.server.team.id, channelId: on.server.channel.id, teamPath: 'ops' },
            connection: on.connection(),
          },
  });
  const scene = (changes: Parameters<typeof group412>[0]) =>
    ({ group: group412(changes), settings: settings() }) as GroupScene;
  const destination = { id: DESTINATION } as StoredDestination;
  return {
    ...{ on, spent },
    test: (changes: Parameters<typeof group412>[0] = {}) =>
      trial.test({ destination, scene: scene(changes), run: RUN } as AskedTrial),
    preview: () => trial.preview({ destination, scene: scene({}) }),
  };
}

describe('a test message', () => {
  test('says that it is one, mentions nobody, and is pressed by the bot itself', async () => {
    const it = trying();
    const { steps, message } = await it.test();
    expect(steps).toMatchObject([
      { name: 'message', errorClass: 'none', responseStatus: 201 },
      { name: 'press', errorClass: 'none', responseStatus: 200 },
    ]);
    const [post] = it.on.server.posts;
    expect(message).toMatchObject({ messageId: post?.id });
    expect(post).toMatchObject({ message: expect.stringContaining('Test message'), isSilent: true });
    const data = String(post?.props.attachments?.[0]?.actions[0]?.integration.context.action);
    expect(readButtonData(keyring, data)).toMatchObject({
      button: { subject: 'test_message', id: DESTINATION },
    });
    expect(JSON.stringify(steps)).not.toContain(TOKEN);
    expect(it.on.server.violations).toEqual([]);
  });

  test('without buttons has no press to try', async () => {
    const { steps } = await trying().test({
      status: 'resolved',
      resolution: { by: 'system', reason: 'gone' },
    });
    expect(steps).toMatchObject([{ name: 'message', errorClass: 'none' }]);
  });

  test('whose press does not arrive names the setting of the server and the host', async () => {
    const { steps, message } = await trying({ arrives: false }).test();
    expect(message).not.toBeNull();
    expect(steps[1]).toMatchObject({
      ...{ name: 'press', errorClass: 'unknown', responseStatus: 400 },
      error: expect.stringMatching(/ingest\.example.*AllowedUntrustedInternalConnections/),
    });
  });

  test('ends where it cannot go on', async () => {
    expect((await trying({ tokens: 0 }).test()).steps).toMatchObject([{ errorClass: 'limited' }]);
    expect((await trying({ tokens: 1 }).test()).steps).toMatchObject([
      { name: 'message', errorClass: 'none' },
      { name: 'press', errorClass: 'limited' },
    ]);
    expect((await trying({ gone: true }).test()).steps).toMatchObject([{ errorClass: 'fatal' }]);
    const refused = trying();
    refused.on.server.settings.token = 'other';
    expect((await refused.test()).steps).toMatchObject([
      { errorClass: 'fatal', error: 'The server refuses the bot token.' },
    ]);
    const limited = trying();
    await limited.test();
    limited.on.server.limit(true);
    expect((await limited.test()).steps).toMatchObject([{ errorClass: 'retry_after' }]);
    expect(limited.spent).toMatchObject([[expect.anything(), { scope: 'bot' }]]);
  });

  test('can be seen before it is sent', async () => {
    const [item] = await trying().preview();
    expect(item).toMatchObject({ name: 'message', format: 'markdown', request: null });
    expect(item?.text).toContain('HighErrorRate');
  });
});
