/** `tocsin user reset-password`: sets a password for whoever is locked out, the last Admin included (access §12). */
import {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  passwordFault,
} from '../../../actors/access/password-policy.ts';
import { createPasswords } from '../../../actors/access/passwords.ts';
import { resetPassword } from '../../../storage/user-commands.ts';
import { systemClock } from '../../clock.ts';
import type { Command } from '../command.ts';
import { refuse } from '../keys/database.ts';
import { ACCOUNT_HELP, ACCOUNT_OPERANDS, ACCOUNT_OPTIONS, changeAccount, told } from './account.ts';
import type { ReadSecret } from './read-secret.ts';

const NAME = 'tocsin user reset-password';

/** @param readSecret asks for the password where nobody else sees it */
export function userResetPassword(readSecret: ReadSecret): Command {
  return {
    name: 'user reset-password',
    summary: 'set the password of a user',
    help: `Usage: tocsin user reset-password <login> --actor <name>

Asks for a password without showing it, or takes the first line of standard input, and sets it. Sessions of the user end,
setup links stop working, failed attempts on the account are forgotten. An account of the identity provider signs in with
the password from then on. A second factor stays, and a disabled account stays disabled. Works on the database named by
SVC_DATABASE_*, with the environment of the service.

${ACCOUNT_HELP}

Exit codes: 0 done, 1 failed or refused, 2 wrong usage.`,
    options: ACCOUNT_OPTIONS,
    operands: ACCOUNT_OPERANDS,
    run: (values, io) =>
      changeAccount(NAME, values, io, async ({ login, change }) => {
        const password = await readSecret('New password: ');
        if (password === null)
          return refuse(io, NAME, 'the password is longer than 4,096 bytes or no UTF-8, or none came.');
        if (passwordFault(password)) {
          return refuse(
            io,
            NAME,
            `a password has ${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters.`,
          );
        }
        const hash = await createPasswords(systemClock).hash(password);
        const outcome = await change((made) => resetPassword(made, login, hash));
        return told(NAME, io, outcome, { nothing: '', done: 'The password is set; sessions have ended.' });
      }),
  };
}
