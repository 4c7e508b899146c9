/** What the commands of `tocsin user` that change an account have in common. */
import { appendAudit } from '../../../storage/audit.ts';
import { type Change, inTransaction } from '../../../storage/transaction.ts';
import { systemClock } from '../../clock.ts';
import { type CommandIo, EXIT, type OptionValues } from '../command.ts';
import { type KeysDatabase, readActor, refuse, withKeysDatabase, wrongUsage } from '../keys/database.ts';

export const ACCOUNT_OPTIONS = { actor: { type: 'string' } } as const;
export const ACCOUNT_OPERANDS = ['login'] as const;

export const ACCOUNT_HELP = `  <login>         of the user, in any case
  --actor <name>  who does it, for the Audit log`;

export interface AccountChange {
  readonly login: string;
  readonly database: KeysDatabase;
  /** One transaction, in the name of who runs the command. */
  change<Result>(run: (made: Change) => Promise<Result>): Promise<Result>;
}

/** Reads the words, opens the database and runs. @returns the exit code */
export async function changeAccount(
  name: string,
  values: OptionValues,
  io: CommandIo,
  run: (account: AccountChange) => Promise<number>,
): Promise<number> {
  const asked = readActor(values);
  if ('wrong' in asked) return wrongUsage(io, name, asked.wrong);
  const by = { kind: 'cli', id: null, name: asked.actor } as const;
  return withKeysDatabase(name, io, (database) =>
    run({
      login: String(values.login),
      database,
      change: (made) =>
        inTransaction(database.sql, (tx) =>
          made({ tx, appendAudit, author: { by, at: systemClock.now(), address: null } }),
        ),
    }),
  );
}

/** Says how it went. */
export function told(
  name: string,
  io: CommandIo,
  outcome: 'unknown' | 'nothing' | 'done',
  words: { readonly nothing: string; readonly done: string },
): number {
  if (outcome === 'unknown') return refuse(io, name, 'there is no user with this login.');
  io.out(words[outcome]);
  return EXIT.done;
}
