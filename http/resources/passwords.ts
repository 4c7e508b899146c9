/** Setting a password: one's own, and from a link (access §4.2). */
import * as v from 'valibot';
import {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  passwordFault,
} from '../../actors/access/password-policy.ts';
import type { OwnPasswords, PasswordLinks } from '../../actors/access/password-ports.ts';
import { HashQueueFullError, inTurnOf, type Passwords } from '../../actors/access/passwords.ts';
import { sourceKey } from '../../actors/access/throttle.ts';
import { authorOf } from '../author.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { conflict, invalid, notFound, refuse } from '../problem.ts';
import {
  answerThrottled,
  BUSY,
  type Judged,
  PROOF_REFUSALS,
  type ThrottledDeps,
  throttled,
  throttleKeys,
} from '../throttled.ts';
import { setupLinkHash } from './setup-links.ts';

export interface PasswordDeps extends ThrottledDeps {
  readonly passwords: Passwords;
  readonly own: OwnPasswords;
  readonly links: PasswordLinks;
}

const ChangeInput = v.object({ current_password: v.string(), new_password: v.string() });
type ChangeInput = v.InferOutput<typeof ChangeInput>;

const SetupInput = v.object({ token: v.string(), password: v.string() });
type SetupInput = v.InferOutput<typeof SetupInput>;

export function passwordOperations(deps: PasswordDeps): readonly Operation[] {
  return [
    operation({
      id: 'changePassword',
      method: 'PUT',
      path: '/me/password',
      tag: 'Profile',
      summary: 'Change your own password; your other sessions end',
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
      needs: 'none',
      body: SetupInput,
      answers: { 204: { description: 'The new password counts' } },
      refusals: [
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
    if (answer === 'wrong') return WRONG_PASSWORD;
    const passwordHash = await passwords.hash(call.body.new_password);
    const change = { userId: id, replaces: current, passwordHash, sessionId, attempt: keys };
    return (await deps.own.change(change, authorOf(call))) ? { passed: null } : WRONG_PASSWORD;
  };
  return answerThrottled(
    () => throttled(deps, keys, call.now, judge),
    () => ({ status: 204 }),
  );
}

const WRONG_PASSWORD: Judged<never> = { failed: 'local', entry: null };

const LOCAL_ONLY = conflict(
  'local_user_only',
  'You sign in through the identity provider, without a password.',
);

/** What the link is worth comes before the password, so that a bad link costs no hash. */
async function complete(deps: PasswordDeps, call: Call<undefined, SetupInput>): Promise<Answer> {
  const { token, password } = call.body;
  const hash = setupLinkHash(token);
  const standing = hash ? await deps.links.standing(hash, call.now) : 'unknown';
  if (!hash || standing !== 'usable') return linkAnswer(standing);
  const fault = lengthFault(password, '/password');
  if (fault) return fault;
  try {
    const passwordHash = await deps.passwords.hash(password, sourceKey(call.address));
    return linkAnswer(await deps.links.complete(hash, passwordHash, call.now, call.address));
  } catch (error) {
    if (error instanceof HashQueueFullError) return BUSY;
    throw error;
  }
}

type Ending = Awaited<ReturnType<PasswordLinks['complete' | 'standing']>>;

function linkAnswer(ending: Ending): Answer {
  switch (ending) {
    case 'link_used':
      return gone('link_used', 'This link was used, or another one took its place.');
    case 'link_expired':
      return gone('link_expired', 'This link has expired. Ask an Admin for a new one.');
    case 'completed':
      return { status: 204 };
    default:
      return notFound();
  }
}

function gone(code: string, detail: string): Answer {
  return refuse({ status: 410, type: 'gone', code, detail });
}
