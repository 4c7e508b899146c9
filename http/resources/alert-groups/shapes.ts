/** Shapes of the answers about Alert Groups (alert-groups §5, api §12). */
import * as v from 'valibot';
import { SNOOZE_PRESETS } from '../../../actors/alert-group/commands/snooze-presets.ts';
import * as d from '../../schema/described.ts';
import { ActorRef, AlertGroupRef, EntityRef, Labels, UserRef } from '../../schema/shapes.ts';
import {
  AlertState,
  Command,
  EntryKind,
  GroupStatus,
  ResolveReason,
  SeverityLevel,
  Transport,
} from '../../schema/words.ts';

const text = v.nullable(v.string());

const NoticeKind = d.words(
  'AlertGroupNoticeKind',
  {
    alerts_still_firing: 'Somebody resolved it, and `count` of its Alerts still fire at the sender.',
    newer_alert_group_exists:
      'Somebody resolved it, and the newer `related_alert_group` of the same Route and Group key is open.',
    firing_again_after_manual_resolve:
      'Somebody resolved the Alert Group with the number `resolved_number`, and it fires again as this one.',
    replacement:
      'An Alert replaced another one that differs in `label`: the same thing may run elsewhere now.',
    details_removed: 'Alerts and Timeline were removed after `retention_days`.',
  },
  'What there is to know.',
);

const LinkKind = d.words(
  'AlertGroupLinkKind',
  {
    link_rule: 'Made by a Link rule.',
    runbook: 'From the annotation `runbook_url`.',
    dashboard: 'From the annotation `dashboard_url`.',
    source: 'The page of the rule at the sender.',
  },
  'Where the link comes from.',
);

const BulkOutcome = d.words(
  'BulkOutcome',
  {
    done: 'The Command changed it.',
    unchanged: 'It was so already.',
    refused: 'Its state does not allow the Command.',
    skipped: 'Somebody else owns it.',
    failed: 'There is no such Alert Group, or it could not be reached.',
  },
  'What became of one Alert Group.',
);

export const ResolutionShape = d.named(
  'Resolution',
  v.object({
    by: d.described(
      v.picklist(['user', 'system']),
      'Who: a person or a Service account (`user`), or the service (`system`).',
    ),
    actor: d.described(v.nullable(ActorRef), 'Who resolved it; null when the service did.'),
    reason: d.described(v.nullable(ResolveReason), 'Why the service resolved it; null when somebody did.'),
    reason_text: d.described(text, 'The reason as a sentence in English; null without a reason.'),
  }),
  'How an Alert Group was resolved.',
);

export const NoticeShape = d.named(
  'AlertGroupNotice',
  v.object({
    kind: NoticeKind,
    count: v.optional(d.count('How many Alerts still fire, with `alerts_still_firing`.')),
    label: d.optionalText('The label that differs, with `replacement`.'),
    retention_days: v.optional(d.count('Days for which details are kept, with `details_removed`.')),
    resolved_number: v.optional(
      d.count('Number of the one that was resolved, with `firing_again_after_manual_resolve`.'),
    ),
    related_alert_group: d.described(
      v.optional(AlertGroupRef),
      'The other Alert Group, with `newer_alert_group_exists`.',
    ),
  }),
  'What people should know of an Alert Group. The fields besides `kind` are those of the kind.',
);

export const LinkShape = d.named(
  'AlertGroupLink',
  v.object({
    kind: LinkKind,
    name: d.text('Text of the link.'),
    url: d.url('Where it leads.'),
    link_rule_id: v.nullable(d.id('KR', 'The Link rule that made it; null for other kinds.')),
  }),
  'A link that helps with an Alert Group. Only http and https.',
);

