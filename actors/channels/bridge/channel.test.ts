import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import { PLAIN_INFO } from '../../../test/fakes/scripted-bridge.ts';
import { peopleOf } from '../../destination/sending/people.ts';
import type { BridgeTarget, GroupScene } from '../../destination/sending/scene.ts';
import { NO_NOTES } from '../../messages/index.ts';
import { group412, settings } from '../../messages/messages.fixture.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import type { MessageContent, MessageOperation, MessageSend } from '../calls.ts';
import type { BridgeOutcome } from './answer.ts';
import { createBridgeChannel } from './channel.ts';
import type { BridgeClient, CallOptions } from './client.ts';
import { readInfo } from './info.ts';
import type { KnownInfo } from './info-reader.ts';
import type { BridgeRequest } from './operations.ts';

const CONNECTION = 'CN5Q8V2K7WXM3D' as PublicId;
const DESTINATION = 'DSK7M3QX9P2RTA' as PublicId;
const ANN = 'SR1111111111AA' as PublicId;
const NOW = 1_791_020_467 * SECOND;
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const TOKEN = keyring.sealer(key.id).seal('connection.bridge_token', CONNECTION, 'b-t0ken');

const ACCOUNT = { externalId: 'u-17', username: 'alice', displayName: 'Alice Smith' };
const people = peopleOf(new Map([[ANN, ACCOUNT]]), new Map());
const scene = {
  group: group412(),
  settings: settings(),
  routeId: 'RT1111111111AA' as PublicId,
  resolvedAt: null,
  people,
} as GroupScene;
const group = { kind: 'group', scene } as const;

const PUBLISH: MessageOperation = {
  kind: 'publish',
  publication: 1,
  loudness: 'loud',
  mentions: [],
  owner: null,
};
const LOUD: MessageContent = {
  ...{ kind: 'publish', shown: group, notes: NO_NOTES, isLoud: true },
  targets: [{ type: 'user', id: ANN }],
};
const EDIT: MessageContent = { kind: 'edit', shown: group, notes: NO_NOTES };

function edit(changes: Partial<Extract<MessageOperation, { kind: 'edit' }>> = {}): MessageOperation {
  return { kind: 'edit', messageId: 'm/1', threadRef: null, hash: null, isFinal: false, ...changes };
}

function asked(operation: MessageOperation): MessageSend {
  return {
    ...{ type: 'message.send', destinationId: DESTINATION, call: 7, target: 1, connectionId: CONNECTION },
    subject: { kind: 'group', groupId: group412().id },
    operation,
    notes: { late: false, deletedAt: null, continued: false },
    key: operation.kind === 'edit' ? null : 'root-a-b-1',
    ...{ attempt: 1, unsureSince: null, urgent: true, values: {}, dueAt: NOW, isProbe: false },
  };
}

interface Sent {
  readonly request: BridgeRequest<unknown>;
  readonly options: CallOptions;
}

function info(changes: object = {}) {
  const read = readInfo({ ...PLAIN_INFO, ...changes });
  if (!read.ok) throw new Error('no Info');
  return read.info;
}

function adapting(
  answer: BridgeOutcome<unknown> | null,
  known: KnownInfo = { class: 'ok', info: info() },
  target: BridgeTarget | null = {
    channelId: 'alerts/prod',
    connection: {
      ...{ id: CONNECTION, access: 1, baseUrl: 'http://bridge.example', eventMode: 'poll', token: TOKEN },
      ...{ pushSecret: null, proxy: NO_PROXY, proxyPassword: null },
      ...{ info: null, infoReadAt: null, infoFailedAt: null },
    },
  },
) {
  const sent: Sent[] = [];
  const bridge: BridgeClient = {
    async call<Value>(_access: unknown, request: BridgeRequest<Value>, options: CallOptions) {
      sent.push({ request, options });
      options.mayBegin?.();
      if (!answer) throw new Error(`${request.operation} was not expected`);
      return answer as BridgeOutcome<Value>;
    },
  };
  const adapter = createBridgeChannel({
    ...{ bridge, keyring, clock: { now: () => NOW } },
    infos: { upToDate: async () => known },
    opener: { keyring, log: silentLog },
    target: async () => target,
  });
  const send = (operation: MessageOperation, content: MessageContent) =>
    adapter.send({ asked: asked(operation), destination: null, mayBegin: () => true }, content);
  return { sent, send };
}

const CREATED = { message_id: 'm/1', thread_ref: null, truncated: false, replayed: false };
const FAILURE = { code: 'http_status', status: 503, error: 'answered 503', detail: null } as const;

