import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../../runtime/public-id.ts';
import { peopleOf } from '../../destination/sending/people.ts';
import type { TemplateConfig } from '../../destination/webhook-config.ts';
import { NO_NOTES } from '../../messages/index.ts';
import type { MessageContent, MessageOperation, MessageSend, ReplyCall, Shown } from '../calls.ts';
import { createTemplateChannel } from './channel.ts';
import { checkConfiguration } from './check-configuration.ts';
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

const group: Shown = { kind: 'group', scene };
const storm: Shown = {
  kind: 'storm',
  storm: {
    ...{ routeId: scene.routeId, routeName: 'Payments' },
    ...{ newGroups: 12, urgentGroups: 1, stillOpen: null },
  },
  settings: scene.settings,
  people: peopleOf(new Map(), new Map()),
};
const REPLY_CALL: ReplyCall = {
  sequence: 4,
  at: 0,
  facts: { event: 'takeover', owner: { ...person('Bob') }, formerOwner: { ...person('Ann') } },
  loudness: 'loud',
  mentions: ['previous_owner'],
  owner: null,
};

function person(name: string) {
  return { id: 'SR2222222222AA' as PublicId, name, login: name.toLowerCase() };
}

const PUBLISH: MessageOperation = {
  kind: 'publish',
  publication: 1,
  loudness: 'loud',
  mentions: [],
  owner: null,
};
const edit = (changes: Partial<Extract<MessageOperation, { kind: 'edit' }>> = {}): MessageOperation => ({
  ...{ kind: 'edit', messageId: '', threadRef: null, hash: null, isFinal: false },
  ...changes,
});
const reply = (threadRef: string | null): MessageOperation => ({
  ...{ kind: 'reply', messageId: '', threadRef, reply: REPLY_CALL },
});

const LOUD: MessageContent = {
  ...{ kind: 'publish', shown: group, notes: NO_NOTES, isLoud: true },
  targets: [
    { type: 'everyone', as: 'channel' },
    { type: 'group', name: 'sre' },
    { type: 'user', id: ANN_ID },
  ],
};
const EDIT: MessageContent = { kind: 'edit', shown: group, notes: NO_NOTES };
const REPLY: MessageContent = {
  ...{ kind: 'reply', scene, isLoud: true, targets: [] },
  event: { event: 'takeover', owner: 'Bob', formerOwner: 'Ann' },
};

async function send(
  to: Receiver,
  operation: MessageOperation,
  content: MessageContent,
  values: Readonly<Record<string, string>> = {},
  template: Partial<TemplateConfig> | null = {},
) {
  const adapter = createTemplateChannel({
    ...to.deps,
    directory: { current: () => directory },
    settings: async () => template && templateSettings(template),
  });
  const asked: MessageSend = {
    ...{ type: 'message.send', destinationId: DESTINATION, call: 7, target: 1, connectionId: null },
    subject: { kind: 'group', groupId: scene.group.id },
    operation,
    notes: { late: false, deletedAt: null, continued: false },
    key: null,
    ...{ attempt: 1, unsureSince: null, urgent: true, values, dueAt: NOW, isProbe: false },
  };
  const { outcome } = await adapter.send({ asked, destination: null, mayBegin: () => true }, content);
  return outcome;
}

const CREATED = { status: 201, body: '{"data":{"id":9007199254740993}}' };

describe('a Publication', () => {
  test('sends create, signed, and takes values from its answer', async () => {
    const to = receiver([CREATED]);
    const outcome = await send(to, PUBLISH, LOUD);
    expect(outcome).toMatchObject({
      ...{ class: 'ok', messageId: '9007199254740993', values: { id: '9007199254740993' }, missing: [] },
      hash: expect.any(String),
    });
    expect(to.received).toEqual([
      {
        line: 'POST https://chat.example/messages',
        headers: {
          authorization: `Bearer ${SECRET}`,
          'content-type': 'application/json',
          'user-agent': 'Tocsin/test',
          'accept-encoding': 'identity',
          'webhook-id': expect.stringMatching(/^msg_[a-z2-7]{26}$/),
          'webhook-timestamp': '1791020467',
          'webhook-signature': expect.stringMatching(/^v1,/),
        },
        body: '{"text":"#412 Disk \\"full\\"","notify":true} @channel sre @ann',
      },
    ]);
    expect(JSON.stringify(to.records)).not.toContain(SECRET);
  });

  test('that finds no value is delivered, and says what is missing', async () => {
    const outcome = await send(receiver([{ status: 200, body: 'ok' }]), PUBLISH, LOUD);
    expect(outcome).toMatchObject({ class: 'ok', messageId: null, values: {}, missing: ['id'] });
  });

  test('may do for all parts of its request together what one template may do', async () => {
    const busy = '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}';
    const headers = (count: number) =>
      Array.from({ length: count }, (_, index) => `X-${index}: ${busy}ok`).join('\n');
    const sent = async (count: number) => {
      const request = `POST https://chat.example/messages\n${headers(count)}\n\n{}`;
      const outcome = await send(
        receiver([CREATED]),
        PUBLISH,
        LOUD,
        {},
        {
          create: { ...CONFIG.create, request },
        },
      );
      return outcome.class;
    };
    expect([await sent(1), await sent(10)]).toEqual(['ok', 'template_error']);
  });

  test('tells a Storm', async () => {
    const to = receiver([CREATED]);
    await send(to, PUBLISH, { ...LOUD, kind: 'publish', shown: storm, targets: [] } as MessageContent);
    expect(to.received[0]?.body).toContain('12 of Payments');
  });

  test('whose template reads an Alert Group fails for a Storm', async () => {
    const create = { request: 'POST https://h\n\n{{ .AlertGroup.Title }}', extract: [] };
    const to = receiver([]);
    const content = { ...LOUD, kind: 'publish', shown: storm, targets: [] } as MessageContent;
    expect(await send(to, PUBLISH, content, {}, { create })).toEqual({
      class: 'template_error',
      request: 'create',
      error: 'create, line 3, column 15: nil has no field "Title"',
    });
  });
});

