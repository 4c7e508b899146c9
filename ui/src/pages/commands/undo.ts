/** Taking back a Command: which Command leads back, and whether it still does (ui §1.5). */
import type { AlertGroupsApi } from '../../api/alert-groups.ts';
import type { Answer } from '../../api/client.ts';
import { mayBeDone, notSent } from '../../api/problem.ts';
import type { AlertGroup, CommandAnswer, CommandName } from '../../api/shapes.ts';

/** The Commands that take back another one. */
export type Back = 'acknowledge' | 'unacknowledge' | 'unresolve' | 'unsnooze';

/** Whether a Command of one press asks first: it takes what its sender cannot give back (ui §1.5). */
export function asksFirst(
  command: CommandName,
  before: Pick<AlertGroup, 'status' | 'owner'>,
  userId: string,
): boolean {
  return command !== 'still_on_it' && wayBack(command, before, userId) === null;
}

/**
 * The Command that leads back to what was there before `command`, or null when none does.
 * @param before the group as it was shown when the Command was sent
 * @param allowed what the service allows after it; null when its answer does not say, as that of a bulk Command
 */
export function undoOf(
  command: CommandName,
  before: Pick<AlertGroup, 'status' | 'owner'>,
  userId: string,
  allowed: readonly CommandName[] | null,
): Back | null {
  const back = wayBack(command, before, userId);
  return back === null || allowed?.includes(back) === false ? null : back;
}

function wayBack(
  command: CommandName,
  { status, owner }: Pick<AlertGroup, 'status' | 'owner'>,
  userId: string,
): Back | null {
  switch (command) {
    // Both lead back to a firing group without Owner: neither to an earlier Owner nor to a Snooze.
    case 'acknowledge':
      return status === 'firing' ? 'unacknowledge' : null;
    case 'snooze':
      return status === 'firing' ? 'unsnooze' : null;
    case 'unacknowledge':
      return owner?.id === userId ? 'acknowledge' : null;
    case 'resolve':
      return 'unresolve';
    default:
      return null;
  }
}

type Present = Pick<AlertGroup, 'status' | 'owner' | 'snoozed_by' | 'resolution'>;

/** Whether the group is still as the person left it. Otherwise `back` would undo what somebody else did. */
export function isAsLeft(back: Back, now: Present, userId: string): boolean {
  switch (back) {
    case 'unacknowledge':
      return now.owner?.id === userId;
    case 'unsnooze':
      return now.snoozed_by?.id === userId;
    case 'unresolve':
      return now.resolution?.actor?.id === userId;
    case 'acknowledge':
      return now.status === 'firing';
  }
}

/** @returns what the Command that leads back is answered; null when it was not sent, as somebody else did something */
export async function takeBack(
  api: Pick<AlertGroupsApi, 'read' | 'command'>,
  id: string,
  back: Back,
  userId: string,
): Promise<Answer<CommandAnswer> | null> {
  const now = await api.read(id);
  if (!now.ok) return mayBeDone(now.problem) ? { ok: false, problem: notSent() } : now;
  return isAsLeft(back, now.value, userId) ? api.command(id, back) : null;
}
