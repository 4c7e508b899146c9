import { describe, expect, test } from 'vitest';
import { bridgeRoot } from './bridge.ts';
import { channelBotRoot } from './channel-bot.ts';
import { chatServerRoot } from './chat-server.ts';
import { visibleText } from './formats/html.ts';
import type { GroupMessage, MessageSettings } from './input.ts';
import { alerts, BRIDGE_LIMITS, call, group412, groupOf, STARTED, settings } from './messages.fixture.ts';
import { previewRoot } from './root.ts';

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
