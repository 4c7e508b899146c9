/** Users as Admins manage them: list, create, read, update, delete (api §5, access §7). */
import * as v from 'valibot';
import {
  isEmail,
  loginFault,
  type User,
  type UserDecision,
  type UserFields,
  type UserStore,
  userShape,
} from '../../../actors/access/user.ts';
import type { DirectorySource } from '../../../actors/directory.ts';
import type { HintBus } from '../../../actors/effects.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import {
  conflict,
  type FieldError,
  invalid,
  notFound,
  preconditionFailed,
  type refuse,
} from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import * as d from '../../schema/described.ts';
import { many, name, nameErrors, searchText } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { pageOf } from '../../schema/shapes.ts';
import { Role } from '../../schema/words.ts';
import { newSetupLink, SetupLinkShape } from './passwords.ts';
import { UserShape, UserSource, UserStatus } from './users.ts';

export interface UserAccountDeps {
  readonly store: UserStore;
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  /** Has actors look for messages that a change left them. */
  readonly poke: () => void;
  /** SVC_PUBLIC_URL. */
  readonly publicUrl: string;
  readonly random: (size: number) => Uint8Array;
}

const LIST = 'users';
const TAG = 'Users';
export const USER_ID = { user_id: 'SR' } as const;
export const OF_USER = { description: 'The user', schema: UserShape, etag: true } as const;
export const LAST_ADMIN_REFUSAL = [409, 'conflict', 'last_admin'] as const;
export const WithLinkShape = d.named(
  'UserWithSetupLink',
  v.object({
    user: UserShape,
    password_setup_link: d.described(SetupLinkShape, 'Tocsin sends no email: hand it over.'),
  }),
  'A user and a link that sets a password.',
);

const ListQuery = v.object({
  ...pageQuery,
  q: d.described(searchText, 'Part of the name, login or email in any case, up to 200 characters.'),
  role: d.described(many(Role), 'Only this Role.'),
  status: d.described(many(UserStatus), 'Only this status. Left out, deleted users are included.'),
  source: d.described(many(UserSource), 'Only users from this source.'),
});

const UserInput = d.named(
  'UserInput',
  v.object({
    name,
    email: d.optionalTextOrNull('Email address, up to 254 characters; null, empty or left out for none.'),
    role: Role,
  }),
  'A user as it is saved.',
);
type UserInput = v.InferOutput<typeof UserInput>;

const NewUserInput = d.extending(
  UserInput,
  'NewUserInput',
  v.object({
    ...UserInput.entries,
    login: d.described(
      v.pipe(v.string(), v.nonEmpty('required')),
      'Login, unique in any case, 1 to 200 characters without white space. It never changes.',
    ),
  }),
  'A new local user.',
);

export function userAccountOperations(deps: UserAccountDeps): readonly Operation[] {
  const { store } = deps;
  return [
    operation({
      id: 'listUsers',
      method: 'GET',
      path: '/users',
      tag: TAG,
      summary: 'List users by name, deleted ones included',
      description: 'Passwords and second factors are never answered.',
      needs: 'users:read',
      query: ListQuery,
      answers: { 200: { description: 'A page of users', schema: pageOf(UserShape) } },
      handle: (call) => list(store, call),
    }),

    operation({
      id: 'createUser',
      method: 'POST',
      path: '/users',
      tag: TAG,
      summary: 'Create a local user, who sets a password through a link',
      description: 'Tocsin sends no email: hand the link over.',
      needs: 'users:write',
      body: NewUserInput,
      answers: { 201: { description: 'The user and the link', schema: WithLinkShape, etag: true } },
      refusals: [[409, 'conflict', 'name_taken']],
      handle: (call) => create(deps, call),
    }),

    operation({
      id: 'getUser',
      method: 'GET',
      path: '/users/{user_id}',
      tag: TAG,
      summary: 'Read a user, deleted ones too',
      description: 'Deleted users keep their id and lose everything that names them.',
      needs: 'users:read',
      ids: USER_ID,
      answers: { 200: OF_USER },
      async handle(call) {
        const user = await store.read(userId(call));
        return user ? userAnswer(user) : notFound();
      },
    }),

    operation({
      id: 'updateUser',
      method: 'PUT',
      path: '/users/{user_id}',
      tag: TAG,
      summary: 'Change a user; another Role ends their sessions',
      description: 'All fields are replaced. One active Admin always stays.',
      needs: 'users:write',
      ids: USER_ID,
      ifMatch: 'required',
      body: UserInput,
      answers: { 200: OF_USER },
      refusals: [[409, 'conflict', 'role_locked'], LAST_ADMIN_REFUSAL],
      handle: (call) => update(deps, call),
    }),

    operation({
      id: 'deleteUser',
      method: 'DELETE',
      path: '/users/{user_id}',
      tag: TAG,
      summary: 'Delete a user for good; what they did stays under a made-up name',
      description:
        'Cannot be undone. Sessions, tokens and Account links end; what the user owns fires again.',
      needs: 'users:write',
      ids: USER_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      refusals: [LAST_ADMIN_REFUSAL],
      handle: (call) => remove(deps, call),
    }),
  ];
}

