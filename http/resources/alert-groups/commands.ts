/** Commands of people on one Alert Group (alert-groups §6, api §12). */
import * as v from 'valibot';
import {
  alertGroupAddress,
  type Command,
  type CommandOutcome,
  type CommandRefusal,
  type GroupCommand,
} from '../../../actors/alert-group/messages.ts';
import { tellOutcome } from '../../../actors/alert-group/metrics.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import type { Permission } from '../../permissions.ts';
import { invalid, notFound, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { COMMAND_PERMISSIONS } from './bodies.ts';
import { CommandAnswer } from './shapes.ts';
import {
  type AlertGroupOperationsDeps,
  bodiesFor,
  GROUP_IDS,
  groupIdOf,
  identityOf,
  isBlank,
  noteText,
  TAG,
} from './shared.ts';
import { SnoozeInput, snoozeEnd } from './snooze.ts';

const ANSWERS = { 200: { description: 'What came of it, and the Alert Group now', schema: CommandAnswer } };

type BodylessCommand = Extract<
  Command,
  { name: 'acknowledge' | 'unacknowledge' | 'unresolve' | 'unsnooze' | 'still_on_it' }
>;

const BODYLESS = [
  {
    id: 'acknowledgeAlertGroup',
    name: 'acknowledge',
    summary: 'Become the Owner of an Alert Group',
    description: 'Acknowledging one that somebody else owns takes it over. For people only.',
    codes: ['owner_must_be_user', 'already_resolved'],
  },
  {
    id: 'unacknowledgeAlertGroup',
    name: 'unacknowledge',
    summary: 'Give an acknowledged Alert Group back',
    description: 'It fires again without an Owner.',
    codes: ['not_acknowledged'],
  },
  {
    id: 'unresolveAlertGroup',
    name: 'unresolve',
    summary: 'Open an Alert Group again that a person resolved',
    description: 'While an Alert of it fires and no newer one took its place.',
    codes: [
      'not_resolved',
      'resolved_automatically',
      'route_deleted',
      'newer_alert_group_exists',
      'all_alerts_resolved',
    ],
  },
  {
    id: 'unsnoozeAlertGroup',
    name: 'unsnooze',
    summary: 'End a Snooze',
    description: 'What was gathered meanwhile is told at once.',
    codes: ['not_snoozed'],
  },
  {
    id: 'answerReminder',
    name: 'still_on_it',
    summary: 'Answer a Reminder: still on it',
    description: 'For the Owner; the next Reminder follows after its interval.',
    codes: ['owner_must_be_user', 'not_owner', 'no_reminder_pending'],
  },
] as const satisfies readonly {
  readonly id: string;
  readonly name: BodylessCommand['name'];
  readonly summary: string;
  readonly description: string;
  readonly codes: readonly CommandRefusal[];
}[];

const ResolveInput = d.named(
  'ResolveInput',
  v.object({
    note: d.described(
      v.nullish(noteText),
      'A Note that is written first, 1 to 4,000 characters. Needs `alert-groups:note`, too.',
    ),
  }),
  'How to resolve.',
);

export function commandOperations(deps: AlertGroupOperationsDeps): readonly Operation[] {
  const bodyless = BODYLESS.map(({ id, name, summary, description, codes }) =>
    operation({
      id,
      method: 'POST',
      path: `/alert-groups/{alert_group_id}/${name.replaceAll('_', '-')}`,
      tag: TAG,
      summary,
      description,
      needs: COMMAND_PERMISSIONS[name],
      ids: GROUP_IDS,
      validatesFirst: true,
      command: name,
      answers: ANSWERS,
      refusals: refusalsOf(codes),
      handle: (call) => command(deps, call, { name }),
    }),
  );
  return [
    ...bodyless,

    operation({
      id: 'resolveAlertGroup',
      method: 'POST',
      path: '/alert-groups/{alert_group_id}/resolve',
      tag: TAG,
      summary: 'Resolve an Alert Group, with a Note if you like',
      description:
        'Alerts that still fire stay with it during the grace period of the Route, and then begin a new Alert Group.',
      needs: 'alert-groups:resolve',
      mayAlsoNeed: ['alert-groups:note'],
      ids: GROUP_IDS,
      body: ResolveInput,
      bodyOptional: true,
      validatesFirst: true,
      command: 'resolve',
      answers: ANSWERS,
      refusals: refusalsOf(['already_resolved']),
      async handle(call) {
        const note = call.body.note ?? null;
        if (note !== null && !holds(call, 'alert-groups:note')) return mayNot('alert-groups:note');
        if (note !== null && isBlank(note)) {
          return (await deps.reader.read(groupIdOf(call))) ? blank('/note') : notFound();
        }
        return command(deps, call, { name: 'resolve', note });
      },
    }),

    operation({
      id: 'snoozeAlertGroup',
      method: 'POST',
      path: '/alert-groups/{alert_group_id}/snooze',
      tag: TAG,
      summary: 'Pause an Alert Group until a time, a preset or without end',
      description: 'Rings no more until then. Alerts that join are gathered for the end.',
      needs: 'alert-groups:snooze',
      ids: GROUP_IDS,
      body: SnoozeInput,
      validatesFirst: true,
      command: 'snooze',
      answers: ANSWERS,
      refusals: refusalsOf(['already_resolved']),
      async handle(call) {
        const end = snoozeEnd(call.body, call);
        if ('errors' in end) {
          return (await deps.reader.read(groupIdOf(call))) ? invalid(end.errors) : notFound();
        }
        return command(deps, call, { name: 'snooze', until: end.until });
      },
    }),
  ];
}

/** Hands a Command to the Alert Group and answers with the state after it. */
async function command(
  deps: AlertGroupOperationsDeps,
  call: Call<unknown, unknown>,
  wanted: Command,
): Promise<Answer> {
  const outcome = await askGroup(deps, call, groupIdOf(call), wanted);
  if (outcome.outcome === 'refused') return refusedBy(outcome);
  const group = outcome.outcome === 'unknown' ? null : await deps.reader.read(groupIdOf(call));
  if (!group) return notFound();
  const [body] = await bodiesFor(deps, call, [group]);
  return { status: 200, body: { outcome: outcome.outcome, alert_group: body } };
}

/** Asks the group's actor and logs the outcome. */
export async function askGroup(
  deps: AlertGroupOperationsDeps,
  call: Pick<Call, 'principal' | 'address'>,
  group: PublicId,
  wanted: Command,
): Promise<CommandOutcome> {
  const by = call.principal();
  const message: GroupCommand = { type: 'command', command: wanted, by, address: call.address };
  // The reply of an Alert Group to a Command is a CommandOutcome (messages.ts).
  const outcome = (await deps.system.ask(alertGroupAddress(group), message)) as CommandOutcome;
  tellOutcome(deps, { command: wanted.name, group, by }, outcome);
  return outcome;
}

export const REFUSAL_DETAIL: Readonly<Record<CommandRefusal, string>> = {
  already_resolved: 'The Alert Group is resolved.',
  not_acknowledged: 'The Alert Group is not acknowledged.',
  not_snoozed: 'The Alert Group is not snoozed.',
  not_resolved: 'The Alert Group is not resolved.',
  resolved_automatically: 'Only what a person resolved can be opened again.',
  route_deleted: 'The Route of the Alert Group was deleted.',
  newer_alert_group_exists: 'A newer Alert Group of the same Route and key is open. Act on that one.',
  all_alerts_resolved: 'None of its Alerts fires any more.',
  not_owner: 'Only the Owner can do this.',
  no_reminder_pending: 'No Reminder waits for an answer.',
  owner_must_be_user: 'Only a user can own an Alert Group; a Service account cannot.',
};

function refusedBy({ code, related }: Extract<CommandOutcome, { outcome: 'refused' }>): Answer {
  return refuse({
    status: 409,
    type: 'command-refused',
    code,
    detail: REFUSAL_DETAIL[code],
    ...(related ? { relatedAlertGroup: related } : {}),
  });
}

function refusalsOf(codes: readonly CommandRefusal[]) {
  return codes.map((code) => [409, 'command-refused', code] as const);
}

export function holds(call: Pick<Call, 'identity'>, permission: Permission): boolean {
  return identityOf(call).permissions.has(permission);
}

export function mayNot(permission: Permission): Answer {
  return refuse({ status: 403, type: 'forbidden', detail: `This needs the Permission ${permission}.` });
}

export function blank(pointer: string): Answer {
  return invalid([{ pointer, code: 'required', detail: 'Write something.' }]);
}
