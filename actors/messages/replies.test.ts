import { describe, expect, test } from 'vitest';
import { MINUTE } from '../../runtime/clock.ts';
import { parseTemplate } from '../templates/index.ts';
import { codePoints } from '../text.ts';
import { bridgeReply, bridgeStorm } from './bridge.ts';
import { channelBotReply, channelBotStorm } from './channel-bot.ts';
import { chatServerReply, chatServerStorm } from './chat-server.ts';
import type { GroupMessage, MessageMention, MessageSettings } from './input.ts';
import { alerts, BRIDGE_LIMITS, group412, STARTED, settings } from './messages.fixture.ts';
import type { ReplyEvent } from './replies.ts';
import type { StormSummary } from './storm.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';
const quiet = { mentions: [], sign: (command: string) => `reply-${command}` };
const chat = (event: ReplyEvent, changes: Partial<MessageSettings> = {}, group: GroupMessage = group412()) =>
  chatServerReply(event, group, settings(changes), quiet).message;

const shards = (count: number) =>
  alerts(
    Array.from({ length: count }, (_, index) => ({
      labels: {
        alertname: 'HighErrorRate',
        cluster: 'prod',
        ns: 'shop',
        severity: 'page',
        shard: `eu-${index}`,
        az: '1',
      },
    })),
  );

describe('what each event says', () => {
  test.each<[ReplyEvent, string, string]>([
    [
      { event: 'alert_replaced', label: 'pod_x' },
      'One alert gave way to another that differs in pod\\_x',
      'Один алерт сменился другим с иным значением pod\\_x',
    ],
    [
      { event: 'urgency_raised', level: 'critical', formerOwner: 'Ann' },
      'Urgent now: severity rose to critical. Ann is no longer the owner.',
      'Теперь срочно: важность поднялась до «критично». Ann больше не ответственный.',
    ],
    [
      { event: 'urgency_raised', level: 'critical', formerOwner: null },
      'Urgent now: severity rose to critical. The Snooze was ended.',
      'Теперь срочно: важность поднялась до «критично». Пауза прервана.',
    ],
    [
      { event: 'reopened', owner: null },
      'Alerts are back, the group fires again',
      'Алерты вернулись, группа снова активна',
    ],
    [
      { event: 'reopened', owner: 'Ann' },
      'Alerts are back, Ann is still the owner',
      'Алерты вернулись, ответственный прежний: Ann',
    ],
    [
      { event: 'snooze_ended', joined: [] },
      'The Snooze is over and alerts still fire',
      'Пауза закончилась, алерты ещё активны',
    ],
    [
      { event: 'takeover', owner: 'Bob', formerOwner: 'Ann' },
      'Bob takes over from Ann',
      'Bob принимает у Ann',
    ],
    [
      { event: 'resolved', reason: 'stale' },
      'Closed without an all-clear: no news of the alerts for too long',
      'Закрыто без отбоя: об алертах слишком долго нет вестей',
    ],
    [
      { event: 'resolved', reason: 'gone' },
      'Closed without an all-clear: the sender stopped listing the alerts',
      'Закрыто без отбоя: отправитель больше не сообщает об алертах',
    ],
    [
      { event: 'resolved', reason: 'resolved' },
      'All clear: every alert has resolved',
      'Отбой: все алерты завершились',
    ],
    [
      { event: 'unacknowledged', reason: 'owner_disabled', formerOwner: 'Ann' },
      'The account of Ann was disabled, there is no owner now',
      'Учётную запись Ann отключили, ответственного нет',
    ],
    [
      { event: 'unacknowledged', reason: 'owner_deleted', formerOwner: 'Ann' },
      "The owner's account was deleted, there is no owner now",
      'Учётную запись ответственного удалили, его больше нет',
    ],
    [
      { event: 'auto_unacknowledged', formerOwner: 'Ann' },
      'Ann left two reminders unanswered, there is no owner now',
      'Ann не отвечает на два напоминания подряд, ответственного нет',
    ],
    [
      { event: 'reminder', owner: 'Ann' },
      'Ann, is #412 still in your hands?',
      'Ann, #412 ещё у вас в работе?',
    ],
    [
      { event: 'notices_missed', kind: 'ack_timeout', count: 2 },
      '2 notices about a missing owner were skipped during downtime',
      'За время простоя пропущено 2 уведомления об отсутствии ответственного',
    ],
    [
      { event: 'notices_missed', kind: 'reminder', count: 1, owner: 'Ann' },
      '1 reminder for Ann was skipped during downtime',
      'За время простоя пропущено 1 напоминание для Ann',
    ],
    [
      { event: 'ack_timeout', last: true },
      `#412 HighErrorRate is waiting for an owner\n\nThere will be no further notice.\n\n[Open in Tocsin](${PAGE})`,
      `#412 HighErrorRate ждёт ответственного\n\nУведомлений больше не будет.\n\n[Открыть в Tocsin](${PAGE})`,
    ],
  ])('%o', (event, english, russian) => {
    expect(chat(event)).toBe(english);
    expect(chat(event, { language: 'ru' })).toBe(russian);
  });
});

