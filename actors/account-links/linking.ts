/** How accounts are linked: by a token brought to the bot, or a code that the bot sends (account-links §4, §5). */
import { type Clock, MINUTE } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { WaitingTokens } from '../connection/tokens.ts';
import type { HintBus } from '../effects.ts';
import { type Language, type PrivateAnswer, privateAnswer, type Way } from '../messages/index.ts';
import {
  type AccountLink,
  type AccountLinking,
  digestOf,
  type Linking,
  type LinkRequestStore,
  type Messenger,
  type MessengerAccount,
  type NotStarted,
  newCode,
  newToken,
  REQUEST_TTL,
  type Started,
  type TokenOutcome,
  typedCode,
} from './link.ts';

/** A Connection through which accounts are linked, as its messenger allows it. Calls are of the interactive class. */
export interface LinkPlace {
  /**
   * Address that opens the chat with the bot and sends the token, with `{token}` in it; null: people send it
   * themselves. Absent where the bot takes no tokens.
   */
  readonly tokenAddress?: () => Promise<{ readonly address: string | null } | NotStarted>;
  /** The way to people's accounts. Absent where the bot sends no codes. */
  readonly people?: () => Promise<LinkPeople | NotStarted>;
}

/** People behind a Connection. Whoever calls takes the limiter tokens first. */
export interface LinkPeople {
  /** How a message reaches one of them: decides its format and length. */
  readonly way: Way;
  /** Limiter tokens of one message. */
  readonly callsToWrite: number;
  /** One call. `nobody`: the messenger knows nobody by the handle, or a bot. */
  find(handle: string): Promise<MessengerAccount | NotStarted>;
  write(message: DirectMessage): Promise<'sent' | NotStarted>;
}

export interface DirectMessage {
  readonly externalId: string;
  /** By which the other side knows a repeat. */
  readonly key: string;
  readonly text: string;
  /** A button that ends a link; where there are none, people write to the bot. */
  readonly unlink?: { readonly label: string; readonly linkId: PublicId };
  /** What no record and no error shows. */
  readonly secrets: readonly string[];
}

/** @returns null: there is no live Connection of the messenger with this id */
export type LinkPlaces = (connectionId: PublicId) => Promise<LinkPlace | null>;

export interface AccountLinkingDeps {
  readonly requests: Pick<
    LinkRequestStore,
    'beginToken' | 'codesExhausted' | 'beginCode' | 'codeForNobody' | 'codeNotSent' | 'confirmCode'
  >;
  readonly places: Readonly<Record<Messenger, LinkPlaces>>;
  readonly tokens: Pick<WaitingTokens, 'take'>;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
  /** Null: the User chose none. */
  languageOf(userId: PublicId): Promise<Language | null>;
}

export function createAccountLinking(deps: AccountLinkingDeps): AccountLinking {
  const { requests, places, tokens, random } = deps;

  /** Taken before anything is stored: without them nothing has happened. */
  const take = async (id: PublicId, count: number): Promise<Extract<NotStarted, { is: 'busy' }> | null> => {
    for (let taken = 0; taken < count; taken++) {
      const grant = await tokens.take(id);
      if (grant !== 'granted') return { is: 'busy', ...grant };
    }
    return null;
  };

  const write = async (
    there: LinkPeople,
    message: Omit<DirectMessage, 'text' | 'unlink'>,
    answer: PrivateAnswer,
    { author }: Linking,
    linkId?: PublicId,
  ): Promise<'sent' | NotStarted> => {
    const language = (await deps.languageOf(author.userId)) ?? 'en';
    const said = (what: PrivateAnswer) => privateAnswer(what, there.way, language, deps.publicUrl);
    const unlink = linkId && { unlink: { label: said({ say: 'button.unlink' }), linkId } };
    return there.write({ ...message, ...unlink, text: said(answer) });
  };

  const startToken = async (
    connectionId: PublicId,
    addressOf: NonNullable<LinkPlace['tokenAddress']>,
    { author }: Linking,
  ): Promise<Started> => {
    const found = await addressOf();
    if ('is' in found) return found;
    const token = newToken(random);
    const tooMany = await requests.beginToken({ connectionId, digest: digestOf(token) }, author);
    if (tooMany) return { is: 'too_many', ...tooMany };
    const deepLink = found.address?.replace('{token}', encodeURIComponent(token)) ?? null;
    return { is: 'token', token, deepLink, expiresAt: author.at + REQUEST_TTL };
  };

  const startCode = async (
    connectionId: PublicId,
    peopleOf: NonNullable<LinkPlace['people']>,
    handle: string,
    linking: Linking,
  ): Promise<Started> => {
    const { author } = linking;
    const tooMany = await requests.codesExhausted(author.userId, author.at);
    if (tooMany) return { is: 'too_many', ...tooMany };
    const there = await peopleOf();
    if ('is' in there) return there;
    const account = (await take(connectionId, 1)) ?? (await there.find(handle));
    if ('is' in account) {
      if (account.is === 'nobody') await requests.codeForNobody(connectionId, author);
      return account;
    }
    const busy = await take(connectionId, there.callsToWrite);
    if (busy) return busy;
    const id = newPublicId('AR', random);
    const code = newCode(random);
    const refusal = await requests.beginCode({ id, connectionId, account, digest: digestOf(code) }, author);
    if (refusal === 'conflict') return { is: 'linked_elsewhere' };
    if (refusal) return { is: 'too_many', ...refusal };
    const { externalId } = account;
    const answer = { say: 'link.code', code, minutes: REQUEST_TTL / MINUTE } as const;
    const sent = await write(there, { externalId, key: `code-${id}`, secrets: [code] }, answer, linking);
    if (sent === 'sent') return { is: 'code', requestId: id, expiresAt: author.at + REQUEST_TTL };
    await requests.codeNotSent(id);
    return sent;
  };

  /** Says whom the account now acts for. It is linked whether or not this arrives. */
  const welcome = async (
    { messenger, requestId }: Parameters<AccountLinking['confirm']>[0],
    connectionId: PublicId,
    { id: linkId, externalId }: AccountLink,
    linking: Linking,
  ): Promise<'sent' | NotStarted> => {
    const there = await (await places[messenger](connectionId))?.people?.();
    if (!there) return { is: 'unsupported' };
    if ('is' in there) return there;
    const busy = await take(connectionId, there.callsToWrite);
    if (busy) return busy;
    const { name, login } = linking;
    const message = { externalId, key: `linked-${requestId}`, secrets: [] };
    return write(there, message, { say: 'link.done', name, login }, linking, linkId);
  };

  return {
    async start({ messenger, connectionId, method, handle }, linking) {
      const place = await places[messenger](connectionId);
      if (!place) return { is: 'unknown_connection' };
      const { tokenAddress, people } = place;
      if (method === 'token' && tokenAddress) return startToken(connectionId, tokenAddress, linking);
      if (method === 'code' && people) return startCode(connectionId, people, handle, linking);
      return { is: 'unsupported' };
    },

    async confirm(asked, linking) {
      const digest = digestOf(typedCode(asked.code));
      const confirmed = await requests.confirmCode(asked.messenger, asked.requestId, digest, linking.author);
      if (confirmed.is !== 'linked') return confirmed;
      const { id } = confirmed.connection;
      const failed = (error: string) => deps.log('link_not_confirmed', { connection: id, error });
      welcome(asked, id, confirmed.link, linking).then(
        (sent) => (sent === 'sent' ? undefined : failed('error' in sent ? sent.error : sent.is)),
        (error: unknown) => failed(String(error)),
      );
      return confirmed;
    },
  };
}

