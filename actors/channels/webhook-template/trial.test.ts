import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { StoredDestination, WebhookFields } from '../../destination/ports.ts';
import type { EventsConfig } from '../../destination/webhook-config.ts';
import type { MentionTargets } from '../../directory.ts';
import type { GroupView, Principal } from '../../model.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import {
  ANN_ID,
  CONFIG,
  DESTINATION,
  directory,
  NOW,
  type Receiver,
  receiver,
  SECRET,
  scene,
  templateSettings,
} from './receiver.fixture.ts';
import { createWebhookTrial } from './trial.ts';

const RUN = 'RN1111111111AA' as PublicId;
const BOB: Principal = {
  ...{ kind: 'user', id: 'SR2222222222AA' as PublicId, name: 'Bob', login: 'bob' },
  ...{ tokenName: null, transport: 'ui' },
};
const NOBODY: MentionTargets = { everyone: 'none', user_ids: [], groups: [] };
const EVENTS: EventsConfig = {
  url: 'https://relay.example/in?key={{ .Secrets.token }}',
  headers: [{ name: 'X-Key', value: '{{ .Secrets.token }}' }],
};
const FIELDS: WebhookFields = {
  ...{ type: 'webhook', name: 'relay', mode: 'events', events: EVENTS, template: CONFIG, proxy: NO_PROXY },
  limiter: { limit: 5, per_seconds: 1 },
  mentions: {
    new_alert_group: { everyone: 'channel', user_ids: [ANN_ID], groups: ['sre'] },
    ...{
      new_alerts: NOBODY,
      reopen: NOBODY,
      ack_timeout: NOBODY,
      snooze_ended: NOBODY,
      rise_to_urgent: NOBODY,
    },
  },
};
const VIEW: GroupView = {
  ...{ id: scene.group.id, title: 'Disk', summary: null, status: 'firing', owner: null },
  ...{ routeId: scene.routeId, routeName: 'Payments', urgent: true, severityLevel: 'critical' },
  ...{ startedAt: NOW, resolvedAt: null, snoozeUntil: null, reopenCount: 0, alerts: [] },
};

function destination(changes: Partial<WebhookFields>): StoredDestination {
  return {
    ...{
      id: DESTINATION,
      version: 1,
      fields: { ...FIELDS, ...changes },
      found: { channelName: null, teamName: null, teamPath: null },
    },
    ...{ proxyPasswordAt: null, signingSecret: { updatedAt: NOW, previousSince: null } },
    ...{ health: { state: 'healthy' }, failing: null, waiting: 0, templateError: null, createdAt: NOW },
  };
}

function trial(to: Receiver, events: Partial<EventsConfig> = {}, token: 'granted' | 'none' = 'granted') {
  return createWebhookTrial({
    ...to.deps,
    tokens: {
      take: async () => (token === 'granted' ? 'granted' : { retryAfterSeconds: 7 }),
      ended: () => undefined,
    },
    views: async () => VIEW,
    directory: { current: () => directory },
    publicUrl: 'https://oncall.example.org',
    settings: {
      events: async () => ({ ...templateSettings(), events: { ...EVENTS, ...events } }),
      template: async () => templateSettings(),
    },
  });
}

const asked = (changes: Partial<WebhookFields> = {}) => ({
  ...{ destination: destination(changes), scene, run: RUN, by: BOB },
});

