import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../runtime/clock.ts';
import { createOutboundCaller, type OutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey, type Sealed } from '../../../runtime/secrets/keyring.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../test/fakes/webhook-receiver.ts';
import { newEventId } from '../../destination/messages.ts';
import type { WebhookSettings } from '../../destination/ports.ts';
import type { EventsConfig } from '../../destination/webhook-config.ts';
import { BODY_EXAMPLES } from '../../destination/webhook-examples.fixture.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import type { SendFinished } from '../calls.ts';
import { newSigningSecret } from '../signature.ts';
import { buildWebhookRequest } from './request.ts';
import { createEventSender, eventSend } from './sender.fixture.ts';

const ID = 'DSK7M3QX9P2RTA' as PublicId;
const SECRET = 'hunter2-very-secret';
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const signing = newSigningSecret(randomBytes);
const previous = newSigningSecret(randomBytes);

let receiver: WebhookReceiver;
let client: OutboundClient;
let logged: [string, unknown][];
let recorded: RequestRecord[];

beforeEach(async () => {
  receiver = await startWebhookReceiver({ secrets: [signing] });
  client = createOutboundClient({
    clock: systemClock,
    policy: { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] },
  });
  logged = [];
  recorded = [];
});

function caller(): OutboundCaller {
  return createOutboundCaller({
    client,
    recorder: { record: (make) => void recorded.push(make()) },
    metrics: createOutboundMetrics(new Registry()),
    clock: systemClock,
    log: (event, fields) => logged.push([event, fields]),
    userAgent: 'Tocsin/test',
  });
}

afterEach(async () => {
  client.close();
  await receiver.close();
});

function settings(
  changes: Partial<Omit<WebhookSettings, 'events'>> & { events?: Partial<EventsConfig> } = {},
): WebhookSettings {
  return {
    id: ID,
    secrets: new Map([
      ['token', keyring.sealer(keyring.activeKeyId).seal('destination.secret', `${ID}/token`, SECRET)],
    ]),
    signingSecret: keyring.sealer(keyring.activeKeyId).seal('destination.signing_secret', ID, signing),
    previousSigningSecret: null,
    proxy: NO_PROXY,
    proxyPassword: null,
    version: '1.1',
    ...changes,
    events: {
      url: receiver.url,
      headers: [{ name: 'Authorization', value: 'Bearer {{ .Secrets.token }}' }],
      ...changes.events,
    },
  };
}

/** Sends one event and gives what the Destination is told, or what else ended the attempt. */
async function send(
  from: WebhookSettings | Error | null,
  body: string | null = BODY_EXAMPLES.created,
  hasPaused = false,
) {
  return new Promise<SendFinished | string>((resolve) => {
    const sender = createEventSender({
      ...{ caller: caller(), keyring, hasPaused },
      told: resolve,
      log: (event, fields) => logged.push([event, fields]),
      settings: async () => {
        if (from instanceof Error) throw from;
        return from;
      },
      body: async () => {
        if (body === null) setImmediate(() => resolve('nothing told'));
        return body;
      },
    });
    sender.send(eventSend(ID, 3));
  });
}