test.each<[string, string, string]>([
  [
    'a Secret that is missing',
    'POST https://h\nX-Key: k {{ .Secrets.none }}\n\n{}',
    'create, line 2, column 13: there is no Secret none',
  ],
  [
    'a URL that is not absolute',
    'POST {{ .AlertGroup.Title }}\n\n{}',
    'create, line 1, column 6: this is not an absolute http or https URL',
  ],
  [
    'a header value that is not printable',
    'POST https://h\nX-A: a\nX-Key: {{ "é" }}\n\n{}',
    'create, line 3, column 8: the value of the header X-Key must be printable ASCII',
  ],
])('the error of %s names role, line and column', async (_name, request, error) => {
  const to = receiver([]);
  const outcome = await send(to, PUBLISH, LOUD, {}, { create: { request, extract: [] } });
  expect(outcome).toEqual({ class: 'template_error', request: 'create', error });
});

describe('an edit', () => {
  const hashOf = async (values = {}, template: Partial<TemplateConfig> = {}) => {
    const outcome = await send(receiver([CREATED]), PUBLISH, LOUD, values, template);
    return outcome.class === 'ok' ? outcome.hash : null;
  };

  test('sends nothing while the update reads the same as at the create', async () => {
    const hash = await hashOf();
    expect(await send(receiver([]), edit({ hash }), EDIT, { id: '7' })).toEqual({ class: 'unchanged' });
  });

  test('sends update with values of the create', async () => {
    const to = receiver([{ status: 200 }]);
    const outcome = await send(to, edit({ hash: 'another' }), EDIT, { id: '7' });
    expect(outcome).toMatchObject({ class: 'ok', messageId: null, hash: await hashOf() });
    expect(to.received[0]).toMatchObject({ line: 'PUT https://chat.example/messages/7', body: 'firing ' });
  });

  test('that is the last one says so, whatever the messenger has', async () => {
    const to = receiver([{ status: 200 }]);
    await send(to, edit({ hash: await hashOf(), isFinal: true }), EDIT, { id: '7' });
    expect(to.received[0]?.body).toBe(
      'firing Not kept up to date any more. Current state: https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA',
    );
  });

  test('that reads a value nothing gave is a template error', async () => {
    expect(await send(receiver([]), edit(), EDIT)).toEqual({
      class: 'template_error',
      request: 'update',
      error: 'update, line 1, column 47: there is no value id',
    });
  });

  test.each([
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { class: 'retry_after', scope: 'destination' },
    ],
  ])('answered with %j ends as %j', async (answer, expected) => {
    expect(await send(receiver([answer]), edit(), EDIT, { id: '7' })).toMatchObject(expected);
  });
});

describe('a reply', () => {
  const THREAD = { status: 200, body: '{"thread":"t1"}' };

  test('opens the Thread first, and only once', async () => {
    const to = receiver([THREAD, { status: 200 }]);
    expect(await send(to, reply(null), REPLY, { id: '7' })).toMatchObject({
      ...{ class: 'ok', threadRef: 'open', values: { thread: 't1' } },
    });
    expect(to.received.map(({ line, body }) => `${line} ${body}`)).toEqual([
      'POST https://chat.example/messages/7/thread ',
      'POST https://chat.example/threads/t1 takeover: Bob takes over from Ann',
    ]);
    const later = receiver([{ status: 200 }]);
    await send(later, reply('open'), REPLY, { id: '7', thread: 't1' });
    expect(later.received.map(({ line }) => line)).toEqual(['POST https://chat.example/threads/t1']);
  });

  test('that fails keeps the Thread that was opened', async () => {
    const outcome = await send(receiver([THREAD, { status: 500 }]), reply(null), REPLY, { id: '7' });
    expect(outcome).toMatchObject({ class: 'transient', threadRef: 'open', values: { thread: 't1' } });
  });

  test('is not sent when the Thread cannot be opened', async () => {
    const outcome = await send(receiver([{ status: 400 }]), reply(null), REPLY, { id: '7' });
    expect(outcome).toMatchObject({ class: 'unknown' });
  });

  test('is dropped without a request for it', async () => {
    const without = { open_thread: null, reply_in_thread: null };
    expect(await send(receiver([]), reply(null), REPLY, { id: '7' }, without)).toEqual({ class: 'dropped' });
  });
});

test('the example of this test may be saved', () => {
  expect(checkConfiguration(CONFIG)).toMatchObject({ ok: true });
});

test('a webhook that was deleted, or lost its requests with its mode, ends what waits instead of waiting with it', async () => {
  const to = receiver([]);
  expect(await send(to, edit({ isFinal: true }), EDIT, {}, null)).toEqual({
    class: 'unknown',
    error: 'the webhook has no requests any more',
  });
  expect(to.received).toEqual([]);
});
