/** People as everybody may see them, and what each Role holds (api §5). */
import * as v from 'valibot';
import type { ListedPerson, UserDirectory } from '../../actors/access/ports.ts';
import { publicId } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, pageQuery } from '../page.ts';
import { inCatalogueOrder, ROLE_PERMISSIONS, ROLES } from '../permissions.ts';
import { refuse } from '../problem.ts';
import { itemsOf, pageOf, UserRef } from '../shapes.ts';
import { PermissionShape } from './user-shapes.ts';

const ListQuery = v.object({
  ...pageQuery,
  q: v.optional(v.string()),
  connection_id: v.optional(publicId),
});

/** `linked` only where `connection_id` was given, by somebody who may read users. */
const ListedShape = v.object({ ...UserRef.entries, linked: v.optional(v.boolean()) });

export function userOperations(users: UserDirectory): readonly Operation[] {
  return [
    operation({
      id: 'listUserDirectory',
      method: 'GET',
      path: '/user-directory',
      tag: 'Users',
      summary: 'List users for pickers, deleted ones included',
      needs: 'alert-groups:read',
      query: ListQuery,
      answers: {
        200: {
          description:
            'By name; for users:read with connection_id, whether an Account link lets a Mention there reach them',
          schema: pageOf(ListedShape),
        },
      },
      handle: (call) => listDirectory(users, call),
    }),
    operation({
      id: 'listRoles',
      method: 'GET',
      path: '/roles',
      tag: 'Users',
      summary: 'List the Roles with their Permissions',
      needs: 'users:read',
      answers: {
        200: {
          description: 'admin, responder, viewer',
          schema: itemsOf(v.object({ name: v.picklist(ROLES), permissions: v.array(PermissionShape) })),
        },
      },
      handle: async () => ({ status: 200, body: { items: ROLES.map(roleShape) } }),
    }),
  ];
}

function roleShape(name: (typeof ROLES)[number]) {
  return { name, permissions: inCatalogueOrder(ROLE_PERMISSIONS[name]) };
}

const LIST = 'user-directory';

async function listDirectory(
  users: UserDirectory,
  { query, identity }: Call<v.InferOutput<typeof ListQuery>>,
): Promise<Answer> {
  const q = query.q ?? null;
  const after = query.cursor === undefined ? null : readCursor(q, query.cursor);
  if (after === 'invalid') return INVALID_CURSOR;
  const about = identity?.permissions.has('users:read') ? (query.connection_id ?? null) : null;
  const page = await users.page(q, about, after, query.limit ?? DEFAULT_LIMIT);
  const items = page.users.map(listed);
  return { status: 200, body: { items, next_cursor: page.next && encodeCursor(LIST, { q }, page.next) } };
}

function listed({ id, name, login, status, isLinked }: ListedPerson) {
  const person = { id, name, login, deactivated: status === 'deleted' };
  return isLinked === null ? person : { ...person, linked: isLinked };
}

function readCursor(q: string | null, cursor: string): readonly [string, string] | 'invalid' {
  const [name, id] = decodeCursor(LIST, { q }, cursor) ?? [];
  return typeof name === 'string' && typeof id === 'string' ? [name, id] : 'invalid';
}

const INVALID_CURSOR = refuse({
  status: 400,
  type: 'validation-failed',
  errors: [
    {
      pointer: '/query/cursor',
      code: 'invalid_cursor',
      detail: 'This cursor is not of this list and these filters. Start again without it.',
    },
  ],
});
