import { describe, expect, test } from 'vitest';
import { codePoints } from '../text.ts';
import { bridgeRoot } from './bridge.ts';
import { channelBotRoot } from './channel-bot.ts';
import { chatServerRoot } from './chat-server.ts';
import { visibleText } from './formats/html.ts';
import type { GroupMessage } from './input.ts';
import { alerts, BRIDGE_LIMITS, call, group412, groupOf, settings } from './messages.fixture.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';
const long = (letter: string, length: number) => letter.repeat(length);
/** The text of a group for a bridge with room for `maxBodyLength` code points. */
const within = (group: GroupMessage, maxBodyLength: number) =>
  bridgeRoot(group, settings(), call(), { ...BRIDGE_LIMITS, maxBodyLength });

test('600 Alerts with long values keep title, footer, link and buttons within 16,383', () => {
  const group = groupOf(
    600,
    (index) => ({ pod: `p${index}-${long('x', 5_000)}`, node: `n${index % 7}${long('*', 3_000)}` }),
    { status: 'acknowledged', owner: 'Ann' },
  );
  const { message, attachment, buttons, truncated } = chatServerRoot(group, settings(), call());
  expect(codePoints(attachment.text)).toBeLessThanOrEqual(16_383);
  expect(message).toBe('🟠 #412 HighErrorRate');
  expect(attachment.text).toContain(`[All 600 alerts](${PAGE})`);
  expect(attachment.text).toMatch(/\n\n\[Open in Tocsin\]\(\S+\)\n\nOwner: Ann$/);
  expect(buttons).toHaveLength(4);
  expect(truncated).toBe(true);
});

describe('parts go in order, and no further than they must', () => {
  const group = groupOf(3, (index) => ({ pod: `p${index}${long('x', 40)}` }), {
    groupLabels: { team: 'payments' },
    commonLabels: { cluster: 'prod', app: 'web', zone: 'z' },
    commonAnnotations: { impact: 'some', note: 'one' },
    summary: 'It is broken',
    links: [
      { kind: 'runbook', url: 'https://wiki.example/r' },
      { kind: 'source', url: 'https://prometheus.example/s' },
    ],
    unclaimed: true,
    reopenCount: 2,
  });
  const whole = codePoints(within(group, 9_500).envelope.body);
  const steps = [
    'p2x',
    '- pod: p1x',
    'note: one',
    'impact: some',
    'zone: z',
    'app: web',
    'team: payments',
    'Source',
    'Runbook',
    'It is broken',
    'No owner',
    'Reopens',
    'cluster: prod',
  ];
  const bodies = Array.from({ length: whole + 1 }, (_, limit) => within(group, limit).envelope.body);
  const goneAt = (text: string) => bodies.findLastIndex((body) => !body.includes(text));

  test('each later than the one before', () => {
    const limits = steps.map(goneAt);
    expect(limits).toEqual([...limits].sort((left, right) => right - left));
    expect(new Set(limits).size).toBeGreaterThan(steps.length - 3);
  });

  test('what fits is left as it is', () => {
    expect(within(group, whole)).toMatchObject({ truncated: false });
    expect(within(group, whole - 1)).toMatchObject({ truncated: true });
  });

  test('Alert lines give way to how many there are and the way to them', () => {
    expect(within(group, whole - 1).envelope.body).toContain(
      `- pod: p0${long('x', 40)}\n\n… 2 more · [All 3 alerts](${PAGE})\n\n`,
    );
  });

  test('without room for one line their values stand in, where these are shorter', () => {
    const short = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`l${index}`, 'v']));
    const alike = group412({
      firingCount: 2,
      resolvedCount: 0,
      summary: null,
      alerts: alerts([{ labels: { ...short, z: long('x', 2_000) } }, { labels: { z: long('x', 2_001) } }]),
    });
    const { body } = within(alike, 1_000).envelope;
    expect(body).toContain('Alerts: 2 firing, 0 resolved\\\nl0: v\\\nl1: v\\\n');
    expect(body).toContain('l9: v\\\n[All 2 alerts]');
    expect(body).not.toContain('\n- ');
  });
});

test('the least that is left is the status, the links to Tocsin and the footer, their values cut', () => {
  const group = groupOf(12, (index) => ({ pod: `p${index}` }), {
    title: long('T', 500),
    status: 'acknowledged',
    owner: long('O', 200),
    commonLabels: { cluster: long('c', 4_000), environment: long('e', 4_000) },
    summary: long('s', 4_000),
  });
  const { envelope } = within(group, 500);
  expect(codePoints(envelope.body)).toBeLessThanOrEqual(500);
  expect(envelope.body).toMatch(
    /^🟥 critical · Urgent · cluster: c+… · environment: e+… · started .*\n\nAlerts: 12 firing.*\\\n\[All 12 alerts\]\(.*\)\n\n\[Open in Tocsin\]\(.*\)\n\nOwner: O+$/,
  );
  const { text } = channelBotRoot(group, settings(), call(), 420);
  expect(visibleText(text).length).toBeLessThanOrEqual(420);
  expect(text).toMatch(/^🟠 <b><a href="[^"]*">#412 T+…<\/a><\/b>\n.*cluster: … · environment: … /);
});

test('a server with short posts gets a short line, too: the title gives way, the Mentions stay', () => {
  const group = group412({ title: long('_', 500) });
  const mentions = [{ type: 'everyone', as: 'channel' } as const];
  const { message } = chatServerRoot(group, settings(), call({ mentions }), 100);
  expect(codePoints(message)).toBeLessThanOrEqual(100);
  expect(message).toMatch(/^🔴 #412 (\\_)+… @channel$/);
});

test('a cut never leaves half a character', () => {
  const group = group412({ commonLabels: { cluster: long('🔥', 1_000) }, summary: long('🔥', 1_000) });
  for (let limit = 300; limit < 320; limit++) {
    const { text } = channelBotRoot(group, settings(), call(), limit);
    expect(visibleText(text).length).toBeLessThanOrEqual(limit);
    expect(text).not.toMatch(/\p{Surrogate}/u);
  }
});
