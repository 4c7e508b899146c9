/** How users get in, or not: switched off and on, a new link, second factor and provider undone (seed 2 §4.3, api §5). */
import { userShape } from '../../actors/access/user.ts';
import type { UserSwitch } from '../../actors/access/user-ports.ts';
import { authorOf } from '../author.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { conflict, notFound, refuse } from '../problem.ts';
import { linkRefusal } from '../role-held.ts';
import { newSetupLink, SetupLinkShape } from './setup-links.ts';
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

export function userWayInOperations(deps: UserAccountDeps): readonly Operation[] {
  const { store } = deps;
  return [
    operation({
      id: 'disableUser',
      method: 'POST',
      path: '/users/{user_id}/disable',
      tag: TAG,
      summary: 'Disable a user: sessions and tokens end, acknowledged Alert Groups lose their Owner',
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
      needs: 'users:write',
      ids: USER_ID,
      answers: { 200: OF_USER },
      handle: async (call) => switched(deps, await store.enable(userId(call), authorOf(call))),
    }),

    operation({
      id: 'resetUserTotp',
      method: 'POST',
      path: '/users/{user_id}/reset-totp',
      tag: TAG,
      summary: "Remove a user's second factor and end their sessions",
      needs: 'users:write',
      ids: USER_ID,
      answers: { 204: { description: 'There is no second factor any more' } },
      handle: (call) => resetTotp(deps, call),
    }),

    operation({
      id: 'convertUserToLocal',
      method: 'POST',
      path: '/users/{user_id}/convert-to-local',
      tag: TAG,
      summary: 'Turn an account of the identity provider into a local one',
      needs: 'users:write',
      ids: USER_ID,
      answers: { 200: { description: 'The user and a link that sets a password', schema: WithLinkShape } },
      refusals: [[409, 'conflict', 'oidc_not_linked']],
      handle: (call) => convertToLocal(deps, call),
    }),

    operation({
      id: 'createPasswordSetupLink',
      method: 'POST',
      path: '/users/{user_id}/password-setup-links',
      tag: TAG,
      summary: 'Make a link that sets a new password; earlier ones end',
      needs: 'users:write',
      ids: USER_ID,
      answers: { 201: { description: 'The link, shown once', schema: SetupLinkShape } },
      refusals: [[409, 'conflict', 'local_user_only']],
      handle: (call) => createLink(deps, call),
    }),
  ];
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

async function resetTotp({ store }: UserAccountDeps, call: Call): Promise<Answer> {
  const id = userId(call);
  if (call.identity?.id === id) return OWN_FACTOR;
  const outcome = await store.resetTotp(id, authorOf(call));
  return outcome === 'unknown' ? notFound() : { status: 204 };
}

async function convertToLocal(deps: UserAccountDeps, call: Call): Promise<Answer> {
  const refusal = await refusalOfLink(deps, call);
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

async function refusalOfLink({ store }: UserAccountDeps, call: Call): Promise<Answer | null> {
  const user = await store.read(userId(call));
  return user && user.status !== 'deleted' ? linkRefusal(call.identity, user.role) : notFound();
}

async function createLink(deps: UserAccountDeps, call: Call): Promise<Answer> {
  const refusal = await refusalOfLink(deps, call);
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
