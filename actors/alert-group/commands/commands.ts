/** Commands on an Alert Group (alert-groups §3.2, §6). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Authorship, auditEntry } from '../../audit.ts';
import { isPressRefusal, privateAnswer } from '../../messages/index.ts';
import type { Principal } from '../../model.ts';
import { releaseOwner } from '../configuration.ts';
import { isLive, reclaimSlot } from '../ingestion/placing.ts';
import type {
  CarriedReply,
  Command,
  CommandCarrier,
  CommandName,
  CommandOutcome,
  CommandRefusal,
  GroupCommand,
} from '../messages.ts';
import { type GroupRef, NOTHING_ASKED, type Outside, type RelatedGroups } from '../ports.ts';
import { isUrgent } from '../reading/alert-summary.ts';
import {
  contextOf,
  isInGrace,
  isMoved,
  isOpen,
  isResolvedBySystem,
  type StartedGroup,
  statusOf,
} from '../state.ts';
import type { GroupTurn } from '../turn.ts';

const DONE: CommandOutcome = { outcome: 'done' };
const UNCHANGED: CommandOutcome = { outcome: 'unchanged' };

/** Runs one Command and returns its outcome. `outside` holds what was read before the turn for Unresolve. */
export function runCommand(
  turn: GroupTurn,
  { command, by, address, carrier }: GroupCommand,
  outside: Outside,
): CommandOutcome {
  const refused = refusal(turn, command, by, outside.newer);
  if (refused) return refused;
  const taken = take(turn, command, by);
  if (command.name === 'unresolve') {
    reclaimSlot(turn, outside.slots);
    turn.portray();
  }
  if (taken.action !== null)
    audit(turn, taken.action, { by, at: turn.now, address: address ?? null }, carrier);
  return taken.outcome;
}

interface Taken {
  readonly outcome: CommandOutcome;
  /** Action name in the Audit log; null when nothing changed. */
  readonly action: string | null;
}

function take(turn: GroupTurn, command: Command, by: Principal): Taken {
  switch (command.name) {
    case 'acknowledge':
      return acknowledge(turn, by, command.sparesOwner ?? false);
    case 'unacknowledge':
    case 'unresolve':
    case 'unsnooze':
      turn.step({ type: command.name, at: turn.now }, by);
      return { outcome: DONE, action: PAST[command.name] };
    case 'resolve':
      return resolve(turn, command.note, by);
    case 'snooze':
      return snooze(turn, command.until, by);
    case 'add_note':
      return { outcome: addNote(turn, command.body, by), action: 'note_added' };
    case 'still_on_it':
      turn.step({ type: 'still_on_it', at: turn.now }, by);
      return { outcome: DONE, action: 'reminder_answered' };
  }
}

const PAST = {
  unacknowledge: 'unacknowledged',
  unresolve: 'unresolved',
  unsnooze: 'unsnoozed',
} as const;

function refusal(
  turn: GroupTurn,
  { name }: Command,
  by: Principal,
  newer: GroupRef | null,
): Extract<CommandOutcome, { outcome: 'refused' }> | null {
  const code = refusalCode(turn, name, by, newer);
  if (!code) return null;
  return { outcome: 'refused', code, related: code === 'newer_alert_group_exists' ? newer : null };
}

function refusalCode(
  turn: GroupTurn,
  name: CommandName,
  by: Principal,
  newer: GroupRef | null,
): CommandRefusal | null {
  const { group } = turn;
  const status = statusOf(group);
  switch (name) {
    case 'acknowledge':
      if (by.kind !== 'user') return 'owner_must_be_user';
      return status === 'resolved' ? 'already_resolved' : null;
    case 'resolve':
    case 'snooze':
      return status === 'resolved' ? 'already_resolved' : null;
    case 'unacknowledge':
      return status === 'acknowledged' ? null : 'not_acknowledged';
    case 'unsnooze':
      return status === 'snoozed' ? null : 'not_snoozed';
    case 'unresolve':
      return unresolveRefusal(turn, newer);
    case 'still_on_it':
      if (by.kind !== 'user') return 'owner_must_be_user';
      if (contextOf(group).owner?.id !== by.id) return 'not_owner';
      return contextOf(group).reminders?.pending ? null : 'no_reminder_pending';
    case 'add_note':
      return null;
  }
}

/** In the order of alert-groups §6.3. */
function unresolveRefusal({ group, directory }: GroupTurn, newer: GroupRef | null): CommandRefusal | null {
  if (isOpen(group)) return 'not_resolved';
  if (isResolvedBySystem(group)) return 'resolved_automatically';
  if (!isLive(contextOf(group).routeId, directory)) return 'route_deleted';
  if (newer && !isMoved(group)) return 'newer_alert_group_exists';
  return isInGrace(group) ? null : 'all_alerts_resolved';
}

