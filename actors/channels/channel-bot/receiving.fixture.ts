/** A bot that receives: the actor, the strict Bot API and everything between, on a clock that tests move. */
import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { type ActorMessage, type Turn, UnavailableError } from '../../../runtime/actor/index.ts';
import { SECOND } from '../../../runtime/clock.ts';
import { createConnectionPerformer } from '../../../runtime/compose/performer.ts';
import type { Log } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { buttonData, type MessageButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import { FakeBotApi } from '../../../test/fakes/channel-bot/server.ts';
import type { FakeMessage } from '../../../test/fakes/channel-bot/world.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import type { TokenOutcome, TokenUse } from '../../account-links/link.ts';
import type { CarriedReply, GroupCommand } from '../../alert-group/messages.ts';
import { createConnectionActor } from '../../connection/actor.ts';
import type { ConnectionPerformed, ConnectionRecord } from '../../connection/effects.ts';
import type { ConnectionMessage } from '../../connection/messages.ts';
import type {
  ChannelBotInfo,
  ChannelBotSettings,
  GroupMoved,
  LinkedPerson,
  PostedMessage,
} from '../../connection/ports.ts';
import { createWaitingTokens } from '../../connection/tokens.ts';
import { EMPTY_DIRECTORY } from '../../directory.fixture.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import { createEventIntake } from '../intake.ts';
import { createPoller } from '../polling.ts';
import { createBotAnswers } from './answers.ts';
import { createBotClient, openBot } from './client.ts';
import { messageIdOf } from './operations.ts';
import { createUpdateReactions } from './reactions.ts';
import { botPoll, createBotReceiver } from './receiver.ts';
import { lanesOf } from './updates.ts';
import { createBotWebhooks } from './webhook.ts';
import { CONNECTION, DESTINATION, type Elsewhere, keyring, sealer, TOKEN } from './world.fixture.ts';

export const GROUP = 'AGK7M3QX9P2RTA' as PublicId;
export const INGEST = 'https://ingest.example';
export const SECRET = 's'.repeat(43);
export const ALICE: LinkedPerson = {
  ...{ linkId: 'AKK7M3QX9P2RTA' as PublicId, id: 'SRK7M3QX9P2RTA' as PublicId },
  ...{ name: 'Alice', login: 'alice', language: null, role: 'responder', status: 'active' },
};
export const POSTED: PostedMessage = {
  ...{ destinationId: DESTINATION, kind: 'root', groupId: GROUP, routeId: null, isPresent: true },
};

export interface Given {
  readonly mode?: 'long_polling' | 'webhook';
  /** What an Alert Group answers to a Command; a promise is awaited. */
  readonly reply?: CarriedReply | Promise<CarriedReply>;
  readonly person?: LinkedPerson | null;
  readonly elsewhere?: Elsewhere;
  readonly downtime?: { readonly startedAt: number; readonly endedAt: number };
}

export function receiving(given: Given = {}) {
  const clock = createManualClock();
  const definition = createConnectionActor();
  let state = definition.start(CONNECTION);
  let rows = definition.emptyRows(CONNECTION);
  let wakes = 0;
  let version = 0;
  const server = new FakeBotApi({
    ...{ now: () => clock.now() / 1_000, token: TOKEN },
    sleep: (ms) => new Promise((resolve) => clock.after(ms * 1_000, resolve)),
    post: async (url, body, headers) => (await push(url, body, headers)) ?? { status: 502, body: '' },
  });
  const settings: { -readonly [Field in keyof ChannelBotSettings]: ChannelBotSettings[Field] } = {
    ...{ id: CONNECTION, access: 1, info: { bot_id: '123456', bot_username: 'oncall_bot' } },
    baseUrl: given.elsewhere?.baseUrl ?? 'https://api.telegram.org',
    token: sealer.seal('connection.bridge_token', CONNECTION, TOKEN),
    ...{ updateMode: given.mode ?? 'long_polling', webhookUrl: null, webhookBlocks: false },
    webhookSecret: sealer.seal('connection.webhook_secret_token', CONNECTION, SECRET),
    ...{ proxy: NO_PROXY, proxyPassword: null },
  };
  const posted = new Map<string, PostedMessage>();
  /** A message about the group is being posted. */
  const on = {
    posting: false,
    databaseAway: false,
    linked: true,
    person: given.person === undefined ? ALICE : given.person,
  };
  /** Messages that copies show, once they are looked for. */
  const lost = new Map<string, PostedMessage>();
  const commands: GroupCommand[] = [];
  const told: ActorMessage[] = [];
  const records: ConnectionRecord[] = [];
  const requests: RequestRecord[] = [];
  const logged: { event: string; fields: object }[] = [];
  const tokens: TokenUse[] = [];
  const rights: (readonly [chatId: string, lost: unknown])[] = [];
  const moved: GroupMoved[] = [];
  const handled = new Map<string, string | null>();
  const copies = new Map<string, { chatId: string; messageId: string }>();

  const give = (message: ActorMessage): unknown => {
    const turn: Turn<typeof state> = definition.receive(
      { self: { kind: 'connection', key: CONNECTION }, state, rows },
      message as ConnectionMessage,
      { now: clock.now(), from: null, prepared: undefined, random: () => new Uint8Array() },
    );
    state = turn.state;
    for (const record of turn.records as readonly ConnectionRecord[]) {
      records.push(record);
      if (record.type === 'connection.event_handled') handled.set(record.eventId, record.say);
      if (record.type === 'connection.copy_seen') {
        const { groupId, copyId, channelId: chatId, postId: messageId } = record;
        copies.set(messageIdOf(groupId, copyId), { chatId, messageId });
      }
    }
    for (const effect of turn.performs) if (effect.type !== 'hint') perform(effect as ConnectionPerformed);
    const wake = ++wakes;
    if (turn.wakeAt !== null)
      clock.after(turn.wakeAt - clock.now(), () => wake === wakes && give({ type: 'wake' }));
    return turn.reply;
  };
  const system = {
    async ask(to: { kind: string }, message: ActorMessage) {
      if (on.databaseAway) throw new UnavailableError('the database is away');
      if (to.kind === 'connection') return give(message);
      const command = message as GroupCommand;
      commands.push(command);
      const reply: CarriedReply = (await given.reply) ?? { outcome: { outcome: 'done' }, say: 'Done: Ack' };
      handled.set(command.carrier?.eventId ?? '', reply.say);
      return reply;
    },
    tell(to: { kind: string }, message: ActorMessage) {
      if (to.kind === 'connection') give(message);
      else told.push(message);
    },
    stillOwns: async () => true,
  };
  const log: Log = (event, fields) => void logged.push({ event, fields: fields ?? {} });
  const caller = createOutboundCaller({
    client: given.elsewhere?.client ?? {
      async request({ method, url, headers, body }) {
        const names = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
        const answer = await server.answer({
          ...{ method, target: url.pathname + url.search, headers: Object.fromEntries(names) },
          body: body?.toString('utf8') ?? '',
        });
        return { kind: 'answer', ...answer, body: Buffer.from(answer.body), tooLarge: false };
      },
    },
    recorder: { record: (make) => void requests.push(make()) },
    metrics: createOutboundMetrics(new Registry()),
    ...{ clock, log, userAgent: 'Tocsin/test' },
  });
  const bot = createBotClient(caller);
  const opener = { keyring, log };
  const publicUrl = 'https://oncall.example.org';
  const answers = createBotAnswers({
    ...{ bot, publicUrl, clock, log },
    tokens: createWaitingTokens({ system, clock }),
  });
  const react = createUpdateReactions({
    ...{ system, keyring, publicUrl, clock, log, answers, bot, opener, settings: async () => settings },
    directory: { current: () => EMPTY_DIRECTORY, reload: async () => undefined },
    may: (role) => role !== 'viewer',
    facts: {
      handled: async (_id, eventId) => {
        if (on.databaseAway) throw new UnavailableError('the database is away');
        return handled.has(eventId) ? { say: handled.get(eventId) ?? null } : null;
      },
      message: async (_id, messageId) => posted.get(messageId) ?? null,
      isPosting: async () => on.posting,
      person: async () => on.person,
      used: async () => undefined,
    },
    links: {
      async useToken(use, textOf) {
        tokens.push(use);
        const wished: TokenOutcome = on.linked
          ? { is: 'unlinked', user: ALICE }
          : { is: 'not_linked', hasOther: false, isAnswered: true };
        const outcome: TokenOutcome = use.digest === null ? wished : { is: 'linked', user: ALICE };
        const text = textOf(outcome);
        handled.set(use.eventId, text);
        return { say: text, outcome };
      },
    },
    hints: { send: () => undefined },
    lostPosts: {
      async learn() {
        for (const [id, message] of lost) posted.set(id, message);
        return lost.size;
      },
    },
    chats: {
      originalOf: async (_id, groupId, copyId) => copies.get(messageIdOf(groupId, copyId)) ?? null,
      channelsOf: async (_id, groupId) =>
        groupId === String(server.world.group.id) ? [String(server.world.channel.id)] : [],
      groupMoved: async (to) => void moved.push(to),
      rightsChanged: async (_id, chatId, lost) => void rights.push([chatId, lost]),
    },
  });
  const say = answers.say;
  const intake = createEventIntake({ react, lanesOf, say, system, clock, log });
  const deps = {
    ...{ bot, intake, answers, opener, ingestUrl: INGEST, clock, log },
    recorder: { record: (make: () => RequestRecord) => void requests.push(make()) },
    settings: async () => settings,
    webhookBlocks: async (_id: PublicId, _access: number, blocks: boolean) => {
      settings.webhookBlocks = blocks;
    },
    learned: (_id: PublicId, _access: number, info: ChannelBotInfo) => void Object.assign(settings, { info }),
    lastDowntime: async () => given.downtime ?? null,
  };
  const poller = createPoller({ ...botPoll(deps), intake, system, clock, log });
  const receiver = createBotReceiver(deps);
  const perform = createConnectionPerformer({ poll: poller.poll, log });
  const push = (url: string, body: string, headers: Readonly<Record<string, string>>) => {
    const [, path, id] = /^\/api\/v1\/callbacks\/([a-z-]+)\/(\w+)$/.exec(new URL(url).pathname) ?? [];
    if (path !== 'channel-bot') throw new Error(`nobody listens at ${url}`);
    return receiver
      .push({
        id: (id ?? null) as PublicId | null,
        headers: Object.entries(headers),
        body: Buffer.from(body),
      })
      .then((answer) => ({ status: answer.status as number, body: answer.body ?? '' }));
  };
  const configure = (mode: ChannelBotSettings['updateMode']) => {
    settings.updateMode = mode;
    give({
      ...{ type: 'configured', version: ++version, access: 1, polls: mode === 'long_polling' },
      limiter: { limit: 10, per_seconds: 1 },
    } as ConnectionMessage);
  };
  configure(settings.updateMode);

  return {
    ...{
      lost,
      clock,
      server,
      settings,
      on,
      commands,
      told,
      requests,
      logged,
      tokens,
      rights,
      moved,
      records,
      push,
    },
    ...{ configure, opener },
    access: () => openBot(opener, settings),
    webhooks: createBotWebhooks({ bot, ingestUrl: INGEST, clock, log, random: (size) => randomBytes(size) }),
    seal: (secret: string) => sealer.seal('connection.webhook_secret_token', CONNECTION, secret),
    person: server.world.addPerson(5001, 'ann_tg'),
    events: () => logged.splice(0).map(({ event }) => event),
    handled: () => [...handled.keys()],
    /** A post with buttons of an Alert Group, as the service makes it. */
    async post(
      as: Partial<PostedMessage> | null = {},
      changes: Partial<MessageButtonData> = {},
      text = 'one',
    ): Promise<FakeMessage> {
      const button = { subject: 'root_message', id: GROUP, command: 'acknowledge', seconds: 0 } as const;
      const data = buttonData(keyring, { ...button, ...changes });
      await server.answer({
        ...{ method: 'POST', target: `/bot${TOKEN}/sendMessage` },
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ chat_id: server.world.channel.id, text, parse_mode: 'HTML' },
          reply_markup: { inline_keyboard: [[{ text: 'Ack', callback_data: data }]] },
        }),
      });
      const message = server.world.channel.messages.at(-1);
      if (!message) throw new Error('nothing was posted');
      if (as) posted.set(messageIdOf(message.chatId, message.messageId), { ...POSTED, ...as });
      return message;
    },
    recordPost({ chatId, messageId }: Pick<FakeMessage, 'chatId' | 'messageId'>): void {
      posted.set(messageIdOf(chatId, messageId), POSTED);
    },
    /** Lets everything happen that waits for no time. */
    async settle() {
      for (let turns = 0; turns < 4; turns++) await setImmediate();
    },
    /** @param step what happens within one is as late as its end */
    async pass(by: number, step = SECOND / 10) {
      await this.settle();
      for (let passed = 0; passed < by; passed += step) {
        clock.advance(Math.min(step, by - passed));
        await this.settle();
      }
    },
    /** The process dies and another one begins with what is stored. */
    restart() {
      state = definition.restore(JSON.parse(JSON.stringify(definition.persist(state))));
      rows = new Map(rows);
      give({ type: 'resume' });
    },
    cursor: () => state.snapshot.context.cursor,
    trouble: () => state.snapshot.context.trouble,
  };
}
