import { describe, expect, test } from 'vitest';
import { bridgeRoot } from './bridge.ts';
import { channelBotRoot } from './channel-bot.ts';
import { chatServerRoot } from './chat-server.ts';
import { visibleText } from './formats/html-text.ts';
import { type GroupMessage, type MessageSettings, NO_NOTES } from './input.ts';
import { alerts, BRIDGE_LIMITS, call, group412, groupOf, STARTED, settings } from './messages.fixture.ts';
import { previewRoot } from './preview.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';
const Z = '\u200B';

const bridgeBody = (group: GroupMessage, changes: Partial<MessageSettings> = {}) =>
  bridgeRoot(group, settings(changes), call(), BRIDGE_LIMITS).envelope.body;
const chatText = (group: GroupMessage, changes: Partial<MessageSettings> = {}) =>
  chatServerRoot(group, settings(changes), call()).attachment.text;
const botText = (group: GroupMessage, changes: Partial<MessageSettings> = {}) =>
  channelBotRoot(group, settings(changes), call()).text;

describe('#412 as each messenger gets it', () => {
  test('a bridge', () => {
    expect(bridgeRoot(group412(), settings(), call(), BRIDGE_LIMITS)).toEqual({
      envelope: {
        status: 'firing',
        color: '#d32f2f',
        emoji: '🔴',
        title: '#412 HighErrorRate',
        link: { url: PAGE, text: 'Open in Tocsin' },
        body: `🟥 critical · Urgent · cluster: prod · started 2026\\-10\\-04 14:05 UTC

> ns: shop

*5xx \\> 2 %*

Alerts: 1 firing, 1 resolved

- pod: a
- ~~pod: b~~

[Open in Tocsin](${PAGE})`,
        buttons: [
          { text: 'Ack', data: 'acknowledge-0', style: 'primary' },
          { text: 'Resolve', data: 'resolve-0', style: 'default' },
          { text: 'Snooze 1 h', data: 'snooze-3600', style: 'default' },
          { text: 'Snooze 4 h', data: 'snooze-14400', style: 'default' },
        ],
      },
      mentions: [],
      hash: expect.any(String),
      truncated: false,
      failure: null,
    });
  });

  test('a chat server', () => {
    const { message, attachment } = chatServerRoot(group412(), settings(), call());
    expect(message).toBe('🔴 #412 HighErrorRate');
    expect(attachment).toEqual({
      fallback: '#412 HighErrorRate',
      color: '#d32f2f',
      title: '#412 HighErrorRate',
      titleLink: PAGE,
      text: `🟥 critical · Urgent · cluster: prod · started 2026\\-10\\-04 14:05 UTC

**ns:** shop

*5xx \\> 2 %*

Alerts: 1 firing, 1 resolved

- pod: a
- ~~pod: b~~

[Open in Tocsin](${PAGE})`,
      footer: 'Tocsin 0.1.0',
      footerIcon: 'https://oncall.example.org/tocsin-mark-256.png',
    });
  });

  test('a channel bot', () => {
    const { text, keyboard } = channelBotRoot(group412(), settings(), call());
    expect(text).toBe(`🔴 <b><a href="${PAGE}">#412 HighErrorRate</a></b>
🟥 critical · Urgent · cluster: prod · started 2026-10-04 14:05 UTC
<blockquote expandable>ns: shop</blockquote>
<i>5xx &gt; 2 %</i>
Alerts: 1 firing, 1 resolved
• pod: a
• <s>pod: b</s>
<a href="${PAGE}">Open in Tocsin</a>`);
    expect(keyboard.map((row) => row.map((button) => button.text))).toEqual([
      ['Ack', 'Resolve'],
      ['Snooze 1 h', 'Snooze 4 h'],
    ]);
  });

  test('a preview, in Russian', () => {
    const group = group412({ links: [{ kind: 'runbook', url: 'https://wiki.example/a_b' }] });
    expect(previewRoot('plain', group, settings({ language: 'ru' }), null).text).toBe(`🔴 #412 HighErrorRate
🟥 критично · Срочно · cluster: prod · начало 2026-10-04 14:05 UTC
ns: shop
5xx > 2 %
Алерты: активных 1, завершённых 1
- pod: a
- pod: b
Открыть в Tocsin · Инструкция
[Взять] [Закрыть] [Пауза 1 ч] [Пауза 4 ч]`);
  });
});

