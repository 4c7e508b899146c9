import { expect, test } from 'vitest';
import { parseInstant } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { BODY_EXAMPLES } from '../../destination/webhook-examples.fixture.ts';
import type { ResolvedMention } from '../../effects.ts';
import type { AlertView, EventActor, GroupView, LifecycleEvent, UserRef } from '../../model.ts';
import { renderTestBody, renderWebhookBody } from './request.ts';

const at = (time: string) => parseInstant(`2026-10-03T${time}Z`) ?? Number.NaN;

const ALICE: UserRef = { id: 'SR2K9D1VW3MPTE' as PublicId, name: 'Alice Smith', login: 'alice' };
const BOB: UserRef = { id: 'SR7P3X4NB8QZGH' as PublicId, name: 'Bob Jones', login: 'bob' };
const mentioned = (user: UserRef): ResolvedMention => ({ type: 'user', ...user });

const API_1: AlertView = {
  fingerprint: '3a1f9c0be2d47a55',
  state: 'firing',
  labels: { alertname: 'HighErrorRate', pod: 'api-1', severity: 'critical' },
  annotations: { summary: 'Error rate above 5%' },
  startsAt: at('09:31:07'),
  resolvedAt: null,
  resolveReason: null,
  generatorUrl: 'https://prom.example.org/graph?g0.expr=up',
};
const API_2: AlertView = {
  ...API_1,
  fingerprint: '7be0c41d90aa2f13',
  labels: { alertname: 'HighErrorRate', pod: 'api-2', severity: 'critical', zone: 'b' },
  startsAt: at('09:45:57'),
};
const GROUP: GroupView = {
  id: 'AGK7M3QX9P2RTA' as PublicId,
  title: 'HighErrorRate',
  summary: 'Error rate above 5%',
  status: 'firing',
  owner: null,
  routeId: 'RT9X2QF4H7NJCA' as PublicId,
  routeName: 'payments',
  urgent: true,
  severityLevel: 'critical',
  startedAt: at('09:41:07'),
  resolvedAt: null,
  snoozeUntil: null,
  reopenCount: 0,
  alerts: [API_1],
};
const ALERT: EventActor = { kind: 'system', reason: 'alert' };
const loud = { loudness: 'loud', mentions: [], ownerBefore: null } as const;
const quiet = { loudness: 'quiet', mentions: [], ownerBefore: null } as const;

interface Example {
  readonly event: LifecycleEvent;
  readonly group?: Partial<GroupView>;
  readonly mentions?: readonly ResolvedMention[];
}

const EXAMPLES = {
  created: {
    event: { ...loud, name: 'created', sequence: 1, at: at('09:41:07'), actor: ALERT },
    mentions: [mentioned(ALICE)],
  },
  alerts_added: {
    event: { ...quiet, name: 'alerts_added', sequence: 3, at: at('09:46:00'), actor: ALERT },
    group: { status: 'acknowledged', owner: ALICE },
    mentions: [mentioned(ALICE)],
  },
  takeover: {
    event: {
      ...loud,
      name: 'takeover',
      sequence: 4,
      at: at('09:50:31'),
      actor: { kind: 'user', ...BOB, tokenName: null, transport: 'chat_server' },
    },
    group: { status: 'acknowledged', owner: BOB },
    mentions: [mentioned(ALICE)],
  },
  unacknowledged: {
    event: {
      ...loud,
      name: 'unacknowledged',
      sequence: 5,
      at: at('10:02:00'),
      actor: { kind: 'system', reason: 'owner_disabled' },
    },
  },
  ack_timeout: {
    event: {
      ...loud,
      name: 'ack_timeout',
      sequence: 6,
      at: at('10:17:00'),
      actor: { kind: 'system', reason: 'timer' },
    },
    mentions: [{ type: 'everyone' }, { type: 'group', name: 'oncall' }],
  },
  snoozed: {
    event: {
      ...quiet,
      name: 'snoozed',
      sequence: 8,
      at: at('10:20:00'),
      actor: {
        kind: 'service_account',
        id: 'SA4M1T6RW9KXPA' as PublicId,
        name: 'deploy-bot',
        tokenName: 'ci',
        transport: 'api',
      },
    },
    group: { status: 'snoozed', owner: ALICE, snoozeUntil: at('11:00:00') },
  },
  resolved: {
    event: {
      ...quiet,
      name: 'resolved',
      sequence: 10,
      at: at('10:31:07'),
      actor: { kind: 'system', reason: 'resolved' },
    },
    group: {
      status: 'resolved',
      resolvedAt: at('10:31:07'),
      alerts: [
        { ...API_1, state: 'resolved', resolvedAt: at('10:31:07'), resolveReason: 'resolved' },
        {
          ...API_2,
          state: 'resolved',
          resolvedAt: at('10:28:07'),
          resolveReason: 'gone',
        },
      ],
    },
  },
} satisfies Partial<Record<keyof typeof BODY_EXAMPLES, Example>>;

test.each(Object.entries<Example>(EXAMPLES))('%s is rendered byte for byte', (name, example) => {
  const body = renderWebhookBody(
    {
      event: example.event,
      group: { ...GROUP, alerts: name === 'created' ? [API_1] : [API_1, API_2], ...example.group },
      mentions: example.mentions ?? [],
    },
    412,
    'https://oncall.example.org',
  );
  const expected: string = BODY_EXAMPLES[name as keyof typeof EXAMPLES];
  expect(body).toBe(expected);
});

test('a token that acted is named before the transport', () => {
  const actor: EventActor = { kind: 'user', ...BOB, tokenName: 'laptop', transport: 'api' };
  const body = renderWebhookBody(
    { event: { ...quiet, name: 'acknowledged', sequence: 2, at: 0, actor }, group: GROUP, mentions: [] },
    412,
    'https://oncall.example.org',
  );
  expect(body).toContain(
    '"actor":{"kind":"user","id":"SR7P3X4NB8QZGH","name":"Bob Jones","login":"bob","token_name":"laptop","transport":"api"}',
  );
});

test('a test event is rendered byte for byte', () => {
  const actor: EventActor = { kind: 'user', ...BOB, tokenName: null, transport: 'ui' };
  const body = renderTestBody({ actor, at: at('09:42:00'), group: GROUP }, 412, 'https://oncall.example.org');
  expect(body).toBe(BODY_EXAMPLES.test);
});
