/** Account links: people tie accounts at messengers to themselves; Admins see and remove them (api §4.1, §5). */
import * as v from 'valibot';
import type { BridgeLinks, Linking, NotStarted } from '../../actors/account-links/bridge-links.ts';
import { type AccountLink, CODE_ATTEMPTS } from '../../actors/account-links/link.ts';
import { handleKind, LINK_METHODS, linkMethods } from '../../actors/account-links/methods.ts';
import type { AccountLinkStore, LinkableConnection } from '../../actors/account-links/ports.ts';
import type { HintBus } from '../../actors/effects.ts';
import { codePoints } from '../../actors/text.ts';
import { formatInstant, formatInstantOrNull, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { authorOf } from '../author.ts';
import { publicId } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { conflict, type FieldErrorCode, invalid, notFound, refuse } from '../problem.ts';
import { EntityRef, itemsOf } from '../shapes.ts';

export interface AccountLinkOperationsDeps {
  readonly links: AccountLinkStore;
  readonly bridges: BridgeLinks;
  /** Whether there is such a User, deleted ones included. */
  readonly isUser: (id: PublicId) => Promise<boolean>;
  readonly hints: Pick<HintBus, 'send'>;
  readonly log: Log;
  /** Makes Destinations look for what was stored for them. */
  readonly poke: () => void;
}

const TAG = 'Account links';
const LINK_ID = { account_link_id: 'AK' } as const;
const MESSENGERS = ['chat_server', 'channel_bot', 'bridge'] as const;
const LONGEST_HANDLE = 320;

const AccountLinkShape = v.object({
  id: v.string(),
  messenger: v.picklist(MESSENGERS),
  connection: v.nullable(EntityRef),
  external_id: v.string(),
  username: v.nullable(v.string()),
  last_used_at: v.nullable(v.string()),
  created_at: v.string(),
});

const LinkableShape = v.object({
  id: v.string(),
  name: v.string(),
  messenger: v.picklist(MESSENGERS),
  link_methods: v.array(v.picklist(LINK_METHODS)),
  handle_kind: v.nullable(v.picklist(['email', 'login', 'username', 'user_id'])),
});

const StartInput = v.pipe(
  v.object({
    connection_id: publicId,
    method: v.picklist(LINK_METHODS),
    handle: v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.nonEmpty('too_short'),
        v.check((text) => codePoints(text) <= LONGEST_HANDLE, 'too_long'),
      ),
    ),
  }),
  v.forward(
    v.check((body) => body.method === 'token' || body.handle !== undefined, 'required'),
    ['handle'],
  ),
);

const ConfirmInput = v.object({ request_id: publicId, code: v.string() });

const TokenShape = v.object({
  token: v.string(),
  deep_link: v.nullable(v.string()),
  expires_at: v.string(),
});

const CodeShape = v.object({
  request_id: v.string(),
  expires_at: v.string(),
  attempts_remaining: v.number(),
});

export function accountLinkOperations(deps: AccountLinkOperationsDeps): readonly Operation[] {
  const { links, bridges } = deps;

  return [
    operation({
      id: 'listMyAccountLinks',
      method: 'GET',
      path: '/me/account-links',
      tag: TAG,
      summary: 'List your Account links, oldest first',
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
      needs: 'session',
      body: StartInput,
      answers: {
        201: { description: 'A token for the bot, told here only', schema: TokenShape },
        202: { description: 'A code was sent', schema: CodeShape },
      },
      refusals: [
        LINKED_ELSEWHERE_REFUSAL,
        [429, 'rate-limited', ''],
        [503, 'interactive-budget-exhausted', ''],
      ],
      async handle(call) {
        const { connection_id: id, method, handle = '' } = call.body;
        const started = await bridges.start(id, method, handle, linkingOf(call));
        if (started.is === 'token') {
          const { token, deepLink } = started;
          const expires = formatInstant(started.expiresAt);
          return { status: 201, body: { token, deep_link: deepLink, expires_at: expires } };
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
        if (started.is === 'linked_elsewhere') tellRejected(deps, call, id, 'conflict');
        return notStarted(started, call.now);
      },
    }),

    operation({
      id: 'confirmBridgeLink',
      method: 'POST',
      path: '/me/account-links/bridge/confirmation',
      tag: TAG,
      summary: 'Link the account that a code was sent to',
      needs: 'session',
      body: ConfirmInput,
      answers: { 201: { description: 'The link', schema: AccountLinkShape } },
      refusals: [LINKED_ELSEWHERE_REFUSAL],
      async handle(call) {
        const { request_id: id, code } = call.body;
        const confirmed = await bridges.confirm(id, code, linkingOf(call));
        switch (confirmed.is) {
          case 'unknown':
            return notFound();
          case 'invalid':
            if (confirmed.reason) tellRejected(deps, call, null, confirmed.reason);
            return CODE_INVALID;
          case 'conflict':
            tellRejected(deps, call, null, 'conflict');
            return LINKED_ELSEWHERE;
          case 'linked': {
            const connection = confirmed.connection.id;
            deps.log('account_link_linked', { messenger: 'bridge', connection, user: callerOf(call) });
            changed(deps, callerOf(call));
            return { status: 201, body: linkBody(confirmed.link) };
          }
        }
      },
    }),

    operation({
      id: 'deleteMyAccountLink',
      method: 'DELETE',
      path: '/me/account-links/{account_link_id}',
      tag: TAG,
      summary: 'Remove an Account link of yours',
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
      needs: 'users:write',
      ids: { user_id: 'SR', ...LINK_ID },
      answers: { 204: { description: 'Removed' } },
      handle: (call) => remove(deps, call, call.params.user_id as PublicId),
    }),
  ];
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

function tellRejected(
  { log }: AccountLinkOperationsDeps,
  call: Call,
  connection: PublicId | null,
  reason: string,
): void {
  log('account_link_rejected', { messenger: 'bridge', connection, user: callerOf(call), reason });
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

function linkableBody({ id, name, messenger, info }: LinkableConnection) {
  return {
    ...{ id, name, messenger },
    link_methods: messenger === 'chat_server' ? (['code'] as const) : linkMethods(info),
    handle_kind: handleKind(info),
  };
}

function notStarted(refusal: NotStarted, now: Micros): Answer {
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
      return wrong('/connection_id', 'unknown_id', 'There is no such bridge.');
    case 'unsupported':
      return wrong('/method', 'unsupported', 'This bridge does not link accounts in this way.');
    case 'nobody':
      return wrong('/handle', 'messenger_user_not_found', 'The messenger knows nobody by this name.');
    case 'unreachable':
      return wrong('/handle', 'messenger_user_not_found', 'The bot cannot write to this account.');
    case 'failed':
      return wrong('/connection_id', 'destination_check_failed', refusal.error);
  }
}

function wrong(pointer: string, code: FieldErrorCode, detail: string): Answer {
  return invalid([{ pointer, code, detail }]);
}

const LINKED_ELSEWHERE_REFUSAL = [409, 'conflict', 'account_linked_elsewhere'] as const;
const LINKED_ELSEWHERE = conflict(
  'account_linked_elsewhere',
  'This account belongs to another user. They have to unlink it first.',
);

const CODE_INVALID = wrong('/code', 'link_code_invalid', 'This code does not work.');
