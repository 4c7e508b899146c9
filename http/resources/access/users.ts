/** People as everybody may see them, and what each Role holds (api §5). */
import * as v from 'valibot';
import type { ListedPerson, UserDirectory } from '../../../actors/access/ports.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { inCatalogueOrder, PERMISSION_MEANINGS, ROLE_PERMISSIONS, ROLES } from '../../permissions.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { itemsOf, pageOf, UserRef } from '../../schema/shapes.ts';
import { Language, Role, SessionStateWord } from '../../schema/words.ts';

const ListQuery = v.object({
  ...pageQuery,
  q: d.optionalText('Part of the name or login in any case.'),
  connection_id: d.described(v.optional(publicId), 'Id of a Connection that `linked` is about.'),
});

/** `linked` only where `connection_id` was given, by somebody who may read users. */
const ListedShape = d.extending(
  UserRef,
  'DirectoryUser',
  v.object({
    ...UserRef.entries,
    linked: d.described(
      v.optional(v.boolean()),
      'Whether a Mention through the Connection reaches the person. Only with `connection_id` and `users:read`.',
    ),
  }),
  'A user in a picker.',
);

export function userOperations(users: UserDirectory): readonly Operation[] {
  return [
    operation({
      id: 'listUserDirectory',
      method: 'GET',
      path: '/user-directory',
      tag: 'Users',
      summary: 'List users for pickers, deleted ones included',
      description: 'For everybody who reads Alert Groups; has neither emails nor Roles.',
      needs: 'alert-groups:read',
      query: ListQuery,
      answers: {
        200: {
          description: 'Users by name',
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
      description: 'First admin, then responder, then viewer.',
      needs: 'users:read',
      answers: {
        200: {
          description: 'admin, responder, viewer',
          schema: itemsOf(
            v.object({ name: Role, permissions: d.described(v.array(PermissionShape), 'What it may do.') }),
          ),
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

/** Shapes of people and sessions (api §3, §5). */
export const UserStatus = d.words(
  'UserStatus',
  { active: 'May sign in.', disabled: 'May not sign in.', deleted: 'Gone for good.' },
  'The status of a user.',
);

export const UserSource = d.words(
  'UserSource',
  { local: 'Created here.', oidc: 'Through the identity provider.', bootstrap: 'At the first start.' },
  'Where the account of a user comes from.',
);

export const SignInMethod = d.words(
  'SignInMethod',
  { local: 'With a password.', oidc: 'Through the identity provider.' },
  'A way to sign in.',
);

export const UserShape = d.named(
  'User',
  v.object({
    id: d.id('SR'),
    name: d.text('Name; `deleted-user-<id>` once deleted.'),
    login: d.text('Login; `deleted-user-<id>` once deleted.'),
    email: d.textOrNull('Email address; null without one.'),
    role: Role,
    role_locked: d.flag('Whether the identity provider decides the Role.'),
    source: UserSource,
    oidc_offline_access: d.flag('Whether the provider can be asked about the user while away.'),
    sign_in_method: SignInMethod,
    status: UserStatus,
    totp_enabled: d.flag('Whether there is a second factor.'),
    time_zone: d.textOrNull('IANA time zone; null for that of the Organization.'),
    language: d.described(v.nullable(Language), 'Language of the UI; null for that of the browser.'),
    last_sign_in_at: v.nullable(d.time('When the user last signed in; null when never.')),
    created_at: d.time('When the account was created.'),
    etag: d.VERSION,
  }),
  'A person who can sign in, or could.',
);

export const PermissionShape = d.words(
  'Permission',
  PERMISSION_MEANINGS,
  'Something that may be done, as `<resource>:<verb>`.',
);

export const SessionShape = d.named(
  'Session',
  v.object({
    user: UserShape,
    state: SessionStateWord,
    csrf_token: d.text('Value for the header `X-CSRF-Token`.'),
    expires_at: d.time('When it ends, whatever is done.'),
    idle_expires_at: d.time('When it ends without another request.'),
    method: SignInMethod,
    permissions: d.described(v.array(PermissionShape), 'What it may do. Empty unless `active`.'),
  }),
  'A web session.',
);
