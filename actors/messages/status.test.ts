import { describe, expect, test } from 'vitest';
import { bridgeRoot } from './bridge.ts';
import { channelBotRoot } from './channel-bot.ts';
import { chatServerRoot } from './chat-server.ts';
import type { GroupMessage } from './input.ts';
import { BRIDGE_LIMITS, call, group412, STARTED, settings } from './messages.fixture.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';

describe('status and footer', () => {
  const ann = { by: 'person', name: 'Ann' } as const;
  test.each<[string, Partial<GroupMessage>, string, string, string | null, readonly string[]]>([
    ['firing', { status: 'firing' }, '🔴', '#d32f2f', null, ['Ack', 'Resolve', 'Snooze 1 h', 'Snooze 4 h']],
    [
      'acknowledged',
      { status: 'acknowledged', owner: 'Ann_1' },
      '🟠',
      '#f57c00',
      'Owner: Ann\\_1',
      ['Unack', 'Resolve', 'Snooze 1 h', 'Snooze 4 h'],
    ],
    [
      'snoozed',
      { status: 'snoozed', snooze: { by: 'Ann', until: Date.UTC(2026, 9, 4, 16) * 1_000 } },
      '⚪',
      '#9e9e9e',
      'Snoozed until 2026\\-10\\-04 18:00 UTC\\+02:00 by Ann',
      ['Ack', 'Unsnooze', 'Resolve'],
    ],
    [
      'snoozed without an end',
      { status: 'snoozed', snooze: { by: 'Ann', until: null } },
      '⚪',
      '#9e9e9e',
      'Snoozed without an end by Ann',
      ['Ack', 'Unsnooze', 'Resolve'],
    ],
    [
      'resolved by a person',
      { status: 'resolved', firingCount: 0, resolution: ann },
      '🟢',
      '#388e3c',
      'Resolved: Ann',
      [],
    ],
    [
      'resolved by the system',
      { status: 'resolved', resolution: { by: 'system', reason: 'gone' } },
      '🟢',
      '#388e3c',
      'Resolved by the system: the sender stopped listing the alerts',
      [],
    ],
  ])('%s', (_name, changes, emoji, color, footer, buttons) => {
    const group = group412(changes);
    const message = chatServerRoot(group, settings({ zone: 'Europe/Berlin' }), call());
    expect(message.message).toBe(`${emoji} #412 HighErrorRate`);
    expect(message.attachment.color).toBe(color);
    expect(message.attachment.text.split('\n\n').at(-1)).toBe(footer ?? `[Open in Tocsin](${PAGE})`);
    expect(message.buttons.map(({ text }) => text)).toEqual(buttons);
  });

  test('the end of a Snooze without escapes', () => {
    const group = group412({
      status: 'snoozed',
      snooze: { by: 'Ann', until: Date.UTC(2026, 9, 4, 16) * 1_000 },
    });
    const { text } = channelBotRoot(group, settings({ zone: 'Europe/Berlin' }), call());
    expect(text).toMatch(/\nSnoozed until 2026-10-04 18:00 UTC\+02:00 by Ann$/);
  });

  test('a bridge takes as many buttons as it says, with texts as long as it says', () => {
    const limits = { maxBodyLength: 500, maxButtons: 3, maxButtonText: 6 };
    const { envelope } = bridgeRoot(group412(), settings(), call(), limits);
    expect(envelope.buttons.map(({ text }) => text)).toEqual(['Ack', 'Resol…', 'Snooz…']);
  });

  test('without a signer there are no buttons', () => {
    expect(bridgeRoot(group412(), settings(), call({ sign: null }), BRIDGE_LIMITS).envelope.buttons).toEqual(
      [],
    );
  });
});

describe('notices', () => {
  const notes = {
    late: { began: STARTED, ended: STARTED + 900_000_000 },
    deletedAt: STARTED,
    continued: true,
    final: true,
  };
  const noticesOf = (changes: Partial<GroupMessage>, language: 'en' | 'ru') => {
    const { attachment } = chatServerRoot(group412(changes), settings({ language }), call({ notes }));
    return attachment.text
      .split('\n\n')
      .find((part) => /^(⚠|🔁)/.test(part))
      ?.split('\n');
  };

  test('all of them, in order', () => {
    expect(noticesOf({ unclaimed: true, reopenCount: 2, firingAgainAfter: 7 }, 'en')).toEqual([
      '⚠ No owner after all notices',
      '🔁 Reopens: 2',
      '↩ Fires again after #7 was resolved by hand',
      'Late message: began 14:05, ended 14:20 while this channel was out of reach',
      'Posted again, the earlier message was removed at 14:05',
      'Follows an older message that can no longer be changed',
      `Not kept up to date any more. Current state: [#412](${PAGE})`,
    ]);
  });

  test.each([
    [21, '⚠ У отправителя активен ещё 21 алерт'],
    [22, '⚠ У отправителя активны ещё 22 алерта'],
    [25, '⚠ У отправителя активны ещё 25 алертов'],
  ])('%i alerts still firing after a person resolved', (firingCount, first) => {
    const resolution = { by: 'person', name: 'Ann' } as const;
    const changes = { status: 'resolved', resolution, firingCount, firingAgainAfter: 3 } as const;
    expect(noticesOf(changes, 'ru')?.slice(0, 2)).toEqual([
      first,
      'Сообщение опоздало: началось в 14:05, завершилось в 14:20, канал был недоступен',
    ]);
  });

  test('a group that the system resolved fires nowhere any more', () => {
    const group = group412({ status: 'resolved', resolution: { by: 'system', reason: 'gone' } });
    expect(chatServerRoot(group, settings(), call()).attachment.text).not.toContain('⚠');
  });
});

describe('when it began', () => {
  const minute = 60_000_000;
  test.each<['en' | 'ru', number | null, string]>([
    ['en', STARTED, 'started 2026\\-10\\-04 14:05 UTC'],
    ['en', STARTED - minute, 'started 2026\\-10\\-04 14:05 UTC'],
    ['en', null, 'started 2026\\-10\\-04 14:05 UTC'],
    [
      'en',
      STARTED - 65 * minute,
      'alerts began 2026\\-10\\-04 13:00 UTC · received 2026\\-10\\-04 14:05 UTC',
    ],
    [
      'ru',
      STARTED - 65 * minute,
      'алерты начались 2026\\-10\\-04 13:00 UTC · получена 2026\\-10\\-04 14:05 UTC',
    ],
    ['en', STARTED + 2 * minute, 'alerts began 2026\\-10\\-04 14:07 UTC · received 2026\\-10\\-04 14:05 UTC'],
  ])('%s: Alerts that began at %s', (language, alertsStartedAt, shown) => {
    const { attachment } = chatServerRoot(group412({ alertsStartedAt }), settings({ language }), call());
    expect(attachment.text.split('\n')[0]?.split('cluster: prod · ')[1]).toBe(shown);
  });
});