export interface ReceivedTokenDeps {
  readonly links: Pick<LinkRequestStore, 'useToken'>;
  readonly hints: Pick<HintBus, 'send'>;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** What an account sent to the bot of a Connection in a direct chat. */
export interface ReceivedToken {
  readonly messenger: Messenger;
  readonly connectionId: PublicId;
  /** Of the event, by which a repeat is known: unique within the Connection. */
  readonly eventId: string;
  readonly account: MessengerAccount;
  /** A bot is no account of a person. */
  readonly isBot: boolean;
  /** {@link UNLINK} in place of a token: the account is to be unlinked. */
  readonly token: string;
  /** The link that a button ends. */
  readonly linkId?: PublicId;
}

/** What people send in place of a token to end a link (account-links §8). */
export const UNLINK = 'unlink';

/**
 * Links the account to the User whose token it sent, or unlinks it, and stores the event as handled with the answer,
 * in one transaction (account-links §4 steps 5 to 9, account-links §8). A repeated event changes nothing and has the
 * same answer.
 * @param way how the answer reaches the person: decides its format and length
 * @returns `say`: the answer to the person, null for none; `noted`: nothing is stored, the caller notes the event
 * @throws when the database cannot be reached: the event has to come again
 */
export async function receiveToken(
  deps: ReceivedTokenDeps,
  received: ReceivedToken,
  way: Way,
): Promise<{ readonly is: 'stored' | 'noted'; readonly say: string | null }> {
  const { messenger, connectionId, eventId, account, token } = received;
  const { publicUrl } = deps;
  if (received.isBot)
    return { is: 'noted', say: privateAnswer({ say: 'link.invalid' }, way, 'en', publicUrl) };
  const digest = token === UNLINK ? null : digestOf(token);
  const use = { connectionId, eventId, account, digest, linkId: received.linkId, at: deps.clock.now() };
  const { say, outcome } = await deps.links.useToken(use, (found) => answerTo(found, way, publicUrl));
  if (!outcome || outcome.is === 'not_linked') return { is: 'stored', say };
  const fields = { messenger, connection: connectionId, user: outcome.user?.id ?? null };
  if (outcome.is === 'rejected') {
    deps.log('account_link_rejected', { ...fields, reason: outcome.reason });
    return { is: 'stored', say };
  }
  if (outcome.is === 'linked') deps.log('account_link_linked', fields);
  else deps.log('account_link_unlinked', { user: outcome.user.id, reason: 'by_messenger' });
  deps.hints.send({ type: 'account-links', id: outcome.user.id });
  return { is: 'stored', say };
}

function answerTo(outcome: TokenOutcome, way: Way, publicUrl: string): string | null {
  if ('isAnswered' in outcome && !outcome.isAnswered) return null;
  if (outcome.is === 'not_linked')
    return privateAnswer({ say: outcome.hasOther ? 'invalid' : 'link.none' }, way, 'en', publicUrl);
  const language = outcome.user?.language ?? 'en';
  if (outcome.is === 'rejected') {
    const say = outcome.reason === 'conflict' ? 'link.taken' : 'link.invalid';
    return privateAnswer({ say }, way, language, publicUrl);
  }
  const { name, login } = outcome.user;
  const say = outcome.is === 'linked' ? 'link.done' : 'link.removed';
  return privateAnswer({ say, name, login }, way, language, publicUrl);
}
