/** Every call of the Mattermost API v4 that the service makes: its request and its answer (chat-server §2). */
import * as v from 'valibot';
import { type Micros, SECOND } from '../../../runtime/clock.ts';

const ANSWER_WITHIN: Micros = 10 * SECOND;

export type OperationName =
  | 'ping'
  | 'getMe'
  | 'getRoles'
  | 'getClientConfig'
  | 'listTeams'
  | 'listChannels'
  | 'getTeam'
  | 'getChannel'
  | 'getChannelMember'
  | 'createPost'
  | 'patchPost'
  | 'getPost'
  | 'findPosts'
  | 'createEphemeralPost'
  | 'findUser'
  | 'createDirectChannel'
  | 'doPostAction';

/** One request, and how its answer is read. */
export interface ChatRequest<Value> {
  readonly operation: OperationName;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the server's address, with its query. Null: an id that no path can carry. */
  readonly path: string | null;
  readonly body: unknown;
  readonly timeout: Micros;
  /** A post below another one, whose refusal may mean that the other one is gone. */
  readonly isReply: boolean;
  /** What a 2xx answer says; null for one that lacks a field that is used. */
  read(answer: unknown): Value | null;
}

/** A button of an attachment. `integration` is shown to nobody and comes back with a press. */
export interface PostAction {
  readonly id: string;
  readonly type: 'button';
  readonly name: string;
  readonly style: 'default' | 'primary' | 'success';
  readonly integration: {
    readonly url: string;
    readonly context: { readonly action: string; readonly key_id: string; readonly proof: string };
  };
}

export interface PostAttachment {
  readonly fallback: string;
  readonly text: string;
  readonly color?: string;
  readonly title?: string;
  readonly title_link?: string;
  readonly footer?: string;
  readonly footer_icon?: string;
  readonly actions: readonly PostAction[];
}

/** Property of a post by which it is found again after an answer that was lost (chat-server §4). */
export const MARK = 'tocsin_key';

export interface NewPost {
  readonly channel_id: string;
  readonly message: string;
  readonly root_id?: string;
  readonly pending_post_id: string;
  readonly props: { readonly attachments?: readonly PostAttachment[]; readonly [MARK]: string };
}

/** What an edit replaces: all properties at once, and neither pins, reactions nor files. */
export interface PostPatch {
  readonly message: string;
  readonly props: { readonly attachments: readonly PostAttachment[] };
}

/** Longer than any id that a server has made, and its longest username. */
const LONGEST_ID = 64;
const id = v.pipe(v.string(), v.nonEmpty(), v.maxLength(LONGEST_ID));
const millis = v.pipe(v.number(), v.integer());

const Me = v.object({
  id,
  username: v.pipe(v.string(), v.maxLength(LONGEST_ID)),
  roles: v.string(),
  delete_at: v.optional(millis, 0),
});
const User = v.object({
  id,
  username: v.string(),
  delete_at: v.optional(millis, 0),
  is_bot: v.optional(v.boolean(), false),
});
const Role = v.object({ permissions: v.array(v.string()), delete_at: v.optional(millis, 0) });
const ClientConfig = v.record(v.string(), v.unknown());
const Team = v.object({ id, name: v.string(), display_name: v.string(), delete_at: millis });
const Channel = v.object({
  id,
  /** Empty for direct and group channels. */
  team_id: v.string(),
  type: v.string(),
  name: v.string(),
  display_name: v.string(),
  delete_at: millis,
});
const Member = v.object({ channel_id: id, user_id: id });
const Post = v.object({
  id,
  create_at: millis,
  channel_id: id,
  root_id: v.string(),
  delete_at: millis,
  pending_post_id: v.optional(v.string(), ''),
});
const FoundPost = v.object({
  ...{ id, create_at: millis, user_id: v.string(), root_id: v.string(), delete_at: millis },
  props: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
});
const PostList = v.object({ order: v.array(id), posts: v.record(v.string(), FoundPost) });
const AnyObject = v.record(v.string(), v.unknown());

export type BotUser = v.InferOutput<typeof Me>;
export type ChatUser = v.InferOutput<typeof User>;
export type ServerTeam = v.InferOutput<typeof Team>;
export type ServerChannel = v.InferOutput<typeof Channel>;
export type ServerPost = v.InferOutput<typeof Post>;
/** As many of the largest posts as an answer may hold. */
export const POSTS_OF_A_PAGE = 60;

