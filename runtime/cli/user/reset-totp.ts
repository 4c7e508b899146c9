/** `tocsin user reset-totp`: takes a lost second factor away (access §12). */
import { resetTotp } from '../../../storage/user-commands.ts';
import type { Command } from '../command.ts';
import { ACCOUNT_HELP, ACCOUNT_OPERANDS, ACCOUNT_OPTIONS, changeAccount, told } from './account.ts';

const NAME = 'tocsin user reset-totp';

export const userResetTotp: Command = {
  name: 'user reset-totp',
  summary: 'remove the second factor of a user',
  help: `Usage: tocsin user reset-totp <login> --actor <name>

Removes second factor and recovery codes, and ends the sessions of the user; the password stays. Whoever has no second
factor keeps everything. Works on the database named by SVC_DATABASE_*, with the environment of the service.

${ACCOUNT_HELP}

Exit codes: 0 done, 1 failed or refused, 2 wrong usage.`,
  options: ACCOUNT_OPTIONS,
  operands: ACCOUNT_OPERANDS,
  run: (values, io) =>
    changeAccount(NAME, values, io, async ({ login, change }) =>
      told(NAME, io, await change((made) => resetTotp(made, login)), {
        nothing: 'There was no second factor.',
        done: 'The second factor is removed; sessions have ended.',
      }),
    ),
};
