import { describe, expect, test } from 'vitest';
import { bridgeRoot } from './bridge.ts';
import { channelBotRoot } from './channel-bot.ts';
import { chatServerRoot } from './chat-server.ts';
import { type GroupMessage, type MessageSettings, NO_NOTES } from './input.ts';
import { BRIDGE_LIMITS, call, group412, STARTED, settings } from './messages.fixture.ts';

const Z = '\u200B';

describe('the desired state', () => {
  const mentions = [{ type: 'everyone', as: 'channel' } as const];
  const late = { ...NO_NOTES, late: { began: STARTED, ended: STARTED } };
  const hashes = (
    group: GroupMessage,
    changed: Partial<MessageSettings>,
    over: Parameters<typeof call>[0],
  ) => [
    chatServerRoot(group, settings(changed), call(over)).hash,
    channelBotRoot(group, settings(changed), call(over)).hash,
    bridgeRoot(group, settings(changed), call(over), BRIDGE_LIMITS).hash,
  ];
  const usual = hashes(group412(), {}, {});

  test('is the same for the same input, without regard to Mentions, notes and the version', () => {
    expect(hashes(group412(), {}, {})).toEqual(usual);
    expect(hashes(group412(), { version: '9.9.9' }, { mentions, notes: late })).toEqual(usual);
    expect(hashes(group412({ alerts: [...group412().alerts].reverse() }), {}, {})).toEqual(usual);
  });

  test.each<[string, Partial<GroupMessage>, Partial<MessageSettings>, Parameters<typeof call>[0]]>([
    ['its text', { summary: 'other' }, {}, {}],
    ['its title', { title: 'Other' }, {}, {}],
    ['its status', { status: 'acknowledged' }, {}, {}],
    ['its language', {}, { language: 'ru' }, {}],
    ['its buttons', {}, { snoozeDurationsSeconds: [60] }, {}],
    ['the key that signs its buttons', {}, {}, { sign: (command) => `new-${command}` }],
  ])('changes with %s', (_name, changes, changed, over) => {
    for (const [index, hash] of hashes(group412(changes), changed, over).entries())
      expect(hash).not.toBe(usual[index]);
  });
});

describe('Mentions of a Loud post', () => {
  const account = { externalId: '5001', username: 'ann', displayName: 'Ann [Lee]' };
  const mentions = [
    { type: 'everyone', as: 'here' },
    { type: 'group', name: 'sre' },
    { type: 'user', name: 'ann', account },
    { type: 'user', name: 'Bob @all', account: null },
    { type: 'everyone', as: 'here' },
  ] as const;
  const loud = call({ mentions });
  const owned = group412({ status: 'acknowledged', owner: 'Ann' });

  test('a chat server has them in its line and nowhere else', () => {
    const { message, attachment } = chatServerRoot(owned, settings(), loud);
    expect(message).toBe(`🟠 #412 HighErrorRate @here @sre @ann Bob @${Z}all`);
    expect(JSON.stringify(attachment)).not.toContain('@');
  });

  test('a channel bot has them before the footer', () => {
    expect(channelBotRoot(owned, settings(), loud).text).toContain(
      `</a>\nhere sre <a href="tg://user?id=5001">ann</a> Bob @${Z}all\nOwner: Ann`,
    );
  });

  test('a bridge has markers in the last line', () => {
    const message = bridgeRoot(owned, settings(), loud, BRIDGE_LIMITS);
    expect(message.envelope.body).toMatch(
      /\n\nOwner: Ann\n\nhere sre \[@ann\]\(svc-mention:m1\) Bob @\u200Ball$/,
    );
    expect(message.mentions).toEqual([
      { ref: 'm1', type: 'user', user: { external_id: '5001', username: 'ann', display_name: 'Ann [Lee]' } },
    ]);
  });
});
