/** Account links: people tie accounts at messengers to themselves; Admins see and remove them (api §4.1, §5). */
import * as v from 'valibot';
import {
  type AccountLink,
  type AccountLinking,
  type AccountLinkStore,
  CODE_ATTEMPTS,
  handleKind,
  type LinkableConnection,
  type Linking,
  type LinkMethod as LinkMethodName,
  linkMethods,
  type Messenger as MessengerName,
  type NotStarted,
} from '../../../actors/account-links/link.ts';
import type { HintBus } from '../../../actors/effects.ts';
import { codePoints } from '../../../actors/text.ts';
import { formatInstant, formatInstantOrNull, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, type FieldErrorCode, invalid, notFound, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { EntityRef, itemsOf } from '../../schema/shapes.ts';
import { ConnectionType } from '../../schema/words.ts';

export interface AccountLinkOperationsDeps {
  readonly links: AccountLinkStore;
  readonly linking: AccountLinking;
  /** Whether there is such a User, deleted ones included. */
  readonly isUser: (id: PublicId) => Promise<boolean>;
  readonly hints: Pick<HintBus, 'send'>;
  readonly log: Log;
  /** Wakes the Destinations for which messages were stored. */
  readonly poke: () => void;
}

const TAG = 'Account links';
const LINK_ID = { account_link_id: 'AK' } as const;
const LONGEST_HANDLE = 320;
const LONGEST_USERNAME = 64;

const AccountLinkShape = d.named(
  'AccountLink',
  v.object({
    id: d.id('AK'),
    messenger: ConnectionType,
    connection: d.described(
      v.nullable(EntityRef),
      'The Connection; null when it holds for all of the messenger.',
    ),
    external_id: d.text('Id of the account in the messenger.'),
    username: d.textOrNull('Name of the account as it was last seen; null when unknown.'),
    last_used_at: v.nullable(d.time('When it last acted; null when never.')),
    created_at: d.time('When it was linked.'),
  }),
  'An account of a messenger that acts for a person.',
);

const LinkMethod = d.words(
  'LinkMethod',
  { token: 'Send a text to the bot.', code: 'The bot sends a code.' } satisfies Record<
    LinkMethodName,
    string
  >,
  'How an account of a messenger is linked.',
);

const LinkableShape = d.named(
  'LinkableConnection',
  v.object({
    id: d.id('CN'),
    name: d.text('Its name.'),
    messenger: ConnectionType,
    link_methods: d.described(v.array(LinkMethod), 'How an account can be linked.'),
    handle_kind: d.described(
      v.nullable(v.picklist(['email', 'login', 'username', 'user_id'])),
      'What `handle` is: `email`, `login`, `username` or `user_id` there; null without `code`.',
    ),
  }),
  'A Connection through which an account can be linked.',
);

const ConnectionId = publicId;

const BridgeStart = d.named(
  'BridgeLinkStart',
  v.pipe(
    v.object({
      connection_id: ConnectionId,
      method: d.described(LinkMethod, 'One of the `link_methods` of the Connection.'),
      handle: d.described(
        v.optional(
          v.pipe(
            v.string(),
            v.trim(),
            v.nonEmpty('too_short'),
            v.check((text) => codePoints(text) <= LONGEST_HANDLE, 'too_long'),
          ),
        ),
        'Who you are in the messenger, as `handle_kind` says, 1 to 320 characters. Needed with `code`.',
      ),
    }),
    v.forward(
      v.check((body) => body.method === 'token' || body.handle !== undefined, 'required'),
      ['handle'],
    ),
  ),
  'How to link an account behind a bridge.',
);

const ChannelBotStart = d.named(
  'ChannelBotLinkStart',
  v.object({ connection_id: ConnectionId }),
  'Through which bot to link an account.',
);

/** The server compares in lower case. */
const bareName = (text: string) => text.replace(/^@/, '');

const ChatServerStart = d.named(
  'ChatServerLinkStart',
  v.object({
    connection_id: ConnectionId,
    username: d.described(
      v.pipe(
        v.string(),
        v.trim(),
        v.check((text) => bareName(text) !== '', 'too_short'),
        v.check((text) => codePoints(bareName(text)) <= LONGEST_USERNAME, 'too_long'),
      ),
      'Your username there, 1 to 64 characters; one leading `@` is ignored.',
    ),
  }),
  'Which account of a chat server to link.',
);

const ConfirmInput = d.named(
  'LinkConfirmation',
  v.object({
    request_id: d.described(publicId, 'The `request_id` of the start.'),
    code: d.described(v.string(), 'The code, in any case.'),
  }),
  'A code that the bot sent.',
);

const TokenShape = d.named(
  'LinkToken',
  v.object({
    token: d.text('The text.'),
    deep_link: v.nullable(d.url('Opens the chat with the bot; null without one.')),
    expires_at: d.time('When it ends, after 10 minutes.'),
  }),
  'A text to send to the bot. In this answer only.',
);

const DeepLinkShape = d.named(
  'LinkDeepLink',
  v.object({
    deep_link: d.url('Opens the chat with the bot and sends the token.'),
    expires_at: d.time('When it ends, after 10 minutes.'),
  }),
  'A link to the bot. In this answer only.',
);

const CodeShape = d.named(
  'LinkCodeRequest',
  v.object({
    request_id: d.id('AR', 'Give it back with the code.'),
    expires_at: d.time('When the code ends, after 10 minutes.'),
    attempts_remaining: d.count('How often it may be entered wrong.'),
  }),
  'A code was sent.',
);

export function accountLinkOperations(deps: AccountLinkOperationsDeps): readonly Operation[] {
  const { links } = deps;

  return [
    operation({
      id: 'listMyAccountLinks',
      method: 'GET',
      path: '/me/account-links',
      tag: TAG,
      summary: 'List your Account links, oldest first',
      description: 'Accounts whose buttons and Thread messages act in your name.',
      needs: 'user',
      answers: { 200: { description: 'Yours', schema: itemsOf(AccountLinkShape) } },
      handle: async (call) => list(await links.of(callerOf(call))),
    }),

    operation({
      id: 'listLinkableConnections',
      method: 'GET',
      path: '/me/account-links/connections',
      tag: TAG,
      summary: 'List Connections that you can link an account of, and how',
      description: 'By messenger, then name. `link_methods` says how each can be linked.',
      needs: 'user',
      answers: { 200: { description: 'By messenger and name', schema: itemsOf(LinkableShape) } },
      handle: async () => ({ status: 200, body: { items: (await links.linkable()).map(linkableBody) } }),
    }),

    operation({
      id: 'startBridgeLink',
      method: 'POST',
      path: '/me/account-links/bridge',
      tag: TAG,
      summary: 'Begin to link an account behind a bridge: by a token you send, or a code you get',
      description:
        '`token`: 201 with a text for the bot, at most 20 an hour. `code`: 202, and the bot sends a code, at most ' +
        '5 an hour. Both end after 10 minutes.',
      needs: 'session',
      body: BridgeStart,
      answers: {
        201: { description: 'A token for the bot, told here only', schema: TokenShape },
        202: { description: 'A code was sent', schema: CodeShape },
      },
      refusals: [LINKED_ELSEWHERE_REFUSAL, ...LIMIT_REFUSALS],
      handle(call) {
        const { connection_id: connectionId, method, handle = '' } = call.body;
        return start(deps, call, { messenger: 'bridge', connectionId, method, handle });
      },
    }),

    operation({
      id: 'startChannelBotLink',
      method: 'POST',
      path: '/me/account-links/channel-bot',
      tag: TAG,
      summary: 'Begin to link an account of a channel bot: by a link that opens the chat with the bot',
      description:
        'Whoever opens the link and presses Start is linked to you, once, for 10 minutes; at most 20 an hour.',
      needs: 'session',
      body: ChannelBotStart,
      answers: { 201: { description: 'A link to the bot, told here only', schema: DeepLinkShape } },
      refusals: LIMIT_REFUSALS,
      handle(call) {
        const { connection_id: connectionId } = call.body;
        return start(deps, call, { messenger: 'channel_bot', connectionId, method: 'token', handle: '' });
      },
    }),

    operation({
      id: 'startChatServerLink',
      method: 'POST',
      path: '/me/account-links/chat-server',
      tag: TAG,
      summary: 'Begin to link an account of a chat server: by a code that the bot sends to it',
      description: 'The code ends after 10 minutes. At most 5 an hour, and 3 an hour for one account.',
      needs: 'session',
      body: ChatServerStart,
      answers: { 202: { description: 'A code was sent', schema: CodeShape } },
      refusals: [LINKED_ELSEWHERE_REFUSAL, ...LIMIT_REFUSALS],
      handle(call) {
        const { connection_id: connectionId, username: handle } = call.body;
        return start(deps, call, { messenger: 'chat_server', connectionId, method: 'code', handle });
      },
    }),

    confirmation(deps, 'confirmBridgeLink', 'bridge'),
    confirmation(deps, 'confirmChatServerLink', 'chat_server'),

    operation({
      id: 'deleteMyAccountLink',
      method: 'DELETE',
      path: '/me/account-links/{account_link_id}',
      tag: TAG,
      summary: 'Remove an Account link of yours',
      description: 'Presses of that account no longer act in your name.',
      needs: 'session',
      ids: LINK_ID,
      answers: { 204: { description: 'Removed' } },
      handle: (call) => remove(deps, call, callerOf(call)),
    }),

    operation({
      id: 'listUserAccountLinks',
      method: 'GET',
      path: '/users/{user_id}/account-links',
      tag: TAG,
      summary: "List a user's Account links, oldest first",
      description: 'Every account through which the user acts.',
      needs: 'users:read',
      ids: { user_id: 'SR' },
      answers: { 200: { description: 'Theirs', schema: itemsOf(AccountLinkShape) } },
      async handle(call) {
        const id = call.params.user_id as PublicId;
        return (await deps.isUser(id)) ? list(await links.of(id)) : notFound();
      },
    }),

    operation({
      id: 'deleteUserAccountLink',
      method: 'DELETE',
      path: '/users/{user_id}/account-links/{account_link_id}',
      tag: TAG,
      summary: "Remove a user's Account link",
      description: 'Links can be removed for others, but not made.',
      needs: 'users:write',
      ids: { user_id: 'SR', ...LINK_ID },
      answers: { 204: { description: 'Removed' } },
      handle: (call) => remove(deps, call, call.params.user_id as PublicId),
    }),
  ];
}

async function start(
  deps: AccountLinkOperationsDeps,
  call: Call,
  asked: Parameters<AccountLinking['start']>[0],
): Promise<Answer> {
  const { messenger, connectionId } = asked;
  const started = await deps.linking.start(asked, linkingOf(call));
  if (started.is === 'token') {
    const { token, deepLink } = started;
    const link = { deep_link: deepLink, expires_at: formatInstant(started.expiresAt) };
    return { status: 201, body: messenger === 'channel_bot' ? link : { token, ...link } };
  }
  if (started.is === 'code') {
    return {
      status: 202,
      body: {
        request_id: started.requestId,
        expires_at: formatInstant(started.expiresAt),
        attempts_remaining: CODE_ATTEMPTS,
      },
    };
  }
  if (started.is === 'linked_elsewhere') logRejected(deps, call, messenger, connectionId, 'conflict');
  return notStarted(started, messenger === 'chat_server' ? '/username' : '/handle', call.now);
}

const CONFIRMED = { bridge: 'bridge', chat_server: 'chat-server' } as const;

function confirmation(
  deps: AccountLinkOperationsDeps,
  id: string,
  messenger: keyof typeof CONFIRMED,
): Operation {
  return operation({
    id,
    method: 'POST',
    path: `/me/account-links/${CONFIRMED[messenger]}/confirmation`,
    tag: TAG,
    summary: `Link the account that a code was sent to by a ${messenger === 'bridge' ? 'bridge' : 'chat server'}`,
    description: 'A code may be entered five times. What is wrong with it is not said.',
    needs: 'session',
    body: ConfirmInput,
    answers: { 201: { description: 'The link', schema: AccountLinkShape } },
    refusals: [LINKED_ELSEWHERE_REFUSAL, [404, 'not-found', '']],
    async handle(call) {
      const { request_id: requestId, code } = call.body;
      const confirmed = await deps.linking.confirm({ messenger, requestId, code }, linkingOf(call));
      switch (confirmed.is) {
        case 'unknown':
          return notFound();
        case 'invalid':
          if (confirmed.reason) logRejected(deps, call, messenger, null, confirmed.reason);
          return CODE_INVALID;
        case 'conflict':
          logRejected(deps, call, messenger, null, 'conflict');
          return LINKED_ELSEWHERE;
        case 'linked': {
          const connection = confirmed.connection.id;
          deps.log('account_link_linked', { messenger, connection, user: callerOf(call) });
          changed(deps, callerOf(call));
          return { status: 201, body: linkBody(confirmed.link) };
        }
      }
    },
  });
}

async function remove(deps: AccountLinkOperationsDeps, call: Call, userId: PublicId): Promise<Answer> {
  const linkId = call.params.account_link_id as PublicId;
  if (!(await deps.links.remove(userId, linkId, authorOf(call)))) return notFound();
  deps.log('account_link_unlinked', { user: userId, reason: null });
  changed(deps, userId);
  return { status: 204 };
}

/** Browsers of the user read their links again, and messages that name them are looked at. */
function changed({ hints, poke }: AccountLinkOperationsDeps, userId: PublicId): void {
  hints.send({ type: 'account-links', id: userId });
  poke();
}

function logRejected(
  { log }: AccountLinkOperationsDeps,
  call: Call,
  messenger: MessengerName,
  connection: PublicId | null,
  reason: string,
): void {
  log('account_link_rejected', { messenger, connection, user: callerOf(call), reason });
}

function callerOf({ identity }: Pick<Call, 'identity'>): PublicId {
  if (!identity) throw new Error('the caller of a request exists');
  return identity.id;
}

function linkingOf(call: Call): Linking {
  const { user } = call.identity ?? {};
  if (!user) throw new Error('a web session belongs to a User');
  return { author: { ...authorOf(call), userId: user.id }, name: user.name, login: user.login };
}

function list(links: readonly AccountLink[]): Answer {
  return { status: 200, body: { items: links.map(linkBody) } };
}

function linkBody(link: AccountLink) {
  return {
    id: link.id,
    messenger: link.messenger,
    connection: link.connection,
    external_id: link.externalId,
    username: link.username,
    last_used_at: formatInstantOrNull(link.lastUsedAt),
    created_at: formatInstant(link.createdAt),
  };
}

function linkableBody(connection: LinkableConnection) {
  const { id, name, messenger, info } = connection;
  return {
    ...{ id, name, messenger },
    link_methods: linkMethods(connection),
    handle_kind: handleKind(info),
  };
}

function notStarted(refusal: NotStarted, handle: '/handle' | '/username', now: Micros): Answer {
  switch (refusal.is) {
    case 'too_many':
      return refuse({
        status: 429,
        type: 'rate-limited',
        detail: 'Too many requests within an hour.',
        retryAfterSeconds: Math.max(1, Math.ceil((refusal.retryAt - now) / SECOND)),
      });
    case 'busy':
      return refuse({
        status: 503,
        type: 'interactive-budget-exhausted',
        detail: 'The limit of calls to this messenger is used up for the moment. Try again.',
        retryAfterSeconds: refusal.retryAfterSeconds,
      });
    case 'linked_elsewhere':
      return LINKED_ELSEWHERE;
    case 'unknown_connection':
      return wrong('/connection_id', 'unknown_id', 'There is no such Connection of this type.');
    case 'unsupported':
      return wrong('/method', 'unsupported', 'This Connection does not link accounts in this way.');
    case 'nobody':
      return wrong(handle, 'messenger_user_not_found', 'The messenger knows nobody by this name.');
    case 'unreachable':
      return wrong(handle, 'messenger_user_not_found', 'The bot cannot write to this account.');
    case 'failed':
      return wrong('/connection_id', 'destination_check_failed', refusal.error);
  }
}

function wrong(pointer: string, code: FieldErrorCode, detail: string): Answer {
  return invalid([{ pointer, code, detail }]);
}

const LIMIT_REFUSALS = [
  [429, 'rate-limited', ''],
  [503, 'interactive-budget-exhausted', ''],
] as const;
const LINKED_ELSEWHERE_REFUSAL = [409, 'conflict', 'account_linked_elsewhere'] as const;
const LINKED_ELSEWHERE = conflict(
  'account_linked_elsewhere',
  'This account belongs to another user. They have to unlink it first.',
);

const CODE_INVALID = wrong('/code', 'link_code_invalid', 'This code does not work.');
