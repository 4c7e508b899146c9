/** A channel bot with the strict fake behind it, for tests. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { type Clock, SECOND } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { OutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { FakeBotApi } from '../../../test/fakes/channel-bot/server.ts';
import type { FakeMessage } from '../../../test/fakes/channel-bot/world.ts';
import type { WireAnswer } from '../../../test/fakes/listener.ts';
import type { ChannelBotSettings, ChannelPlace, Copies, Copy } from '../../connection/ports.ts';
import { peopleOf, type Target } from '../../destination/sending/people.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import { type GroupMessage, NO_NOTES, type ReplyEvent } from '../../messages/index.ts';
import { group412, settings } from '../../messages/messages.fixture.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import type { MessageContent, MessageOperation, MessageSend, SendOutcome } from '../calls.ts';
import { createChannelBotChannel } from './channel.ts';
import { createBotClient } from './client.ts';

export const CONNECTION = 'CN5Q8V2K7WXM3D' as PublicId;
export const DESTINATION = 'DSK7M3QX9P2RTA' as PublicId;
export const ANN = 'SR1111111111AA' as PublicId;
export const TOKEN = '123456:hunter2-very-secret-bot-token-00';
export const GROUP = group412().id;

const key = masterKey(randomBytes(32));
export const keyring = createKeyring([key], key.id);
export const sealer = keyring.sealer(key.id);
const ANSWERED: ReplyEvent = { event: 'resolved', reason: 'gone' };

/** A Bot API server that runs by itself, in place of the strict fake. */
export interface Elsewhere {
  readonly client: Pick<OutboundClient, 'request'>;
  readonly baseUrl: string;
}

export function world(elsewhere?: Elsewhere) {
  const account = { externalId: '5001', username: 'ann', displayName: null };
  const people = peopleOf(new Map([[ANN, account]]), new Map());
  const time = { now: 1_791_020_467 * SECOND };
  const clock = { now: () => time.now, after: () => ({ cancel: () => undefined }) } as unknown as Clock;
  const server = new FakeBotApi({ now: () => time.now / 1000, token: TOKEN });
  const script: ('lost_before' | 'lost_after' | WireAnswer)[] = [];
  const records: RequestRecord[] = [];
  const lost = { kind: 'failed', code: 'timeout', error: 'no answer within 10 s' } as const;
  const caller = createOutboundCaller({
    client: elsewhere?.client ?? {
      async request({ method, url, headers, body, mayBegin }) {
        if (mayBegin && !mayBegin()) return { kind: 'failed', code: 'withheld', error: 'withheld' };
        const scripted = script.shift();
        if (scripted === 'lost_before') return lost;
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
  const bot = createBotClient(caller);
  const connection = (changes: Partial<ChannelBotSettings> = {}): ChannelBotSettings => ({
    ...{ id: CONNECTION, access: 1, updateMode: 'long_polling' },
    baseUrl: elsewhere?.baseUrl ?? 'https://bot-api.example',
    token: sealer.seal('connection.bridge_token', CONNECTION, TOKEN),
    ...{ webhookSecret: null, webhookUrl: null, webhookBlocks: false, proxy: NO_PROXY },
    ...{ proxyPassword: null, info: null, ...changes },
  });
  const opener = { keyring, log: silentLog };
  const { channel: there, group } = server.world;
  const place: { is: ChannelPlace | null } = {
    is: { channelId: String(there.id), username: there.username, groupId: String(group.id) },
  };
  /** Copies that an update told of, by the post. */
  const copies = new Map<string, { readonly groupId: string; readonly copyId: string }>();
  const moved: string[] = [];
  /** Posts that no id is stored of, newest first. */
  const lostPosts: (Copy & { readonly postId: string; readonly about: PublicId; readonly at: number })[] = [];
  const copyReader: Copies = {
    find: async ({ postId }) => copies.get(postId) ?? null,
    lost: async ({ about, since }) => lostPosts.filter((post) => post.about === about && post.at >= since),
  };
  const channel = createChannelBotChannel({
    ...{ keyring, clock, bot, opener, copies: copyReader },
    target: async () => ({ place: place.is, connection: connection() }),
    groupMoved: async (_id, { to }) => void moved.push(to),
  });
  const send = async (
    operation: MessageOperation,
    content: MessageContent,
    changes: Partial<MessageSend>,
  ): Promise<SendOutcome> => {
    const asked: MessageSend = {
      ...{ type: 'message.send', destinationId: DESTINATION, call: 1, target: 1, connectionId: CONNECTION },
      ...{ subject: { kind: 'group', groupId: GROUP }, operation, key: 'root-a-b-1' },
      notes: { late: false, deletedAt: null, continued: false },
      ...{ attempt: 1, unsureSince: null, urgent: true, values: {}, dueAt: time.now, isProbe: false },
      ...changes,
    };
    return (await channel.send({ asked, destination: null, mayBegin: () => true }, content)).outcome;
  };
  const scene = (changes: Partial<GroupMessage> = {}) =>
    ({ group: group412(changes), settings: settings(), people, resolvedAt: null }) as GroupScene;

  return {
    ...{
      account,
      server,
      time,
      clock,
      bot,
      channel,
      script,
      records,
      place,
      copies,
      copyReader,
      lostPosts,
      moved,
      opener,
      connection,
    },
    /** What stands in the channel, or in its discussion group. */
    posts: (): readonly FakeMessage[] => server.world.messages(there),
    comments: (): readonly FakeMessage[] => server.world.messages(group).filter(({ copyOf }) => !copyOf),
    /** The update about every copy was handled. */
    seeCopies() {
      for (const { copyOf, messageId } of server.world.messages(group)) {
        if (!copyOf) continue;
        copies.set(String(copyOf.messageId), { groupId: String(group.id), copyId: String(messageId) });
      }
    },
    scene,
    publish: (
      changes: Partial<GroupMessage> = {},
      targets: readonly Target[] | null = null,
      asked: Partial<MessageSend> = {},
    ) =>
      send(
        { kind: 'publish', publication: 1, loudness: targets ? 'loud' : 'quiet', mentions: [], owner: null },
        {
          ...{ kind: 'publish', shown: { kind: 'group', scene: scene(changes) }, notes: NO_NOTES },
          ...{ isLoud: targets !== null, targets: targets ?? [] },
        },
        asked,
      ),
    edit: (messageId: string, changes: Partial<GroupMessage> = {}, asked: Partial<MessageSend> = {}) =>
      send(
        { kind: 'edit', messageId, threadRef: null, hash: null, isFinal: false },
        { kind: 'edit', shown: { kind: 'group', scene: scene(changes) }, notes: NO_NOTES },
        { key: null, ...asked },
      ),
    reply: (
      messageId: string,
      threadRef: string | null,
      event: ReplyEvent = ANSWERED,
      targets: readonly Target[] | null = null,
    ) => {
      const facts = { event: 'resolved', reason: 'gone' } as const;
      const said = { sequence: 3, at: 0, facts, loudness: 'loud', mentions: [], owner: null } as const;
      return send(
        { kind: 'reply', messageId, threadRef, reply: said },
        { kind: 'reply', scene: scene(), event, isLoud: targets !== null, targets: targets ?? [] },
        { key: 'reply-a-b-3' },
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
