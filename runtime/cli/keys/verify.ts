/** `tocsin keys verify`: opens every sealed value and says which cannot be opened. */
import { readKeyring } from '../../../storage/keyring.ts';
import { SECRET_FIELDS, sealedValues, type UnreadableValue } from '../../../storage/sealed-values.ts';
import { inSnapshot } from '../../../storage/transaction.ts';
import { type Command, EXIT } from '../command.ts';
import { counted, NO_KEYRING, refuse, withKeysDatabase } from './database.ts';

const NAME = 'tocsin keys verify';

export const keysVerify: Command = {
  name: 'keys verify',
  summary: 'try whether every stored secret opens with the keys listed here',
  help: `Usage: tocsin keys verify [--json]

Opens the canary and every stored secret with the listed keys, in memory, and names those that do not open. Shows no value
and changes nothing. Worth a run before "tocsin keys rotate" and after a restore. Works on the database named by
SVC_DATABASE_*, with the environment of the service.

  --json  print one JSON object: {"active", "opened", "unreadable": [{"field", "owner", "key_id"}]}

Exit codes: 0 everything opens, 1 failed or something does not open, 2 wrong usage.`,
  options: { json: { type: 'boolean' } },
  run: (values, io) =>
    withKeysDatabase(NAME, io, async ({ sql, masterKeys }) => {
      const seen = await inSnapshot(sql, async (tx) => {
        const keyring = await readKeyring(tx, masterKeys);
        if (!keyring) return null;
        const unreadable: UnreadableValue[] = [];
        let opened = 0;
        for (const field of SECRET_FIELDS) {
          for (const value of await sealedValues(tx, field)) {
            const result = keyring.open(value.field, value.owner, value.sealed);
            if (result.ok) opened++;
            else unreadable.push({ field: value.field, owner: value.owner, keyId: result.keyId });
          }
        }
        return { active: keyring.activeKeyId, opened, unreadable };
      });
      if (seen === null) return refuse(io, NAME, NO_KEYRING);
      const { active, opened, unreadable } = seen;
      if (values.json) {
        const shown = unreadable.map(({ field, owner, keyId }) => ({ field, owner, key_id: keyId }));
        io.out(JSON.stringify({ active, opened, unreadable: shown }));
      } else {
        io.out(`${active} is active and fits the database; ${counted(opened, 'value')} opened.`);
        for (const { field, owner, keyId } of unreadable) {
          io.out(`Cannot be opened: ${field} of ${owner}, sealed with ${keyId}. Enter it again.`);
        }
      }
      return unreadable.length === 0 ? EXIT.done : EXIT.failed;
    }),
};
