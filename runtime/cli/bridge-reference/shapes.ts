/** What requests look like (bridge §3). The first error is reported with its field. */
import * as v from 'valibot';
import { invalid } from './wire.ts';

/** Lengths count code points. */
export const lengthOf = (text: string): number => [...text].length;

const text = (least: number, most: number) =>
  v.pipe(
    v.string('must be a string'),
    v.check(
      (value) => lengthOf(value) >= least && lengthOf(value) <= most,
      `must have ${least} to ${most} characters`,
    ),
  );
const matching = (pattern: RegExp) =>
  v.pipe(v.string('must be a string'), v.regex(pattern, `must match ${pattern.source}`));
const oneOf = <const T extends readonly string[]>(...values: T) =>
  v.picklist(values, `must be one of ${values.join(', ')}`);
const flag = v.boolean('must be true or false');
const listOf = <const S extends v.GenericSchema>(item: S) => v.array(item, 'must be an array');

const httpUrl = v.pipe(
  text(1, 2000),
  v.check((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'must be an http(s) URL'),
);

export const PERSON = v.object({
  external_id: text(1, 512),
  username: v.nullish(text(1, 320), null),
  display_name: v.nullish(text(1, 200), null),
  bot: v.nullish(flag, false),
});
export type Person = v.InferOutput<typeof PERSON>;

const BUTTON = v.object({
  text: text(1, 64),
  data: matching(/^[A-Za-z0-9_-]{1,64}$/),
  style: v.nullish(v.string('must be a string'), 'default'),
});
const MENTION = v.object({
  ref: matching(/^[a-z0-9]{1,16}$/),
  type: v.string('must be a string'),
  user: v.nullish(PERSON, null),
});
const MENTIONS = v.pipe(
  listOf(MENTION),
  v.check((all) => new Set(all.map(({ ref }) => ref)).size === all.length, 'must not name a ref twice'),
  v.check((all) => all.every(({ type, user }) => type !== 'user' || user !== null), 'must have their user'),
);
const BODY = v.string('must be a string');

const CONTENT = {
  status: oneOf('firing', 'acknowledged', 'snoozed', 'resolved', 'storm'),
  color: matching(/^#[0-9a-f]{6}$/),
  emoji: text(1, 8),
  title: text(1, 512),
  link: v.object({ url: httpUrl, text: text(1, 100) }),
  body: BODY,
  buttons: listOf(BUTTON),
};
const NOT_IN_AN_EDIT = v.optional(v.undefined('must not be part of an edit'));

export const POST = v.object({
  ...CONTENT,
  channel_id: text(1, 512),
  kind: oneOf('root', 'storm_summary', 'test'),
  mentions: MENTIONS,
  notify: flag,
});
export const EDIT = v.object({
  ...CONTENT,
  channel_id: NOT_IN_AN_EDIT,
  kind: NOT_IN_AN_EDIT,
  mentions: NOT_IN_AN_EDIT,
  notify: NOT_IN_AN_EDIT,
});
export const REPLY = v.object({
  thread_ref: v.nullable(text(1, 512)),
  body: BODY,
  buttons: listOf(BUTTON),
  mentions: MENTIONS,
  notify: flag,
});
export const DIRECT = v.object({ user_external_id: text(1, 512), body: text(1, 2000) });
export const ANSWER = v.object({ event_id: matching(/^[!-~]{1,200}$/), text: text(1, 500) });

export type Button = v.InferOutput<typeof BUTTON>;
export type Mention = v.InferOutput<typeof MENTION>;
export type Content = Omit<v.InferOutput<typeof POST>, 'channel_id' | 'kind' | 'mentions' | 'notify'>;

/** @throws Refusal with class invalid */
export function readBody<const S extends v.GenericSchema>(schema: S, body: string): v.InferOutput<S> {
  return read(schema, parseJson(body));
}

/** @throws Refusal with class invalid */
export function read<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const why = issue.received === 'undefined' ? 'is missing' : issue.message;
  throw invalid(v.getDotPath(issue) ?? 'body', why);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw invalid('body', 'is not JSON');
  }
}

/** What a reference bridge is started with, and what it declares of itself. */

export const CAPABILITIES = [
  'buttons',
  'quiet_messages',
  'native_mentions',
  'delete',
  'direct_messages',
  'private_answers',
  'thread_messages',
  'deletion_events',
] as const;

/** Everything that can be left out at start, and later through {@link Settings.without}. */
export const SWITCHES = [...CAPABILITIES, 'user_lookup', 'poll'] as const;
export type Switch = (typeof SWITCHES)[number];

export interface Settings {
  /** One token is one bot with messages and events of its own. */
  readonly tokens: readonly string[];
  /** Read at every request, so tests may change it while the bridge runs. */
  readonly without: Set<Switch>;
  /** Seconds; null: messages can be edited for ever. */
  readonly editMaxAge: number | null;
  /** Where the events of the first token are pushed to. */
  readonly push: { readonly url: string; readonly secret: string } | null;
  /** The most messages that it remembers; all of them when not given. */
  readonly keeps?: number;
  /** Where people open the web page, without a slash at its end. */
  readonly pageUrl: string;
}

export const LIMITS = { max_body_length: 4000, max_buttons: 12, max_button_text: 40 } as const;

/** The account that the bridge is in its messenger. */
export const BOT = { external_id: 'u-bot', username: 'oncall-bot', display_name: 'On-call', bot: true };

/** Answer of getInfo. */
export function infoOf({ without, editMaxAge, push, pageUrl }: Settings): Record<string, unknown> {
  const has = (name: Switch): boolean => !without.has(name);
  return {
    protocol_version: '1',
    bridge: { name: 'tocsin-bridge-example', version: '1.0.0' },
    messenger: { name: 'Reference messenger', version: '1', url: pageUrl, bot: BOT },
    capabilities: {
      ...Object.fromEntries(CAPABILITIES.map((name) => [name, has(name)])),
      direct_messages: has('direct_messages') && { bot_can_start: true },
      private_answers: has('private_answers') && has('buttons'),
    },
    limits: { ...LIMITS, edit_max_age_seconds: editMaxAge },
    user_lookup: has('user_lookup') ? 'email' : 'none',
    event_delivery: [...(has('poll') ? ['poll'] : []), ...(push ? ['push'] : [])],
    link_url_template: `${pageUrl}/link/{token}`,
  };
}
