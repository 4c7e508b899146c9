/**
 * Where the figures of the docs come from. A row is a text of a page with `#` in place of each figure, and for each the
 * constant that defines it: `file NAME`, divided by a unit where the page states it in one (`file NAME / DAY`).
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { WAITS } from '../actors/access/throttle.ts';
import { CHANNEL_BOT } from '../actors/channels/channel-bot/settings.ts';
import { ON_CALL_POLICY } from '../actors/route/policy.ts';
import { CHANNEL_BOT as BOT_CONNECTION } from '../http/resources/connections/types/channel-bot.ts';
import { DEFAULT_LIMITS } from '../runtime/actor/limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../runtime/clock.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

const UNITS: Readonly<Record<string, number>> = {
  ...{ SECOND, MINUTE, HOUR, DAY, MILLISECOND: SECOND / 1000, KIB: 1024, MIB: 1024 * 1024, THOUSAND: 1000 },
};

/** A constant by file, name and unit, or a value that the row has at hand. */
type Source = string | number;
type Row = readonly [says: string, ...from: readonly Source[]];

/** By page: each of its figures is in a row, or in {@link EXPLAINED}. Only {@link MEASURED} pages are missing. */
export const FIGURES: Readonly<Record<string, readonly Row[]>> = {
  'docs/account-links.md': [
    ['| # characters without 0, O, 1, I and L', 'actors/account-links/link.ts CODE_LENGTH'],
    ['once, for # minutes |', 'actors/account-links/link.ts REQUEST_TTL / MINUTE'],
    ['once, for # minutes and five tries', 'actors/account-links/link.ts REQUEST_TTL / MINUTE'],
    ['# times an hour by a user', 'actors/account-links/link.ts TOKENS_PER_USER'],
    ['which waits up to # s for it', 'actors/channels/press.ts EDITS_WAIT / SECOND'],
    ['Without a result within # s', 'actors/channels/press.ts ANSWERED_WITHIN / SECOND'],
    ['(# s with a channel bot)', 'actors/channels/channel-bot/answers.ts ANSWERED_AFTER / SECOND'],
  ],
  'docs/architecture.md': [
    ['Actors hash onto # shards', 'runtime/actor/address.ts SHARDS'],
    ['ended within # days', 'storage/alert-groups/recent/recent-groups.ts RESOLVED_FOR / DAY'],
    ['more than # groups', 'storage/alert-groups/recent/recent-groups.ts MOST_GROUPS'],
    ['streams close within # s', 'http/live/live.ts SESSION_CHECK / SECOND'],
    [
      'nothing for # s, or has lost its stream for # s',
      'ui/src/live/connection.ts SILENCE_MS / THOUSAND',
      'ui/src/live/liveness.ts LOST_MS / THOUSAND',
    ],
    ['its queue held, at most #,', 'http/ingest/accept-queue.ts GATHER_SNAPSHOTS'],
    ['every # s in any case', 'http/ingest/intake.ts SWEEP_INTERVAL / SECOND'],
  ],
  'docs/api.md': [
    [
      'A session lives for # days, and ends after # hours',
      'actors/access/session.ts SESSION_LIFETIME / DAY',
      'actors/access/session.ts SESSION_IDLE_TIMEOUT / HOUR',
    ],
    [
      '# times at once and # times a second',
      'http/request/credentials.ts BURST',
      'http/request/credentials.ts PER_SECOND',
    ],
    ['have to wait: # second, then', (WAITS.find((wait) => wait > 0) ?? 0) / SECOND],
    ['after # s the answer is 503, and nothing', 'actors/access/passwords.ts LONGEST_QUEUE / SECOND'],
    ['A 503 after # s, when the database is slow', 'actors/access/throttle.ts EVALUATION_LIMIT / SECOND'],
    [
      'at most # MiB and # levels deep',
      'http/server/exchange.ts APP_BODY_LIMIT / MIB',
      'http/request/json-body.ts MAX_DEPTH',
    ],
    [
      '`limit` is 1 to # and # when left out',
      'http/schema/page.ts MAX_LIMIT',
      'http/schema/page.ts DEFAULT_LIMIT',
    ],
    ['at most # errors are listed', 'http/problem.ts FIELD_ERROR_LIMIT'],
    ['a pointer over # characters', 'http/problem.ts POINTER_LIMIT'],
    ['has more than # tokens', 'actors/access/api-tokens.ts TOKENS_PER_OWNER'],
    ['severity label of the last # days', 'http/resources/organization/organization.ts WINDOW_DAYS'],
    ['with # s to answer 2xx', 'actors/system/outgoing-heartbeat.ts TIMEOUT / SECOND'],
    ['a sign of life within # minutes', 'storage/engine/replica-records.ts LIVE_FOR / MINUTE'],
    ['the last # that it was given', 'runtime/actor/recent.ts KEPT'],
    ['does not tell its messages within # s', DEFAULT_LIMITS.askTimeout / SECOND],
    ['a token of the limiter within # s', 'actors/connection/tokens.ts INTERACTIVE_BUDGET / SECOND'],
    [
      '`password`, # to # characters)',
      'actors/access/passwords.ts PASSWORD_MIN_LENGTH',
      'actors/access/passwords.ts PASSWORD_MAX_LENGTH',
    ],
    ['410 `link_expired` after # h', 'actors/access/passwords.ts SETUP_LINK_LIFETIME / HOUR'],
    ['until # Alerts of the Route are found', 'actors/route/preview.ts MOST_KEPT'],
    [
      'after # bodies, a million Alerts or # s of work',
      'http/resources/routes/preview.ts MOST_BODIES',
      'http/resources/routes/preview.ts MOST_WORK / SECOND',
    ],
    [
      'of them within # s, and ends once that was not exceeded for # s',
      'actors/route/storm-window.ts WINDOW / SECOND',
      'actors/route/machine.ts CALM_AFTER / SECOND',
    ],
    ['each up to # characters', 'actors/route/policy.ts TEMPLATE_LIMIT'],
    [
      'on up to # of the last # Snapshots',
      'actors/previews/samples.ts MOST_SAMPLES',
      'storage/snapshots/preview-bodies.ts MOST',
    ],
    ['Up to # Alerts are looked at for one page', 'storage/alert-groups/alerts-view.ts MOST'],
    [
      'very many: # Alert Groups a page, and up to # while',
      'storage/alert-groups/expressions.ts LEAST',
      'storage/alert-groups/expressions.ts MOST',
    ],
    ['counts that take # s of it', 'storage/alert-groups/expressions.ts MOST_WORK_OF_COUNTS / SECOND'],
    ['too, when # wait', 'storage/alert-groups/alert-groups.ts MOST_WAITING'],
    ['looks at the first # characters of a value', 'actors/route/regex.ts SEEN_CHARACTERS'],
    ['Without a range it is the last # days', 'http/resources/alert-groups/statistics.ts PERIOD / DAY'],
    ['with `to` alone the # days before it', 'http/resources/alert-groups/statistics.ts PERIOD / DAY'],
    ['`noisiest` has the # values of', 'actors/alert-group/reading/readers.ts MOST_NOISY'],
    ['are about its last # days', 'actors/alert-group/reading/readers.ts LISTED_FOR / DAY'],
    ['`by_person` has the # people', 'actors/alert-group/reading/readers.ts MOST_PEOPLE'],
    ['Without a range it is the last # hours', 'http/resources/alert-groups/flow.ts PERIOD / HOUR'],
    ['hours; # days is the longest', 'actors/alert-group/reading/readers.ts LONGEST_FLOW / DAY'],
    ['names the # with the most groups', 'actors/alert-group/reading/readers.ts MOST_IN_FLOW'],
  ],
  'docs/connections.md': [
    ['for up to # s (then 503', 'actors/connection/tokens.ts INTERACTIVE_BUDGET / SECOND'],
    ['deliveries try # s later', 'actors/connection/tokens.ts BEHIND_PEOPLE / SECOND'],
    ['read again when it is # minutes old', 'actors/channels/bridge/info-reader.ts FRESH_FOR / MINUTE'],
    ['it is tried again after # s;', 'actors/channels/bridge/info-reader.ts RETRY_AFTER / SECOND'],
    [
      'with the push secret, at most # minutes old',
      'actors/channels/bridge/push-receiver.ts TOLERANCE / MINUTE',
    ],
    [
      'answers no page | after # s, doubling to # s',
      'actors/connection/machine.ts FIRST_STEP / SECOND',
      'actors/connection/machine.ts LONG_PAUSE / SECOND',
    ],
    [
      'or its webhook (409) | after # s, doubling to # s;',
      'actors/connection/machine.ts CONFLICT_STEP / SECOND',
      'actors/connection/machine.ts LONG_PAUSE / SECOND',
    ],
    ['exactly then, after # s at the earliest', 'actors/connection/machine.ts FIRST_STEP / SECOND'],
    ['a refused token | after # s', 'actors/connection/machine.ts LONG_PAUSE / SECOND'],
    ['twice within a minute: after # s', 'actors/connection/machine.ts LONG_PAUSE / SECOND'],
    [
      'the same page after # s, doubling to # s; after # failures over # minutes',
      'actors/connection/machine.ts FIRST_STEP / SECOND',
      'actors/connection/machine.ts LONG_PAUSE / SECOND',
      'actors/connection/machine.ts MOST_FAILURES',
      'actors/connection/machine.ts FAILS_FOR_LONG / MINUTE',
    ],
    ['asked again after # minutes', 'actors/connection/machine.ts UNOFFERED_PAUSE / MINUTE'],
  ],
  'docs/destinations.md': [
    ['after # seconds of failures', 'actors/destination/turn.ts OUTAGE / SECOND'],
    ['Without a token of the limiters within # s', 'actors/connection/tokens.ts INTERACTIVE_BUDGET / SECOND'],
    ['`all` and up to # group names', 'http/resources/destinations/common.ts MOST_GROUPS'],
    ['At most # users', 'http/resources/destinations/common.ts MOST_USERS'],
    ['works again; tried every # minutes', 'actors/destination/machine.ts BROKEN_PROBE_INTERVAL / MINUTE'],
    [
      'again after # s, then ever later up to # min, for # attempts or # minutes',
      'actors/destination/pacing.ts FIRST_STEP / SECOND',
      'actors/destination/pacing.ts LONGEST_STEP / MINUTE',
      'actors/destination/pacing.ts BUDGET_ATTEMPTS',
      'actors/destination/pacing.ts BUDGET_TIME / MINUTE',
    ],
    [
      'unless the wait is longer than # minutes',
      'actors/channels/chat-server/answer.ts LONGEST_WAIT / MINUTE',
    ],
    ['a repeat within # hours', 'actors/destination/delivery/accepted.ts KEY_KNOWN_FOR / HOUR'],
    [
      'nothing is sent but a check every # minutes',
      'actors/destination/machine.ts BROKEN_PROBE_INTERVAL / MINUTE',
    ],
    ['given up after # h', 'actors/destination/delivery/turn.ts LAST_EDITS_FOR / HOUR'],
    ['At most # calls of a Destination', 'actors/destination/delivery/rows.ts CALLS_AT_ONCE'],
    [
      '# ms, at most #.',
      'actors/destination/pacing.ts AHEAD_SECONDS * THOUSAND',
      'actors/destination/delivery/rows.ts MOST_BEGUN',
    ],
  ],
  'docs/engine.md': [
    ['begins no sooner than # ms', DEFAULT_LIMITS.commitDistance / (SECOND / 1000)],
    ['or with # turns', DEFAULT_LIMITS.turns],
    ['loaded in time (# ms)', DEFAULT_LIMITS.closeWait / (SECOND / 1000)],
    [
      'offered again after # s, 2 s, 4 s … # s',
      DEFAULT_LIMITS.retryFirst / SECOND,
      DEFAULT_LIMITS.retryMost / SECOND,
    ],
    ['too slow: # s between two statements', 'storage/postgres/transaction.ts FIRST_PATIENCE / THOUSAND'],
    ['with each offer, up to # s', 'storage/postgres/transaction.ts LONGEST_PATIENCE / THOUSAND'],
    ['hold its fence for longer than # s', 'storage/engine/placement.ts COMMIT_WITHIN / THOUSAND'],
    [
      'tried again after # s, 2 s, 4 s … # s',
      DEFAULT_LIMITS.retryFirst / SECOND,
      DEFAULT_LIMITS.conflictMost / SECOND,
    ],
    ['Asks without an answer for # s', DEFAULT_LIMITS.askTimeout / SECOND],
    ['is longer than # turns', DEFAULT_LIMITS.cascade],
    [
      'Of one sender those to at most # receivers are in memory. What is behind them is passed over, all of it, until half of the #',
      DEFAULT_LIMITS.inboxReceivers,
      DEFAULT_LIMITS.inboxReceivers,
    ],
    ['again every # s; only that actor', DEFAULT_LIMITS.retryMost / SECOND],
    ['left alone for # s', DEFAULT_LIMITS.stuckWake / SECOND],
    ['# asks at a time and # at one actor', DEFAULT_LIMITS.asks, DEFAULT_LIMITS.asksPerActor],
    ['# actors or # rows', DEFAULT_LIMITS.memory.actors, DEFAULT_LIMITS.memory.weight],
    ['more than # characters counts', 'actors/alert-group/rows.ts TEXT_OF_A_ROW'],
    [
      '# actors a load, # inbox rows in memory, those of one sender to # receivers, # turns a batch',
      DEFAULT_LIMITS.loadPage,
      DEFAULT_LIMITS.inboxHeld,
      DEFAULT_LIMITS.inboxReceivers,
      DEFAULT_LIMITS.turns,
    ],
    ['again after at most # s,', DEFAULT_LIMITS.wakeReread / SECOND],
    ['for at most # s (`runtime/wakeup-gate.ts`)', 'runtime/wakeup-gate.ts LONGEST_WAIT / SECOND'],
    [
      'again up to # and # times as long',
      'runtime/actor/wakeups.ts WIDER',
      DEFAULT_LIMITS.wakeLook / DEFAULT_LIMITS.wakePage,
    ],
    ['one of # shards', 'runtime/actor/address.ts SHARDS'],
    ['renews its lease of # s', 'runtime/placement/lease-times.ts LEASE_TTL / SECOND'],
    ['waits up to # s for everybody', 'runtime/placement/lease-times.ts LEASE_TTL / SECOND'],
    ['it stays up to # s while', 'runtime/placement/lease-times.ts CALLS_WITHIN / SECOND'],
    ['them, or after # s.', 'runtime/placement/lease-times.ts DRAIN_WITHIN / SECOND'],
    [
      'than # s before: then somebody else is granted it, too (two masters after a failover), and it rests for # s',
      'runtime/placement/contested-shards.ts CONTESTED_WITHIN / SECOND',
      'runtime/placement/contested-shards.ts FIRST_BACKOFF / SECOND',
    ],
    ['long each time up to # s', 'runtime/placement/contested-shards.ts MOST_BACKOFF / SECOND'],
    ['Every # s a replica compares its epochs', 'runtime/placement/lease-times.ts COMPARE_EVERY / SECOND'],
    ['the last # messages since', 'runtime/actor/recent.ts KEPT'],
    ['in any case every # s, and soon', 'runtime/placement/calls.ts SWEEP_EVERY / SECOND'],
    ['Its lease lapses after # s', 'runtime/placement/lease-times.ts LEASE_TTL / SECOND'],
    ['It compares epochs every # s', 'runtime/placement/lease-times.ts LONE_LOOK_EVERY / SECOND'],
    ['have another Leader after # s', 'runtime/placement/lease-times.ts LEASE_TTL / SECOND'],
    ['asks their records every # s', 'runtime/placement/lease-times.ts LONE_LOOK_EVERY / SECOND'],
    ['wait for a commit after # s more', 'runtime/placement/lease-times.ts LEASE_TTL / SECOND'],
    ['It waits for it up to # s', 'runtime/redis/index.ts PATIENCE / SECOND'],
    ['in the database is # s old, the others', 'runtime/placement/lease-times.ts RECORD_LAPSES / SECOND'],
    ['they look every # s', 'runtime/placement/lease-times.ts ORPHANS_EVERY / SECOND'],
    ['Once its record is # s old', 'runtime/placement/lease-times.ts RECORD_LAPSES / SECOND'],
    ['at most every # s after a while', 'runtime/placement/contested-shards.ts MOST_BACKOFF / SECOND'],
    ['| # s | beat', 'runtime/placement/lease-times.ts LOOK_EVERY / SECOND'],
    ['| # s | lease of a member', 'runtime/placement/lease-times.ts LEASE_TTL / SECOND'],
    ['| # s | without a renewal', 'runtime/placement/lease-times.ts DOUBT_AFTER / SECOND'],
    ['| # s | a moving shard waits', 'runtime/placement/lease-times.ts CALLS_WITHIN / SECOND'],
    ['| # s | without Redis: looks', 'runtime/placement/lease-times.ts LONE_LOOK_EVERY / SECOND'],
    ['| # s | a stop waits', 'runtime/placement/lease-times.ts DRAIN_WITHIN / SECOND'],
    ['| # s | looks for messages in any case', 'runtime/placement/calls.ts SWEEP_EVERY / SECOND'],
    [
      '| # s / # s | age at which',
      'runtime/placement/lease-times.ts RECORD_LAPSES / SECOND',
      'runtime/placement/lease-times.ts ORPHANS_EVERY / SECOND',
    ],
    [
      '| # s … # s | a shard that two',
      'runtime/placement/contested-shards.ts FIRST_BACKOFF / SECOND',
      'runtime/placement/contested-shards.ts MOST_BACKOFF / SECOND',
    ],
  ],
  'docs/integrations.md': [
    ['sign of life for more than # s', 'actors/system/downtime.ts OUTAGE_FROM / SECOND'],
    ['sign of life is older than # s', 'actors/system/downtime.ts OUTAGE_FROM / SECOND'],
    ['keeps the gaps alone (#; older', 'actors/integration/machine.ts MOST_GAPS'],
    ['repeat intervals, at least # minutes', 'actors/integration/rows.ts LEAST_STALE_AFTER / MINUTE'],
    ['any other | # hours', 'actors/integration/rows.ts UNLEARNED_STALE_AFTER / HOUR'],
    ['Bounds: # route paths an Integration', 'actors/integration/rows.ts MOST_ROUTES'],
    ['route paths of more than # characters', 'actors/integration/rows.ts LONGEST_ROUTE_PATH'],
    ['of route paths without repeats the first #.', 'storage/integrations/states.ts MOST_UNLEARNED'],
    ['makes Alerts stale (# hours', 'actors/integration/rows.ts UNLEARNED_STALE_AFTER / HOUR'],
  ],
  'docs/internal-alerts.md': [
    ['expires in less than # days', 'actors/access/oidc/settings.ts EXPIRY_LEAD / DAY'],
    ['a date at least # days ahead', 'actors/access/oidc/settings.ts EXPIRY_LEAD / DAY'],
  ],
  'docs/links.md': [
    ['there are at most #.', 'actors/links/ports.ts MOST_LINK_RULES'],
    ['`p10`, at most #;', 'actors/links/evaluate.ts MOST_VALUES'],
    ['invisible characters and of at most # characters', 'actors/text.ts URL_LIMIT'],
    ['on the last # Snapshots', 'actors/previews/samples.ts MOST_SAMPLES'],
    [
      'up to # columns and # rows',
      'http/resources/links/lookup-tables.ts MOST_COLUMNS',
      'http/resources/links/lookup-tables.ts MOST_ENTRIES',
    ],
    ['with the # MiB of a request body', 'http/server/exchange.ts APP_BODY_LIMIT / MIB'],
    ['when its links take more than # MiB', 'actors/links/evaluate.ts MOST_CHARACTERS / MIB'],
    ['holds at most # tables', 'http/resources/links/lookup-tables.ts PAGE'],
    ['the rows that differ, up to #,', 'storage/configuration/lookup-tables.ts AUDITED_ROWS'],
  ],
  'docs/messages.md': [
    ['| # code points, or what the server says', 'actors/messages/chat-server.ts CHAT_SERVER_LIMIT'],
    ['| # UTF-16 units', 'actors/messages/channel-bot.ts CHANNEL_BOT_LIMIT'],
    ['A value shows at most # bytes', 'actors/messages/neutral.ts UNCUT'],
    ['nested deeper than # levels', 'actors/messages/formats/markdown-finish.ts DEEPEST'],
    ['every Alert (# Alerts at most)', 'actors/messages/parts.ts FALLBACK_ALERTS'],
  ],
  'docs/operating.md': [
    ['its page, `http://127.0.0.1:#`', 'runtime/cli/first-messenger.ts MESSENGER_PORT'],
    ['It keeps its newest # messages', 'runtime/cli/first-messenger.ts KEPT_MESSAGES'],
    ['SIGTERM stops within # s', 'runtime/cli/run-service.ts GRACE_MS / THOUSAND'],
    [
      'has up to # s to end, with replicas # s',
      'runtime/compose/service.ts CALLS_WITHIN / SECOND',
      'runtime/placement/lease-times.ts CALLS_WITHIN / SECOND',
    ],
    ['each of the # shards', 'runtime/actor/address.ts SHARDS'],
    ['ten attempts or # minutes', 'actors/destination/pacing.ts BUDGET_TIME / MINUTE'],
    ['gives a sign of life every # s', 'runtime/compose/leader.ts MARK_EVERY / SECOND'],
    ['After more than # s without one', 'actors/system/downtime.ts OUTAGE_FROM / SECOND'],
    ['refreshed every # s and removed', 'runtime/placement/lease-times.ts RECORD_EVERY / SECOND'],
    ['`clock_skew` above # s', 'runtime/clock-skew.ts WARNING / SECOND'],
    ['leads; expires after # s', 'runtime/placement/lease-times.ts LEASE_TTL / SECOND'],
    ['every # s | another process', 'runtime/placement/solo.ts SAY_EVERY / SECOND'],
    [
      'after # failures over # minutes the event',
      'actors/connection/machine.ts MOST_FAILURES',
      'actors/connection/machine.ts FAILS_FOR_LONG / MINUTE',
    ],
    ['with Redis away # s', 'runtime/placement/lease-times.ts RECORD_LAPSES / SECOND'],
    ['more than # KiB or', 'http/server/front.ts HEADER_LIMIT / KIB'],
    ['before the # KiB a second', 'http/server/inflow.ts BODY_BYTES_PER_SECOND / KIB'],
    ['once, within # h', 'actors/access/passwords.ts SETUP_LINK_LIFETIME / HOUR'],
    [
      'Request log | # days, and the newest # records',
      'runtime/outbound/request-log/reader.ts KEPT_FOR / DAY',
      'runtime/outbound/request-log/reader.ts KEPT_OF_OWNER',
    ],
    ['over once its record is # s old', 'runtime/placement/lease-times.ts RECORD_LAPSES / SECOND'],
    ['from the database every # s', 'runtime/compose/leader.ts READ_GAUGES_EVERY / SECOND'],
    ['for each of the # shards', 'runtime/actor/address.ts SHARDS'],
    ['more than # s is a warning', 'runtime/cli/doctor/upkeep-checks.ts SKEW / SECOND'],
    ['stops wait for up to # s', 'runtime/cli/run-service.ts GRACE_MS / THOUSAND'],
    ['an hour at most, # minutes when nothing is', 'actors/system/downtime.ts RECOVERY / MINUTE'],
    ['for # s at most; then overdue', 'runtime/wakeup-gate.ts LONGEST_WAIT / SECOND'],
  ],
  'docs/outbound.md': [
    ['- # s to connect', 'runtime/outbound/connect.ts CONNECT_TIMEOUT / SECOND'],
    ['# s for a whole request', 'actors/channels/webhook-template/send-request.ts TIMEOUT / SECOND'],
    [
      'At most # idle connections for an owner, class of request and host, for # s',
      'runtime/outbound/socket-pool.ts IDLE_KEPT',
      'runtime/outbound/socket-pool.ts IDLE_MILLISECONDS / THOUSAND',
    ],
    ['up to # entries each', 'http/resources/organization/outbound-policy.ts MOST_ENTRIES'],
    ['cannot resolve within # s', 'runtime/outbound/judge-target.ts PROXIED_LOOKUP / SECOND'],
    [
      'kept | # days, the newest # of a Connection',
      'runtime/outbound/request-log/reader.ts KEPT_FOR / DAY',
      'runtime/outbound/request-log/reader.ts KEPT_OF_OWNER',
    ],
    ['bodies of text up to # bytes', 'runtime/outbound/request-log/mask-record.ts SHOWN_BODY_BYTES'],
    ['from a queue that holds # of them', 'runtime/outbound/request-log/recorder.ts MOST_RECORDS'],
  ],
  'docs/settings.md': [
    ['Master keys, each # bytes in base64', 'runtime/secrets/keyring.ts KEY_BYTES'],
    ['of that Admin, at least # characters', 'actors/access/passwords.ts PASSWORD_MIN_LENGTH'],
  ],
  'docs/single-sign-on.md': [
    [
      '| at most # days; it is asked every # min',
      'actors/access/session.ts SESSION_LIFETIME / DAY',
      'storage/access/oidc-sign-ins.ts CHECK_EVERY / MINUTE',
    ],
    ['| at most # h |', 'actors/access/session.ts OIDC_FALLBACK_LIFETIME / HOUR'],
    ['used, over # minutes old', 'actors/access/oidc/sign-in.ts REQUEST_LIFETIME / MINUTE'],
  ],
  'docs/templates.md': [
    ['the newest first, at most #; each', 'actors/templates/data.ts MOST_ALERTS'],
    ['up to a width of # |', 'actors/templates/text/printf.ts MOST_WIDE'],
    ['Values are cut to # bytes', 'actors/templates/types.ts MOST_BYTES'],
    [
      'of a Link rule | #, # characters',
      'actors/route/policy.ts TEMPLATE_LIMIT',
      'actors/previews/template-checks.ts LINK_RULE_TEMPLATE_LIMIT',
    ],
    ['| output | # characters', 'actors/templates/failure.ts MOST_CHARACTERS'],
    [
      'gives | # characters, # items, # bytes, # lists',
      'actors/templates/failure.ts MOST_CHARACTERS',
      'actors/templates/failure.ts MOST_ITEMS',
      'actors/templates/failure.ts MOST_BYTES',
      'actors/templates/failure.ts MOST_NESTED_VALUES',
    ],
    ['range over a number | #', 'actors/templates/failure.ts MOST_COUNTED'],
    ['all ranges of a render | #', 'actors/templates/evaluate/budget.ts MOST_VISITED'],
    [
      "of one's own | #, nested # deep",
      'actors/templates/evaluate/budget.ts MOST_CALLS',
      'actors/templates/evaluate/budget.ts MOST_NESTED_CALLS',
    ],
    ['in the source | nested # deep', 'actors/templates/syntax/pipelines.ts MOST_NESTED'],
    ['for a message | #', 'actors/templates/functions/table.ts MOST_ROWS'],
    ['time of a render | # s', 'actors/templates/evaluate/budget.ts LONGEST / SECOND'],
    ['The # s are for a machine', 'actors/templates/evaluate/budget.ts LONGEST / SECOND'],
  ],
  'docs/webhooks.md': [
    ['A text has at most # bytes', 'actors/channels/webhook-template/request-text.ts TEXT_BYTES'],
    ['a JSON answer of at most # KiB', 'actors/channels/webhook-template/send-request.ts ANSWER_LIMIT / KIB'],
    [
      'after # attempts or # minutes',
      'actors/destination/pacing.ts BUDGET_ATTEMPTS',
      'actors/destination/pacing.ts BUDGET_TIME / MINUTE',
    ],
    ['tried every # minutes with', 'actors/destination/machine.ts BROKEN_PROBE_INTERVAL / MINUTE'],
  ],
  'README.md': [['at `http://127.0.0.1:#`', 'runtime/cli/first-messenger.ts MESSENGER_PORT']],
  'docs/bridges.md': [
    ['| `--port N` | # when not given', 'runtime/cli/first-messenger.ts MESSENGER_PORT'],
    ['with at most # MiB of JSON', 'actors/channels/bridge/client.ts ANSWER_LIMIT / MIB'],
    [
      '# values in it and # levels',
      'runtime/outbound/answer-json.ts MOST_VALUES',
      'runtime/outbound/answer-json.ts MOST_DEPTH',
    ],
    ['or with more than # minutes, it counts', 'actors/channels/bridge/answer.ts LONGEST_WAIT / MINUTE'],
    ['for up to # hours after the first', 'actors/destination/delivery/accepted.ts KEY_KNOWN_FOR / HOUR'],
    ['tries again after more than # hours', 'actors/destination/delivery/accepted.ts KEY_KNOWN_FOR / HOUR'],
    ['and waits # s for each', 'runtime/cli/bridge-check/person.ts PATIENCE_SECONDS'],
    ['a title of # characters', 'runtime/cli/bridge-check/checks/posting.ts MOST_TITLE'],
    ['eight buttons with # characters', 'runtime/cli/bridge-check/checks/posting.ts LONGEST_DATA'],
    ['an edit window of at most # s', 'runtime/cli/bridge-check/run.ts SHORT_EDIT_WINDOW_SECONDS'],
  ],
  'docs/asvs.md': [
    ['At least # characters', 'actors/access/passwords.ts PASSWORD_MIN_LENGTH'],
    ['Up to # characters instead of 128', 'actors/access/passwords.ts PASSWORD_MAX_LENGTH'],
    ['works once, for # h; the password', 'actors/access/passwords.ts SETUP_LINK_LIFETIME / HOUR'],
    ['works once and for # h; an Admin', 'actors/access/passwords.ts SETUP_LINK_LIFETIME / HOUR'],
    ['“lives # hours from its last use', 'actors/access/session.ts SESSION_IDLE_TIMEOUT / HOUR'],
    [
      '# h idle and # days in all',
      'actors/access/session.ts SESSION_IDLE_TIMEOUT / HOUR',
      'actors/access/session.ts SESSION_LIFETIME / DAY',
    ],
    ['are ignored, # levels pass, 65 do not” | | 5.5.4', 'http/request/json-body.ts MAX_DEPTH'],
    ['are ignored, # levels pass, 65 do not” | | 5.1.3', 'http/request/json-body.ts MAX_DEPTH'],
    ['JSON only, at most # levels', 'http/request/json-body.ts MAX_DEPTH'],
  ],
  'docs/deploying.md': [['waiting for more than # ms, with a million', 'bench/migrations.ts GOAL_MS']],
  'docs/concepts.md': [],
  'docs/getting-started.md': [
    ['at `http://127.0.0.1:#`:', 'runtime/cli/first-messenger.ts MESSENGER_PORT'],
    ['`group_wait: #s`', 'http/resources/integrations/sender-files.ts GROUP_WAIT'],
    ['`group_interval: #s`', 'http/resources/integrations/sender-files.ts GROUP_INTERVAL'],
  ],
  'docs/roadmap.md': [],
  'docs/routes-cookbook.md': [],
  'docs/upgrading.md': [['Nobody waits for more than # ms for a migration', 'bench/migrations.ts GOAL_MS']],
  'docs/glossary.md': [
    ['and refused after # s', 'actors/connection/tokens.ts INTERACTIVE_BUDGET / SECOND'],
    ['is tried, every # minutes', 'actors/destination/machine.ts BROKEN_PROBE_INTERVAL / MINUTE'],
    [
      'silent for # s or lost for # s',
      'ui/src/live/connection.ts SILENCE_MS / THOUSAND',
      'ui/src/live/liveness.ts LOST_MS / THOUSAND',
    ],
    ['once per window, # s by default', ON_CALL_POLICY.thread_batching_window_seconds],
  ],
  'docs/keys.md': [],
  'docs/life-of-an-alert.md': [['Remembers the last # messages', 'runtime/actor/recent.ts KEPT']],
  'docs/machines.md': [],
  'docs/mattermost.md': [],
  'docs/telegram.md': [
    ['At most # messages, edits and comments in any minute', CHANNEL_BOT.settings.limiter.limit],
    ['and # calls in any second for a bot', BOT_CONNECTION.limiter.limit],
    ['no copy of the post came within # s', 'actors/channels/channel-bot/thread.ts COPY_WAIT / SECOND'],
  ],
  'docs/metrics.md': [],
  'deploy/README.md': [],
  'CONTRIBUTING.md': [['locks nothing for longer than # ms,', 'bench/migrations.ts GOAL_MS']],
  'SECURITY.md': [],
  'CHANGELOG.md': [['waiting for more than # ms with a million', 'bench/migrations.ts GOAL_MS']],
};

