/** Words that several answers use, each with its meaning. */
import type { SessionState as SessionStateName } from '../../actors/access/session.ts';
import type { COMMAND_NAMES } from '../../actors/alert-group/commands/allowed-commands.ts';
import type { TIMELINE_KINDS } from '../../actors/alert-group/reading/timeline.ts';
import type { SNAPSHOT_STATES } from '../../actors/feed/ports.ts';
import type { HEARTBEAT_STATES } from '../../actors/integration/heartbeat.ts';
import type {
  AlertState as AlertStateWord,
  GroupStatus as GroupStatusWord,
  ResolveReason as ResolveReasonWord,
  SeverityLevel as SeverityLevelWord,
  Transport as TransportWord,
} from '../../actors/model.ts';
import type { Role as RoleWord } from '../permissions.ts';
import { words } from './described.ts';

type Meanings<Word extends string> = Readonly<Record<Word, string>>;

export const GroupStatus = words(
  'GroupStatus',
  {
    firing: 'At least one Alert fires and nobody has taken it on.',
    acknowledged: 'It has an Owner, who works on it.',
    snoozed: 'Paused until `snooze_until`, or without end.',
    resolved: 'It is over.',
  } satisfies Meanings<GroupStatusWord>,
  'The status of an Alert Group.',
);

export const SeverityLevel = words(
  'SeverityLevel',
  {
    critical: 'The highest level.',
    warning: 'The level in between, and that of values without a mapping.',
    info: 'The lowest level.',
  } satisfies Meanings<SeverityLevelWord>,
  'The level that the severity label of an Alert is mapped to.',
);

export const ResolveReason = words(
  'ResolveReason',
  {
    resolved: 'The sender said that the Alert ended.',
    gone: 'The sender no longer lists the Alert.',
    stale: 'The sender fell silent for longer than it repeats.',
    integration_deleted: 'The Integration was deleted.',
  } satisfies Meanings<ResolveReasonWord>,
  'Why the service resolved something.',
);

export const AlertState = words(
  'AlertState',
  { firing: 'It fires.', resolved: 'It ended.' } satisfies Meanings<AlertStateWord>,
  'The state of an Alert.',
);

/** Ways in which somebody does something. */
export const TRANSPORTS = {
  ui: 'A web session.',
  api: 'An API token.',
  cli: 'An API token with `X-Tocsin-Client: cli`, or a command of the operator.',
  chat_server: 'A button or text in a chat server.',
  channel_bot: 'A button or text in a channel.',
  bridge: 'A button or text behind a bridge.',
};
export const Transport = words(
  'Transport',
  { ...TRANSPORTS, system: 'The service itself.' } satisfies Meanings<TransportWord>,
  'The way in which something was done.',
);

export const Role = words(
  'Role',
  {
    admin: 'May do everything.',
    responder: 'May read, acknowledge, resolve, snooze and annotate.',
    viewer: 'May read.',
  } satisfies Meanings<RoleWord>,
  'A Role. `GET /roles` lists what each may do.',
);

export const Command = words(
  'CommandName',
  {
    acknowledge: 'Become the Owner.',
    unacknowledge: 'Give it back.',
    resolve: 'End it.',
    unresolve: 'Open it again.',
    snooze: 'Pause it.',
    unsnooze: 'End the pause.',
    still_on_it: 'Answer a Reminder.',
    add_note: 'Write a Note.',
  } satisfies Meanings<(typeof COMMAND_NAMES)[number]>,
  'A Command on an Alert Group.',
);

export const EntryKind = words(
  'TimelineKind',
  {
    status: 'The status or the Owner changed.',
    alerts: 'Alerts joined, changed or ended.',
    notes: 'Somebody wrote a Note.',
    timers: 'A notice or a Reminder was due.',
    delivery: 'A message or a webhook was delivered, failed or changed.',
    system: 'The service did something by itself.',
  } satisfies Meanings<(typeof TIMELINE_KINDS)[number]>,
  'What a Timeline entry is about.',
);

export const Language = words('Language', { en: 'English.', ru: 'Russian.' }, 'A language of texts.');

export const DestinationType = words(
  'DestinationType',
  {
    webhook: 'HTTP requests.',
    chat_server: 'A channel of a chat server.',
    channel_bot: 'A channel of a channel-bot messenger.',
    bridge: 'A channel behind a bridge.',
  },
  'The type of a Destination.',
);

export const ConnectionType = words(
  'ConnectionType',
  {
    chat_server: 'A chat server, Mattermost.',
    channel_bot: 'A channel-bot messenger.',
    bridge: 'A bridge, which speaks the bridge protocol.',
  },
  'The type of a Connection.',
);