export const AlertGroupShape = d.named(
  'AlertGroup',
  v.object({
    id: d.id('AG'),
    number: d.count('The number that people know it by, `#N`. Numbers grow.'),
    title: d.text('A line that names it, from labels and annotations.'),
    summary: d.described(text, 'The summary of an Alert that fires, or that did last; null without one.'),
    status: GroupStatus,
    owner: d.described(v.nullable(UserRef), 'Who acknowledged it; null unless `acknowledged`.'),
    snooze_until: v.nullable(d.time('When the Snooze ends; null without an end, and unless `snoozed`.')),
    snoozed_by: d.described(v.nullable(ActorRef), 'Who snoozed it; null unless `snoozed`.'),
    severity_level: d.described(
      SeverityLevel,
      'The highest level among its firing Alerts; of a resolved one, the last.',
    ),
    urgent: d.flag('Whether it is Urgent: by its Route, or by its level where critical is Urgent.'),
    route: EntityRef,
    integrations: d.described(v.array(EntityRef), 'The Integrations that its Alerts came from.'),
    started_at: d.time('When it was created: its first Alert was received.'),
    alerts_started_at: v.nullable(
      d.time('The earliest `starts_at` of its Alerts, by the clocks of their senders; null if not known.'),
    ),
    resolved_at: v.nullable(d.time('When it was resolved; null while open.')),
    last_changed_at: d.time('When its status, Alerts or Notes last changed.'),
    reopen_count: d.count('How often it was opened again.'),
    firing_alert_count: d.count('How many of its Alerts fire.'),
    resolved_alert_count: d.count('How many of its Alerts ended.'),
    resolution: d.described(v.nullable(ResolutionShape), 'How it was resolved; null while open.'),
    unclaimed: d.flag('Whether nobody acknowledged it in time.'),
    next_notice: d.described(
      v.nullable(
        v.object({
          kind: d.described(
            v.picklist(['ack_timeout', 'reminder']),
            '`ack_timeout` while nobody acknowledged it, `reminder` to its Owner after that.',
          ),
          at: d.time('When it is due.'),
        }),
      ),
      'The next notice that is due; null when none is.',
    ),
    delivery_problem: d.flag('Whether it could not be delivered somewhere.'),
    details_removed: d.flag('Whether retention removed its Alerts and Timeline.'),
    group_labels: d.described(Labels, 'The labels of its Group key.'),
    common_labels: d.described(Labels, 'Labels of all Alerts.'),
    common_annotations: d.described(Labels, 'Annotations of all Alerts.'),
    label_values: d.described(
      Labels,
      'Values of `label_columns` that all its Alerts share; empty without them.',
    ),
    notices: d.described(v.array(NoticeShape), 'What people should know about it.'),
    links: d.described(
      v.array(LinkShape),
      'Those of Link rules by name, then runbook, dashboard and source.',
    ),
    allowed_commands: d.described(v.array(Command), 'The Commands that the caller may use on it now.'),
  }),
  'Alerts of one Route that share a Group key, from the first that fired to the end.',
);

export const CommandAnswer = d.named(
  'CommandAnswer',
  v.object({
    outcome: d.described(
      v.picklist(['done', 'unchanged']),
      '`done` when something changed, `unchanged` when it was so already.',
    ),
    alert_group: d.described(AlertGroupShape, 'The Alert Group after the Command.'),
  }),
  'What a Command did.',
);

export const BulkAnswer = d.named(
  'BulkAnswer',
  v.object({
    results: d.described(
      v.array(
        v.object({
          alert_group_id: d.anyId('Id that was asked for, of whatever it is.'),
          number: v.nullable(d.count('Number of the Alert Group; null when there is none.')),
          outcome: BulkOutcome,
          code: d.described(
            text,
            'Why, unless `done` or `unchanged`: a code of `command-refused`, `owned_by_other`, `not_found` or `internal`. Null otherwise.',
          ),
          message: d.described(text, 'The code as a sentence in English; null without a code.'),
        }),
      ),
      'One result for each id, in the order asked.',
    ),
  }),
  'What a Command did to each of several Alert Groups.',
);

