/**
 * Which Commands an Alert Group accepts from whom: the one table behind API, buttons and tests
 * (alert-groups §6.2).
 */
import type { GroupStatus } from '../../model.ts';
import type { CommandName } from '../messages.ts';

/** In the order in which they are answered. */
export const COMMAND_STATUSES = {
  acknowledge: ['firing', 'acknowledged', 'snoozed'],
  unacknowledge: ['acknowledged'],
  resolve: ['firing', 'acknowledged', 'snoozed'],
  unresolve: ['resolved'],
  snooze: ['firing', 'acknowledged', 'snoozed'],
  unsnooze: ['snoozed'],
  still_on_it: ['acknowledged'],
  add_note: ['firing', 'acknowledged', 'snoozed', 'resolved'],
} as const satisfies Record<CommandName, readonly GroupStatus[]>;

export const COMMAND_NAMES = Object.keys(COMMAND_STATUSES) as readonly CommandName[];

export interface Commanded {
  readonly status: GroupStatus;
  readonly ownerId: string | null;
  /** Every check of Unresolve passes. */
  readonly unresolvable: boolean;
  /** A Reminder waits for the Owner's answer. */
  readonly reminderPending: boolean;
}

export interface Commander {
  /** Null for a Service account. */
  readonly userId: string | null;
  /** Whether the caller holds the Permission of a Command. */
  may(command: CommandName): boolean;
}

export function allowedCommands(group: Commanded, caller: Commander): CommandName[] {
  return COMMAND_NAMES.filter((command) => {
    const statuses: readonly GroupStatus[] = COMMAND_STATUSES[command];
    return statuses.includes(group.status) && caller.may(command) && suits(command, group, caller);
  });
}

function suits(command: CommandName, group: Commanded, { userId }: Commander): boolean {
  switch (command) {
    case 'acknowledge':
      return userId !== null && userId !== group.ownerId;
    case 'unresolve':
      return group.unresolvable;
    case 'still_on_it':
      return group.reminderPending && userId !== null && userId === group.ownerId;
    default:
      return true;
  }
}
