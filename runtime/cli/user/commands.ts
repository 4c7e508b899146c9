/** `tocsin user …`: lists users, and lets whoever is locked out in again, the last Admin included (access §12). */
import { randomBytes } from 'node:crypto';
import {
  createPasswords,
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  passwordFault,
} from '../../../actors/access/passwords.ts';
import { type User, userShape } from '../../../actors/access/user.ts';
import { newSetupLink } from '../../../http/resources/access/passwords.ts';
import { appendAudit } from '../../../storage/access/audit.ts';
import {
  listUsers,
  makeSetupLink,
  resetPassword,
  resetTotp,
  unlock,
} from '../../../storage/access/user-commands.ts';
import { type Change, inTransaction } from '../../../storage/postgres/transaction.ts';
import { systemClock } from '../../clock.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from '../command.ts';
import { type CommandDatabase, readActor, refuse, withDatabase, wrongUsage } from '../command-database.ts';
import type { ReadSecret } from './read-secret.ts';

/** What the commands of `tocsin user` that change an account have in common. */
const ACCOUNT_OPTIONS = { actor: { type: 'string' } } as const;
const ACCOUNT_OPERANDS = ['login'] as const;

const ACCOUNT_HELP = `  <login>         of the user, in any case
  --actor <name>  who does it, for the Audit log`;

export interface AccountChange {
  readonly login: string;
  readonly database: CommandDatabase;
  /** One transaction, in the name of who runs the command. */
  change<Result>(run: (made: Change) => Promise<Result>): Promise<Result>;
}

/** Reads the words, opens the database and runs. @returns the exit code */
async function changeAccount(
  name: string,
  values: OptionValues,
  io: CommandIo,
  run: (account: AccountChange) => Promise<number>,
): Promise<number> {
  const asked = readActor(values);
  if ('wrong' in asked) return wrongUsage(io, name, asked.wrong);
  const by = { kind: 'cli', id: null, name: asked.actor } as const;
  return withDatabase(name, io, (database) =>
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
function told(
  name: string,
  io: CommandIo,
  outcome: 'unknown' | 'nothing' | 'done',
  words: { readonly nothing: string; readonly done: string },
): number {
  if (outcome === 'unknown') return refuse(io, name, 'there is no user with this login.');
  io.out(words[outcome]);
  return EXIT.done;
}

const RESET_PASSWORD = 'tocsin user reset-password';

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
      changeAccount(RESET_PASSWORD, values, io, async ({ login, change }) => {
        const password = await readSecret('New password: ');
        if (password === null)
          return refuse(
            io,
            RESET_PASSWORD,
            'the password is longer than 4,096 bytes or no UTF-8, or none came.',
          );
        if (passwordFault(password)) {
          return refuse(
            io,
            RESET_PASSWORD,
            `a password has ${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters.`,
          );
        }
        const hash = await createPasswords(systemClock).hash(password);
        const outcome = await change((made) => resetPassword(made, login, hash));
        return told(RESET_PASSWORD, io, outcome, {
          nothing: '',
          done: 'The password is set; sessions have ended.',
        });
      }),
  };
}

/** `tocsin user reset-totp`: takes a lost second factor away (access §12). */
const RESET_TOTP = 'tocsin user reset-totp';

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
    changeAccount(RESET_TOTP, values, io, async ({ login, change }) =>
      told(RESET_TOTP, io, await change((made) => resetTotp(made, login)), {
        nothing: 'There was no second factor.',
        done: 'The second factor is removed; sessions have ended.',
      }),
    ),
};

/** `tocsin user unlock`: forgets failed attempts on an account, so that it may be tried at once. */
const UNLOCK = 'tocsin user unlock';

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
    changeAccount(UNLOCK, values, io, async ({ login, change }) =>
      told(UNLOCK, io, await change((made) => unlock(made, login)), {
        nothing: 'No attempt on this account has failed.',
        done: 'Failed attempts are forgotten.',
      }),
    ),
};

/** `tocsin user setup-link`: a link with which a user sets a password, for when no Admin gets in to make one. */
const SETUP_LINK = 'tocsin user setup-link';

export const userSetupLink: Command = {
  name: 'user setup-link',
  summary: 'make a link with which a user sets a password',
  help: `Usage: tocsin user setup-link <login> --actor <name> [--json]

Prints a link below SVC_PUBLIC_URL that works once, for 24 hours. Earlier links stop working; the present password counts
until the link is used. Works on the database named by SVC_DATABASE_*, with the environment of the service.

${ACCOUNT_HELP}
  --json          print one JSON object: {"url", "expires_at"}

Exit codes: 0 done, 1 failed or refused, 2 wrong usage.`,
  options: { ...ACCOUNT_OPTIONS, json: { type: 'boolean' } },
  operands: ACCOUNT_OPERANDS,
  run: (values, io) =>
    changeAccount(SETUP_LINK, values, io, async ({ login, database, change }) => {
      const making = { publicUrl: database.settings.publicUrl, random: randomBytes };
      const { shape, ...link } = newSetupLink(making, systemClock.now());
      const outcome = await change((made) => makeSetupLink(made, login, link));
      if (outcome === 'local_user_only') {
        return refuse(io, SETUP_LINK, 'this account signs in through the identity provider.');
      }
      if (outcome === 'unknown') return told(SETUP_LINK, io, outcome, { nothing: '', done: '' });
      io.out(values.json ? JSON.stringify(shape) : `${shape.url}\nWorks until ${shape.expires_at}.`);
      return EXIT.done;
    }),
};

const LIST = 'tocsin user list';

export const userList: Command = {
  name: 'user list',
  summary: 'show the users',
  help: `Usage: tocsin user list [--json]

One line a user, by login: Role, status, how they sign in, whether they have a second factor. Changes nothing. Works on the
database named by SVC_DATABASE_*, with the environment of the service.

  --json  print one JSON object: {"users": […]}, each as the API shows it

Exit codes: 0 done, 1 failed, 2 wrong usage.`,
  options: { json: { type: 'boolean' } },
  run: (values, io) =>
    withDatabase(LIST, io, async ({ sql }) => {
      const users = await listUsers(sql);
      if (values.json) io.out(JSON.stringify({ users: users.map(userShape) }));
      else for (const user of users) io.out(lineOf(user));
      return EXIT.done;
    }),
};

function lineOf(user: User): string {
  const { login, role, status, name, totpEnabled, oidc } = user;
  const way = oidc ? 'identity provider' : user.hasPassword ? 'password' : 'no way in';
  const facts = [
    role,
    status,
    way,
    ...(totpEnabled ? ['second factor'] : []),
    ...(name === login ? [] : [name]),
  ];
  return `${login}  ${facts.join(', ')}`;
}