test('what a label says is literal in every format and names nobody', () => {
  const value = '@channel <b>x</b>';
  const group = group412({ commonLabels: { ns: value }, title: value });
  expect(bridgeBody(group)).toContain(`> ns: @${Z}channel \\<b\\>x\\</b\\>`);
  expect(chatText(group)).toContain(`**ns:** @${Z}channel <b\\>x</b\\>`);
  expect(botText(group)).toContain(`ns: @${Z}channel &lt;b&gt;x&lt;/b&gt;`);
  expect(chatServerRoot(group, settings(), call()).message).toBe(`🔴 #412 @${Z}channel <b\\>x</b\\>`);
  const { attachment } = chatServerRoot(group, settings(), call());
  expect(attachment.title).toBe(`#412 @${Z}channel <b>x</b>`);
  expect(bridgeRoot(group, settings(), call(), BRIDGE_LIMITS).envelope.title).toBe(attachment.title);
});

describe('labels and annotations', () => {
  const labels = {
    alertname: 'X',
    cluster: 'c1',
    environment: 'prod',
    namespace: 'a\nb',
    prometheus: 'p',
    severity: 'critical',
    zone: 'z',
    app: 'web',
    blank: ' ',
  };
  const group = group412({
    groupLabels: { zone: 'z', alertname: 'X', namespace: 'a\nb', cluster: 'c1', empty: '' },
    commonLabels: labels,
    commonAnnotations: {
      summary: 's',
      description: 'd',
      runbook_url: 'https://r',
      runbook: 'r',
      dashboard_url: 'https://d',
      team: 't',
      impact: '5 %',
    },
  });

  test('those of the key come in its order, the others by name; what stands elsewhere is left out', () => {
    expect(chatText(group).split('\n\n').slice(0, 4)).toEqual([
      '🟥 critical · Urgent · cluster: c1 · environment: prod · started 2026\\-10\\-04 14:05 UTC',
      '**zone:** z\n**namespace:** a b',
      '**app:** web',
      '**impact:** 5 %\n**team:** t',
    ]);
  });

  test('a bridge has them in one quote, a channel bot in one that folds', () => {
    expect(bridgeBody(group)).toContain(
      '\n\n> zone: z\\\n> namespace: a b\n>\n> app: web\n>\n> impact: 5 %\\\n> team: t\n\n',
    );
    expect(botText(group)).toContain(
      '\n<blockquote expandable>zone: z\nnamespace: a b\napp: web\nimpact: 5 %\nteam: t</blockquote>\n',
    );
  });
});

