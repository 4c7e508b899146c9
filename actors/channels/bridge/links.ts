/**
 * How a person links an account behind a bridge: by a token they bring to the bot, or a code it sends
 * (account-links §5.2).
 */

import { MINUTE } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import {
  type AccountLinking,
  type ConnectionRef,
  digestOf,
  type Linking,
  type LinkRequestStore,
  linkMethods,
  type MessengerAccount,
  type NotStarted,
  newCode,
  newToken,
  REQUEST_TTL,
  type Started,
  typedCode,
} from '../../account-links/link.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { WaitingTokens } from '../../connection/tokens.ts';
import type { DirectorySource } from '../../directory.ts';
import { type Language, type PrivateAnswer, privateAnswer } from '../../messages/index.ts';
import type { BridgeOutcome, FailedOutcome } from './answer.ts';
import { type BridgeAccess, type BridgeClient, openBridge } from './client.ts';
import type { BridgeInfo } from './info.ts';
import type { InfoReader } from './info-reader.ts';
import { bridgeCalls } from './operations.ts';

export interface BridgeLinksDeps {
  readonly requests: LinkRequestStore;
  readonly bridge: BridgeClient;
  readonly infos: InfoReader;
  readonly tokens: WaitingTokens;
  readonly opener: Opener;
  readonly directory: DirectorySource;
  readonly publicUrl: string;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
  settings(id: PublicId): Promise<BridgeSettings | null>;
  /** Null: the User chose none. */
  languageOf(userId: PublicId): Promise<Language | null>;
}

/** A bridge that may be called, and what it says of itself. */
interface Open {
  readonly settings: BridgeSettings;
  readonly connection: ConnectionRef;
  readonly access: BridgeAccess;
}

