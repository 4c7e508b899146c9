/** A chat server channel with the strict fake behind it, for tests. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { type Clock, SECOND } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { FakeChatServer } from '../../../test/fakes/chat-server/server.ts';
import type { WireAnswer } from '../../../test/fakes/listener.ts';
import type { ChatServerInfo, ChatServerSettings } from '../../connection/ports.ts';
import { peopleOf, type Target } from '../../destination/sending/people.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import { type GroupMessage, NO_NOTES, type ReplyEvent } from '../../messages/index.ts';
import { group412, settings } from '../../messages/messages.fixture.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import type { MessageContent, MessageOperation, MessageSend } from '../calls.ts';
import { createChatServerChannel } from './channel.ts';
import { createChatClient } from './client.ts';
import { createServerInfoReader } from './server-info.ts';

export const CONNECTION = 'CN5Q8V2K7WXM3D' as PublicId;
export const DESTINATION = 'DSK7M3QX9P2RTA' as PublicId;
export const ANN = 'SR1111111111AA' as PublicId;
export const TOKEN = 'hunter2-very-secret';
export const GROUP = group412().id;

const key = masterKey(randomBytes(32));
export const keyring = createKeyring([key], key.id);

export function world() {
  const account = { externalId: 'a'.repeat(26), username: 'ann', displayName: null };
  const people = peopleOf(new Map([[ANN, account]]), new Map());
  const time = { now: 1_791_020_467 * SECOND };
  const clock = { now: () => time.now, after: () => ({ cancel: () => undefined }) } as unknown as Clock;
  const callBack = { to: async (_url: string, _body: string) => ({ status: 404, body: '' }) };
  const server = new FakeChatServer({
    ...{ now: () => time.now / 1000, token: TOKEN },
    callBack: (url, body) => callBack.to(url, body),
  });
  /** `hangs`: no answer until the caller gives up. */
  const script: ('lost_before' | 'lost_after' | 'hangs' | WireAnswer)[] = [];
  const records: RequestRecord[] = [];
  const lost = { kind: 'failed', code: 'timeout', error: 'no answer within 10 s' } as const;
  const caller = createOutboundCaller({
    client: {
      async request({ method, url, headers, body, timeout, mayBegin }) {
        if (mayBegin && !mayBegin()) return { kind: 'failed', code: 'withheld', error: 'withheld' };
        const scripted = script.shift();
        if (scripted === 'hangs') time.now += timeout;
        if (scripted === 'lost_before' || scripted === 'hangs') return lost;
        const names = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
        const answer =
          typeof scripted === 'object'
            ? scripted
            : await server.answer({
                ...{ method, target: url.pathname + url.search, headers: Object.fromEntries(names) },
                body: body?.toString('utf8') ?? '',
              });
        if (scripted === 'lost_after') return lost;
        const { status, headers: sent, body: text } = answer;
        return { kind: 'answer', status, headers: sent, body: Buffer.from(text), tooLarge: false };
      },
    },
    recorder: { record: (make) => void records.push(make()) },
    metrics: createOutboundMetrics(new Registry()),
    ...{ clock, log: () => undefined, userAgent: 'Tocsin/test' },
  });
  const chat = createChatClient(caller);
  const learned: ChatServerInfo[] = [];
  const infos = createServerInfoReader({ chat, clock, learned: (_id, _access, info) => learned.push(info) });
  const connection = (changes: Partial<ChatServerSettings> = {}): ChatServerSettings => ({
    ...{ id: CONNECTION, access: 1, serverUrl: 'https://chat.example', proxy: NO_PROXY, proxyPassword: null },
    token: keyring.sealer(key.id).seal('connection.bridge_token', CONNECTION, TOKEN),
    ...{ info: null, infoReadAt: null, ...changes },
  });
  const opener = { keyring, log: silentLog };
  const channel = createChatServerChannel({
    ...{ keyring, clock, chat, infos, opener, ingestUrl: 'https://ingest.example' },
    target: async () => ({
      ...{ teamId: server.team.id, channelId: server.channel.id, teamPath: 'ops', connection: connection() },
    }),
  });
  const send = async (
    operation: MessageOperation,
    content: MessageContent,
    changes: Partial<MessageSend>,
  ) => {
    const asked: MessageSend = {
      ...{ type: 'message.send', destinationId: DESTINATION, call: 1, target: 1, connectionId: CONNECTION },
      ...{ subject: { kind: 'group', groupId: GROUP }, operation, key: 'root-a-b-1' },
      notes: { late: false, deletedAt: null, continued: false },
      ...{ attempt: 1, unsureSince: null, urgent: true, values: {}, dueAt: time.now, isProbe: false },
      ...changes,
    };
    const { outcome } = await channel.send({ asked, destination: null, mayBegin: () => true }, content);
    return outcome;
  };
  const scene = (group: Partial<GroupMessage> = {}) =>
    ({ group: group412(group), settings: settings(), people, resolvedAt: null }) as GroupScene;

  return {
    ...{
      account,
      server,
      callBack,
      time,
      clock,
      chat,
      infos,
      channel,
      script,
      records,
      learned,
      connection,
      caller,
      opener,
    },
    /** Only the calls about posts. */
    calls: () => server.calls.filter((call) => call.includes('/posts')),
    publish: (
      group: Partial<GroupMessage> = {},
      targets: readonly Target[] | null = null,
      changes: Partial<MessageSend> = {},
    ) =>
      send(
        { kind: 'publish', publication: 1, loudness: targets ? 'loud' : 'quiet', mentions: [], owner: null },
        {
          ...{ account, kind: 'publish', shown: { kind: 'group', scene: scene(group) }, notes: NO_NOTES },
          ...{ isLoud: targets !== null, targets: targets ?? [] },
        },
        changes,
      ),
    edit: (messageId: string, group: Partial<GroupMessage> = {}) =>
      send(
        { kind: 'edit', messageId, threadRef: null, hash: null, isFinal: false },
        { kind: 'edit', shown: { kind: 'group', scene: scene(group) }, notes: NO_NOTES },
        { key: null },
      ),
    reply: (
      messageId: string,
      event: ReplyEvent,
      targets: readonly Target[] | null = null,
      changes: Partial<MessageSend> = {},
    ) => {
      const facts = { event: 'resolved', reason: 'gone' } as const;
      const reply = { sequence: 3, at: 0, facts, loudness: 'loud', mentions: [], owner: null } as const;
      return send(
        { kind: 'reply', messageId, threadRef: null, reply },
        { kind: 'reply', scene: scene(), event, isLoud: targets !== null, targets: targets ?? [] },
        { key: 'reply-a-b-3', ...changes },
      );
    },
    probe: () =>
      channel.probe?.({
        asked: { type: 'message.probe', destinationId: DESTINATION, call: 1, connectionId: CONNECTION },
        destination: null,
        mayBegin: () => true,
      }),
  };
}
