import { randomBytes } from 'node:crypto';
import { createBridgeClient } from '../../actors/channels/bridge/client.ts';
import { readInfo } from '../../actors/channels/bridge/info.ts';
import { createChannelBotChannel } from '../../actors/channels/channel-bot/channel.ts';
import { createBotClient } from '../../actors/channels/channel-bot/client.ts';
import { messageIdOf } from '../../actors/channels/channel-bot/operations.ts';
import { CHANNEL_BOT } from '../../actors/channels/channel-bot/settings.ts';
import { createChatServerChannel } from '../../actors/channels/chat-server/channel.ts';
import { createChatClient } from '../../actors/channels/chat-server/client.ts';
import { CHAT_SERVER } from '../../actors/channels/chat-server/settings.ts';
import { CHANNELS } from '../../actors/channels/index.ts';
import {
  directory,
  receiver,
  templateSettings,
} from '../../actors/channels/webhook-template/receiver.fixture.ts';
import type {
  BridgeSettings,
  ChannelBotSettings,
  ChatServerInfo,
  ChatServerSettings,
} from '../../actors/connection/ports.ts';
import { NO_PROXY } from '../../actors/proxy-config.ts';
import { createBridge } from '../../runtime/cli/bridge-reference/bridge.ts';
import { silentLog } from '../../runtime/log.ts';
import { createKeyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { FakeBotApi } from '../fakes/channel-bot/server.ts';
import { FakeChatServer } from '../fakes/chat-server/server.ts';
import { PLAIN_INFO } from '../fakes/scripted-bridge.ts';
import {
  CONNECTION,
  channelContract,
  type MessageThere,
  type OtherSide,
  SECRET,
  type WireRequest,
} from './contract.ts';
import { createPlainTextChannel, PLAIN_TEXT } from './plain-text/channel.ts';

const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const info = readInfo(PLAIN_INFO);
if (!info.ok) throw new Error('no Info');

/** Messages of a receiver in memory, and answers by the key of a request. */
class Messages {
  readonly all: MessageThere[] = [];
  readonly #byKey = new Map<string, MessageThere>();

  add(message: Omit<MessageThere, 'id' | 'buttons'>, idempotencyKey?: string): MessageThere {
    const before = idempotencyKey === undefined ? undefined : this.#byKey.get(idempotencyKey);
    if (before) return before;
    const made = { ...message, id: `m/${this.all.length + 1}`, buttons: [] };
    this.all.push(made);
    if (idempotencyKey !== undefined) this.#byKey.set(idempotencyKey, made);
    return made;
  }

  replace(id: string, text: string, shown: string): boolean {
    const at = this.all.findIndex((message) => message.id === id);
    const found = this.all[at];
    if (found) this.all[at] = { ...found, text, shown };
    return found !== undefined;
  }

  remove(id: string): void {
    const at = this.all.findIndex((message) => message.id === id);
    if (at >= 0) this.all.splice(at, 1);
  }
}

function expectHeader({ headers }: WireRequest, name: string, value: string): void {
  if (headers[name] !== value) throw new Error(`${name} is ${headers[name]}, not ${value}`);
}

/** What a person reads of HTML. */
function readable(html: string): string {
  const text = html.replace(/<[^>]*>/g, '');
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Of the test that runs. */
let chatServer: { readonly server: FakeChatServer; readonly info: ChatServerInfo };
let botApi: FakeBotApi;

channelContract('bridge', {
  type: CHANNELS.bridge,
  deletedThere: 'gone',
  redirected: 'unknown',
  start(): OtherSide {
    const ports = { now: () => 0, after: () => () => undefined, deliver: async () => 204 };
    const bridge = createBridge(
      {
        ...{ tokens: [SECRET], without: new Set<never>(), editMaxAge: null, push: null },
        pageUrl: 'http://127.0.0.1:1',
      },
      ports,
    );
    return {
      async take({ method, url, headers, body }) {
        const { signal: gone } = new AbortController();
        const answer = await bridge.answer({
          method,
          target: url.pathname + url.search,
          headers,
          body,
          gone,
        });
        if (answer.status === 400) throw new Error(answer.body);
        return answer;
      },
      messages: () =>
        bridge.messenger.posts.map(({ message_id: id, root_id: parent, body, html, buttons }) => ({
          ...{ id, parent, text: body, shown: readable(html) },
          buttons: buttons.map(({ text }) => text),
        })),
      remove: (id) => void bridge.acts.delete(id, null),
    };
  },
  open({ caller, clock }) {
    const token = keyring.sealer(key.id).seal('connection.bridge_token', CONNECTION, SECRET);
    const connection: BridgeSettings = {
      ...{ id: CONNECTION, access: 1, baseUrl: 'http://bridge.example', eventMode: 'poll', token },
      ...{ pushSecret: null, proxy: NO_PROXY, proxyPassword: null },
      ...{ info: info.info, infoReadAt: null, infoFailedAt: null },
    };
    return CHANNELS.bridge.open({
      ...{ keyring, clock, bridge: createBridgeClient(caller), opener: { keyring, log: silentLog } },
      infos: { upToDate: async () => ({ class: 'ok', info: info.info }) },
      target: async () => ({ channelId: 'alerts/prod', connection }),
    });
  },
});

channelContract('webhook-template', {
  type: CHANNELS.webhook_template,
  deletedThere: 'fatal',
  redirected: 'unknown',
  start(): OtherSide {
    const messages = new Messages();
    return {
      async take(request) {
        const { method, url, body, headers } = request;
        if (!headers['webhook-signature']?.startsWith('v1,')) throw new Error('no signature');
        const [, id = '', last] = url.pathname.split('/').slice(1);
        if (method === 'POST' && url.pathname === '/messages') {
          expectHeader(request, 'authorization', `Bearer ${SECRET}`);
          const shown = JSON.stringify(JSON.parse(body));
          const made = messages.add({ parent: null, text: body, shown });
          return { status: 201, body: JSON.stringify({ data: { id: made.id.slice(2) } }) };
        }
        if (method === 'PUT') return { status: messages.replace(`m/${id}`, body, body) ? 200 : 404 };
        if (last === 'thread') return { status: 200, body: JSON.stringify({ thread: id }) };
        messages.add({ parent: `m/${id}`, text: body, shown: body });
        return { status: 200 };
      },
      messages: () => messages.all,
      remove: (id) => messages.remove(id),
    };
  },
  open: ({ caller, clock }) =>
    CHANNELS.webhook_template.open({
      ...{ caller, clock, log: silentLog, random: randomBytes, directory: { current: () => directory } },
      keyring: receiver([]).deps.keyring,
      settings: async () => templateSettings(),
    }),
});

channelContract('webhook-events', {
  type: CHANNELS.webhook_events,
  keyHeader: 'webhook-id',
  deletedThere: null,
  redirected: 'unknown',
  start(): OtherSide {
    const messages = new Messages();
    return {
      async take(request) {
        const { method, body, headers } = request;
        if (method !== 'POST') throw new Error(`an event is not sent by ${method}`);
        expectHeader(request, 'authorization', `Bearer ${SECRET}`);
        expectHeader(request, 'content-type', 'application/json');
        if (!headers['webhook-signature']?.startsWith('v1,')) throw new Error('no signature');
        const shown = JSON.stringify(JSON.parse(body));
        messages.add({ parent: null, text: body, shown }, headers['webhook-id']);
        return { status: 204 };
      },
      messages: () => messages.all,
      remove: (id) => messages.remove(id),
    };
  },
  open({ caller, clock }) {
    const headers = [{ name: 'Authorization', value: 'Bearer {{ .Secrets.token }}' }];
    const events = { url: 'https://events.example/tocsin', headers };
    return CHANNELS.webhook_events.open({
      ...{ caller, clock, log: silentLog, keyring: receiver([]).deps.keyring },
      settings: async () => ({ ...templateSettings(), events }),
    });
  },
});

channelContract('a channel of plain text, written from the port alone', {
  type: PLAIN_TEXT,
  deletedThere: 'gone',
  redirected: 'unknown',
  start(): OtherSide {
    const messages = new Messages();
    return {
      async take(request) {
        const { method, url, body, headers } = request;
        expectHeader(request, 'authorization', `Bearer ${SECRET}`);
        expectHeader(request, 'content-type', 'text/plain; charset=utf-8');
        const [, encoded = '', last] = url.pathname.split('/').slice(1);
        const id = decodeURIComponent(encoded);
        if (method === 'PUT') return { status: messages.replace(id, body, body) ? 204 : 410 };
        const parent = last === 'replies' ? id : null;
        if (parent === null && encoded !== '') throw new Error(`nothing is at ${url.pathname}`);
        if (headers['idempotency-key'] === undefined) throw new Error('no Idempotency-Key');
        return {
          status: 201,
          body: messages.add({ parent, text: body, shown: body }, headers['idempotency-key']).id,
        };
      },
      messages: () => messages.all,
      remove: (id) => messages.remove(id),
    };
  },
  open: ({ caller }) => createPlainTextChannel({ caller, url: 'https://plain.example', token: SECRET }),
});

channelContract('chat-server', {
  type: CHAT_SERVER,
  deletedThere: 'gone',
  redirected: 'fatal',
  start(): OtherSide {
    const server = new FakeChatServer({ now: () => 1_791_020_467_000, token: SECRET });
    const info = { max_post_size: 16_383, answers_privately: false, bot_username: 'tocsin' };
    chatServer = { server, info: { ...info, bot_id: server.bot.id } };
    return {
      async take({ method, url, headers, body }) {
        const answer = await server.answer({ method, target: url.pathname + url.search, headers, body });
        if (server.violations.length > 0) throw new Error(server.violations.join());
        return answer;
      },
      messages: () =>
        server.posts.map(({ id, rootId, message, props }) => {
          const [attachment] = props.attachments ?? [];
          const texts = [message, attachment?.text ?? ''];
          return {
            ...{ id, parent: rootId === '' ? null : rootId },
            text: texts.reduce((longest, text) => (text.length > longest.length ? text : longest)),
            shown: texts.join('\n').replace(/\\([\\`*_{}[\]()#+\-.!|~>&])/g, '$1'),
            buttons: attachment?.actions.map(({ name }) => name) ?? [],
          };
        }),
      remove: (id) => server.remove(id),
    };
  },
  open({ caller, clock }) {
    const { server, info: known } = chatServer;
    const connection: ChatServerSettings = {
      ...{
        id: CONNECTION,
        access: 1,
        serverUrl: 'https://chat.example',
        proxy: NO_PROXY,
        proxyPassword: null,
      },
      token: keyring.sealer(key.id).seal('connection.bridge_token', CONNECTION, SECRET),
      ...{ info: known, infoReadAt: clock.now() },
    };
    return createChatServerChannel({
      ...{ keyring, clock, chat: createChatClient(caller), opener: { keyring, log: silentLog } },
      ...{
        infos: { upToDate: async () => ({ class: 'ok', info: known }) },
        ingestUrl: 'https://ingest.example',
      },
      target: async () => ({
        teamId: server.team.id,
        channelId: server.channel.id,
        teamPath: 'ops',
        connection,
      }),
    });
  },
});

channelContract('channel-bot', {
  type: CHANNEL_BOT,
  deletedThere: 'gone',
  redirected: 'fatal',
  start(): OtherSide {
    const server = new FakeBotApi({ now: () => 1_791_020_467_000, token: SECRET });
    botApi = server;
    const { channel, group } = server.world;
    const find = (id: string) =>
      [...channel.messages, ...group.messages].find(
        ({ chatId, messageId }) => messageIdOf(chatId, messageId) === id,
      );
    return {
      async take({ method, url, headers, body }) {
        const answer = await server.answer({ method, target: url.pathname + url.search, headers, body });
        if (server.violations.length > 0) throw new Error(server.violations.join());
        return answer;
      },
      // A comment stands under the copy of a post, which is no message of its own.
      messages: () =>
        [...server.world.messages(channel), ...server.world.messages(group)].flatMap((message) => {
          const { chatId, messageId, text, keyboard, replyTo, copyOf } = message;
          if (copyOf) return [];
          const copy = replyTo === null ? undefined : server.world.message(chatId, replyTo);
          const parent = copy?.copyOf ? messageIdOf(copy.copyOf.chatId, copy.copyOf.messageId) : null;
          const buttons = keyboard.flat().map((button) => button.text);
          return [{ id: messageIdOf(chatId, messageId), parent, text, shown: text, buttons }];
        }),
      remove(id) {
        const found = find(id);
        if (found) found.isDeleted = true;
      },
    };
  },
  open({ caller, clock }) {
    const { channel, group } = botApi.world;
    const connection: ChannelBotSettings = {
      ...{ id: CONNECTION, access: 1, baseUrl: 'https://bot-api.example', updateMode: 'long_polling' },
      token: keyring.sealer(key.id).seal('connection.bridge_token', CONNECTION, SECRET),
      ...{ webhookSecret: null, webhookUrl: null, webhookBlocks: false, proxy: NO_PROXY },
      ...{ proxyPassword: null, info: null },
    };
    const place = { channelId: String(channel.id), username: null, groupId: String(group.id) };
    return createChannelBotChannel({
      ...{ keyring, clock, bot: createBotClient(caller), opener: { keyring, log: silentLog } },
      copies: {
        async find({ postId }) {
          const copy = group.messages.find(({ copyOf }) => String(copyOf?.messageId) === postId);
          return copy ? { groupId: String(group.id), copyId: String(copy.messageId) } : null;
        },
        lost: async () => [],
      },
      target: async () => ({ place, connection }),
      groupMoved: () => Promise.reject(new Error('no group moved')),
    });
  },
});