export const CountsShape = d.named(
  'AlertGroupCounts',
  v.object({
    firing: d.count('With the status `firing`.'),
    acknowledged: d.count('With the status `acknowledged`.'),
    snoozed: d.count('With the status `snoozed`.'),
    resolved: d.count('With the status `resolved`.'),
    all: d.count('The sum of the four.'),
  }),
  'How many Alert Groups have each status.',
);

const Fold = d.named(
  'AlertGroupFold',
  v.object({
    value: d.textOrNull('The value, or name, that all Alerts of each group share; null where there is none.'),
    alert_group_count: d.count('How many Alert Groups have it.'),
    firing_count: d.count('Those with the status `firing`.'),
    severity_level: SeverityLevel,
    last_started_at: d.time('When the newest of them began.'),
    distinct: d.described(
      v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))),
      'By the names that were asked for: how many values of the label they have.',
    ),
  }),
  'Alert Groups with the same value, or name, of a label.',
);

export const FoldsShape = d.named(
  'AlertGroupFolds',
  v.object({
    items: d.described(v.array(Fold), 'The largest first.'),
    fold_count: d.count('How many folds there are; at most 200 are items.'),
    alert_group_count: d.count('How many Alert Groups were looked at.'),
    truncated: d.flag('Whether there may be older Alert Groups, which were not looked at.'),
  }),
  'Alert Groups by the values or names of labels, the largest first.',
);

export const AlertBase = d.named(
  'AlertBase',
  v.object({
    fingerprint: d.text('Identity of the Alert: a hash of its labels.'),
    labels: d.described(Labels, 'Its labels, static labels of the Integration included.'),
    annotations: d.described(Labels, 'Its annotations.'),
    state: AlertState,
    resolve_reason: d.described(v.nullable(ResolveReason), 'Why it ended; null while it fires.'),
    resolve_reason_text: d.described(text, 'The reason as a sentence in English; null while it fires.'),
    starts_at: d.time('When it began to fire, as the sender says.'),
    resolved_at: v.nullable(d.time('When it ended; null while it fires.')),
    last_seen_at: d.time('When a Snapshot last listed it.'),
    alertmanager_groups: d.described(v.array(v.string()), "Keys of the sender's groups that list it."),
  }),
  'What every answer says of an Alert.',
);

export const AlertShape = d.extending(
  AlertBase,
  'Alert',
  v.object({
    ...AlertBase.entries,
    integration: EntityRef,
    source_url: v.nullable(d.url('The page of the rule that made it; null without one.')),
  }),
  'An Alert of an Alert Group.',
);

export const RelatedShape = d.named(
  'RelatedAlertGroup',
  v.object({
    id: d.id('AG'),
    number: d.count('Its number, `#N`.'),
    status: GroupStatus,
    started_at: d.time('When it was created: its first Alert was received.'),
    duration_seconds: d.described(v.nullable(v.number()), 'Seconds from start to end; null while open.'),
    resolution: d.described(v.nullable(ResolutionShape), 'How it was resolved; null while open.'),
  }),
  'An earlier Alert Group of the same Route and Group key.',
);

export const NoteShape = d.named(
  'Note',
  v.object({
    id: d.id('NE'),
    body: d.text('The text, up to 4,000 characters.'),
    author: ActorRef,
    transport: Transport,
    created_at: d.time('When it was written.'),
  }),
  'A text that somebody wrote about an Alert Group.',
);

const level = v.nullable(SeverityLevel);
const strings = v.array(v.string());

