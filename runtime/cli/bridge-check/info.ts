/** Info: what is wrong with one, and what it declares as far as it can be read (bridge §3.1). */
import { isObject } from './client.ts';

/** What checks need to know of a bridge. */
export interface Declared {
  has(capability: string): boolean;
  readonly botCanStart: boolean;
  /** Code points. */
  readonly maxBodyLength: number;
  readonly editMaxAgeSeconds: number | null;
  readonly userLookup: string;
  readonly delivery: readonly unknown[];
}

type Members = Readonly<Record<string, unknown>>;

const CAPABILITIES = [
  ...['buttons', 'quiet_messages', 'native_mentions', 'delete', 'private_answers'],
  ...['thread_messages', 'deletion_events'],
];
const LEAST_BODY = 500;
const MOST_BODY = 1_000_000;

export function declaredBy(info: Members): Declared {
  const capabilities = objectAt(info, 'capabilities');
  const { max_body_length: length, edit_max_age_seconds: age } = objectAt(info, 'limits');
  return {
    has: (capability) => capabilities[capability] === true,
    botCanStart: objectAt(capabilities, 'direct_messages').bot_can_start === true,
    maxBodyLength: isBetween(length, LEAST_BODY, MOST_BODY) ? length : LEAST_BODY,
    editMaxAgeSeconds: typeof age === 'number' ? age : null,
    userLookup: typeof info.user_lookup === 'string' ? info.user_lookup : 'none',
    delivery: Array.isArray(info.event_delivery) ? info.event_delivery : [],
  };
}

/** What is wrong with an Info by the check that looks at it; null: nothing. */
export const INFO_FAULTS = {
  I1: ({ protocol_version }) =>
    protocol_version === '1' ? null : `protocol_version is ${JSON.stringify(protocol_version)}`,
  I2: (info) => {
    const missing = ['bridge.name', 'bridge.version', 'messenger.name'].filter((path) => {
      const [object = '', name = ''] = path.split('.');
      const value = objectAt(info, object)[name];
      return typeof value !== 'string' || value === '';
    });
    return missing.length === 0 ? null : `${missing.join(', ')} missing or empty`;
  },
  I3: (info) => {
    if (!isObject(info.capabilities)) return 'capabilities is not an object';
    const { direct_messages: direct, ...flags } = info.capabilities;
    const wrong = CAPABILITIES.find((name) => flags[name] != null && typeof flags[name] !== 'boolean');
    if (wrong) return `capabilities.${wrong} is not true or false`;
    const isFine =
      direct == null ||
      direct === false ||
      typeof objectAt(info.capabilities, 'direct_messages').bot_can_start === 'boolean';
    return isFine ? null : 'capabilities.direct_messages is neither false nor an object with bot_can_start';
  },
  I4: (info) => {
    const { max_body_length: length, edit_max_age_seconds: age } = objectAt(info, 'limits');
    if (!isBetween(length, LEAST_BODY, MOST_BODY))
      return `limits.max_body_length is not a whole number from ${LEAST_BODY} to ${MOST_BODY}`;
    const isFine = age == null || isBetween(age, 60, Number.MAX_SAFE_INTEGER);
    return isFine ? null : 'limits.edit_max_age_seconds is neither null nor a whole number of at least 60';
  },
  I5: ({ user_lookup: lookup, event_delivery: delivery }) => {
    if (!['none', 'email', 'login', 'username', 'user_id'].some((known) => known === lookup))
      return `user_lookup is ${JSON.stringify(lookup)}`;
    const ways: readonly unknown[] = Array.isArray(delivery) ? delivery : [];
    const isFine =
      ways.length > 0 &&
      new Set(ways).size === ways.length &&
      ways.every((way) => way === 'poll' || way === 'push');
    return isFine ? null : 'event_delivery is not a list of poll, push or both';
  },
  I6: ({ link_url_template: template }) => {
    if (template == null) return null;
    const variables = typeof template === 'string' ? [...template.matchAll(/\{[^}]*\}/g)].join() : '';
    const isFine = typeof template === 'string' && /^https?:\/\//.test(template) && variables === '{token}';
    return isFine
      ? null
      : 'link_url_template is not an http(s) address with {token} once and no other variable';
  },
  I7: (info) => {
    const { private_answers: isPrivate, buttons } = objectAt(info, 'capabilities');
    if (isPrivate === true && buttons !== true) return 'private_answers is declared without buttons';
    const { max_buttons: most, max_button_text: text } = objectAt(info, 'limits');
    if (most != null && !isBetween(most, 1, 25))
      return 'limits.max_buttons is not a whole number from 1 to 25';
    const isFine = text == null || isBetween(text, 4, 64);
    return isFine ? null : 'limits.max_button_text is not a whole number from 4 to 64';
  },
} as const satisfies Readonly<Record<string, (info: Members) => string | null>>;

export type InfoCheck = keyof typeof INFO_FAULTS;

function objectAt(members: Members, name: string): Members {
  const value = members[name];
  return isObject(value) ? value : {};
}

function isBetween(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}
