/**
 * Bodies that a Mattermost server takes, held stricter than the server does: a field that it does not know, an attachment
 * that its newer versions warn of and a button that it would not route are violations (docs/contract/chat-server.md).
 */
import * as v from 'valibot';
import type { WireAnswer } from '../listener.ts';

export const ID = /^[a-z0-9]{26}$/;
const id = v.pipe(v.string(), v.regex(ID));
const webAddress = v.pipe(v.string(), v.regex(/^https?:\/\/\S+$/));

const Action = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9]+$/)),
  type: v.literal('button'),
  name: v.pipe(v.string(), v.nonEmpty()),
  style: v.picklist(['default', 'primary', 'success', 'good', 'warning', 'danger']),
  integration: v.strictObject({ url: webAddress, context: v.record(v.string(), v.unknown()) }),
});

const Attachment = v.pipe(
  v.strictObject({
    fallback: v.string(),
    text: v.string(),
    color: v.optional(v.pipe(v.string(), v.regex(/^#[0-9a-f]{6}$/i))),
    title: v.optional(v.string()),
    title_link: v.optional(webAddress),
    footer: v.optional(v.pipe(v.string(), v.maxLength(300))),
    footer_icon: v.optional(webAddress),
    actions: v.array(Action),
  }),
  v.check(({ title, title_link: link }) => link === undefined || title !== undefined, 'title_link'),
  v.check(({ actions }) => new Set(actions.map((action) => action.id)).size === actions.length, 'action id'),
);

const Props = v.strictObject({
  attachments: v.optional(v.array(Attachment)),
  tocsin_key: v.optional(v.string()),
});

export const BODIES = {
  createPost: v.strictObject({
    channel_id: id,
    message: v.string(),
    root_id: v.optional(id),
    pending_post_id: v.string(),
    props: Props,
  }),
  patchPost: v.strictObject({ message: v.optional(v.string()), props: v.optional(Props) }),
  ephemeral: v.strictObject({
    user_id: id,
    post: v.strictObject({
      channel_id: id,
      message: v.pipe(v.string(), v.nonEmpty()),
      root_id: v.union([v.literal(''), id]),
    }),
  }),
  names: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(100)),
  pair: v.strictTuple([id, id]),
  empty: v.strictObject({}),
} as const;

export type Attachment = v.InferOutput<typeof Attachment>;
export type Action = v.InferOutput<typeof Action>;
export type CreatePost = v.InferOutput<typeof BODIES.createPost>;

/** Ids of errors with the status that the server gives them. */
const STATUS = {
  'api.context.session_expired.app_error': 401,
  'api.context.permissions.app_error': 403,
  'api.context.invalid_body_param.app_error': 400,
  'api.context.invalid_url_param.app_error': 400,
  'api.context.request_body_too_large.app_error': 413,
  'api.context.404.app_error': 404,
  'app.post.get.app_error': 404,
  'app.channel.get.existing.app_error': 404,
  'app.channel.get_channels.not_found.app_error': 404,
  'app.user.get_by_username.app_error': 404,
  'api.post.create_post.silent_notification.app_error': 403,
  'api.post.create_post.can_not_post_to_deleted.error': 400,
  'api.post.create_post.root_id.app_error': 400,
  'api.post.create_post.channel_root_id.app_error': 400,
  'model.post.is_valid.message_length.app_error': 400,
  'model.post.is_valid.props.app_error': 400,
  'api.post.update_post.permissions_time_limit.app_error': 400,
  'api.post.patch_post.can_not_update_post_in_deleted.error': 400,
  'api.post.do_action.action_id.app_error': 404,
  'api.post.do_action.action_integration.app_error': 400,
  'api.channel.create_channel.direct_channel.team_restricted_error': 403,
} as const;
export type ErrorId = keyof typeof STATUS;

/** An answer of the server that is no success. */
export class Refusal extends Error {
  readonly answer: WireAnswer;

  /** @param detail shown by servers in developer mode only */
  constructor(id: ErrorId, detail = '') {
    super(id);
    const status = STATUS[id];
    const isPlain = id === 'api.context.404.app_error';
    this.answer = {
      status,
      headers: { 'content-type': isPlain ? 'text/plain' : 'application/json' },
      body: JSON.stringify({
        ...{ id, message: `Said of ${id}.`, detailed_error: isPlain ? 'no such path' : detail },
        ...{ request_id: 'q5k8mzx1toyf3wub7rn4c6e9ja', status_code: status },
      }),
    };
  }
}

export function json(status: number, value: unknown): WireAnswer {
  const headers = { 'content-type': 'application/json', 'x-version-id': '11.7.2.27034.8b1c0d.false' };
  return { status, headers, body: JSON.stringify(value) };
}

/** What the limiter of the server answers, which is no JSON. */
export const LIMITED: WireAnswer = {
  status: 429,
  headers: {
    ...{ 'content-type': 'text/plain; charset=utf-8', 'retry-after': '1', 'x-ratelimit-limit': '101' },
    ...{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '10' },
  },
  body: 'limit exceeded\n',
};
