/** The caller's own profile (api §4). */
import * as v from 'valibot';
import type { Accounts } from '../../actors/access/ports.ts';
import { userShape } from '../../actors/access/user.ts';
import { type Operation, operation } from '../operation.ts';
import { inCatalogueOrder } from '../permissions.ts';
import { PermissionShape, UserShape } from './user-shapes.ts';

export function meOperations(accounts: Accounts): readonly Operation[] {
  return [
    operation({
      id: 'getMe',
      method: 'GET',
      path: '/me',
      tag: 'Profile',
      summary: 'Read your own profile and Permissions',
      needs: 'user',
      answers: {
        200: {
          description: 'Who you are and what you may do',
          schema: v.object({ user: UserShape, permissions: v.array(PermissionShape) }),
        },
      },
      async handle({ identity }) {
        const user = identity && (await accounts.read(identity.id));
        if (!identity || !user) throw new Error('the caller of a request exists');
        const permissions = inCatalogueOrder(identity.permissions);
        return { status: 200, body: { user: userShape(user), permissions } };
      },
    }),
  ];
}