describe('a notice that is overtaken says what was so, and what is so now', () => {
  const overtaken = STARTED + 15 * MINUTE;
  const bot = (event: ReplyEvent, changes: Partial<GroupMessage>, language: 'en' | 'ru') =>
    channelBotReply(event, group412(changes), settings({ language }), quiet);
  const firing: Partial<GroupMessage> = { status: 'firing', owner: null, snooze: null, resolution: null };
  const ack = { event: 'ack_timeout', last: true, overtaken } as const;
  const reminder = { event: 'reminder', owner: 'Ann', overtaken } as const;
  const open = (name: string) => `\n<a href="${PAGE}">${name}</a>`;

  test.each<[ReplyEvent, Partial<GroupMessage>, string, string]>([
    [
      ack,
      { ...firing, status: 'acknowledged', owner: 'Bob' },
      `This notice is late: at 2026-10-04 14:20 UTC #412 HighErrorRate had no owner.\nOwner: Bob${open('Open in Tocsin')}`,
      `Уведомление опоздало: в 2026-10-04 14:20 UTC у #412 HighErrorRate не было ответственного.\nОтветственный: Bob${open('Открыть в Tocsin')}`,
    ],
    [
      ack,
      { ...firing, status: 'resolved', resolution: { by: 'person', name: 'Bob' } },
      `This notice is late: at 2026-10-04 14:20 UTC #412 HighErrorRate had no owner.\nResolved: Bob${open('Open in Tocsin')}`,
      `Уведомление опоздало: в 2026-10-04 14:20 UTC у #412 HighErrorRate не было ответственного.\nЗакрыл(а) Bob${open('Открыть в Tocsin')}`,
    ],
    [
      reminder,
      { ...firing, status: 'snoozed', snooze: { by: 'Bob', until: null } },
      'This reminder is late: at 2026-10-04 14:20 UTC Ann was to be asked about #412.\nSnoozed without an end by Bob',
      'Напоминание опоздало: в 2026-10-04 14:20 UTC следовало спросить Ann о #412.\nПауза без срока, поставил(а) Bob',
    ],
    [
      reminder,
      firing,
      'This reminder is late: at 2026-10-04 14:20 UTC Ann was to be asked about #412.\nThere is no owner now.',
      'Напоминание опоздало: в 2026-10-04 14:20 UTC следовало спросить Ann о #412.\nСейчас ответственного нет.',
    ],
    [
      { event: 'notices_missed', kind: 'ack_timeout', count: 2, overtaken },
      { ...firing, status: 'acknowledged', owner: 'Bob' },
      '2 notices about a missing owner were skipped during downtime\nOwner: Bob',
      'За время простоя пропущено 2 уведомления об отсутствии ответственного\nОтветственный: Bob',
    ],
  ])('%o', (event, changes, english, russian) => {
    expect(bot(event, changes, 'en').text).toBe(english);
    expect(bot(event, changes, 'ru').text).toBe(russian);
    expect(bot(event, changes, 'en').keyboard).toEqual([]);
  });

  test('whatever the Route would say, and however little room there is', () => {
    const parsed = parseTemplate('ack_timeout_notice', 'Nobody has it!');
    const ackTimeoutNotice = parsed.ok ? parsed.template : null;
    const templates = { ...settings().templates, ackTimeoutNotice };
    const group = group412({
      ...firing,
      status: 'acknowledged',
      owner: 'B'.repeat(300),
      title: 'T'.repeat(500),
    });
    const limits = { ...BRIDGE_LIMITS, maxBodyLength: 300 };
    const { body } = bridgeReply(ack, group, settings({ templates }), quiet, limits);
    expect(codePoints(body)).toBeLessThanOrEqual(300);
    expect(body).toMatch(/^This notice is late: at .*\n\n… 1 more\n\n\[Open in Tocsin\]/);
  });
});

