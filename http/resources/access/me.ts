/** The caller's own profile and sessions (api §4). */
import * as v from 'valibot';
import type {
  Accounts,
  ListedSession,
  ProfileFields,
  Profiles,
  Sessions,
} from '../../../actors/access/ports.ts';
import { type User, userShape } from '../../../actors/access/user.ts';
import { auditEntry } from '../../../actors/audit.ts';
import type { DirectorySource } from '../../../actors/directory.ts';
import { codePoints } from '../../../actors/text.ts';
import { isTimeZone } from '../../../actors/wall-clock.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import {
  type Answer,
  authorOf,
  type Call,
  type Identity,
  type Operation,
  operation,
} from '../../operation.ts';
import { inCatalogueOrder } from '../../permissions.ts';
import { type FieldError, invalid } from '../../problem.ts';
import { clearedSessionCookie } from '../../request/credentials.ts';
import * as d from '../../schema/described.ts';
import { name, nameErrors } from '../../schema/fields.ts';
import { itemsOf } from '../../schema/shapes.ts';
import { Language } from '../../schema/words.ts';
import { PermissionShape, SignInMethod, UserShape } from './users.ts';

export interface MeDeps {
  readonly accounts: Pick<Accounts, 'read'>;
  readonly profiles: Profiles;
  readonly directory: DirectorySource;
  /** Has actors look for messages that a change left them. */
  readonly poke: () => void;
}

const LONGEST_ZONE = 64;

const MeShape = d.named(
  'Me',
  v.object({
    user: d.described(UserShape, 'You.'),
    permissions: d.described(v.array(PermissionShape), 'Your Permissions, in the order of all Permissions.'),
  }),
  'Your profile and what you may do.',
);
const OF_ME = { description: 'Who you are and what you may do', schema: MeShape };

const ProfileInput = d.named(
  'ProfileInput',
  v.object({
    name,
    time_zone: d.optionalTextOrNull('IANA time zone; null or left out for that of the Organization.'),
    language: d.described(
      v.optional(v.nullable(Language)),
      'Language of the UI; null or left out for that of the browser.',
    ),
  }),
  'Your profile as it is saved.',
);
type ProfileInput = v.InferOutput<typeof ProfileInput>;

export function meOperations(deps: MeDeps): readonly Operation[] {
  return [
    operation({
      id: 'getMe',
      method: 'GET',
      path: '/me',
      tag: 'Profile',
      summary: 'Read your own profile and Permissions',
      description: 'For a token, those of its Permissions that you hold, too.',
      needs: 'user',
      answers: { 200: OF_ME },
      async handle({ identity }) {
        const user = identity && (await deps.accounts.read(identity.id));
        if (!user) throw new Error('the caller of a request exists');
        return meAnswer(user, identity);
      },
    }),
    operation({
      id: 'updateMe',
      method: 'PUT',
      path: '/me',
      tag: 'Profile',
      summary: 'Change your own profile',
      description: 'Login, email and Role are changed by an Admin.',
      needs: 'session',
      body: ProfileInput,
      answers: { 200: OF_ME },
      handle: (call) => updateMe(deps, call),
    }),
  ];
}

function meAnswer(user: User, { permissions }: Identity): Answer {
  return { status: 200, body: { user: userShape(user), permissions: inCatalogueOrder(permissions) } };
}

async function updateMe(deps: MeDeps, call: Call<undefined, ProfileInput>): Promise<Answer> {
  const { identity, body } = call;
  if (!identity) throw new Error('a session operation runs with an identity');
  const errors = [...nameErrors(body.name), ...zoneErrors(body.time_zone)];
  if (errors.length > 0) return invalid(errors);
  const user = await deps.profiles.update(
    identity.id,
    (current) => profileFields(body, current),
    authorOf(call),
  );
  await deps.directory.reload();
  deps.poke();
  return meAnswer(user, identity);
}

function profileFields({ name, time_zone, language }: ProfileInput, current: User): ProfileFields {
  return {
    name: name.trim(),
    timeZone: time_zone === undefined ? current.timeZone : time_zone,
    language: language === undefined ? current.language : language,
  };
}

function zoneErrors(zone: string | null | undefined): readonly FieldError[] {
  if (zone === undefined || zone === null) return [];
  if (codePoints(zone) <= LONGEST_ZONE && isTimeZone(zone)) return [];
  const detail = 'This is not the name of a time zone, such as Europe/Berlin.';
  return [{ pointer: '/time_zone', code: 'invalid_format', detail }];
}

/** The caller's own sessions (access §3). */
const SessionInfoShape = d.named(
  'SessionInfo',
  v.object({
    id: d.id('SN'),
    method: SignInMethod,
    created_at: d.time('When it began.'),
    last_used_at: d.time('When it was last used, to the minute.'),
    address: d.textOrNull('Address it was last used from; null when unknown.'),
    user_agent: d.textOrNull('Program it was last used with, first 512 bytes; null when unknown.'),
    current: d.flag('Whether it is the session of this request.'),
  }),
  'A session of yours.',
);

export function ownSessionOperations(sessions: Sessions): readonly Operation[] {
  return [
    operation({
      id: 'listMySessions',
      method: 'GET',
      path: '/me/sessions',
      tag: 'Profile',
      summary: 'List your own sessions, last used first',
      description: 'Live ones, the last used first. With a token, none is `current`.',
      needs: 'user',
      answers: { 200: { description: 'Live sessions', schema: itemsOf(SessionInfoShape) } },
      async handle(call) {
        const me = callerOf(call);
        const found = await sessions.listOf(me.id, call.now);
        return { status: 200, body: { items: found.map((session) => infoOf(session, me)) } };
      },
    }),
    operation({
      id: 'deleteMySessions',
      method: 'DELETE',
      path: '/me/sessions',
      tag: 'Profile',
      summary: 'Sign out everywhere',
      description: 'This session ends, too.',
      needs: 'session',
      answers: { 204: { description: 'All your sessions ended; the cookie is cleared' } },
      async handle(call) {
        const { id, name } = callerOf(call);
        const entry = { action: 'session.ended_all', resourceId: id, resourceName: name };
        await sessions.endAll(id, 'sign_out_everywhere', call.now, auditEntry(authorOf(call), entry));
        return { status: 204, headers: { 'Set-Cookie': clearedSessionCookie() } };
      },
    }),
  ];
}

function callerOf({ identity }: Pick<Call, 'identity'>): Identity {
  if (!identity) throw new Error('an operation under /me runs with an identity');
  return identity;
}

/** With a token nothing is the current session. */
function infoOf(session: ListedSession, { session: mine }: Identity) {
  return {
    id: session.id,
    method: session.method,
    created_at: formatInstant(session.createdAt),
    last_used_at: formatInstant(session.lastUsedAt),
    address: session.address,
    user_agent: session.userAgent,
    current: session.id === mine?.id,
  };
}
