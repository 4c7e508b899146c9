/** `tocsin user unlock`: forgets failed attempts on an account, so that it may be tried at once. */
import { unlock } from '../../../storage/user-commands.ts';
import type { Command } from '../command.ts';
import { ACCOUNT_HELP, ACCOUNT_OPERANDS, ACCOUNT_OPTIONS, changeAccount, told } from './account.ts';

const NAME = 'tocsin user unlock';

export const userUnlock: Command = {
  name: 'user unlock',
  summary: 'forget failed sign-ins of a user',
  help: `Usage: tocsin user unlock <login> --actor <name>

Forgets failed attempts on the account, so that the next one need not wait. Addresses that failed stay slowed down, for a
minute at most. Works on the database named by SVC_DATABASE_*, with the environment of the service.

${ACCOUNT_HELP}

Exit codes: 0 done, 1 failed or refused, 2 wrong usage.`,
  options: ACCOUNT_OPTIONS,
  operands: ACCOUNT_OPERANDS,
  run: (values, io) =>
    changeAccount(NAME, values, io, async ({ login, change }) =>
      told(NAME, io, await change((made) => unlock(made, login)), {
        nothing: 'No attempt on this account has failed.',
        done: 'Failed attempts are forgotten.',
      }),
    ),
};