describe('a test', () => {
  test('in events mode posts one Quiet event by whoever asked, outside every sequence', async () => {
    const to = receiver([{ status: 202, body: `thanks ${SECRET}` }]);
    const { steps } = await trial(to).test(asked());
    expect(steps).toEqual([
      {
        ...{ name: 'event', responseStatus: 202, responseBody: 'thanks [redacted]', extracted: null },
        ...{ duration: 0, errorClass: 'none', error: null, request: expect.anything() },
      },
    ]);
    expect(JSON.stringify(steps)).not.toContain(SECRET);
    expect(steps[0]?.request?.url).toBe('https://relay.example/in?key=[redacted]');
    expect(JSON.parse(to.received[0]?.body ?? '')).toMatchObject({
      ...{ event: 'test', notify: false, mentions: [], sequence: 0, test: true },
      actor: { kind: 'user', name: 'Bob', transport: 'ui' },
      alert_group: { number: 412, title: 'Disk' },
    });
    expect(to.records).toMatchObject([
      { operation: 'event', check: 'destination_test', checkRun: RUN, destinationId: DESTINATION },
    ]);
  });

  test('in template mode sends a real create, and shows what would be kept of its answer', async () => {
    const to = receiver([{ status: 200, body: '{"data":{"id":17}}' }]);
    const { steps } = await trial(to).test(asked({ mode: 'template' }));
    expect(steps).toMatchObject([{ name: 'create', errorClass: 'none', extracted: { id: '17' } }]);
    expect(to.received[0]?.body).toBe('{"text":"#412 🧪 Test message: Disk \\"full\\"","notify":false}');
  });

  test('shows what a rule did not find', async () => {
    const { steps } = await trial(receiver([{ status: 200, body: '{}' }])).test(asked({ mode: 'template' }));
    expect(steps).toMatchObject([{ errorClass: 'none', extracted: { id: null } }]);
  });

  test.each([
    [{ status: 401 }, 'fatal', 'answered 401'],
    [{ status: 500 }, 'transient', 'answered 500'],
    [{ status: 400 }, 'unknown', 'answered 400'],
    [{ status: 429, headers: { 'retry-after': '3' } }, 'retry_after', 'answered 429, asked to wait 3 s'],
  ])('answered with %j is %s', async (answer, errorClass, error) => {
    const { steps } = await trial(receiver([answer])).test(asked());
    expect(steps).toMatchObject([{ errorClass, error }]);
  });

  test('sends nothing without a token', async () => {
    const { steps } = await trial(receiver([]), {}, 'none').test(asked());
    const error = 'no token of the limiter within 5 s, the next is due in 7 s';
    expect(steps).toMatchObject([{ request: null, errorClass: 'limited', error }]);
  });

  test('of a template that reads a Secret which is not there is a template error', async () => {
    const { steps } = await trial(receiver([]), { url: 'https://h/{{ .Secrets.none }}' }).test(asked());
    const error = '/events/url, line 1, column 14: there is no Secret none';
    expect(steps).toMatchObject([{ request: null, errorClass: 'template_error', error }]);
  });
});

describe('a preview', () => {
  test('in events mode is the first event of a group, with the Mentions of the Destination', async () => {
    const [item, ...others] = await trial(receiver([])).preview(asked());
    expect(others).toEqual([]);
    expect(item).toMatchObject({
      ...{ name: 'event', format: 'json' },
      request: {
        ...{ method: 'POST', url: 'https://relay.example/in?key=[redacted]' },
        headers: [
          ['X-Key', '[redacted]'],
          ['Content-Type', 'application/json'],
        ],
      },
    });
    expect(JSON.parse(item?.text ?? '')).toMatchObject({
      ...{ event: 'created', notify: true, sequence: 1 },
      mentions: [{ type: 'everyone' }, { type: 'group', name: 'sre' }, { type: 'user', login: 'ann' }],
    });
  });

  test('in template mode is every request that is configured', async () => {
    const items = await trial(receiver([])).preview(asked({ mode: 'template' }));
    expect(items.map(({ name, format }) => `${name} ${format}`)).toEqual([
      ...['create plain', 'update plain', 'open_thread plain', 'reply_in_thread plain'],
    ]);
    expect(items[0]?.text).toBe('{"text":"#412 Disk \\"full\\"","notify":true} @channel sre @ann');
    expect(items[1]?.request).toMatchObject({
      url: 'https://chat.example/messages/example-id',
      headers: [['X-Key', '[redacted]']],
    });
    expect(items[3]?.text).toMatch(/^alerts_added: 1 new alert/);
  });

  test('shows where a template fails', async () => {
    const create = { request: 'POST https://h\n\n{{ .Storm.Route }}', extract: [] };
    const template = { ...CONFIG, create };
    const [item] = await trial(receiver([])).preview(asked({ mode: 'template', template }));
    expect(item).toEqual({
      ...{ name: 'create', format: 'plain', request: null },
      text: 'create, line 3, column 10: nil has no field "Route"',
    });
  });
});