export const MatcherOp = words(
  'MatcherOp',
  {
    '=': 'Equal.',
    '!=': 'Not equal.',
    '=~': 'The whole value matches the regular expression.',
    '!~': 'The whole value does not match the regular expression.',
  },
  'How a Matcher compares. A label that is missing counts as an empty value.',
);

export const Via = words(
  'Via',
  { direct: 'Without a proxy.', proxy: 'Through the proxy.' },
  'How a request went out.',
);

export const HeartbeatState = words(
  'HeartbeatState',
  {
    not_configured: 'Heartbeats are off.',
    waiting: 'On, and none arrived yet.',
    live: 'They arrive.',
    lost: 'None arrived within the timeout.',
  } satisfies Meanings<(typeof HEARTBEAT_STATES)[number]>,
  'Whether the sender gives signs of life.',
);

export const IntegrationWarningKind = words(
  'IntegrationWarningKind',
  {
    heartbeat_not_configured: 'Heartbeats are off: silence of the sender is not noticed.',
    heartbeat_waiting: 'Heartbeats are on, and none arrived yet.',
    heartbeat_lost: 'No Heartbeat arrived within the timeout.',
    snapshot_failed: 'Bodies were accepted that are no Snapshots: nobody was told of their alerts.',
    snapshot_truncated: 'The sender cuts off Alerts: raise or remove `max_alerts`.',
    long_repeat_interval: 'A route repeats so rarely that ended Alerts are noticed late.',
  },
  'What is not as it should be.',
);

export const SnapshotState = words(
  'SnapshotState',
  {
    pending: 'It waits to be processed.',
    processed: 'It was processed.',
    failed: 'It could not be read as a Snapshot.',
  } satisfies Meanings<(typeof SNAPSHOT_STATES)[number]>,
  'What became of a Snapshot.',
);

export const ConnectionWarningKind = words(
  'ConnectionWarningKind',
  {
    base_url_uses_http: 'The token travels without encryption.',
    event_mode_not_offered: 'The bridge does not offer the event mode that is set.',
    bridge_info_invalid: 'A field of what the bridge says about itself is not valid.',
    bridge_without_token: 'No token is stored.',
    webhook_blocks_polling: 'Polls bring nothing: the bot has a webhook of another installation or program.',
    bot_used_twice: 'Another Connection has the same bot: each takes what the other should receive.',
    public_url_not_linkable:
      'Messages have no links: the messenger makes none to the address of this installation.',
    webhook_not_set: 'The messenger does not know the callback address yet. It is told again every minute.',
    press_answers_in_thread:
      'The bot may not show a text to one person: answers to presses are shown in the Thread.',
  },
  'What is not as it should be.',
);

export const DeliveryState = words(
  'DeliveryState',
  {
    pending: 'It is on its way.',
    delivered: 'The newest state was taken.',
    waiting_for_broken_destination: 'It waits until the Destination is healthy again.',
    not_delivered: 'It was refused for good.',
    deleted_in_messenger: 'Somebody deleted the message in the messenger.',
    withheld: 'It was held back by a Storm and ended before it was sent.',
    retired: 'The Destination is no longer one of the Route, or was deleted.',
  },
  'How far the delivery is.',
);

export const ErrorClass = words(
  'ErrorClass',
  {
    none: 'It succeeded.',
    retry_after: 'The receiver asked to wait.',
    transient: 'It may succeed later.',
    fatal: 'It will not succeed until somebody changes something.',
    unknown: 'Whether it arrived is not known.',
    template_error: 'The request could not be made from its template.',
    blocked: 'The outbound policy forbids the address.',
    limited: 'The limit of calls was used up.',
  },
  'What kind of failure it was.',
);

export const LinkScope = words(
  'LinkScope',
  { alert_group: 'The Alert Group as a whole.', label_value: 'The value of one label.' },
  'What a link is about.',
);

export const SessionStateWord = words(
  'SessionState',
  {
    active: 'It may do all that the Role may.',
    totp_required: 'It waits for the second factor.',
    totp_enrolment_required: 'A second factor must be set up first.',
  } satisfies Meanings<SessionStateName>,
  'How far the sign-in is.',
);

/** Formats of messages, as messengers of a type take them. */
export const FORMATS = {
  markdown: 'Markdown of a chat server.',
  html: 'HTML of a channel bot.',
  commonmark: 'CommonMark of a bridge.',
};
export const MessageFormat = words('MessageFormat', FORMATS, 'A format of messages.');

export const TemplateKind = words(
  'TemplateKind',
  {
    root_message: 'The message of an Alert Group.',
    line: 'The line of an Alert in a message.',
    ack_timeout_notice: 'What is said when nobody acknowledges in time.',
    link_rule: 'The address of a Link rule.',
    webhook_request: 'A request of a webhook in template mode.',
  },
  'What a template is for.',
);
