/** `tocsin keys status`: which master keys there are, who holds them, and which may go (secrets §5). */
import { readKeyring, readKeys } from '../../../storage/keys/keyring.ts';
import { SECRET_FIELDS, sealedValues, type UnreadableValue } from '../../../storage/keys/sealed-values.ts';
import { inSnapshot } from '../../../storage/postgres/transaction.ts';
import { systemClock } from '../../clock.ts';
import { type KeyEntry, keyringBody } from '../../secrets/key-report.ts';
import { type Command, EXIT } from '../command.ts';
import { counted, NO_KEYRING, refuse, withDatabase } from '../command-database.ts';

const STATUS = 'tocsin keys status';

export const keysStatus: Command = {
  name: 'keys status',
  summary: 'show the master keys, who holds them and which may be removed',
  help: `Usage: tocsin keys status [--json]

One line a key: its id, whether it is active, needed or removable, which running replicas hold it and which do not. Changes
nothing. Works on the database named by SVC_DATABASE_*, with the environment of the service.

  active     seals and signs
  needed     something can be read with it alone: keep it in every list
  removable  nothing needs it: take it from every list and restart

  --json  print one JSON object: {"keys": [{"id", "active", "held_by", "missing_on", "needed", "removable"}]}

Exit codes: 0 done, 1 failed, 2 wrong usage.`,
  options: { json: { type: 'boolean' } },
  run: (values, io) =>
    withDatabase(STATUS, io, async ({ sql, masterKeys }) => {
      const entries = await readKeys(sql, systemClock.now());
      if (values.json) {
        io.out(JSON.stringify(keyringBody(entries)));
        return EXIT.done;
      }
      const listed = masterKeys.map(({ id }) => id);
      if (entries.length === 0) io.out('No key is in use yet: the first start makes the first one active.');
      for (const entry of entries) io.out(lineOf(entry, listed.includes(entry.id)));
      for (const id of listed.filter((held) => !entries.some((entry) => entry.id === held))) {
        io.out(`${id}  unused, listed here, held by no running replica`);
      }
      return EXIT.done;
    }),
};

function lineOf(entry: KeyEntry, isListed: boolean): string {
  const { id, active, needed, heldBy, missingOn } = entry;
  const use = active ? 'active' : needed ? 'needed' : 'removable';
  const holders = heldBy.length === 0 ? 'held by no running replica' : `held by ${heldBy.join(', ')}`;
  const facts = [
    use,
    ...(isListed ? ['listed here'] : ['not listed here']),
    holders,
    ...(missingOn.length === 0 ? [] : [`missing on ${missingOn.join(', ')}`]),
  ];
  return `${id}  ${facts.join(', ')}`;
}

/** `tocsin keys verify`: opens every sealed value and says which cannot be opened. */
const VERIFY = 'tocsin keys verify';

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
    withDatabase(VERIFY, io, async ({ sql, masterKeys }) => {
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
      if (seen === null) return refuse(io, VERIFY, NO_KEYRING);
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
