/** Setting a password: one's own, and from a link; how such links are made (access §4.2). */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import {
  HashQueueFullError,
  inTurnOf,
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  type Passwords,
  passwordFault,
  SETUP_LINK_LIFETIME,
} from '../../../actors/access/passwords.ts';
import type { LinkFault, OwnPasswords, PasswordLinks } from '../../../actors/access/ports.ts';
import { sourceKey } from '../../../actors/access/throttle.ts';
import type { NewSetupLink } from '../../../actors/access/user.ts';
import { formatInstant, type Micros } from '../../../runtime/clock.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, invalid, notFound, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import {
  answerThrottled,
  BUSY,
  type Judged,
  PROOF_REFUSALS,
  proofFailed,
  type ThrottledDeps,
  throttled,
  throttleKeys,
} from './throttled.ts';

export interface PasswordDeps extends ThrottledDeps {
  readonly passwords: Passwords;
  readonly own: OwnPasswords;
  readonly links: PasswordLinks;
}

const ChangeInput = d.named(
  'PasswordChange',
  v.object({
    current_password: d.described(v.string(), 'The password now.'),
    new_password: d.described(v.string(), 'The new password, 12 to 1,024 characters.'),
  }),
  'A new password of yours.',
);
type ChangeInput = v.InferOutput<typeof ChangeInput>;

const SetupInput = d.named(
  'PasswordSetup',
  v.object({
    token: d.described(v.string(), 'The part of the link after `#token=`.'),
    password: d.described(v.string(), 'The new password, 12 to 1,024 characters.'),
  }),
  'A password through a link.',
);
type SetupInput = v.InferOutput<typeof SetupInput>;

export function passwordOperations(deps: PasswordDeps): readonly Operation[] {
  return [
    operation({
      id: 'changePassword',
      method: 'PUT',
      path: '/me/password',
      tag: 'Profile',
      summary: 'Change your own password; your other sessions end',
      description: 'After three wrong passwords attempts wait: 429.',
      needs: 'session',
      body: ChangeInput,
      answers: { 204: { description: 'The new password counts' } },
      refusals: [[409, 'conflict', 'local_user_only'], ...PROOF_REFUSALS],
      handle: (call) => change(deps, call),
    }),
    operation({
      id: 'completePasswordSetup',
      method: 'POST',
      path: '/password-setups',
      tag: 'Sessions',
      summary: 'Set a password from a link; sessions of the account end',
      description: 'A link works once, for 24 hours: 410 after that, 404 for a token nobody made.',
      needs: 'none',
      body: SetupInput,
      answers: { 204: { description: 'The new password counts' } },
      refusals: [
        [404, 'not-found', ''],
        [410, 'gone', 'link_used'],
        [410, 'gone', 'link_expired'],
        [503, 'coordination-unavailable', ''],
      ],
      handle: (call) => complete(deps, call),
    }),
  ];
}

function lengthFault(password: string, pointer: string): Answer | null {
  const code = passwordFault(password);
  if (code === null) return null;
  const bound = code === 'too_short' ? `at least ${PASSWORD_MIN_LENGTH}` : `at most ${PASSWORD_MAX_LENGTH}`;
  return invalid([{ pointer, code, detail: `A password has ${bound} characters.` }]);
}

async function change(deps: PasswordDeps, call: Call<undefined, ChangeInput>): Promise<Answer> {
  const fault = lengthFault(call.body.new_password, '/new_password');
  if (fault) return fault;
  const { identity } = call;
  if (!identity?.user || !identity.session) throw new Error('a session operation runs with a session');
  const { id, login } = identity.user;
  const current = await deps.own.hashOf(id);
  if (current === null) return LOCAL_ONLY;
  const keys = throttleKeys(login, call.address);
  const sessionId = identity.session.id;
  const passwords = inTurnOf(keys.source, deps.passwords);
  const judge = async (): Promise<Judged<null>> => {
    const answer = await passwords.check(current, call.body.current_password);
    if (answer === 'wrong') return proofFailed(call, 'local', 'changePassword');
    const passwordHash = await passwords.hash(call.body.new_password);
    const change = { userId: id, replaces: current, passwordHash, sessionId, attempt: keys };
    return (await deps.own.change(change, authorOf(call)))
      ? { passed: null }
      : proofFailed(call, 'local', 'changePassword');
  };
  return answerThrottled(
    () => throttled(deps, keys, call.now, judge),
    () => ({ status: 204 }),
  );
}

const LOCAL_ONLY = conflict(
  'local_user_only',
  'You sign in through the identity provider, without a password.',
);

/** What the link is worth comes before the password, so that a bad link costs no hash. */
async function complete(deps: PasswordDeps, call: Call<undefined, SetupInput>): Promise<Answer> {
  const { token, password } = call.body;
  const hash = setupLinkHash(token);
  if (!hash) return linkRefused(deps, call, null, 'unknown');
  const standing = await deps.links.standing(hash, call.now);
  if (standing !== 'usable') return linkRefused(deps, call, hash, standing);
  const fault = lengthFault(password, '/password');
  if (fault) return fault;
  try {
    const passwordHash = await deps.passwords.hash(password, sourceKey(call.address));
    const ending = await deps.links.complete(hash, passwordHash, call.now, call.address);
    return ending === 'completed' ? { status: 204 } : linkRefused(deps, call, hash, ending);
  } catch (error) {
    if (error instanceof HashQueueFullError) return BUSY;
    throw error;
  }
}

async function linkRefused(
  { links }: PasswordDeps,
  { now, address }: Call,
  hash: Uint8Array | null,
  fault: LinkFault,
): Promise<Answer> {
  await links.refused(hash, fault, now, address);
  switch (fault) {
    case 'link_used':
      return gone('link_used', 'This link was used, or another one took its place.');
    case 'link_expired':
      return gone('link_expired', 'This link has expired. Ask an Admin for a new one.');
    case 'unknown':
      return notFound();
  }
}

function gone(code: string, detail: string): Answer {
  return refuse({ status: 410, type: 'gone', code, detail });
}

/** Links that set a password, shown once (access §4.2). */
export const SetupLinkShape = d.named(
  'PasswordSetupLink',
  v.object({
    url: d.url('The link. Whoever has it becomes the user.'),
    expires_at: d.time('When it ends, 24 hours after it was made.'),
  }),
  'A link that sets a password. In this answer only.',
);

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export interface SetupLinkMaking {
  /** SVC_PUBLIC_URL. */
  readonly publicUrl: string;
  readonly random: (size: number) => Uint8Array;
}

/** What is stored of a new link, and what is shown of it. The token stands behind the `#`: browsers send it nowhere. */
export function newSetupLink(
  { publicUrl, random }: SetupLinkMaking,
  now: Micros,
): NewSetupLink & { readonly shape: v.InferOutput<typeof SetupLinkShape> } {
  const token = Buffer.from(random(TOKEN_BYTES)).toString('base64url');
  const expiresAt = now + SETUP_LINK_LIFETIME;
  const url = `${publicUrl}/password-setup#token=${token}`;
  return { hash: hashOf(token), expiresAt, shape: { url, expires_at: formatInstant(expiresAt) } };
}

/** The hash under which a token is stored; null when it is not one that this service makes. */
function setupLinkHash(token: string): Buffer | null {
  return TOKEN.test(token) ? hashOf(token) : null;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
