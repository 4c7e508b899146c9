/**
 * A strict Mattermost server in memory, written from docs/contract/chat-server.md, whose rules are the server's own: who
 * may post where, what is answered to a deleted post, an archived channel, a closed edit window, a repeat of a post that it
 * remembers. What no server would take from a careful client is noted in `violations`.
 */
import * as v from 'valibot';
import type { WireAnswer, WireRequest } from '../listener.ts';
import { type Attachment, BODIES, ID, json, LIMITED, Refusal } from './shapes.ts';

export interface FakeUser {
  readonly id: string;
  username: string;
  readonly isBot: boolean;
  roles: string;
  deleteAt: number;
}

export interface FakePost {
  readonly id: string;
  readonly createAt: number;
  updateAt: number;
  editAt: number;
  deleteAt: number;
  readonly userId: string;
  readonly channelId: string;
  readonly rootId: string;
  message: string;
  props: { attachments?: readonly Attachment[] | undefined; tocsin_key?: string | undefined };
  readonly isSilent: boolean;
}

interface FakeChannel {
  readonly id: string;
  readonly teamId: string;
  readonly type: 'O' | 'P' | 'D';
  readonly name: string;
  readonly displayName: string;
  deleteAt: number;
  readonly members: Set<string>;
}

export interface FakeOptions {
  /** Unix ms. */
  readonly now: () => number;
  readonly token: string;
  /** Sends a press to its callback, as the server does. */
  readonly callBack?: (
    url: string,
    body: string,
  ) => Promise<{ readonly status: number; readonly body: string }>;
}

/** What the server remembers a `pending_post_id` for. */
const REMEMBERED_MS = 30_000;
const LARGEST_BODY = 300_000;
/** `RateLimitSettings.PerSec`, and `MaxBurst` plus the call itself (server/channels/app/ratelimit.go). */
export const LIMITER_PER_SECOND = 10;
export const LIMITER_BURST = 101;
const LONGEST_PROPS = 800_000;

export class FakeChatServer {
  readonly users = new Map<string, FakeUser>();
  readonly teams = new Map<string, { id: string; name: string; displayName: string; deleteAt: number }>();
  readonly channels = new Map<string, FakeChannel>();
  /** In the order in which they were made. */
  readonly posts: FakePost[] = [];
  readonly ephemeral: { userId: string; channelId: string; rootId: string; message: string }[] = [];
  /** Whom a post notified: `<post id> <name>`. */
  readonly notices: string[] = [];
  readonly violations: string[] = [];
  readonly calls: string[] = [];
  readonly bot: FakeUser;
  readonly team: { readonly id: string };
  readonly channel: FakeChannel;
  /** What administrators set. */
  readonly settings = {
    token: '',
    maxPostSize: '16383',
    postEditTimeLimit: -1,
    deduplicates: true,
    knowsSilent: true,
    mayPostSilently: true,
    directMessages: 'any' as 'any' | 'team',
    permissions: new Set(['create_post', 'create_direct_channel']),
    /** Answered to everything, as a proxy or the limiter does; null: the server answers. */
    instead: null as WireAnswer | null,
    /** `RateLimitSettings.Enable`, with the server's defaults and one client address (chat-server §10). */
    limits: false,
  };
  /** Calls that were refused by the server's limiter. */
  tooMany = 0;
  #limiter = { left: LIMITER_BURST, at: 0 };
  readonly #options: FakeOptions;
  readonly #pending = new Map<string, { readonly at: number; readonly id: string }>();
  #made = 0;

  constructor(options: FakeOptions) {
    this.#options = options;
    this.settings.token = options.token;
    this.bot = this.addUser('tocsin', true);
    this.team = this.addTeam('ops', 'Operations');
    this.channel = this.addChannel(this.team.id, 'alerts', 'Alerts', [this.bot.id]);
  }