export type FoundPosts = v.InferOutput<typeof PostList>;

export const chatCalls = {
  /** Made without the token. */
  ping: () => get('ping', '/system/ping', v.object({ status: v.string() })),

  getMe: () => get('getMe', '/users/me', Me),

  getRoles: (names: readonly string[]) => post('getRoles', '/roles/names', names, v.array(Role)),

  getClientConfig: () => get('getClientConfig', '/config/client?format=old', ClientConfig),

  listTeams: () => get('listTeams', '/users/me/teams', v.array(Team)),

  /** Channels that the bot is a member of. */
  listChannels: (teamId: string) =>
    get(
      'listChannels',
      below('/users/me/teams/', teamId, '/channels?include_deleted=false'),
      v.array(Channel),
    ),

  getTeam: (teamId: string) => get('getTeam', below('/teams/', teamId), Team),

  getChannel: (channelId: string) => get('getChannel', below('/channels/', channelId), Channel),

  getChannelMember: (channelId: string) =>
    get('getChannelMember', below('/channels/', channelId, '/members/me'), Member),

  /** @param isSilent no notice to anybody, on servers that know it; older ones ignore it */
  createPost: (created: NewPost, isSilent: boolean): ChatRequest<ServerPost> => ({
    ...post('createPost', isSilent ? '/posts?silent=true' : '/posts', created, Post),
    isReply: created.root_id !== undefined,
  }),

  patchPost: (postId: string, patch: PostPatch) =>
    request('patchPost', 'PUT', below('/posts/', postId, '/patch'), patch, Post),

  getPost: (postId: string) => get('getPost', below('/posts/', postId), Post),

  /** A page of the posts of a channel, replies included, newest first. @param before id of a post; null: the newest */
  findPosts: (channelId: string, before: string | null) => {
    const after = before === null ? '' : `&before=${encodeURIComponent(before)}`;
    const query = `/posts?per_page=${POSTS_OF_A_PAGE}&skipFetchThreads=true${after}`;
    return get('findPosts', below('/channels/', channelId, query), PostList);
  },

  createEphemeralPost: (userId: string, shown: { channel_id: string; message: string; root_id: string }) =>
    post('createEphemeralPost', '/posts/ephemeral', { user_id: userId, post: shown }, AnyObject),

  findUser: (username: string) => get('findUser', below('/users/username/', username), User),

  findUsers: (ids: readonly string[]) => post('findUser', '/users/ids', ids, v.array(User)),

  createDirectChannel: (botId: string, userId: string) =>
    post('createDirectChannel', '/channels/direct', [botId, userId], v.object({ id })),

  /** Presses a button as the bot itself: the test of the way back (chat-server §11). */
  doPostAction: (postId: string, actionId: string) =>
    post('doPostAction', below('/posts/', postId, `/actions/${actionId}`), {}, AnyObject),
} as const;

function get<Value>(operation: OperationName, path: string | null, schema: Shape<Value>): ChatRequest<Value> {
  return request(operation, 'GET', path, null, schema);
}

function post<Value>(
  operation: OperationName,
  path: string | null,
  body: unknown,
  schema: Shape<Value>,
): ChatRequest<Value> {
  return request(operation, 'POST', path, body, schema);
}

type Shape<Value> = v.GenericSchema<unknown, Value>;

function request<Value>(
  operation: OperationName,
  method: ChatRequest<Value>['method'],
  path: string | null,
  body: unknown,
  schema: Shape<Value>,
): ChatRequest<Value> {
  return {
    ...{ operation, method, body, timeout: ANSWER_WITHIN, isReply: false },
    path: path === null ? null : `/api/v4${path}`,
    read(answer) {
      const found = v.safeParse(schema, answer, { abortEarly: true });
      return found.success ? found.output : null;
    },
  };
}

/**
 * An id as one segment of a path. A segment that is only dots means another path to every URL parser, however it is
 * encoded.
 */
function below(before: string, segment: string, after = ''): string | null {
  const isWritable = segment !== '' && !/^\.{1,2}$/.test(segment) && !/[\uD800-\uDFFF]/u.test(segment);
  return isWritable ? before + encodeURIComponent(segment) + after : null;
}