export function userId(call: Pick<Call, 'params'>): PublicId {
  return call.params.user_id as PublicId;
}

export function userAnswer(user: User) {
  return { status: 200, body: userShape(user), etag: user.version };
}

export const LAST_ADMIN = conflict(
  'last_admin',
  'This is the last active Admin. Make somebody else an Admin first.',
);

async function list(store: UserStore, { query }: Call<v.InferOutput<typeof ListQuery>>): Promise<Answer> {
  const { q, role: roles, status: statuses, source: sources, cursor, limit = DEFAULT_LIMIT } = query;
  const filter = { q: q ? q : null, roles, statuses, sources };
  const after = cursor === undefined ? null : (decodeCursor(LIST, filter, cursor) ?? []);
  if (after && !isPlace(after)) return INVALID_CURSOR;
  const { users, next } = await store.page(filter, after, limit);
  return {
    status: 200,
    body: { items: users.map(userShape), next_cursor: next && encodeCursor(LIST, filter, next) },
  };
}

function isPlace(key: readonly unknown[]): key is readonly [string, string] {
  return key.length === 2 && key.every((part) => typeof part === 'string');
}

async function create(
  deps: UserAccountDeps,
  call: Call<undefined, v.InferOutput<typeof NewUserInput>>,
): Promise<Answer> {
  const { body } = call;
  const errors = [
    ...fieldErrors(body),
    ...loginErrors(body.login),
    ...unheldErrors(call.identity, '/role', body.role),
  ];
  if (errors.length > 0) return invalid(errors);
  const { shape, ...link } = newSetupLink(deps, call.now);
  const fields = { ...userFields(body, null), login: body.login };
  const created = await deps.store.create(fields, link, authorOf(call));
  if (created === 'name_taken') return NAME_TAKEN;
  await deps.directory.reload();
  return {
    status: 201,
    body: { user: userShape(created), password_setup_link: shape },
    etag: created.version,
    location: `/api/v1/users/${created.id}`,
  };
}

const NAME_TAKEN = conflict('name_taken', 'Another user has this login. Choose a different one.');
const ROLE_LOCKED = conflict('role_locked', 'The identity provider decides the Role of this user.');

async function update(deps: UserAccountDeps, call: Call<undefined, UserInput>): Promise<Answer> {
  const saving = await deps.store.update(userId(call), (current) => decide(call, current), authorOf(call));
  switch (saving.outcome) {
    case 'unknown':
      return notFound();
    case 'refused':
      return saving.refusal;
    case 'role_locked':
      return ROLE_LOCKED;
    case 'last_admin':
      return LAST_ADMIN;
    case 'saved':
      await deps.directory.reload();
      deps.poke();
      return userAnswer(saving.user);
    case 'unchanged':
      return userAnswer(saving.user);
  }
}

/** Stale before meaning (api §1.3). */
function decide(call: Call<unknown, UserInput>, current: User): UserDecision<ReturnType<typeof refuse>> {
  if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
  const errors = [...fieldErrors(call.body), ...unheldErrors(call.identity, '/role', call.body.role)];
  return errors.length > 0 ? { refuse: invalid(errors) } : { save: userFields(call.body, current) };
}

function userFields({ name, email, role }: UserInput, current: User | null): UserFields {
  const address = email === undefined ? (current?.email ?? null) : email;
  return { name: name.trim(), email: address === '' ? null : address, role };
}

function fieldErrors({ name, email }: Pick<UserInput, 'name' | 'email'>): readonly FieldError[] {
  const isFine = email === undefined || email === null || email === '' || isEmail(email);
  const detail = 'An address has the form name@domain and at most 254 characters.';
  return [
    ...nameErrors(name),
    ...(isFine ? [] : [{ pointer: '/email', code: 'invalid_format', detail } as const]),
  ];
}

function loginErrors(login: string): readonly FieldError[] {
  const code = loginFault(login);
  const detail =
    'A login has at most 200 characters, none of them white space, and does not begin with deleted-user-.';
  return code === null ? [] : [{ pointer: '/login', code, detail }];
}

async function remove(deps: UserAccountDeps, call: Call): Promise<Answer> {
  const { ifMatch } = call;
  const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
  const id = userId(call);
  switch (await deps.store.remove(id, isCurrent, authorOf(call))) {
    case 'unknown':
      return notFound();
    case 'stale':
      return preconditionFailed();
    case 'last_admin':
      return LAST_ADMIN;
    case 'removed':
      await deps.directory.reload();
      deps.poke();
      deps.hints.send({ type: 'account-links', id });
      return { status: 204 };
  }
}
