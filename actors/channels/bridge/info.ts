/** What a bridge says of itself: the answer of getInfo, read with its pointers (bridge §3.1). */
import * as v from 'valibot';
import { integer } from '../../schemas.ts';
import { codePoints } from '../../text.ts';

/** A text of so many code points. */
export function characters(least: number, most: number) {
  return v.pipe(
    v.string(),
    v.check((text) => {
      const length = codePoints(text);
      return length >= least && length <= most;
    }),
  );
}

/** An absolute http or https URL with a host. */
function webAddress(most: number) {
  return v.pipe(
    characters(1, most),
    v.check((text) => {
      if (!URL.canParse(text)) return false;
      const { protocol, hostname } = new URL(text);
      return (protocol === 'http:' || protocol === 'https:') && hostname !== '';
    }),
  );
}

/** Opaque ids of messages, channels, Threads and accounts. The database has no zero character. */
export const externalId = v.pipe(
  characters(1, 512),
  v.check((id) => !id.includes('\0')),
);

/** A name that is only shown. */
const nameOf = (most: number) => v.pipe(characters(1, most), v.transform(withoutZeros));

/** A text as the database can hold it. */
export function withoutZeros(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

const absent = <Value>(schema: v.GenericSchema<unknown, Value>) => v.optional(v.nullable(schema), null);

export const PersonShape = v.object({
  external_id: externalId,
  username: absent(nameOf(320)),
  display_name: absent(nameOf(200)),
  bot: v.optional(v.nullable(v.boolean(), false), false),
});

/** An account of the messenger. */
export type Person = v.InferOutput<typeof PersonShape>;

/** Ids of events, as they may stand in a header. */
export const EVENT_ID = /^[!-~]{1,200}$/;

export const PROTOCOL_VERSION = '1';
const TOKEN_VARIABLE = '{token}';

/** Absent and null say the same. */
const flag = v.optional(v.nullable(v.boolean(), false), false);

const linkTemplate = v.pipe(
  webAddress(2000),
  v.check((template) => {
    const [first, ...rest] = template.split(TOKEN_VARIABLE);
    return rest.length === 1 && !/[{}]/.test(`${first}${rest[0]}`);
  }),
);

/** A member that is left out, and one that is wrong, is missing: neither makes the whole Info invalid. */
function lenient<Value>(schema: v.GenericSchema<unknown, Value>) {
  return v.fallback(v.optional(v.nullable(schema), null), null);
}

const DirectMessages = v.optional(
  v.nullable(v.union([v.literal(false), v.object({ bot_can_start: flag })]), false),
  false,
);

const InfoShape = v.object({
  protocol_version: v.literal(PROTOCOL_VERSION),
  bridge: v.object({
    name: characters(1, 100),
    version: characters(1, 50),
    homepage: lenient(webAddress(2000)),
  }),
  messenger: v.object({
    name: characters(1, 100),
    version: lenient(characters(1, 50)),
    url: lenient(webAddress(2000)),
    bot: lenient(PersonShape),
  }),
  capabilities: v.object({
    buttons: flag,
    quiet_messages: flag,
    native_mentions: flag,
    delete: flag,
    direct_messages: DirectMessages,
    private_answers: flag,
    thread_messages: flag,
    deletion_events: flag,
  }),
  limits: v.object({
    max_body_length: integer(500, 1_000_000),
    edit_max_age_seconds: lenient(integer(60, Number.MAX_SAFE_INTEGER)),
    max_buttons: lenient(integer(1, 25)),
    max_button_text: lenient(integer(4, 64)),
  }),
  user_lookup: v.picklist(['none', 'email', 'login', 'username', 'user_id']),
  event_delivery: v.pipe(
    v.array(v.picklist(['poll', 'push'])),
    v.nonEmpty(),
    v.check((ways) => new Set(ways).size === ways.length),
  ),
  link_url_template: lenient(linkTemplate),
});

export type BridgeInfo = v.InferOutput<typeof InfoShape>;

/** Members that count as missing when they are wrong. */
const LENIENT = [
  ['bridge', 'homepage'],
  ['messenger', 'version'],
  ['messenger', 'url'],
  ['messenger', 'bot'],
  ['limits', 'edit_max_age_seconds'],
  ['limits', 'max_buttons'],
  ['limits', 'max_button_text'],
  ['link_url_template'],
] as const;

export type ReadInfo =
  /** `wrong`: pointer of the first member that was taken as missing because it is wrong. */
  | { readonly ok: true; readonly info: BridgeInfo; readonly wrong: string | null }
  | { readonly ok: false; readonly because: 'version'; readonly version: string }
  /** Pointer of the first wrong member; empty for the whole. */
  | { readonly ok: false; readonly because: 'invalid'; readonly pointer: string };

/** Reads an Info. Members that are not known are left out. */
export function readInfo(value: unknown): ReadInfo {
  const version = at(value, ['protocol_version']);
  if (typeof version === 'string' && version !== PROTOCOL_VERSION) {
    return { ok: false, because: 'version', version: [...version].slice(0, 20).join('') };
  }
  const read = v.safeParse(InfoShape, value, { abortEarly: true });
  if (!read.success) {
    const path = read.issues[0].path ?? [];
    return { ok: false, because: 'invalid', pointer: path.map(({ key }) => `/${String(key)}`).join('') };
  }
  const wrong = LENIENT.find((path) => at(value, path) != null && at(read.output, path) === null);
  return { ok: true, info: read.output, wrong: wrong ? `/${wrong.join('/')}` : null };
}

/** The account the bridge acts as, as people know it. */
export function botName(info: BridgeInfo | null): string | null {
  const bot: Person | null = info?.messenger.bot ?? null;
  return bot?.username ?? bot?.display_name ?? null;
}

function at(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Object.getOwnPropertyDescriptor(found, key)?.value;
  }
  return found;
}