describe('new Alerts', () => {
  test('are told by what they do not share, without the severity label', () => {
    const event: ReplyEvent = { event: 'alerts_added', alerts: shards(2) };
    expect(chat(event)).toBe('2 new alerts\n- az: 1, shard: eu\\-0\n- az: 1, shard: eu\\-1');
    expect(channelBotReply(event, group412(), settings(), quiet).text).toBe(
      '2 new alerts\n• az: 1, shard: eu-0\n• az: 1, shard: eu-1',
    );
    expect(bridgeReply(event, group412(), settings(), quiet, BRIDGE_LIMITS).body).toBe(
      '2 new alerts\n\n- az: 1, shard: eu\\-0\n- az: 1, shard: eu\\-1',
    );
  });

  test('beyond ten lead to the page', () => {
    const text = chat({ event: 'alerts_added', alerts: shards(12) });
    expect(text.match(/^- /gm)).toHaveLength(10);
    expect(text).toMatch(/\n\n\[… 2 more in Tocsin\]\(https:\S+\)$/);
  });

  test('of a Snooze are told when it ends', () => {
    const text = chat({ event: 'snooze_ended', joined: shards(1) });
    expect(text).toBe(
      'The Snooze is over and alerts still fire\nCame in meanwhile: 1\n- az: 1, shard: eu\\-0',
    );
  });

  test('go from the end when there is no room, and the first line stays', () => {
    const limits = { ...BRIDGE_LIMITS, maxBodyLength: 500 };
    const long = shards(9).map((alert) => ({ ...alert, labels: { ...alert.labels, note: 'x'.repeat(100) } }));
    const { body } = bridgeReply(
      { event: 'alerts_added', alerts: long },
      group412(),
      settings(),
      quiet,
      limits,
    );
    expect(codePoints(body)).toBeLessThanOrEqual(500);
    expect(body).toMatch(
      /^9 new alerts\n\n(- az: 1, note: x{100}, shard: eu\\-\d\n){3}\n\[… 6 more in Tocsin\]/,
    );
  });
});

describe('Mentions of a Loud reply', () => {
  const ann: MessageMention = {
    type: 'user',
    name: 'ann',
    account: { externalId: '5001', username: 'ann', displayName: null },
  };
  const loud = { ...quiet, mentions: [{ type: 'everyone', as: 'channel' } as const, ann] };
  const event: ReplyEvent = { event: 'alerts_added', alerts: shards(1) };

  test('stand at the end of the first line, for a bridge in the last one', () => {
    expect(chatServerReply(event, group412(), settings(), loud).message).toBe(
      '1 new alert @channel @ann\n- az: 1, shard: eu\\-0',
    );
    expect(channelBotReply(event, group412(), settings(), loud).text).toBe(
      '1 new alert channel <a href="tg://user?id=5001">ann</a>\n• az: 1, shard: eu-0',
    );
    const reply = bridgeReply(event, group412(), settings(), loud, BRIDGE_LIMITS);
    expect(reply.body).toMatch(/eu\\-0\n\nchannel \[@ann\]\(svc-mention:m1\)$/);
    expect(reply.mentions).toEqual([
      { ref: 'm1', type: 'user', user: { external_id: '5001', username: 'ann', display_name: null } },
    ]);
  });

  test('stay when names have to give way', () => {
    const names = { event: 'takeover', owner: '_'.repeat(200), formerOwner: '*'.repeat(200) } as const;
    const reply = bridgeReply(names, group412(), settings(), loud, { ...BRIDGE_LIMITS, maxBodyLength: 500 });
    expect(codePoints(reply.body)).toBeLessThanOrEqual(500);
    expect(reply.body).toMatch(/^(\\_)+… takes over from (\\\*)+…\n\nchannel \[@ann\]\(svc-mention:m1\)$/);
  });
});

