/** Names by which linked people are mentioned: a Mention of an old name rings nobody (chat-server §7). */
import { type Clock, HOUR, MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { MessageMention } from '../../messages/index.ts';
import { type ChatRequest, type ChatUser, chatCalls } from './operations.ts';

const FRESH_FOR: Micros = 24 * HOUR;
/** After a question without an answer: a Loud post does not wait for it each time. */
const RETRY_AFTER: Micros = 5 * MINUTE;
const ANSWERED_WITHIN: Micros = 2 * SECOND;
/** Of one question, as the server takes them. */
const MOST_ASKED = 100;
const MOST_KEPT = 10_000;

/** Asks the server; null without an answer. */
type Ask = (request: ChatRequest<readonly ChatUser[]>) => Promise<readonly ChatUser[] | null>;

export interface Usernames {
  /**
   * The same Mentions with names that are at most 24 h old; stored ones where the server does not answer. Whoever's
   * account is deactivated is named in plain text.
   * @param server whose accounts they are
   */
  fresh(server: string, mentions: readonly MessageMention[], ask: Ask): Promise<readonly MessageMention[]>;
}

interface Known {
  /** Null: the account is deactivated. Undefined: the server did not tell; a guest may not see everybody. */
  readonly username: string | null | undefined;
  readonly at: Micros;
}

export function createUsernames(clock: Pick<Clock, 'now'>): Usernames {
  const known = new Map<string, Known>();
  const askAgainAt = new Map<string, Micros>();

  const keep = (key: string, username: Known['username']): void => {
    known.delete(key);
    known.set(key, { username, at: clock.now() });
    const [oldest] = known.keys();
    if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
  };

  const refresh = async (server: string, ids: readonly string[], ask: Ask): Promise<void> => {
    if (clock.now() < (askAgainAt.get(server) ?? 0)) return;
    const asked = ids.slice(0, MOST_ASKED);
    const users = await ask({ ...chatCalls.findUsers(asked), timeout: ANSWERED_WITHIN });
    if (users === null) {
      askAgainAt.set(server, clock.now() + RETRY_AFTER);
      return;
    }
    const names = new Map(users.map((user) => [user.id, user.delete_at === 0 ? user.username : null]));
    for (const id of asked) keep(`${server} ${id}`, names.get(id));
  };

  const isOld = (key: string): boolean => clock.now() - (known.get(key)?.at ?? -FRESH_FOR) >= FRESH_FOR;

  return {
    async fresh(server, mentions, ask) {
      const ids = [...new Set(mentions.flatMap(accountId))];
      const old = ids.filter((id) => isOld(`${server} ${id}`));
      if (old.length > 0) await refresh(server, old, ask);
      return mentions.map((mention) => renamed(mention, known.get(`${server} ${accountId(mention)[0]}`)));
    },
  };
}

function accountId(mention: MessageMention): readonly string[] {
  return mention.type === 'user' && mention.account ? [mention.account.externalId] : [];
}

function renamed(mention: MessageMention, known: Known | undefined): MessageMention {
  const username = known?.username;
  if (username === undefined || mention.type !== 'user' || !mention.account) return mention;
  if (username === null) return { ...mention, account: null };
  return { ...mention, account: { ...mention.account, username } };
}