  addUser(username: string, isBot = false): FakeUser {
    const user: FakeUser = { id: this.#id('u'), username, isBot, roles: 'system_user', deleteAt: 0 };
    this.users.set(user.id, user);
    return user;
  }

  addTeam(name: string, displayName: string) {
    const team = { id: this.#id('t'), name, displayName, deleteAt: 0 };
    this.teams.set(team.id, team);
    return team;
  }

  addChannel(
    teamId: string,
    name: string,
    displayName: string,
    members: readonly string[] = [],
  ): FakeChannel {
    const channel: FakeChannel = {
      ...{ id: this.#id('c'), teamId, type: 'O', name, displayName, deleteAt: 0 },
      members: new Set(members),
    };
    this.channels.set(channel.id, channel);
    return channel;
  }

  /** A person or an administrator deletes a post with everything below it. */
  remove(postId: string): void {
    const now = this.#options.now();
    for (const post of this.posts)
      if (post.id === postId || post.rootId === postId) Object.assign(post, { deleteAt: now, updateAt: now });
  }

  /** A person presses a button, as their client does. */
  async press(postId: string, actionId: string, user: FakeUser, times = 1): Promise<readonly WireAnswer[]> {
    const trigger = this.#id('r');
    const answers: WireAnswer[] = [];
    for (let time = 0; time < times; time++) answers.push(await this.#act(postId, actionId, user, trigger));
    return answers;
  }

  async answer(request: WireRequest): Promise<WireAnswer> {
    const url = new URL(request.target, 'http://fake.invalid');
    this.calls.push(`${request.method} ${url.pathname}${url.search}`);
    if (this.settings.instead) return this.settings.instead;
    if (this.settings.limits && !this.#isWithinLimits()) {
      this.tooMany++;
      return LIMITED;
    }
    try {
      return await this.#route(request, url);
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
  }

  /** The server's GCRA limiter as a bucket: its burst and one call at once, `PerSec` behind it. */
  #isWithinLimits(): boolean {
    const now = this.#options.now();
    const { left, at } = this.#limiter;
    const held = Math.min(LIMITER_BURST, left + ((now - at) / 1_000) * LIMITER_PER_SECOND);
    this.#limiter = { left: held < 1 ? held : held - 1, at: now };
    return held >= 1;
  }

  limit(isLimited: boolean): void {
    this.settings.instead = isLimited ? LIMITED : null;
  }

  async #route(request: WireRequest, url: URL): Promise<WireAnswer> {
    if (!url.pathname.startsWith('/api/v4/')) {
      return {
        status: request.method === 'GET' ? 200 : 405,
        headers: { 'content-type': 'text/html' },
        body: '<html>',
      };
    }
    const [one = '', two = '', three = '', four = '', five = ''] = url.pathname
      .slice('/api/v4/'.length)
      .split('/');
    const name = `${request.method} ${shapeOf([one, two, three, four, five])}`;
    if (name === 'GET system/ping') return json(200, { status: 'OK', ActiveSearchBackend: 'database' });
    if (request.headers.authorization !== `Bearer ${this.settings.token}` || this.bot.deleteAt !== 0)
      throw new Refusal(
        'api.context.session_expired.app_error',
        `token=${request.headers.authorization ?? ''}`,
      );
    if (Buffer.byteLength(request.body) > LARGEST_BODY)
      throw new Refusal('api.context.request_body_too_large.app_error');
    if (['teams', 'channels', 'posts'].includes(one) && two !== '' && !WORDS.has(two) && !ID.test(two))
      throw new Refusal('api.context.invalid_url_param.app_error');
    switch (name) {
      case 'GET users/me':
        return json(200, this.#user(this.bot));
      case 'POST roles/names':
        return json(200, this.#roles(this.#body(request, BODIES.names)));
      case 'GET config/client':
        this.#expect(url.search === '?format=old', 'format=old');
        return json(200, {
          Version: '11.7.2',
          MaxPostSize: this.settings.maxPostSize,
          PostEditTimeLimit: '-1',
        });
      case 'GET users/me/teams':
        return json(200, [...this.teams.values()].map(teamShape));
      case 'GET users/me/teams/ID/channels':
        return this.#listChannels(four);
      case 'GET teams/ID':
        return json(200, teamShape(this.teams.get(two) ?? refuse('api.context.permissions.app_error')));
      case 'GET channels/ID':
        return json(
          200,
          channelShape(this.channels.get(two) ?? refuse('app.channel.get.existing.app_error')),
        );
      case 'GET channels/ID/members/me':
        return this.#member(two);
      case 'GET channels/ID/posts':
        return this.#page(two, url.searchParams);
      case 'POST posts':
        return this.#createPost(request, url.searchParams);
      case 'POST posts/ephemeral':
        return this.#showPrivately(request);
      case 'PUT posts/ID/patch':
        return this.#patch(two, request);
      case 'GET posts/ID':
        return json(200, this.#shown(this.#readable(two)));
      case 'POST posts/ID/actions/ID':
        this.#body(request, BODIES.empty);
        return this.#act(two, four, this.bot, this.#id('r'));
      case 'GET users/username/ID':
        return json(200, this.#user(this.#named(decodeURIComponent(three))));
      case 'POST users/ids':
        return json(
          200,
          this.#body(request, BODIES.names).flatMap((id) => this.#found(id)),
        );
      case 'POST channels/direct':
        return this.#direct(this.#body(request, BODIES.pair));
      default:
        throw new Refusal('api.context.404.app_error');
    }
  }

  #createPost(request: WireRequest, query: URLSearchParams): WireAnswer {
    const body = this.#body(request, BODIES.createPost);
    const { channel_id: channelId, message, root_id: rootId = '', pending_post_id: pending, props } = body;
    this.#expect(pending.startsWith(`${this.bot.id}:`), 'pending_post_id of another user');
    const channel = this.#writable(channelId);
    if (channel.deleteAt !== 0) throw new Refusal('api.post.create_post.can_not_post_to_deleted.error');
    const isSilent = query.get('silent') === 'true' && this.settings.knowsSilent;
    if (isSilent && !this.settings.mayPostSilently)
      throw new Refusal('api.post.create_post.silent_notification.app_error');
    const before = this.#pending.get(pending);
    const now = this.#options.now();
    if (this.settings.deduplicates && before && now - before.at < REMEMBERED_MS) {
      const first = this.posts.find(({ id }) => id === before.id);
      if (first) return json(201, { ...this.#shown(first), pending_post_id: '' });
    }
    if (rootId !== '') {
      const root = this.posts.find(({ id }) => id === rootId);
      if (root?.deleteAt !== 0 || root.rootId !== '')
        throw new Refusal('api.post.create_post.root_id.app_error');
      if (root.channelId !== channelId) throw new Refusal('api.post.create_post.channel_root_id.app_error');
    }
    this.#checkSize(message, props);
    const post: FakePost = {
      ...{ id: this.#id('p'), createAt: now, updateAt: now, editAt: 0, deleteAt: 0, userId: this.bot.id },
      ...{ channelId, rootId, message, props, isSilent },
    };
    this.posts.push(post);
    this.#pending.set(pending, { at: now, id: post.id });
    if (!isSilent) this.#notify(post);
    return json(201, { ...this.#shown(post), pending_post_id: pending });
  }

  #patch(postId: string, request: WireRequest): WireAnswer {
    const { message, props } = this.#body(request, BODIES.patchPost);
    const post = this.posts.find(({ id }) => id === postId);
    if (post?.deleteAt !== 0 || post.userId !== this.bot.id || !this.settings.permissions.has('create_post'))
      throw new Refusal('api.context.permissions.app_error');
    const channel = this.#writable(post.channelId);
    if (channel.deleteAt !== 0) throw new Refusal('api.post.patch_post.can_not_update_post_in_deleted.error');
    const now = this.#options.now();
    const { postEditTimeLimit: limit } = this.settings;
    if (message !== undefined && limit >= 0 && now > post.createAt + limit * 1_000)
      throw new Refusal('api.post.update_post.permissions_time_limit.app_error');
    this.#checkSize(message ?? '', props ?? {});
    Object.assign(post, { updateAt: now, editAt: now, ...(props ? { props } : {}) });
    if (message !== undefined) post.message = message;
    return json(200, this.#shown(post));
  }

  #checkSize(message: string, props: object): void {
    if ([...message].length > Number(this.settings.maxPostSize))
      throw new Refusal('model.post.is_valid.message_length.app_error');
    if ([...JSON.stringify(props)].length > LONGEST_PROPS)
      throw new Refusal('model.post.is_valid.props.app_error');
  }

  #readable(postId: string): FakePost {
    const post = this.posts.find(({ id }) => id === postId);
    if (post?.deleteAt !== 0) throw new Refusal('app.post.get.app_error');
    return post;
  }

  /** Replies included, deleted posts left out, as the server has it (`page` aside, which shifts with every post). */
  #page(channelId: string, query: URLSearchParams): WireAnswer {
    const most = Number(query.get('per_page'));
    this.#expect(Number.isInteger(most) && most > 0 && most <= 200, 'per_page');
    this.#expect(query.get('skipFetchThreads') === 'true', 'whole threads');
    this.#writable(channelId);
    const before = query.get('before');
    const end = before === null ? this.posts.length : this.posts.findIndex(({ id }) => id === before);
    this.#expect(end >= 0, 'before');
    const live = this.posts
      .slice(0, end)
      .filter((post) => post.channelId === channelId && post.deleteAt === 0);
    const newest = live.reverse().slice(0, most);
    const posts = Object.fromEntries(newest.map((post) => [post.id, this.#shown(post)]));
    return json(200, { order: newest.map(({ id }) => id), posts, next_post_id: '', prev_post_id: '' });
  }

  #showPrivately(request: WireRequest): WireAnswer {
    const { user_id: userId, post } = this.#body(request, BODIES.ephemeral);
    if (!this.settings.permissions.has('create_post_ephemeral'))
      throw new Refusal('api.context.permissions.app_error');
    const { channel_id: channelId, root_id: rootId, message } = post;
    this.ephemeral.push({ userId, channelId, rootId, message });
    return json(201, { id: this.#id('e'), type: 'system_ephemeral', channel_id: channelId, message });
  }

  async #act(postId: string, actionId: string, user: FakeUser, trigger: string): Promise<WireAnswer> {
    const post = this.posts.find(({ id, deleteAt }) => id === postId && deleteAt === 0);
    const action = post?.props.attachments
      ?.flatMap(({ actions }) => actions)
      .find(({ id }) => id === actionId);
    if (!post || !action) return new Refusal('api.post.do_action.action_id.app_error').answer;
    const channel = this.channels.get(post.channelId);
    const body = JSON.stringify({
      ...{
        user_id: user.id,
        user_name: user.username,
        channel_id: post.channelId,
        channel_name: channel?.name,
      },
      ...{
        team_id: channel?.teamId,
        team_domain: 'ops',
        post_id: post.id,
        trigger_id: trigger,
        type: 'button',
      },
      ...{ data_source: '', context: action.integration.context },
    });
    const answered = await this.#options.callBack?.(action.integration.url, body).catch(() => null);
    const said = answered?.status === 200 ? parsed(answered.body) : null;
    if (!said) return new Refusal('api.post.do_action.action_integration.app_error').answer;
    const { ephemeral_text: text } = said;
    if (typeof text === 'string') {
      this.#expect(said.skip_slack_parsing === true, 'skip_slack_parsing');
      const rootId = post.rootId === '' ? post.id : post.rootId;
      this.ephemeral.push({ userId: user.id, channelId: post.channelId, rootId, message: text });
    }
    if (said.update !== undefined) this.#replace(post, channel?.type, said.update);
    return json(200, { status: 'OK', trigger_id: this.#id('g') });
  }

  /** A press may replace the post of its button; those about Alert Groups only delivery edits (chat-server §8.1). */
  #replace(post: FakePost, channelType: string | undefined, update: unknown): void {
    const { message, props } = update as { readonly message: string; readonly props: FakePost['props'] };
    this.#expect(channelType === 'D' && typeof message === 'string' && typeof props === 'object', 'update');
    Object.assign(post, { message, props });
  }

  #listChannels(teamId: string): WireAnswer {
    const channels = [...this.channels.values()].filter(
      (channel) => channel.teamId === teamId && channel.deleteAt === 0 && channel.members.has(this.bot.id),
    );
    if (channels.length === 0) throw new Refusal('app.channel.get_channels.not_found.app_error');
    return json(200, channels.map(channelShape));
  }

  #member(channelId: string): WireAnswer {
    this.#writable(channelId);
    return json(200, { channel_id: channelId, user_id: this.bot.id, roles: 'channel_user' });
  }

  #direct([botId, userId]: readonly [string, string]): WireAnswer {
    if (this.settings.directMessages === 'team')
      throw new Refusal('api.channel.create_channel.direct_channel.team_restricted_error');
    const name = `${botId}__${userId}`;
    const known = [...this.channels.values()].find((channel) => channel.name === name);
    const made =
      known ?? Object.assign(this.addChannel('', name, '', [botId, userId]), { type: 'D' as const });
    return json(201, channelShape(made));
  }

  /** A channel that does not exist is refused as one that the bot is not in. */
  #writable(channelId: string): FakeChannel {
    const channel = this.channels.get(channelId);
    if (!channel?.members.has(this.bot.id)) throw new Refusal('api.context.permissions.app_error');
    return channel;
  }

  /** Names in `message`, and in the text of attachments, outside of code. */
  #notify({ id, message, props }: FakePost): void {
    const texts = [message, ...(props.attachments ?? []).map(({ text }) => text)];
    const names = ['channel', 'all', 'here', ...[...this.users.values()].map(({ username }) => username)];
    for (const text of texts) {
      const plain = text.replace(/`[^`]*`/g, '');
      for (const name of names)
        if (new RegExp(`(^|[^\\w@])@${name}\\b`, 'i').test(plain)) this.notices.push(`${id} ${name}`);
    }
  }

  #roles(names: readonly string[]) {
    return names.map((name) => {
      const permissions = name === 'system_user' ? [...this.settings.permissions] : [];
      return { id: this.#id('r'), name, permissions, delete_at: 0, scheme_managed: true, built_in: true };
    });
  }

  #named(username: string): FakeUser {
    const user = [...this.users.values()].find((one) => one.username === username);
    return user ?? refuse('app.user.get_by_username.app_error');
  }

  #found(id: string): readonly object[] {
    const user = this.users.get(id);
    return user ? [this.#user(user)] : [];
  }

  #user({ id, username, roles, isBot, deleteAt }: FakeUser): object {
    return { id, username, roles, delete_at: deleteAt, locale: 'en', ...(isBot ? { is_bot: true } : {}) };
  }

  /** A post as it is answered: `integration` is shown to nobody. */
  #shown(post: FakePost): object {
    const attachments = post.props.attachments?.map((attachment) => ({
      ...attachment,
      actions: attachment.actions.map(({ integration: _, ...action }) => action),
    }));
    return {
      ...{ id: post.id, create_at: post.createAt, update_at: post.updateAt, edit_at: post.editAt },
      ...{ delete_at: post.deleteAt, user_id: post.userId, channel_id: post.channelId, root_id: post.rootId },
      ...{ message: post.message, type: '', pending_post_id: '', file_ids: [] },
      props: { from_bot: 'true', ...post.props, ...(attachments ? { attachments } : {}) },
    };
  }

  #body<Value>({ headers, body }: WireRequest, schema: v.GenericSchema<unknown, Value>): Value {
    this.#expect(headers['content-type'] === 'application/json', 'Content-Type');
    const read = v.safeParse(schema, parsed(body));
    if (read.success) return read.output;
    this.#expect(false, v.summarize(read.issues));
    throw new Refusal('api.context.invalid_body_param.app_error');
  }

  #expect(isKept: boolean, rule: string): void {
    if (!isKept) this.violations.push(rule);
  }

  /** 26 characters, as the server's ids have. */
  #id(kind: string): string {
    this.#made++;
    return kind + this.#made.toString(36).padStart(25, '0');
  }
}

function refuse(id: ConstructorParameters<typeof Refusal>[0]): never {
  throw new Refusal(id);
}

function parsed(body: string): Record<string, unknown> | null {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    // No JSON: whoever asks says what that means.
    return null;
  }
}

const OF_IDS = new Set(['teams', 'channels', 'posts', 'actions', 'username']);
const WORDS = new Set(['direct', 'ephemeral']);

/** The path of an operation, with `ID` for what differs. */
function shapeOf(segments: readonly string[]): string {
  const named = segments.filter((segment) => segment !== '');
  const isId = (segment: string, index: number) =>
    OF_IDS.has(named[index - 1] ?? '') && /^[^/]+$/.test(segment) && !WORDS.has(segment);
  return named.map((segment, index) => (isId(segment, index) ? 'ID' : segment)).join('/');
}

function teamShape({
  id,
  name,
  displayName,
  deleteAt,
}: {
  id: string;
  name: string;
  displayName: string;
  deleteAt: number;
}) {
  return { id, name, display_name: displayName, delete_at: deleteAt, type: 'O' };
}

function channelShape({ id, teamId, type, name, displayName, deleteAt }: FakeChannel) {
  return { id, team_id: teamId, type, name, display_name: displayName, delete_at: deleteAt };
}