/** Whether Unresolve has to know about newer groups: only when every check before it passes. */
export function asksForNewer(state: StartedGroup, name: CommandName): boolean {
  return name === 'unresolve' && !isOpen(state) && !isResolvedBySystem(state) && !isMoved(state);
}

function acknowledge(turn: GroupTurn, by: Principal, sparesOwner: boolean): Taken {
  if (by.kind !== 'user') throw new Error('only a User acknowledges');
  const { owner } = contextOf(turn.group);
  if (sparesOwner && owner && owner.id !== by.id) {
    return { outcome: { outcome: 'skipped', owner }, action: null };
  }
  const row = turn.step({ type: 'acknowledge', at: turn.now, by }, by);
  if (row === 'acknowledge-own') return { outcome: UNCHANGED, action: null };
  releaseInactive(turn, by.id);
  return { outcome: DONE, action: row === 'takeover' ? 'taken_over' : 'acknowledged' };
}

/** A User who was disabled or deleted while the Command was in flight does not become Owner (alert-groups §6.7). */
function releaseInactive(turn: GroupTurn, userId: PublicId): void {
  const status = turn.directory.usersById.get(userId)?.status ?? 'active';
  if (status === 'active') return;
  releaseOwner(turn, { userId, reason: status === 'deleted' ? 'owner_deleted' : 'owner_disabled' });
}

/** A note sent with a resolve has no separate Audit entry: the request was one Command. */
function resolve(turn: GroupTurn, note: string | null, by: Principal): Taken {
  const gracePeriod = turn.route.policy.grace_period_seconds * SECOND;
  turn.step({ type: 'resolve', at: turn.now, by, gracePeriod }, by);
  return { outcome: note === null ? DONE : addNote(turn, note, by), action: 'resolved' };
}

function snooze(turn: GroupTurn, until: Micros | null, by: Principal): Taken {
  const { portrait } = turn.group;
  const urgent = isUrgent(turn.directory, turn.route.id, portrait.severityLevel);
  const row = turn.step({ type: 'snooze', at: turn.now, by, until, urgent }, by);
  if (row === 'snooze-same') return { outcome: UNCHANGED, action: null };
  return { outcome: DONE, action: 'snoozed' };
}

function addNote(turn: GroupTurn, body: string, by: Principal): CommandOutcome {
  const id = turn.randomId('NE');
  turn.step({ type: 'note', at: turn.now, by }, by, { note: { id, body } });
  return { outcome: 'done', noteId: id };
}

function audit(
  turn: GroupTurn,
  action: string,
  author: Authorship,
  carrier: CommandCarrier | undefined,
): void {
  const { number, portrait } = turn.group;
  const entry = auditEntry(author, {
    action: `alert_group.${action}`,
    resourceId: turn.groupId,
    resourceName: number === null ? portrait.title : `#${number} ${portrait.title}`,
    ...(carrier ? { details: { external_id: carrier.externalId, connection: carrier.connection } } : {}),
  });
  turn.record({ type: 'audit.recorded', entry });
}

/** Commands from a messenger event: their outcome, and the answer to the person (bridge §7.1). */
export async function lookUpForCarried(
  related: RelatedGroups,
  { connection, eventId }: CommandCarrier,
): Promise<Outside> {
  const handled = await related.eventHandled({ connectionId: connection.id, eventId });
  return { ...NOTHING_ASKED, handled };
}

/**
 * Runs a Command at most once, however often its event is delivered: the commit of its effects also claims the event,
 * and the claim fails when another commit made it first.
 */
export function runCarried(
  turn: GroupTurn,
  carrier: CommandCarrier,
  { handled }: Outside,
  run: () => CommandOutcome,
): CarriedReply {
  if (handled) return { outcome: null, say: handled.say };
  const outcome = run();
  const say = answerTo(outcome, carrier);
  if (outcome.outcome !== 'unknown') {
    const { connection, eventId } = carrier;
    turn.record({
      type: 'connection.event_claimed',
      connectionId: connection.id,
      eventId,
      say,
      at: turn.now,
    });
  }
  return { outcome, say };
}

function answerTo(outcome: CommandOutcome, { answer }: CommandCarrier): string | null {
  if (!answer) return null;
  const { way, language, button: command, seconds } = answer;
  switch (outcome.outcome) {
    case 'done':
    case 'unchanged':
      // People of a chat server see the edit; of Still on it there is none.
      if (way === 'chat_server_press' && command !== 'still_on_it') return null;
      return privateAnswer({ say: 'done', command, seconds }, way, language, '');
    case 'refused': {
      const { code } = outcome;
      return privateAnswer(
        isPressRefusal(code) ? { say: 'refused', code } : { say: 'failed' },
        way,
        language,
        '',
      );
    }
    case 'skipped':
    case 'unknown':
      return privateAnswer({ say: 'invalid' }, way, language, '');
  }
}