test.each<[ReplyEvent, readonly string[]]>([
  [{ event: 'reminder', owner: 'Ann' }, ['Still on it', 'Unack']],
  [{ event: 'notices_missed', kind: 'reminder', count: 2, owner: 'Ann' }, ['Still on it', 'Unack']],
  [{ event: 'notices_missed', kind: 'ack_timeout', count: 2 }, []],
  [{ event: 'ack_timeout', last: false }, []],
  [{ event: 'takeover', owner: 'a', formerOwner: 'b' }, []],
])('buttons under %o: %j', (event, names) => {
  const reply = channelBotReply(event, group412(), settings(), quiet);
  expect(reply.keyboard.flat().map(({ text }) => text)).toEqual(names);
  expect(reply.keyboard.length).toBe(names.length === 0 ? 0 : 1);
  const { buttons } = bridgeReply(event, group412(), settings(), quiet, BRIDGE_LIMITS);
  expect(buttons.map(({ text }) => text)).toEqual(names);
});

describe('a Storm summary', () => {
  const storm: StormSummary = {
    routeId: 'RTK7M3QX9P2RTA' as StormSummary['routeId'],
    routeName: 'Pay_ments @all',
    newGroups: 120,
    urgentGroups: 3,
    stillOpen: null,
  };
  const link = 'https://oncall.example.org/alert-groups?route=RTK7M3QX9P2RTA';
  const mentions: readonly MessageMention[] = [{ type: 'everyone', as: 'here' }];

  test('a chat server', () => {
    const { message, attachment, buttons } = chatServerStorm(storm, settings(), mentions);
    expect(message).toBe('⛈ Storm on Pay\\_ments @\u200Ball @here');
    expect(attachment).toMatchObject({
      color: '#d32f2f',
      title: 'Storm on Pay_ments @\u200Ball',
      titleLink: link,
      text: `New Alert Groups: 120, Urgent: 3. Separate messages are held back.\n\n[Open in Tocsin](${link})`,
    });
    expect(buttons).toEqual([]);
  });

  test('a channel bot, in Russian', () => {
    expect(channelBotStorm(storm, settings({ language: 'ru' }), null).text).toBe(
      `⛈ <b><a href="${link}">Лавина алертов: Pay_ments @\u200Ball</a></b>\nНовых групп: 120, срочных: 3. Отдельные сообщения придержаны.\n<a href="${link}">Открыть в Tocsin</a>`,
    );
  });

  test('a bridge, when it is over', () => {
    const over = bridgeStorm({ ...storm, stillOpen: 7 }, settings(), null, BRIDGE_LIMITS);
    expect(over.envelope).toEqual({
      status: 'storm',
      color: '#388e3c',
      emoji: '⛈',
      title: 'Storm on Pay_ments @\u200Ball',
      link: { url: link, text: 'Open in Tocsin' },
      body: `The storm has passed. Alert Groups still open: 7\n\n[Open in Tocsin](${link})`,
      buttons: [],
    });
    const quiet = bridgeStorm(storm, settings(), null, BRIDGE_LIMITS);
    expect(over.hash).not.toBe(quiet.hash);
    expect(bridgeStorm(storm, settings(), mentions, BRIDGE_LIMITS).hash).toBe(quiet.hash);
  });

  test('fits its messenger whomever it calls: the last Mentions are left out', () => {
    const crowd = Array.from({ length: 50 }, (_, index): MessageMention => {
      const externalId = `${5_000 + index}`;
      const displayName = `${index}_`.padEnd(100, 'n');
      return { type: 'user', name: displayName, account: { externalId, username: null, displayName } };
    });
    const { envelope, mentions: named } = bridgeStorm(storm, settings(), crowd, { maxBodyLength: 500 });
    expect(codePoints(envelope.body)).toBeLessThanOrEqual(500);
    expect(envelope.body).toMatch(
      /^New Alert Groups: 120.*\n\n\[Open in Tocsin\].*\n\n\[@0\\_n+\]\(svc-mention:m1\)/,
    );
    expect(named.map(({ ref }) => ref)).toEqual(['m1', 'm2']);
    const { plainText } = channelBotStorm(storm, settings(), crowd);
    expect(plainText.length).toBeLessThanOrEqual(4_096);
    expect(plainText).toContain('0_nnn');
  });
});
