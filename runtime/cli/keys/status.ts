/** `tocsin keys status`: which master keys there are, who holds them, and which may go (secrets §5). */
import { readKeys } from '../../../storage/key-view.ts';
import { systemClock } from '../../clock.ts';
import { type KeyEntry, keyringBody } from '../../secrets/key-report.ts';
import { type Command, EXIT } from '../command.ts';
import { withKeysDatabase } from './database.ts';

const NAME = 'tocsin keys status';

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
    withKeysDatabase(NAME, io, async ({ sql, masterKeys }) => {
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
