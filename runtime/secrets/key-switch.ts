/** Follows the key that is active in the database, whoever saw it there (secrets §5, operations §5.7). */
import type { Log } from '../log.ts';
import type { SwitchableKeyring } from './keyring.ts';

export interface KeySwitchDeps {
  readonly keyring: SwitchableKeyring;
  readonly log: Log;
  readonly onSwitched: () => void;
  /** Called once: this process cannot seal what the others seal, and must end. */
  readonly onNotHeld: () => void;
}

export function createKeySwitch({ keyring, log, onSwitched, onNotHeld }: KeySwitchDeps) {
  let isMissing = false;
  return (activeKeyId: string): void => {
    if (activeKeyId === keyring.activeKeyId) return;
    if (keyring.activate(activeKeyId)) {
      log('key_switched', { active: activeKeyId });
      onSwitched();
      return;
    }
    if (isMissing) return;
    isMissing = true;
    log('active_key_not_held');
    onNotHeld();
  };
}
