/** The order of Command buttons: what a woken person most likely wants comes first. */
import type { AlertGroup, CommandName } from '../../api/shapes.ts';

const FIRING: readonly CommandName[] = ['acknowledge', 'resolve', 'snooze'];
const MINE: readonly CommandName[] = ['still_on_it', 'resolve', 'snooze', 'unacknowledge'];
const REST: readonly CommandName[] = [
  'acknowledge',
  'unsnooze',
  'unresolve',
  'resolve',
  'snooze',
  'still_on_it',
  'unacknowledge',
  'add_note',
];

/** The allowed Commands, each once: Acknowledge first while firing, Resolve first when the group is one's own. */
export function orderCommands(group: AlertGroup, userId: string): readonly CommandName[] {
  const wanted = group.owner?.id === userId ? MINE : FIRING;
  const order = [...new Set([...wanted, ...REST])];
  return order.filter((command) => group.allowed_commands.includes(command));
}