describe('a request', () => {
  test('is signed, carries its headers and exactly the recorded body', async () => {
    expect(await send(settings())).toMatchObject({ outcome: { class: 'ok' } });
    const [webhook] = receiver.received;
    expect(webhook?.raw).toBe(BODY_EXAMPLES.created);
    expect(webhook?.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'user-agent': 'Tocsin/test',
    });
    expect(receiver.faults).toEqual([]);
  });

  test('is signed with both secrets while a previous one is active', async () => {
    receiver.trust(previous);
    const both = keyring
      .sealer(keyring.activeKeyId)
      .seal('destination.signing_secret_previous', ID, previous);
    await send(settings({ previousSigningSecret: both }));
    expect(receiver.received[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(receiver.faults).toEqual([]);
  });

  test('a header template may name the User-Agent', async () => {
    await send(settings({ events: { headers: [{ name: 'user-agent', value: 'mine' }] } }));
    expect(receiver.received[0]?.headers['user-agent']).toBe('mine');
  });

  test('user information of the URL becomes Basic credentials', async () => {
    const url = receiver.url.replace('//', '//u%40x:{{ .Secrets.token }}@');
    await send(settings({ events: { url, headers: [] } }));
    const expected = Buffer.from(`u@x:${SECRET}`).toString('base64');
    expect(receiver.received[0]?.headers.authorization).toBe(`Basic ${expected}`);
  });

  test('unless a header template sets Authorization', async () => {
    await send(settings({ events: { url: receiver.url.replace('//', '//u:p@') } }));
    expect(receiver.received[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });
});

test('credentials that are written out count as secrets of the request', () => {
  const url = `${receiver.url}/?token=in-the-query&page=seven`;
  const events = { url, headers: [{ name: 'X-Api-Key', value: 'in-a-header' }] };
  const built = buildWebhookRequest({
    ...{ settings: settings({ events }), keyring, eventId: 'msg_1', body: Buffer.alloc(0), now: 0 },
  });
  if (built.outcome !== 'ready') throw new Error(built.outcome);
  expect(built.secrets).toEqual(expect.arrayContaining(['in-the-query', 'in-a-header']));
  expect(built.secrets).not.toContain('seven');
});

describe('nothing is sent', () => {
  test.each<[string, Partial<EventsConfig>, string]>([
    [
      'a Secret that is missing',
      { headers: [{ name: 'X', value: '{{ .Secrets.other }}' }] },
      '/events/headers/0/value, line 1, column 4: there is no Secret other',
    ],
    [
      'a URL that is none',
      { url: '{{ .Secrets.token }}' },
      '/events/url, line 1, column 1: this is not an absolute http or https URL',
    ],
    [
      'a header value that is not ASCII',
      { headers: [{ name: 'X', value: 'я' }] },
      '/events/headers/0/value, line 1, column 1: a header value must be printable ASCII',
    ],
  ])('with %s', async (_name, events, error) => {
    expect(await send(settings({ events }))).toMatchObject({ outcome: { class: 'template_error', error } });
    expect(receiver.received).toEqual([]);
  });

  test('with a Secret that cannot be opened: the Destination is Broken', async () => {
    const stray = keyring
      .sealer(keyring.activeKeyId)
      .seal('destination.secret', 'DS0/token', SECRET) as Sealed;
    const told = await send(settings({ secrets: new Map([['token', stray]]) }));
    expect(told).toMatchObject({ outcome: { class: 'fatal', error: 'secret_unreadable' } });
    expect(logged).toContainEqual([
      'secret_unreadable',
      { field: 'destination.secret', owner: `${ID}/token`, key_id: key.id },
    ]);
  });

  test('where the outbound policy forbids it', async () => {
    client.setPolicy({ policy: 'standard', allowed: [], denied: [] });
    expect(await send(settings())).toMatchObject({
      outcome: { class: 'fatal', error: 'refused by the outbound policy: 127.0.0.1 loopback' },
    });
    expect(logged.map(([event]) => event)).toContain('outbound_blocked');
    expect(receiver.received).toEqual([]);
  });

  test('while the database cannot be read, and the Destination is told so', async () => {
    expect(await send(new Error('connection terminated'))).toMatchObject({
      call: 3,
      outcome: { class: 'not_sent', because: 'unreadable' },
    });
    expect(receiver.received).toEqual([]);
    expect(logged.map(([event]) => event)).toEqual(['delivery_work_failed']);
  });

  test('for an event that ended meanwhile', async () => {
    expect(await send(settings(), null)).toMatchObject({ outcome: { class: 'dropped' } });
    expect(receiver.received).toEqual([]);
  });
});

describe('secrets never come back', () => {
  test.each([
    ['verbatim', SECRET],
    ['percent-encoded', encodeURIComponent(SECRET)],
    ['in JSON', JSON.stringify({ seen: SECRET })],
    ['as base64', Buffer.from(SECRET).toString('base64')],
    ['the signing secret without its prefix', signing.slice('whsec_'.length)],
  ])('when the receiver echoes one %s', async (_name, body) => {
    receiver.answer({ status: 400, body });
    const told = await send(settings());
    expect(told).toMatchObject({ outcome: { class: 'unknown' } });
    const shown = JSON.stringify([told, logged]);
    expect(shown).toContain('[redacted]');
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toContain(signing.slice('whsec_'.length));
  });

  test('when it redirects to one', async () => {
    receiver.answer({ status: 302, headers: { location: `/${SECRET}` } });
    const told = await send(settings());
    expect(JSON.stringify(told)).toContain('/[redacted] not followed');
  });
});

test('a connection that breaks is transient', async () => {
  receiver.answer({ status: 500, hangUp: true });
  expect(await send(settings())).toMatchObject({
    outcome: { class: 'transient', error: 'the connection was lost' },
  });
});

test('finishing waits for the call under way, which is told, and begins no other', async () => {
  const told: SendFinished[] = [];
  let began = () => {};
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  let answer: (text: string) => void = () => {};
  const sender = createEventSender({
    ...{ caller: caller(), keyring, settings: async () => settings() },
    told: (finished) => void told.push(finished),
    body: () => {
      began();
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
  });
  const effect = eventSend(ID, 3);
  sender.send(effect);
  await begun;
  const finished = sender.finish();
  sender.send(eventSend(ID, 4));
  answer(BODY_EXAMPLES.created);
  await finished;
  expect(told.map(({ event }) => event?.id)).toEqual([effect.key]);
  expect(receiver.received).toHaveLength(1);
});

test('a process that stood still before the call sends nothing, and the event goes back into its line', async () => {
  const told = await send(settings(), BODY_EXAMPLES.created, true);
  expect(told).toMatchObject({ outcome: { class: 'not_sent', because: 'unreadable' } });
  expect(receiver.received).toEqual([]);
});

test('all parts of a request may do together what one template may do, and the next request as much', () => {
  const busy = '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}';
  const headers = Array.from({ length: 10 }, (_, index) => ({ name: `X-${index}`, value: busy }));
  const built = (count: number) =>
    buildWebhookRequest({
      ...{
        settings: settings({ events: { headers: headers.slice(0, count) } }),
        keyring,
        now: systemClock.now(),
      },
      ...{ eventId: newEventId(randomBytes), body: Buffer.from('{}') },
    });
  expect([built(1), built(10), built(1)].map(({ outcome }) => outcome)).toEqual([
    'ready',
    'template_error',
    'ready',
  ]);
});
