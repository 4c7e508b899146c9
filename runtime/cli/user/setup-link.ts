/** `tocsin user setup-link`: a link with which a user sets a password, for when no Admin gets in to make one. */
import { randomBytes } from 'node:crypto';
import { newSetupLink } from '../../../http/resources/setup-links.ts';
import { makeSetupLink } from '../../../storage/user-commands.ts';
import { systemClock } from '../../clock.ts';
import { type Command, EXIT } from '../command.ts';
import { refuse } from '../keys/database.ts';
import { ACCOUNT_HELP, ACCOUNT_OPERANDS, ACCOUNT_OPTIONS, changeAccount, told } from './account.ts';

const NAME = 'tocsin user setup-link';

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
    changeAccount(NAME, values, io, async ({ login, database, change }) => {
      const making = { publicUrl: database.settings.publicUrl, random: randomBytes };
      const { shape, ...link } = newSetupLink(making, systemClock.now());
      const outcome = await change((made) => makeSetupLink(made, login, link));
      if (outcome === 'local_user_only') {
        return refuse(io, NAME, 'this account signs in through the identity provider.');
      }
      if (outcome === 'unknown') return told(NAME, io, outcome, { nothing: '', done: '' });
      io.out(values.json ? JSON.stringify(shape) : `${shape.url}\nWorks until ${shape.expires_at}.`);
      return EXIT.done;
    }),
};
