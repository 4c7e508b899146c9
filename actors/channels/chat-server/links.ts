/** How a person links an account of a chat server: by a code that the bot sends to it (account-links §5.1). */

import { MINUTE } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import {
  type AccountLinking,
  digestOf,
  type Linking,
  type LinkRequestStore,
  type MessengerAccount,
  type NotStarted,
  newCode,
  REQUEST_TTL,
  type Started,
  typedCode,
} from '../../account-links/link.ts';
import type { ChatServerSettings } from '../../connection/ports.ts';
import type { WaitingTokens } from '../../connection/tokens.ts';
import type { DirectorySource } from '../../directory.ts';
import { type Language, type PrivateAnswer, privateAnswer } from '../../messages/index.ts';
import type { ChatOutcome } from './answer.ts';
import { type ChatAccess, type ChatClient, openChatServer } from './client.ts';
import { type ChatRequest, type ChatUser, chatCalls, MARK } from './operations.ts';
import type { ServerInfoReader } from './server-info.ts';

export interface ChatServerLinksDeps {
  readonly requests: Pick<LinkRequestStore, 'codesExhausted' | 'beginCode' | 'codeNotSent' | 'confirmCode'>;
  readonly chat: ChatClient;
  readonly infos: ServerInfoReader;
  readonly tokens: Pick<WaitingTokens, 'take'>;
  readonly opener: Opener;
  readonly directory: DirectorySource;
  readonly publicUrl: string;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
  settings(id: PublicId): Promise<ChatServerSettings | null>;
  /** Null: the User chose none. */
  languageOf(userId: PublicId): Promise<Language | null>;
}

const LONGEST_NAME = 64;
/** The direct channel is opened, and a post made there. */
const CALLS_TO_WRITE = 2;
const UNREADABLE = 'a secret of the Connection cannot be read';

/** The way to write to one account. */
interface Reached {
  readonly access: ChatAccess;
  readonly botId: string;
  readonly userId: string;
}

