/** Which Alert Groups went where: from Integrations over Routes to Destinations (alert-groups §10.4, api §12). */
import * as v from 'valibot';
import {
  FLOW_COLUMNS,
  FLOW_KINDS,
  type FlowReader,
  LONGEST_FLOW,
  MOST_IN_FLOW,
} from '../../../actors/alert-group/reading/readers.ts';
import { DAY, formatInstant, HOUR } from '../../../runtime/clock.ts';
import { type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { instant, rangeErrors } from '../../schema/fields.ts';
import { EntityRef } from '../../schema/shapes.ts';
import { TAG } from './shared.ts';
import { periodOf } from './statistics.ts';

export interface FlowOperationsDeps {
  readonly flow: FlowReader;
}

const PERIOD = 24 * HOUR;

const groups = d.count('How many Alert Groups.');

const FlowShape = d.named(
  'AlertGroupFlow',
  v.object({
    from: d.time('Begin of the range, included.'),
    to: d.time('End of the range, not included.'),
    alert_group_count: d.count('How many Alert Groups started, each once.'),
    nodes: d.described(
      v.array(
        v.object({
          column: d.described(v.picklist(FLOW_COLUMNS), '`integration`, `route` or `destination`.'),
          kind: d.described(
            v.picklist(FLOW_KINDS),
            '`subject`; `others`: not named; `none`: no Destination; `forgotten`: no longer kept.',
          ),
          subject: d.described(v.nullable(EntityRef), 'Null unless `kind` is `subject`.'),
          deleted: d.flag('The subject is deleted.'),
          subject_count: d.count('How many subjects it stands for.'),
          alert_group_count: groups,
        }),
      ),
      `By column, the most Alert Groups first; at most ${MOST_IN_FLOW} subjects a column.`,
    ),
    links: d.described(
      v.array(
        v.object({
          source: d.count('Place of a node in `nodes`, from 0.'),
          target: d.count('Place of a node of the next column.'),
          alert_group_count: groups,
        }),
      ),
      'How many Alert Groups went from one node to another.',
    ),
  }),
  'Which Alert Groups went where.',
);

const flowQuery = v.object({
  from: d.described(
    instant,
    'Only groups that started at or after this time. Left out: 24 hours before `to`.',
  ),
  to: d.described(instant, 'Only groups that started before this time; after `from`. Left out: now.'),
});

export function flowOperations({ flow }: FlowOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getAlertGroupFlow',
      method: 'GET',
      path: '/alert-group-flow',
      tag: TAG,
      summary: 'Count Alert Groups that started by Integration, Route and Destination',
      description:
        'One of several Integrations or Destinations counts for each. What was withheld went nowhere.',
      needs: 'alert-groups:read',
      query: flowQuery,
      answers: { 200: { description: 'Nodes and links', schema: FlowShape } },
      refusals: [[422, 'validation-failed', '']],
      async handle({ query, now }) {
        const period = periodOf(query, now, PERIOD);
        const errors: FieldError[] = [...rangeErrors(query.from, query.to)];
        if (period.to - period.from > LONGEST_FLOW) {
          const detail = `The range must not be longer than ${LONGEST_FLOW / DAY} days.`;
          errors.push({ pointer: '/query/from', code: 'out_of_range', detail });
        }
        if (errors.length > 0) return invalid(errors);
        const found = await flow.read({ ...period, now });
        return {
          status: 200,
          body: {
            from: formatInstant(period.from),
            to: formatInstant(period.to),
            alert_group_count: found.groupCount,
            nodes: found.nodes.map(({ column, kind, subject, subjectCount, groupCount }) => ({
              ...{ column, kind, subject: subject && { id: subject.id, name: subject.name } },
              deleted: subject?.deleted ?? false,
              subject_count: subjectCount,
              alert_group_count: groupCount,
            })),
            links: found.links.map(({ source, target, groupCount }) => ({
              ...{ source, target, alert_group_count: groupCount },
            })),
          },
        };
      },
    }),
  ];
}
