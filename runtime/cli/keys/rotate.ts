/** `tocsin keys rotate`: makes another master key the active one (secrets §5). */
import { appendAudit } from '../../../storage/access/audit.ts';
import { type RotationOutcome, rotateKeys } from '../../../storage/keys/key-change.ts';
import { systemClock } from '../../clock.ts';
import { type Command, type CommandIo, EXIT } from '../command.ts';
import {
  counted,
  NO_KEYRING,
  readActor,
  refuse,
  sumOf,
  withDatabase,
  wrongUsage,
} from '../command-database.ts';

const NAME = 'tocsin keys rotate';

export const keysRotate: Command = {
  name: 'keys rotate',
  summary: 'make another master key the active one, and seal every value with it',
  help: `Usage: tocsin keys rotate --activate <id> --actor <name> [--json]

Makes a key active that every running replica holds, and seals every stored secret with it: all of it in one transaction
with an entry of the Audit log, or nothing. No secret changes, nobody is signed out. Running replicas follow within half a
minute without a restart. Works on the database named by SVC_DATABASE_*, with the environment of the service; the list of
keys has to hold the old key and the new one.

Before: add the new line to the list of every replica, restart them one by one, and look at "tocsin keys status".
After:  once "tocsin keys status" calls the old key removable, take its line from every list and restart.

  --activate <id>  the key, such as k-1f0c6d2b9a3e4f57
  --actor <name>   who does it, for the Audit log
  --json           print one JSON object: {"from", "to", "fields"}; "from" is null when the key was active already

Exit codes: 0 done or active already, 1 failed or refused, 2 wrong usage.`,
  options: { activate: { type: 'string' }, actor: { type: 'string' }, json: { type: 'boolean' } },
  async run(values, io) {
    const asked = readActor(values);
    if ('wrong' in asked) return wrongUsage(io, NAME, asked.wrong);
    const { activate: to } = values;
    if (typeof to !== 'string' || to === '') {
      return wrongUsage(io, NAME, '--activate is needed: the id of a key, as "tocsin keys status" shows it.');
    }
    return withDatabase(NAME, io, async ({ masterKeys: keys, log, alone }) => {
      const author = {
        by: { kind: 'cli', id: null, name: asked.actor },
        at: systemClock.now(),
        address: null,
      } as const;
      const outcome = await alone((tx) => rotateKeys(tx, appendAudit, { keys, to, author }));
      if (outcome.outcome === 'activated') {
        log('key_activated', { from: outcome.from, to, actor: asked.actor });
      }
      return tell(io, to, outcome, values.json === true);
    });
  },
};

function tell(io: CommandIo, to: string, outcome: RotationOutcome, isJson: boolean): number {
  switch (outcome.outcome) {
    case 'activated': {
      const { from, fields } = outcome;
      io.out(
        isJson
          ? JSON.stringify({ from, to, fields })
          : `${to} is active; ${counted(sumOf(fields), 'value')} sealed anew. Keep ${from} listed until "tocsin keys status" calls it removable.`,
      );
      return EXIT.done;
    }
    case 'already_active':
      io.out(isJson ? JSON.stringify({ from: null, to, fields: {} }) : `${to} is already active.`);
      return EXIT.done;
    case 'no_keyring':
      return refuse(io, NAME, NO_KEYRING);
    case 'not_held_here':
      return refuse(
        io,
        NAME,
        `${to} is not held by this process, which holds ${outcome.held.join(', ')}. Add its line to the list of keys.`,
      );
    case 'missing_on':
      return refuse(
        io,
        NAME,
        `${to} is missing on ${outcome.replicas.join(', ')}. Add its line there and restart; a replica that was killed counts as running for 2 min.`,
      );
    case 'unreadable': {
      const { field, owner, keyId } = outcome.value;
      return refuse(
        io,
        NAME,
        `${field} of ${owner} cannot be opened with ${keyId}, and nothing was changed. Enter it again or remove it; "tocsin keys verify" lists all of them.`,
      );
    }
    default:
      return outcome satisfies never;
  }
}
