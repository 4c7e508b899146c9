/** Access of users: disable, enable, new setup link, reset of second factor and provider (api §5). */
import { type UserSwitch, userShape } from '../../../actors/access/user.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, invalid, notFound, refuse } from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import { newSetupLink, SetupLinkShape } from './passwords.ts';
import {
  LAST_ADMIN,
  LAST_ADMIN_REFUSAL,
  OF_USER,
  USER_ID,
  type UserAccountDeps,
  userAnswer,
  userId,
  WithLinkShape,
} from './user-accounts.ts';

const TAG = 'Users';

/** The caller lacks what it would let the user do again. */
const NOT_HELD = [422, 'validation-failed', ''] as const;

export function userAccessOperations(deps: UserAccountDeps): readonly Operation[] {
  const { store } = deps;
  return [
    operation({
      id: 'disableUser',
      method: 'POST',
      path: '/users/{user_id}/disable',
      tag: TAG,
      summary: 'Disable a user: sessions and tokens end, acknowledged Alert Groups lose their Owner',
      description: 'Already disabled: unchanged. One active Admin always stays.',
      needs: 'users:write',
      ids: USER_ID,
      answers: { 200: OF_USER },
      refusals: [LAST_ADMIN_REFUSAL],
      handle: async (call) => switched(deps, await store.disable(userId(call), authorOf(call))),
    }),

    operation({
      id: 'enableUser',
      method: 'POST',
      path: '/users/{user_id}/enable',
      tag: TAG,
      summary: 'Enable a disabled user',
      description: 'The account and its tokens work again. Already enabled: unchanged.',
      needs: 'users:write',
      ids: USER_ID,
      answers: { 200: OF_USER },
      refusals: [NOT_HELD],
      handle: (call) => enable(deps, call),
    }),

    operation({
      id: 'resetUserTotp',
      method: 'POST',
      path: '/users/{user_id}/reset-totp',
      tag: TAG,
      summary: "Remove a user's second factor and end their sessions",
      description: 'For somebody who lost the authenticator. Your own is 403.',
      needs: 'users:write',
      ids: USER_ID,
      answers: { 204: { description: 'There is no second factor any more' } },
      refusals: [NOT_HELD],
      handle: (call) => resetTotp(deps, call),
    }),

    operation({
      id: 'convertUserToLocal',
      method: 'POST',
      path: '/users/{user_id}/convert-to-local',
      tag: TAG,
      summary: 'Turn an account of the identity provider into a local one',
      description: 'The identity goes, sessions end, and the link sets a password.',
      needs: 'users:write',
      ids: USER_ID,
      answers: { 200: { description: 'The user and a link that sets a password', schema: WithLinkShape } },
      refusals: [[409, 'conflict', 'oidc_not_linked'], NOT_HELD],
      handle: (call) => convertToLocal(deps, call),
    }),

    operation({
      id: 'createPasswordSetupLink',
      method: 'POST',
      path: '/users/{user_id}/password-setup-links',
      tag: TAG,
      summary: 'Make a link that sets a new password; earlier ones end',
      description: 'The present password works until the link is used.',
      needs: 'users:write',
      ids: USER_ID,
      answers: { 201: { description: 'The link, shown once', schema: SetupLinkShape } },
      refusals: [[409, 'conflict', 'local_user_only'], NOT_HELD],
      handle: (call) => createLink(deps, call),
    }),
  ];
}

async function enable(deps: UserAccountDeps, call: Call): Promise<Answer> {
  const refusal = await refusalOfHelp(deps, call);
  return refusal ?? switched(deps, await deps.store.enable(userId(call), authorOf(call)));
}

async function switched(deps: UserAccountDeps, outcome: UserSwitch): Promise<Answer> {
  switch (outcome.outcome) {
    case 'unknown':
      return notFound();
    case 'last_admin':
      return LAST_ADMIN;
    case 'switched':
      await deps.directory.reload();
      deps.poke();
      return userAnswer(outcome.user);
    case 'unchanged':
      return userAnswer(outcome.user);
  }
}

const OWN_FACTOR = refuse({
  status: 403,
  type: 'forbidden',
  detail: 'Remove your own second factor in your profile.',
});

async function resetTotp(deps: UserAccountDeps, call: Call): Promise<Answer> {
  const id = userId(call);
  if (call.identity?.id === id) return OWN_FACTOR;
  const refusal = await refusalOfHelp(deps, call);
  if (refusal) return refusal;
  const outcome = await deps.store.resetTotp(id, authorOf(call));
  return outcome === 'unknown' ? notFound() : { status: 204 };
}

async function convertToLocal(deps: UserAccountDeps, call: Call): Promise<Answer> {
  const refusal = await refusalOfHelp(deps, call);
  if (refusal) return refusal;
  const { shape, ...link } = newSetupLink(deps, call.now);
  const outcome = await deps.store.convertToLocal(userId(call), link, authorOf(call));
  switch (outcome) {
    case 'unknown':
      return notFound();
    case 'oidc_not_linked':
      return conflict('oidc_not_linked', 'This account signs in with a password already.');
    default:
      return { status: 200, body: { user: userShape(outcome), password_setup_link: shape } };
  }
}

/** Whoever helps a user in, or takes a hurdle away, gives all that the user's Role holds. */
async function refusalOfHelp({ store }: UserAccountDeps, call: Call): Promise<Answer | null> {
  const user = await store.read(userId(call));
  if (!user || user.status === 'deleted') return notFound();
  const errors = unheldErrors(call.identity, '/path/user_id', user.role);
  return errors.length > 0 ? invalid(errors) : null;
}

async function createLink(deps: UserAccountDeps, call: Call): Promise<Answer> {
  const refusal = await refusalOfHelp(deps, call);
  if (refusal) return refusal;
  const { shape, ...link } = newSetupLink(deps, call.now);
  switch (await deps.store.addSetupLink(userId(call), link, authorOf(call))) {
    case 'unknown':
      return notFound();
    case 'local_user_only':
      return LOCAL_ONLY;
    case 'added':
      return { status: 201, body: shape };
  }
}

const LOCAL_ONLY = conflict('local_user_only', 'This account signs in through the identity provider.');