/** Pages of measurements, each with its conditions beside it: what it states was so, and is no constant. */
export const MEASURED = ['docs/performance.md', 'docs/growth.md', 'docs/ui.md'];

/** Figures of the pages of {@link FIGURES} that no single constant holds. */
export const EXPLAINED: readonly (readonly [page: string, text: RegExp, reason: string])[] = [
  ['CONTRIBUTING.md', /at most 72 characters/, 'a rule for commits'],
  ['docs/account-links.md', /43 characters; a link/, '32 bytes in base64url'],
  ['docs/api.md', /newest 412,/, 'a status'],
  [
    'docs/api.md',
    /and 12 characters, such as/,
    'the form of ids (runtime/public-id.ts), part of a pattern there',
  ],
  ['docs/api.md', /comes every 10 s/, 'two checks of a session (http/live/live.ts)'],
  ['docs/api.md', /after 25 s\s+without a byte/, 'advice to clients: more than two such lines'],
  ['docs/api.md', /at least 500\. A longer/, '5 million steps by 10,000 instructions'],
  ['docs/connections.md', /one request of up to 40 s/, 'what the request asks for, and 15 s'],
  [
    'docs/architecture.md',
    /duplicate window \(45 s by default\)/,
    'a default of a shape (http/resources/integrations/)',
  ],
  ['docs/destinations.md', /5 calls in 1 s when none is given/, 'an object of actors/destination/turn.ts'],
  ['docs/engine.md', /2 s, 4 s …/, 'doubling between the two that are read'],
  ['docs/engine.md', /3 s in one/, 'twice what is read beside it'],
  ['docs/engine.md', /others own them within 5 s/, 'the outcome of what is read beside it'],
  ['docs/engine.md', /40 bytes: about 0\.2 KiB for an actor, 3 KiB/, 'measured; five numbers a message'],
  ['docs/engine.md', /takes about 3 % of the\s+processor time/, 'measured'],
  ['docs/engine.md', /\| 1 s \| looks for messages/, 'three places that have it for reasons of their own'],
  ['docs/links.md', /some 100 bytes a row/, 'the body by its rows'],
  ['docs/links.md', /2 ms with one Alert a group, 10 ms with ten, 70 ms with a hundred/, 'measured'],
  ['docs/operating.md', /124 MB are installed/, 'measured; test/smoke/release.test.ts has a bound'],
  ['docs/operating.md', /30 kB of memory/, 'measured'],
  ['docs/operating.md', /about 4 s, in which shards stay/, 'measured'],
  ['docs/operating.md', /replaced after about 6 s/, 'measured'],
  ['docs/operating.md', /readiness turns 503, requests/, 'a status'],
  ['docs/operating.md', /`tocsin ingest failed \[--since 3d\]/, 'an example'],
  ['docs/operating.md', /`tocsin ingest replay --since 3d/, 'an example'],
  ['docs/operating.md', /warns of it for 24 hours/, 'part of a statement of storage/integrations/rows.ts'],
  ['docs/operating.md', /After a crash this lasts 5 s/i, 'the outcome of a lease (docs/engine.md)'],
  ['docs/operating.md', /does not end \| no answer; the connection ends after 12 s/, 'of the HTTP library'],
  ['docs/operating.md', /no `Host` \| no answer; the connection ends after 12 s/, 'of the HTTP library'],
  ['docs/operating.md', /below about 16 KiB a second \| cut after 12 s/, 'of the HTTP library; see above'],
  ['docs/operating.md', /or 97 headers/, 'what the HTTP library takes besides the line of the front'],
  ['docs/outbound.md', /within 2 s; headers/, 'the outcome of batches'],
  ['docs/templates.md', /%-10s %05d %\.2f/, 'an example'],
  ['docs/templates.md', /1h 2m 3s/, 'an example'],
  ['docs/asvs.md', /more than 100 attempts an hour/, 'what the waits of several sources add up to'],
  [
    'docs/asvs.md',
    /19 MiB, two passes and a salt of 16 bytes/,
    'parameters given to the library of argon2id',
  ],
  ['docs/asvs.md', /counts in its step of 30 s/, 'the standard of TOTP'],
  ['docs/asvs.md', /256 bits as the source/, 'the bytes of a cookie'],
  ['docs/asvs.md', /nonce of 96 bits/, 'what AES-GCM takes'],
  ['docs/asvs.md', /last lists, for 12 h at most/, 'ui §1.4'],
  ['docs/asvs.md', /wants 30 min and 12 h/, 'of the ASVS'],
  ['docs/asvs.md', /65 do not/, 'one more than is read beside it'],
  ['docs/bridges.md', /up to 512 characters that Tocsin stores/, 'schemas of the protocol (bridge §2)'],
  ['docs/bridges.md', /within 10 s\*\*, a poll within its `wait` and 15 s/, 'the protocol (bridge §3)'],
  [
    'docs/bridges.md',
    /`max_body_length` is 500 to 1,000,000 code points; `edit_max_age_seconds` is at least 60/,
    'schema of getInfo',
  ],
  ['docs/bridges.md', /for 24 hours at least\./, 'what the protocol asks of a bridge'],
  ['docs/bridges.md', /sent 43 characters/, '32 bytes in base64url'],
  ['docs/bridges.md', /within 3 s, before Tocsin/, 'what the protocol asks of a bridge'],
  ['docs/bridges.md', /keep the rest for 24 hours/, 'what the protocol asks of a bridge'],
  ['docs/bridges.md', /after more than 10 s \(a poll: 15 s after its `wait`\)/, 'the protocol (bridge §3)'],
  ['docs/bridges.md', /at most 60 s\. With everything/, 'of the program that checks bridges'],
  [
    'docs/bridges.md',
    /\| I1 .*\| W6 .*pushed agai/,
    'the cases of the program that checks bridges, a file each',
  ],
  ['docs/deploying.md', /within 5 s, by the others/, 'the outcome of leases (docs/engine.md)'],
  ['docs/deploying.md', /allowed 3 GiB of memory/, 'limits of the Compose file together'],
  ['docs/deploying.md', /times 14 connections/, 'pools and sessions of a replica together'],
  [
    'docs/deploying.md',
    /a line every 10 s: no buffering, no time limit below 60 s/,
    'two checks of a session, and room',
  ],
  ['docs/deploying.md', /17 s for 500,000 of them/, 'measured'],
  ['docs/deploying.md', /indexes over labels \(5 s/, 'measured'],
  ['docs/deploying.md', /165 MB, 132 of them Node\.js/, 'measured'],
  ['docs/deploying.md', /healthy 1\.3 to 2\.5 s after the start \(3\.6 s/, 'measured'],
  ['docs/deploying.md', /187 to 190 MiB of memory/, 'measured'],
  ['docs/deploying.md', /128 to 136 MiB for a replica/, 'measured'],
  ['docs/deploying.md', /of 548 to 898 posts none/, 'measured'],
  ['docs/deploying.md', /slowest took 1\.0 to 2\.1 s on two busy/, 'measured'],
  ['docs/deploying.md', /with 0 after 0\.4 to 0\.9 s/, 'measured'],
  ['docs/deploying.md', /60 s of load took 390 MiB at most/, 'measured'],
  ['docs/deploying.md', /62 MB, and 60 of the embedded/, 'measured'],
  ['docs/deploying.md', /ready 2\.1 s after its first start/, 'measured'],
  ['docs/deploying.md', /and 1\.1 s after the next \(3\.5 s and 1\.0 s/, 'measured'],
  ['docs/deploying.md', /green at the first attempt in 39 minutes/, 'measured'],
  ['docs/deploying.md', /promoted 0\.26 s later, posts accepted 0\.34 s/, 'measured'],
  ['docs/deploying.md', /ended it with 0 after 0\.1 s/, 'measured'],
  ['docs/deploying.md', /256 MiB of memory for a start, 512 MiB/, 'deploy/helm/tocsin/values.yaml has them'],
  ['docs/upgrading.md', /wait for a lock was 12 ms/, 'measured'],
  ['docs/upgrading.md', /42 s for the longest migration/, 'measured'],
  ['docs/glossary.md', /its type and 12 characters/, 'the form of ids (runtime/public-id.ts)'],
];

const MULTIPLIED = /^(\S+) ([A-Z_]+)(?: ([*/]) ([A-Z]+))?$/;

/** The figure as the code has it. @throws when there is no such constant, or none that is a product of numbers */
export function figureOf(source: Source): number {
  if (typeof source === 'number') return source;
  const [, file = '', name = '', operator, unit = ''] = MULTIPLIED.exec(source) ?? [];
  const value = constantOf(file, name);
  const factor = operator === undefined ? 1 : UNITS[unit];
  if (factor === undefined) throw new Error(`No unit is called ${unit}: ${source}`);
  return operator === '*' ? value * factor : value / factor;
}

function constantOf(file: string, name: string): number {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const [, expression] = new RegExp(`^(?:export )?const ${name}(?:: \\w+)? = ([^;]+);`, 'm').exec(text) ?? [];
  if (expression === undefined) throw new Error(`${file} has no constant ${name}`);
  return expression.split(/(?=[*/] )/).reduce((product, part) => {
    const [, operator, term = ''] = /^([*/])?\s*(\S+)\s*$/.exec(part) ?? [];
    const number = UNITS[term] ?? Number(term.replaceAll('_', ''));
    if (Number.isNaN(number)) throw new Error(`${file} ${name} is no product of numbers: ${expression}`);
    return operator === '/' ? product / number : product * number;
  }, 1);
}
