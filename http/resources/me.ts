/** The caller's own profile (api §4). */
import * as v from 'valibot';
import type { Accounts } from '../../actors/access/ports.ts';
import type { ProfileFields, Profiles } from '../../actors/access/profile-ports.ts';
import { type User, userShape } from '../../actors/access/user.ts';
import { isTimeZone } from '../../actors/alert-group/presets.ts';
import type { DirectorySource } from '../../actors/directory.ts';
import { codePoints } from '../../actors/text.ts';
import { authorOf } from '../author.ts';
import { name, nameErrors } from '../fields.ts';
import { type Answer, type Call, type Identity, type Operation, operation } from '../operation.ts';
import { inCatalogueOrder } from '../permissions.ts';
import { type FieldError, invalid } from '../problem.ts';
import { PermissionShape, UserShape } from './user-shapes.ts';

export interface MeDeps {
  readonly accounts: Pick<Accounts, 'read'>;
  readonly profiles: Profiles;
  readonly directory: DirectorySource;
  /** Has actors look for messages that a change left them. */
  readonly poke: () => void;
}

const LONGEST_ZONE = 64;

const MeShape = v.object({ user: UserShape, permissions: v.array(PermissionShape) });
const OF_ME = { description: 'Who you are and what you may do', schema: MeShape };

const ProfileInput = v.object({
  name,
  time_zone: v.optional(v.nullable(v.string())),
  language: v.optional(v.nullable(v.picklist(['en', 'ru']))),
});
type ProfileInput = v.InferOutput<typeof ProfileInput>;

export function meOperations(deps: MeDeps): readonly Operation[] {
  return [
    operation({
      id: 'getMe',
      method: 'GET',
      path: '/me',
      tag: 'Profile',
      summary: 'Read your own profile and Permissions',
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