describe('Alerts', () => {
  const listOf = (group: GroupMessage) => chatText(group).split('\n\n').slice(3, -1).join('\n');

  test.each<[string, Partial<GroupMessage>, string]>([
    [
      'firing ones first, then the newest, then by fingerprint; severity where it differs',
      {
        alerts: alerts([
          { labels: { pod: 'old' }, startsAt: STARTED - 1 },
          { labels: { pod: 'gone' }, state: 'resolved' },
          { labels: { pod: 'b' }, severityLevel: 'info' },
          { labels: { pod: 'a' } },
        ]),
      },
      '- 🟦 pod: b\n- 🟥 pod: a\n- 🟥 pod: old\n- ~~🟥 pod: gone~~',
    ],
    [
      'alertname first where it differs, and only labels that differ',
      {
        groupLabels: { cluster: 'x' },
        alerts: alerts([
          { labels: { alertname: 'B', zone: '1', app: 'w', cluster: '1', severity: 'a', prometheus: '1' } },
          { labels: { alertname: 'A', app: 'w', cluster: '2', severity: 'b', prometheus: '2', az: '' } },
        ]),
      },
      '- B zone: 1\n- A',
    ],
    [
      'nothing to show: the alertname, else the fingerprint',
      {
        alerts: [...alerts([{ labels: { alertname: 'Same' } }, { labels: { alertname: 'Same' } }])],
      },
      '- Same\n- Same',
    ],
  ])('%s', (_name, changes, expected) => {
    expect(listOf(group412(changes)).split('\n').slice(1).join('\n')).toBe(expected);
  });

  test('without any label the fingerprint stands for an Alert', () => {
    const group = group412({ alerts: alerts([{ labels: {} }, { labels: {} }]) });
    expect(chatText(group)).toContain('- f0000\n- f0001');
  });

  test('a single Alert has no part of its own: all its labels are common', () => {
    const group = groupOf(1, () => ({ pod: 'a' }));
    expect(chatText(group)).not.toMatch(/Alerts:|- /);
  });

  test('25 differ in their pods: ten values, and how many more', () => {
    const message = channelBotRoot(
      groupOf(25, (n) => ({ pod: `p${n + 1}` })),
      settings(),
      call(),
    );
    expect(message.text).toContain(
      `\nAlerts: 25 firing, 0 resolved\npod: p1, p2, p3, p4, p5, p6, p7, p8, p9, p10 and 15 more\n<a href="${PAGE}">All 25 alerts</a>\n`,
    );
    expect(visibleText(message.text).length).toBeLessThanOrEqual(4_096);
    expect(message.keyboard.flat()).toHaveLength(4);
  });

  test('at most ten labels are told by their values', () => {
    const group = groupOf(11, (n) =>
      Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`l${i}`, `${n}`])),
    );
    expect(chatText(group).match(/\*\*l\d+:\*\*/g)).toHaveLength(10);
  });
});

describe('links', () => {
  test('one that is not safe is none, the next one is shown', () => {
    const runbook = (url: string) => ({ kind: 'runbook', url }) as const;
    const links = [runbook('javascript:alert(1)'), runbook('https://wiki.example/r')];
    expect(chatText(group412({ links }))).toMatch(
      /\n\[Open in Tocsin\]\(\S+\) · \[Runbook\]\(https:\/\/wiki\.example\/r\)$/,
    );
  });

  test('a text of 100 code points, 20 links, and none that is not safe', () => {
    const rule = (index: number) =>
      ({
        kind: 'link_rule',
        name: `🔥[x](y) ${index} ${'n'.repeat(200)}`,
        url: `https://h/${index}`,
      }) as const;
    const links = [
      { kind: 'source', url: 'javascript:1' } as const,
      ...Array.from({ length: 30 }, (_, n) => rule(n)),
    ];
    const line = chatText(group412({ links })).split('\n\n').at(-1) ?? '';
    expect(line.split(' · ')).toHaveLength(21);
    expect(line).toContain(` · [🔥\\[x\\]\\(y\\) 0 ${'n'.repeat(89)}…](https://h/0) · `);
  });
});

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
    expect(botText(group, { zone: 'Europe/Berlin' })).toMatch(
      /\nSnoozed until 2026-10-04 18:00 UTC\+02:00 by Ann$/,
    );
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
    expect(
      chatText(group412({ status: 'resolved', resolution: { by: 'system', reason: 'gone' } })),
    ).not.toContain('⚠');
  });
});

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

describe('a test message', () => {
  test('says that it is one', () => {
    const over = call({ kind: 'test' });
    const { message, attachment } = chatServerRoot(group412(), settings(), over);
    expect([message, attachment.title, attachment.fallback]).toEqual([
      '🔴 🧪 Test message: #412 HighErrorRate',
      '🧪 Test message: #412 HighErrorRate',
      '🧪 Test message: #412 HighErrorRate',
    ]);
    expect(channelBotRoot(group412(), settings({ language: 'ru' }), over).plainText).toMatch(
      /^🔴 🧪 Проверка: #412 HighErrorRate\n/,
    );
    const { envelope } = bridgeRoot(group412({ title: 'x'.repeat(600) }), settings(), over, BRIDGE_LIMITS);
    expect([...envelope.title]).toHaveLength(512);
    expect(envelope.title).toMatch(/^#412 x+… · 🧪 Test message$/);
  });
});
