/** What is known of a chat server and its bot, read before it is needed and when it is old (chat-server §1). */
import { type Clock, HOUR, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { ChatServerInfo, ChatServerSettings } from '../../connection/ports.ts';
import { CHAT_SERVER_LIMIT } from '../../messages/index.ts';
import type { ChatOutcome } from './answer.ts';
import type { ChatAccess, ChatCallOptions, ChatClient } from './client.ts';
import { type BotUser, chatCalls } from './operations.ts';

const FRESH_FOR: Micros = 24 * HOUR;
/** After a read that failed. */
const RETRY_AFTER: Micros = 30 * SECOND;
/** A server that names less has no limit of that kind. */
const LEAST_LIMIT = 1_000;
const ANSWERS_PRIVATELY = 'create_post_ephemeral';

export type KnownServer =
  | { readonly class: 'ok'; readonly info: ChatServerInfo }
  | Exclude<ChatOutcome<never>, { readonly class: 'ok' }>;

export interface ServerInfoReader {
  /**
   * The stored copy, read anew where it is older than 24 h; a failure counts only where there is no copy. These reads
   * take no limiter token: a Connection makes them once a day.
   */
  upToDate(settings: ChatServerSettings, access: ChatAccess): Promise<KnownServer>;
}

export interface ServerInfoDeps {
  readonly chat: ChatClient;
  readonly clock: Pick<Clock, 'now'>;
  /** Stores what was read with the Connection, unless its address or token changed meanwhile. */
  learned(id: PublicId, access: number, info: ChatServerInfo, askedAt: Micros): void;
}

export function createServerInfoReader({ chat, clock, learned }: ServerInfoDeps): ServerInfoReader {
  /** One at a time of each Connection; whoever comes meanwhile gets the same. */
  /** By Connection and access. */
  const underWay = new Map<string, Promise<KnownServer>>();
  const last = new Map<PublicId, { access: number; at: Micros; outcome: KnownServer }>();

  const read = async (settings: ChatServerSettings, access: ChatAccess): Promise<KnownServer> => {
    const askedAt = clock.now();
    const outcome = await readServer(chat, access, { class: 'background' });
    last.set(settings.id, { access: settings.access, at: clock.now(), outcome });
    if (outcome.class === 'ok') learned(settings.id, settings.access, outcome.info, askedAt);
    return outcome;
  };

  const recent = ({ id, access }: ChatServerSettings): KnownServer | null => {
    const known = last.get(id);
    if (known?.access !== access) return null;
    const keptFor = known.outcome.class === 'ok' ? FRESH_FOR : RETRY_AFTER;
    return clock.now() - known.at < keptFor ? known.outcome : null;
  };

  return {
    async upToDate(settings, access) {
      const { id, info, infoReadAt: readAt } = settings;
      const stored: KnownServer | null = info && { class: 'ok', info };
      if (stored && readAt !== null && clock.now() - readAt < FRESH_FOR) return stored;
      const known = recent(settings);
      if (known) return known.class === 'ok' ? known : (stored ?? known);
      const key = `${id} ${settings.access}`;
      const running = underWay.get(key) ?? read(settings, access).finally(() => underWay.delete(key));
      underWay.set(key, running);
      const outcome = await running;
      return outcome.class === 'ok' ? outcome : (stored ?? outcome);
    },
  };
}

/** Asks the server who the bot is, then what it may do and how long a post may be; only the first can fail. */
async function readServer(
  chat: ChatClient,
  access: ChatAccess,
  options: ChatCallOptions,
): Promise<KnownServer> {
  const me = await chat.call(access, chatCalls.getMe(), options);
  if (me.class !== 'ok') return me;
  return { class: 'ok', info: await infoOf(chat, access, me.value, options) };
}

/** What follows once the token was accepted. */
export async function infoOf(
  chat: ChatClient,
  access: ChatAccess,
  me: BotUser,
  options: ChatCallOptions,
): Promise<ChatServerInfo> {
  const names = me.roles.split(/\s+/).filter((name) => name !== '');
  const roles = names.length === 0 ? null : await chat.call(access, chatCalls.getRoles(names), options);
  const config = await chat.call(access, chatCalls.getClientConfig(), options);
  const permissions =
    roles?.class === 'ok'
      ? roles.value.flatMap((role) => (role.delete_at === 0 ? role.permissions : []))
      : [];
  return {
    bot_id: me.id,
    bot_username: me.username,
    max_post_size: config.class === 'ok' ? limitOf(config.value) : CHAT_SERVER_LIMIT,
    answers_privately: permissions.includes(ANSWERS_PRIVATELY),
  };
}

/** `MaxPostSize` is decimal text. */
function limitOf({ MaxPostSize: size }: Readonly<Record<string, unknown>>): number {
  const named = typeof size === 'string' && /^\d{1,9}$/.test(size) ? Number(size) : 0;
  return named < LEAST_LIMIT ? CHAT_SERVER_LIMIT : Math.min(named, CHAT_SERVER_LIMIT);
}
