import type { AlertGroup, CommandName } from '../../api/shapes.ts';
import type { Translate } from '../../i18n/i18n.svelte.ts';

/** What a Command is called on a button: Acknowledge of another's group is a takeover and says whose. */
export function commandText(t: Translate, command: CommandName, group: AlertGroup): string {
  if (command === 'acknowledge' && group.owner !== null)
    return t('command.takeOver', { owner: group.owner.name });
  return t(`command.${command}`);
}
