/** What else fires around an Alert Group, and what its Route and Group key had before (alert-groups §10.1). */
import * as v from 'valibot';
import { isUrgent } from '../../../actors/alert-group/reading/alert-summary.ts';
import {
  type ContextReader,
  comparedLabels,
  type NearbyGroups,
  type PastGroups,
  sharedLabels,
} from '../../../actors/alert-group/reading/context.ts';
import type { GroupReader, StoredGroup } from '../../../actors/alert-group/reading/readers.ts';
import type { Directory } from '../../../actors/directory.ts';
import { formatInstant, SECOND } from '../../../runtime/clock.ts';
import { type Operation, operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { AlertGroupRef, Labels, UserRef } from '../../schema/shapes.ts';
import { GroupStatus, SeverityLevel } from '../../schema/words.ts';
import { noteBody, userRef } from './bodies.ts';
import { NoteShape } from './shapes.ts';
import { GROUP_IDS, groupIdOf, TAG } from './shared.ts';

export interface ContextOperationsDeps {
  readonly reader: Pick<GroupReader, 'read'>;
  readonly context: ContextReader;
}

const NearbyShape = d.named(
  'NearbyAlertGroup',
  v.object({
    id: d.id('AG'),
    number: d.count('Its number, `#N`.'),
    title: d.text('Its title.'),
    status: GroupStatus,
    severity_level: SeverityLevel,
    urgent: d.flag('Whether it is Urgent.'),
    owner: d.described(v.nullable(UserRef), 'Who acknowledged it; null unless `acknowledged`.'),
    started_at: d.time('When it was created: its first Alert was received.'),
    shared_labels: d.described(Labels, 'The compared labels that both have with the same value.'),
  }),
  'An open Alert Group that started near another one and shares labels with it.',
);

const PastShape = d.named(
  'AlertGroupPast',
  v.object({
    from: d.time('Start of the period that is counted, which ends when this Alert Group started.'),
    alert_group_count: d.count(
      'Alert Groups of the same Route and Group key that started in it, at most 500.',
    ),
    truncated: d.flag('Whether there may be more than 500.'),
    median_duration_seconds: d.described(
      v.nullable(v.number()),
      'Median of seconds from start to end of those that are resolved; null without any.',
    ),
    acknowledged_by: d.described(
      v.array(
        v.object({
          user: UserRef,
          alert_group_count: d.count('How many of the last 20.'),
        }),
      ),
      'Who acknowledged the last 20 first, the last one first; at most 3.',
    ),
    notes: d.described(
      v.array(v.object({ alert_group: AlertGroupRef, note: NoteShape })),
      'The newest Notes on the last 20, newest first; at most 3.',
    ),
  }),
  'What earlier Alert Groups of the same Route and Group key were like.',
);

const ContextShape = d.named(
  'AlertGroupContext',
  v.object({
    nearby: d.described(
      v.object({
        items: d.described(v.array(NearbyShape), 'Those with most labels in common first; at most 10.'),
        count: d.count('How many of those compared share a label.'),
        truncated: d.flag('Whether so many are open that only the nearest were compared.'),
      }),
      'What else fires around it.',
    ),
    past: PastShape,
  }),
  'What fires around an Alert Group, and what its Group key had before.',
);

export function contextOperations({ reader, context }: ContextOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getAlertGroupContext',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/context',
      tag: TAG,
      summary: 'Read what else fires around an Alert Group, and what its key had before',
      description:
        'Compared are the labels namespace, service, node, host and instance; cluster beside one of them.',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      answers: { 200: { description: 'What fires around it, and what was before', schema: ContextShape } },
      async handle(call) {
        const group = await reader.read(groupIdOf(call));
        if (!group) return notFound();
        const [nearby, past] = await Promise.all([context.nearby(group, call.now), context.past(group)]);
        return {
          status: 200,
          body: { nearby: nearbyBody(group, nearby, call.directory), past: pastBody(past, call.directory) },
        };
      },
    }),
  ];
}

function nearbyBody(group: StoredGroup, { groups, count, truncated }: NearbyGroups, directory: Directory) {
  const compared = comparedLabels(group.commonLabels);
  const items = groups.map((other) => ({
    id: other.id,
    number: other.number,
    title: other.title,
    status: other.status,
    severity_level: other.severityLevel,
    urgent: isUrgent(directory, other.routeId, other.severityLevel),
    owner: other.ownerId && userRef(directory, other.ownerId),
    started_at: formatInstant(other.startedAt),
    shared_labels: sharedLabels(compared, other.commonLabels),
  }));
  return { items, count, truncated };
}

function pastBody(past: PastGroups, directory: Directory) {
  const { medianDuration } = past;
  return {
    from: formatInstant(past.from),
    alert_group_count: past.count,
    truncated: past.truncated,
    median_duration_seconds: medianDuration === null ? null : Math.round(medianDuration / SECOND),
    acknowledged_by: past.people.map(({ userId, count }) => ({
      user: userRef(directory, userId),
      alert_group_count: count,
    })),
    notes: past.notes.map(({ note, group }) => ({ alert_group: group, note: noteBody(note, directory) })),
  };
}
