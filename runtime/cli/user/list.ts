/** `tocsin user list`: who there is. */
import { type User, userShape } from '../../../actors/access/user.ts';
import { listUsers } from '../../../storage/user-commands.ts';
import { type Command, EXIT } from '../command.ts';
import { withKeysDatabase } from '../keys/database.ts';

const NAME = 'tocsin user list';

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
    withKeysDatabase(NAME, io, async ({ sql }) => {
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