export function createChatServerLinks(deps: ChatServerLinksDeps): AccountLinking {
  const { requests, chat, tokens } = deps;

  const call = <Value>(access: ChatAccess, request: ChatRequest<Value>): Promise<ChatOutcome<Value>> =>
    chat.call(access, request, { class: 'interactive' });

  /** Taken before anything is stored: without them nothing has happened. */
  const take = async (id: PublicId, count: number): Promise<Extract<NotStarted, { is: 'busy' }> | null> => {
    for (let taken = 0; taken < count; taken++) {
      const grant = await tokens.take(id);
      if (grant !== 'granted') return { is: 'busy', ...grant };
    }
    return null;
  };

  const find = async (id: PublicId, access: ChatAccess, username: string): Promise<ChatUser | NotStarted> => {
    const busy = await take(id, 1);
    if (busy) return busy;
    const found = await call(access, chatCalls.findUser(username));
    if (found.class === 'ok') {
      const { delete_at: deletedAt, is_bot: isBot } = found.value;
      return deletedAt === 0 && !isBot ? found.value : { is: 'nobody' };
    }
    return isNobody(found) ? { is: 'nobody' } : failed(found);
  };

  /** Opens the direct channel and posts to it; the bot's own words, so that nobody else reads them. */
  const write = async (
    { access, botId, userId }: Reached,
    key: string,
    answer: PrivateAnswer,
    { author }: Linking,
  ): Promise<'sent' | NotStarted> => {
    const opened = await call(access, chatCalls.createDirectChannel(botId, userId));
    if (opened.class !== 'ok') return isRefusal(opened) ? { is: 'unreachable' } : failed(opened);
    const language = (await deps.languageOf(author.userId)) ?? 'en';
    const message = privateAnswer(answer, 'chat_server_direct', language, deps.publicUrl);
    const post = { channel_id: opened.value.id, message, pending_post_id: `${botId}:${key}` };
    const request = chatCalls.createPost({ ...post, props: { [MARK]: key } }, false);
    const sent = await call(access, request);
    if (sent.class === 'ok') return 'sent';
    return isRefusal(sent) ? { is: 'unreachable' } : failed(sent);
  };

  const reach = async (id: PublicId, userId: string): Promise<Reached | NotStarted> => {
    const settings = await deps.settings(id);
    if (!settings) return { is: 'unknown_connection' };
    const access = openChatServer(deps.opener, settings);
    if (!access) return { is: 'failed', error: UNREADABLE };
    const known = await deps.infos.upToDate(settings, access);
    if (known.class !== 'ok') return failed(known);
    return { access, botId: known.info.bot_id, userId };
  };

  const start = async (id: PublicId, handle: string, linking: Linking): Promise<Started> => {
    const { author } = linking;
    const tooMany = await requests.codesExhausted(author.userId, author.at);
    if (tooMany) return { is: 'too_many', ...tooMany };
    const way = await reach(id, '');
    if ('is' in way) return way;
    const username = handle.trim().replace(/^@/, '').toLowerCase();
    if (username === '' || [...username].length > LONGEST_NAME) return { is: 'nobody' };
    const user = await find(id, way.access, username);
    if ('is' in user) return user;
    const busy = await take(id, CALLS_TO_WRITE);
    if (busy) return busy;
    const account: MessengerAccount = { externalId: user.id, username: user.username, displayName: null };
    const requestId = newPublicId('AR', deps.random);
    const code = newCode(deps.random);
    const connection = { id, name: deps.directory.current().connectionsById.get(id)?.name ?? id };
    const begun = { id: requestId, connection, account, digest: digestOf(code) };
    const refusal = await requests.beginCode(begun, author);
    if (refusal === 'conflict') return { is: 'linked_elsewhere' };
    if (refusal) return { is: 'too_many', ...refusal };
    const hidden = { ...way, userId: user.id, access: { ...way.access, otherSecrets: [code] } };
    const minutes = REQUEST_TTL / MINUTE;
    const sent = await write(hidden, `code-${requestId}`, { say: 'link.code', code, minutes }, linking);
    if (sent === 'sent') return { is: 'code', requestId, expiresAt: author.at + REQUEST_TTL };
    await requests.codeNotSent(requestId);
    return sent;
  };

  /** The account is linked whether or not this arrives. */
  const welcome = async (requestId: PublicId, id: PublicId, userId: string, linking: Linking) => {
    const way = (await take(id, CALLS_TO_WRITE)) ?? (await reach(id, userId));
    const { name, login } = linking;
    const sent =
      'is' in way ? way : await write(way, `linked-${requestId}`, { say: 'link.done', name, login }, linking);
    if (sent !== 'sent') deps.log('link_not_confirmed', { connection: id, error: textOf(sent) });
  };

  return {
    start: async (id, method, handle, linking) =>
      method === 'code' ? start(id, handle, linking) : { is: 'unsupported' },

    async confirm(requestId, code, linking) {
      const confirmation = await requests.confirmCode(requestId, digestOf(typedCode(code)), linking.author);
      if (confirmation.is === 'linked') {
        const { connection, link } = confirmation;
        welcome(requestId, connection.id, link.externalId, linking).catch((error: unknown) =>
          deps.log('link_not_confirmed', { connection: connection.id, error: String(error) }),
        );
      }
      return confirmation;
    },
  };
}

/** 403 where the bot may see only some people; 400 for a name that nobody can have. */
function isNobody(outcome: ChatOutcome<unknown>): boolean {
  if (!('id' in outcome)) return false;
  const { status, id } = outcome;
  if (status === 404) return id === 'app.user.get_by_username.app_error';
  return status === 403 || (status === 400 && id === 'api.context.invalid_body_param.app_error');
}

/** The bot may not write to this account, while its token is good. */
function isRefusal(outcome: ChatOutcome<unknown>): boolean {
  return 'status' in outcome && (outcome.status === 403 || outcome.status === 400);
}

function failed(outcome: Exclude<ChatOutcome<never>, { readonly class: 'ok' }>): NotStarted {
  return { is: 'failed', error: outcome.class === 'not_sent' ? 'the service stops' : outcome.error };
}

function textOf(outcome: NotStarted): string {
  return 'error' in outcome ? outcome.error : outcome.is;
}