/** `kind` says which of the optional fields are there (alert-groups §5.1). */
export const TimelineEntryShape = d.named(
  'TimelineEntry',
  v.object({
    id: d.anyId('Id of the entry; `NE` for a Note, `DE` for a delivery event, else `TE`.'),
    at: d.time('When it happened.'),
    kind: EntryKind,
    actor: d.described(
      v.object({
        kind: d.described(
          v.picklist(['user', 'service_account', 'system']),
          '`user`: a person; `service_account`: a program; `system`: the service itself.',
        ),
        id: v.optional(d.anyId('Its id. Absent for the service.')),
        name: d.optionalText('Its name. Absent for the service.'),
        login: d.described(v.optional(text), 'Login of a person.'),
        token_name: d.described(v.optional(text), 'Name of the API token that was used; null without one.'),
        transport: d.described(v.optional(Transport), 'Absent for the service.'),
        reason: d.optionalText('Why the service did it. Absent for people.'),
      }),
      'Who did it.',
    ),
    event: d.optionalText('Name of the lifecycle event, as webhooks carry it.'),
    loudness: d.described(
      v.optional(v.picklist(['loud', 'quiet'])),
      'Whether the event rings (`loud`) or only edits messages (`quiet`).',
    ),
    mentions: d.described(v.optional(strings), 'Whom the event mentions.'),
    sequence: v.optional(d.count('Its place among those of the Alert Group, from 0.')),
    from_status: d.described(v.optional(v.nullable(GroupStatus)), 'Status before; null for the first entry.'),
    to_status: d.described(v.optional(GroupStatus), 'Status after.'),
    reason: d.described(v.optional(text), 'Why, as a word; null without a reason.'),
    reason_text: d.described(v.optional(text), 'Why, as a sentence in English; null without a reason.'),
    owner: d.described(v.optional(v.nullable(UserRef)), 'The Owner after; null without one.'),
    previous_owner: d.described(v.optional(v.nullable(UserRef)), 'The Owner before; null without one.'),
    snooze_until: v.optional(v.nullable(d.time('When the Snooze ends; null without an end.'))),
    fingerprints: d.described(v.optional(strings), 'Fingerprints of the Alerts concerned.'),
    label_conflicts: d.described(v.optional(strings), 'Names of labels for which senders disagree.'),
    replaced_label: d.described(
      v.optional(text),
      'The label whose value replaced another Alert; null without one.',
    ),
    from_severity_level: d.described(v.optional(level), 'Level before; null when it did not change.'),
    to_severity_level: d.described(v.optional(level), 'Level after; null when it did not change.'),
    note: d.described(v.optional(NoteShape), 'With the kind `notes`.'),
    notice_number: d.described(
      v.optional(v.nullable(v.number())),
      'Which notice in a row it was, from 1; null for others.',
    ),
    missed_count: d.described(
      v.optional(v.nullable(v.number())),
      'Notices that a downtime left out; null without any.',
    ),
    delivery_event: d.optionalText('What happened to it, with the kind `delivery`.'),
    destination: d.described(v.optional(EntityRef), 'With the kind `delivery`.'),
    error: d.described(v.optional(text), 'What was answered, masked; null without an error.'),
    system_event: d.optionalText('What the service did, with the kind `system`.'),
    period_from: v.optional(v.nullable(d.time('Begin of the period concerned; null without one.'))),
    period_to: v.optional(v.nullable(d.time('End of the period concerned; null without one.'))),
    detail: d.described(v.optional(text), 'More about it, in English; null without any.'),
  }),
  'What happened to an Alert Group. `kind` says which of the optional fields are there.',
);

export const SnoozePresetsShape = d.named(
  'SnoozePresets',
  v.object({
    time_zone: d.text('IANA time zone of the presets.'),
    workday_start: d.text('When a workday begins, `HH:MM`, from the Organization.'),
    week_start: d.text('The day a week begins with, from the Organization.'),
    items: d.described(
      v.array(
        v.object({
          preset: d.described(
            v.picklist(SNOOZE_PRESETS),
            '`tomorrow`: the start of the next workday; `week_start`: the start of the next week.',
          ),
          until: d.time('When the Snooze would end.'),
        }),
      ),
      'The presets.',
    ),
  }),
  'When each Snooze preset would end now.',
);