describe('a Publication', () => {
  test('is an envelope with buttons that only Tocsin can have signed, and Mentions as the last line', async () => {
    const { sent, send } = adapting({ class: 'ok', value: CREATED });
    const { outcome } = await send(PUBLISH, LOUD);
    const body = sent[0]?.request.body as {
      readonly mentions: unknown;
      readonly body: string;
      readonly buttons: readonly { data: string }[];
    };
    expect(sent[0]?.request).toMatchObject({ operation: 'postMessage', idempotencyKey: 'root-a-b-1' });
    expect(body).toMatchObject({ channel_id: 'alerts/prod', kind: 'root', notify: true, status: 'firing' });
    expect(body.mentions).toEqual([
      { ref: 'm1', type: 'user', user: expect.objectContaining({ external_id: 'u-17' }) },
    ]);
    expect(body.body.split('\n').at(-1)).toBe('[@alice](svc-mention:m1)');
    const [button] = body.buttons;
    expect(readButtonData(keyring, button?.data ?? '')).toMatchObject({
      ok: true,
      button: { subject: 'root_message', id: group412().id, command: 'acknowledge' },
    });
    expect(outcome).toMatchObject({ class: 'ok', messageId: 'm/1', signedWith: key.id, editableUntil: null });
  });

  test('of a bridge with a time limit for edits ends a margin before it', async () => {
    const limits = { ...PLAIN_INFO.limits, edit_max_age_seconds: 3600 };
    const { send } = adapting({ class: 'ok', value: CREATED }, { class: 'ok', info: info({ limits }) });
    const { outcome } = await send(PUBLISH, LOUD);
    expect(outcome).toMatchObject({ editableUntil: NOW + 3300 * SECOND });
  });

  test('has no buttons where the bridge has none', async () => {
    const { sent, send } = adapting(
      { class: 'ok', value: CREATED },
      { class: 'ok', info: info({ capabilities: {} }) },
    );
    const { outcome } = await send(PUBLISH, LOUD);
    expect(sent[0]?.request.body).toMatchObject({ buttons: [] });
    expect(outcome).toMatchObject({ signedWith: null });
  });
});

describe('an edit', () => {
  test('to the state that the messenger has is no call; the last one is made all the same, without buttons', async () => {
    const first = await adapting({ class: 'ok', value: CREATED }).send(PUBLISH, LOUD);
    const hash = first.outcome.class === 'ok' ? first.outcome.hash : null;
    expect((await adapting(null).send(edit({ hash }), EDIT)).outcome).toEqual({ class: 'unchanged' });

    const last = adapting({ class: 'ok', value: { truncated: false } });
    await last.send(edit({ hash, isFinal: true }), { ...EDIT, notes: { ...NO_NOTES, final: true } });
    expect(last.sent[0]?.request).toMatchObject({ operation: 'editMessage', body: { buttons: [] } });
  });
});

test('a reply goes under the Thread that is known, Quiet without Mentions', async () => {
  const value = { ...CREATED, message_id: 'm/2', thread_ref: 't-1' };
  const { sent, send } = adapting({ class: 'ok', value });
  const facts = { event: 'resolved', reason: 'gone' } as const;
  const reply = { sequence: 3, at: 0, facts, loudness: 'quiet', mentions: [], owner: null } as const;
  const operation = { kind: 'reply', messageId: 'm/1', threadRef: 't-1', reply } as const;
  const { outcome } = await send(operation, {
    kind: 'reply',
    scene,
    event: facts,
    isLoud: false,
    targets: [],
  });
  expect(sent[0]?.request.body).toEqual({
    ...{ thread_ref: 't-1', body: 'Closed without an all-clear: the sender stopped listing the alerts' },
    ...{ buttons: [], mentions: [], notify: false },
  });
  expect(outcome).toMatchObject({ class: 'ok', messageId: 'm/2', threadRef: 't-1', hash: null });
});

describe('what a bridge answers', () => {
  test.each<readonly [string, BridgeOutcome<unknown>, object]>([
    [
      'wait, all of you',
      { class: 'retry_after', until: 9, scope: 'bot', ...FAILURE },
      { class: 'retry_after', scope: 'connection' },
    ],
    [
      'wait with this channel',
      { class: 'retry_after', until: 9, scope: 'channel', ...FAILURE },
      { scope: 'destination', until: 9 },
    ],
    [
      'an answer of success that is no JSON',
      { class: 'unknown', ...FAILURE, status: 200 },
      { class: 'unknown', unsure: true },
    ],
    ['too old', { class: 'gone', reason: 'edit_window_closed', ...FAILURE }, { class: 'edit_window_closed' }],
  ])('%s', async (_says, answer, expected) => {
    expect((await adapting(answer).send(edit(), EDIT)).outcome).toMatchObject(expected);
  });
});

test('without a Connection, and without a copy of the Info, nothing is called', async () => {
  expect((await adapting(null, undefined, null).send(edit(), EDIT)).outcome).toEqual({
    class: 'unknown',
    error: 'the Connection was deleted',
  });
  const silent = { class: 'transient', ...FAILURE, status: null } as const;
  expect((await adapting(null, silent).send(PUBLISH, LOUD)).outcome).toMatchObject({
    class: 'transient',
    unsure: false,
  });
});
