/** The messenger in memory: channels, people, messages, Threads and direct chats. It knows nothing of requests. */
import type { Button, Content, Mention, Person } from './shapes.ts';

export interface Channel {
  readonly channel_id: string;
  readonly name: string;
  /** Whether the bot may post there. */
  readonly isOpen: boolean;
}

export interface Inhabitant {
  readonly person: Person;
  readonly email: string;
  /** Whether the bot may write to them. */
  readonly isReachable: boolean;
}

/** Anything that stands in a channel, in a Thread or in a direct chat. */
export interface Post {
  readonly message_id: string;
  /** Which token's bot it belongs to, counted from 0. */
  readonly bot: number;
  readonly kind: 'root' | 'storm_summary' | 'test' | 'reply' | 'answer' | 'direct';
  readonly channel_id: string | null;
  /** The message in whose Thread it stands. */
  readonly root_id: string | null;
  /** With whom the direct chat is. */
  readonly direct_with: string | null;
  /** Who wrote it; null: the bot. */
  readonly by: Person | null;
  /** The one person who sees it; null: everybody. */
  readonly only_for: string | null;
  /** ms since 1970. */
  readonly posted_at: number;
  readonly notify: boolean;
  readonly mentions: readonly Mention[];
  heading: Omit<Content, 'body' | 'buttons'> | null;
  body: string;
  html: string;
  buttons: readonly Button[];
  thread_ref: string | null;
  edits: number;
  deleted: boolean;
}

export type Draft = Pick<Post, 'bot' | 'kind' | 'body' | 'html'> & Partial<Post>;

const person = (id: string, username: string, name: string): Person => ({
  ...{ external_id: id, username, display_name: name, bot: false },
});

export const CHANNELS: readonly Channel[] = [
  { channel_id: 'alerts', name: 'alerts', isOpen: true },
  { channel_id: 'alerts/prod', name: 'alerts > prod', isOpen: true },
  { channel_id: 'closed', name: 'closed', isOpen: false },
];

export const PEOPLE: readonly Inhabitant[] = [
  { person: person('u-17', 'alice', 'Alice Smith'), email: 'alice@example.org', isReachable: true },
  { person: person('u-18', 'bob', 'Bob Jones'), email: 'bob@example.org', isReachable: true },
  { person: person('u-19', 'carol', 'Carol'), email: 'carol@example.org', isReachable: false },
];

export interface Messenger {
  /** Oldest first. */
  readonly posts: readonly Post[];
  post(draft: Draft): Post;
  find(messageId: string): Post | undefined;
  /** Whether such an id could have been given by a messenger like this one. */
  isId(messageId: string): boolean;
}

/**
 * @param boot part of every id, so that ids from before a restart name nothing
 * @param keeps the most posts that it remembers; an older one is gone like a deleted one
 */
export function createMessenger(
  boot: string,
  now: () => number,
  keeps: number = Number.POSITIVE_INFINITY,
): Messenger {
  const posts: Post[] = [];
  const byId = new Map<string, Post>();
  let made = 0;
  return {
    posts,
    post(draft) {
      const post: Post = {
        // The slash is there on purpose: an id goes into paths as one percent-encoded segment.
        ...{ message_id: `m/${boot}-${++made}`, posted_at: now(), edits: 0, deleted: false },
        ...{ channel_id: null, root_id: null, direct_with: null, by: null, only_for: null },
        ...{ notify: false, mentions: [], heading: null, buttons: [], thread_ref: null },
        ...draft,
      };
      posts.push(post);
      byId.set(post.message_id, post);
      const oldest = posts.length > keeps ? posts.shift() : undefined;
      if (oldest) byId.delete(oldest.message_id);
      return post;
    },
    find: (messageId) => byId.get(messageId),
    isId: (messageId) => /^m\/[0-9a-f]{6}-[1-9]\d*$/.test(messageId),
  };
}