export function createBridgeLinks(deps: BridgeLinksDeps): AccountLinking {
  const { requests, bridge, tokens, log } = deps;

  const refOf = (id: PublicId): ConnectionRef => ({
    id,
    name: deps.directory.current().connectionsById.get(id)?.name ?? id,
  });

  const startToken = async ({ id, info }: BridgeSettings, { author }: Linking): Promise<Started> => {
    const token = newToken(deps.random);
    const tooMany = await requests.beginToken({ connectionId: id, digest: digestOf(token) }, author);
    if (tooMany) return { is: 'too_many', ...tooMany };
    return { is: 'token', token, deepLink: deepLinkOf(info, token), expiresAt: author.at + REQUEST_TTL };
  };

  const startCode = async (settings: BridgeSettings, handle: string, linking: Linking): Promise<Started> => {
    const { author } = linking;
    const tooMany = await requests.codesExhausted(author.userId, author.at);
    if (tooMany) return { is: 'too_many', ...tooMany };
    const opened = await open(settings);
    if ('is' in opened) return opened;
    const account = await find(opened, handle);
    if ('is' in account) return account;
    // Taken before anything is stored: without it nothing has happened.
    const grant = await tokens.take(settings.id);
    if (grant !== 'granted') return { is: 'busy', ...grant };
    const id = newPublicId('AR', deps.random);
    const code = newCode(deps.random);
    const { connection } = opened;
    const refusal = await requests.beginCode({ id, connection, account, digest: digestOf(code) }, author);
    if (refusal === 'conflict') return { is: 'linked_elsewhere' };
    if (refusal) return { is: 'too_many', ...refusal };
    const minutes = REQUEST_TTL / MINUTE;
    const access = hiding(opened.access, code);
    const sent = await write({ access }, account, `code-${id}`, { say: 'link.code', code, minutes }, linking);
    if (sent.class === 'ok') return { is: 'code', requestId: id, expiresAt: author.at + REQUEST_TTL };
    await requests.codeNotSent(id);
    return isForbidden(sent) ? { is: 'unreachable' } : failed(sent);
  };

  const open = async (settings: BridgeSettings): Promise<Open | NotStarted> => {
    const access = openBridge(deps.opener, settings);
    if (!access) return { is: 'failed', error: 'a secret of the Connection cannot be read' };
    const known = await deps.infos.upToDate(settings, access, 'interactive');
    if (known.class === 'no_token') return { is: 'busy', retryAfterSeconds: 1 };
    if (known.class !== 'ok') return failed(known);
    if (!linkMethods(known.info).includes('code')) return { is: 'unsupported' };
    return { settings, access, connection: refOf(settings.id) };
  };

  const find = async ({ settings, access }: Open, handle: string): Promise<MessengerAccount | NotStarted> => {
    const grant = await tokens.take(settings.id);
    if (grant !== 'granted') return { is: 'busy', ...grant };
    const found = await bridge.call(access, bridgeCalls.findPerson(handle), { class: 'interactive' });
    // The bridge cannot search for what was typed: an e-mail address where it takes logins.
    if (found.class === 'unknown' && isRefusal(found.status)) return { is: 'nobody' };
    if (found.class !== 'ok') return failed(found);
    const [person] = found.value.items;
    if (!person || person.bot) return { is: 'nobody' };
    return {
      externalId: person.external_id,
      username: person.username,
      displayName: person.display_name,
    };
  };

  const write = async (
    { access }: Pick<Open, 'access'>,
    { externalId }: Pick<MessengerAccount, 'externalId'>,
    key: string,
    answer: PrivateAnswer,
    { author }: Linking,
  ) => {
    const language = (await deps.languageOf(author.userId)) ?? 'en';
    const text = privateAnswer(answer, 'bridge_direct', language, deps.publicUrl);
    return bridge.call(access, bridgeCalls.sendDirectMessage(externalId, text, key), {
      class: 'interactive',
    });
  };

  /** The account is linked whether or not this arrives. */
  const welcome = async (
    requestId: PublicId,
    connectionId: PublicId,
    externalId: string,
    linking: Linking,
  ): Promise<void> => {
    const settings = await deps.settings(connectionId);
    const access = settings && openBridge(deps.opener, settings);
    if (!access || (await tokens.take(connectionId)) !== 'granted') return;
    const { name, login } = linking;
    const key = `linked-${requestId}`;
    const sent = await write({ access }, { externalId }, key, { say: 'link.done', name, login }, linking);
    if (sent.class !== 'ok')
      log('link_not_confirmed', { connection: connectionId, error: failed(sent).error });
  };

  return {
    async start(connectionId, method, handle, linking) {
      const settings = await deps.settings(connectionId);
      if (!settings) return { is: 'unknown_connection' };
      if (!linkMethods(settings.info).includes(method)) return { is: 'unsupported' };
      return method === 'token' ? startToken(settings, linking) : startCode(settings, handle, linking);
    },

    async confirm(requestId, code, linking) {
      const { author } = linking;
      const confirmation = await requests.confirmCode(requestId, digestOf(typedCode(code)), author);
      if (confirmation.is === 'linked') {
        const { connection, link } = confirmation;
        welcome(requestId, connection.id, link.externalId, linking).catch((error: unknown) =>
          log('link_not_confirmed', { connection: connection.id, error: String(error) }),
        );
      }
      return confirmation;
    },
  };
}

/** The same way, whose records and errors do not show a code. */
function hiding(access: BridgeAccess, code: string): BridgeAccess {
  return { ...access, otherSecrets: [...(access.otherSecrets ?? []), code] };
}

function failed(outcome: FailedOutcome | { readonly class: 'not_sent' }): {
  readonly is: 'failed';
  readonly error: string;
} {
  return { is: 'failed', error: 'error' in outcome ? outcome.error : 'the service stops' };
}

function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400;
}

/** The bot may not write to this account, while its token is good. */
function isForbidden(outcome: Exclude<BridgeOutcome<unknown>, { readonly class: 'ok' }>): boolean {
  return outcome.class === 'fatal' && isRefusal(outcome.status) && outcome.status !== 401;
}

/** Where a click brings the token to the bot; null when people send it themselves. */
function deepLinkOf(info: BridgeInfo | null, token: string): string | null {
  return info?.link_url_template?.replace('{token}', encodeURIComponent(token)) ?? null;
}
