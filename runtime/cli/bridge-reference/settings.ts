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
