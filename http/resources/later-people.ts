/** Later: second factors, identity providers, profiles and users (api §3–8). */
import { CHANGES, DELETES, type LaterOperation } from './later-table.ts';

const ENROLLING = { alsoIn: ['totp_enrolment_required'] } as const;

const USER = '/users/{user_id}';
const LINKS = '/me/account-links';

export const LATER_PEOPLE: readonly LaterOperation[] = [
  ['startOidcSignIn', 'GET', '/sessions/oidc/start', 'none', 'Sign in through the identity provider'],
  ['completeOidcSignIn', 'GET', '/sessions/oidc/callback', 'none', 'Return from the identity provider'],
  ['completePasswordSetup', 'POST', '/password-setups', 'none', 'Set a password from a link'],

  ['updateMe', 'PUT', '/me', 'session', 'Change your own profile'],
  ['changePassword', 'PUT', '/me/password', 'session', 'Change your own password'],
  ['startOidcLink', 'POST', '/me/oidc-identity', 'session', 'Link your account to the identity provider'],
  ['listMySessions', 'GET', '/me/sessions', 'user', 'List your own sessions'],
  ['deleteMySessions', 'DELETE', '/me/sessions', 'session', 'Sign out everywhere'],
  ['getMyTotp', 'GET', '/me/totp', 'user', 'Read the state of your second factor', ENROLLING],
  ['beginTotpEnrolment', 'POST', '/me/totp', 'session', 'Begin to set up a second factor', ENROLLING],
  [
    'confirmTotpEnrolment',
    'POST',
    '/me/totp/confirmation',
    'session',
    'Confirm the second factor',
    ENROLLING,
  ],
  ['removeTotp', 'POST', '/me/totp/removal', 'session', 'Remove your second factor'],
  ['regenerateTotpRecoveryCodes', 'POST', '/me/totp/recovery-codes', 'session', 'Make new recovery codes'],

  ['listMyAccountLinks', 'GET', LINKS, 'user', 'List your Account links'],
  ['listLinkableConnections', 'GET', `${LINKS}/connections`, 'user', 'List Connections you can link'],
  ['startChannelBotLink', 'POST', `${LINKS}/channel-bot`, 'session', 'Begin to link a channel-bot account'],
  ['startChatServerLink', 'POST', `${LINKS}/chat-server`, 'session', 'Begin to link a chat account'],
  ['confirmChatServerLink', 'POST', `${LINKS}/chat-server/confirmation`, 'session', 'Confirm a chat account'],
  ['startBridgeLink', 'POST', `${LINKS}/bridge`, 'session', 'Begin to link an account through a bridge'],
  ['confirmBridgeLink', 'POST', `${LINKS}/bridge/confirmation`, 'session', 'Confirm an account of a bridge'],
  [
    'deleteMyAccountLink',
    'DELETE',
    `${LINKS}/{account_link_id}`,
    'session',
    'Remove an Account link of yours',
  ],

  ['listUsers', 'GET', '/users', 'users:read', 'List users'],
  ['createUser', 'POST', '/users', 'users:write', 'Create a local user'],
  ['getUser', 'GET', USER, 'users:read', 'Read a user'],
  ['updateUser', 'PUT', USER, 'users:write', 'Change a user', CHANGES],
  ['deleteUser', 'DELETE', USER, 'users:write', 'Delete a user', DELETES],
  ['disableUser', 'POST', `${USER}/disable`, 'users:write', 'Disable a user'],
  ['enableUser', 'POST', `${USER}/enable`, 'users:write', 'Enable a user'],
  ['resetUserTotp', 'POST', `${USER}/reset-totp`, 'users:write', "Reset a user's second factor"],
  [
    'convertUserToLocal',
    'POST',
    `${USER}/convert-to-local`,
    'users:write',
    'Turn an account into a local one',
  ],
  ['createPasswordSetupLink', 'POST', `${USER}/password-setup-links`, 'users:write', 'Make a password link'],
  ['listUserAccountLinks', 'GET', `${USER}/account-links`, 'users:read', "List a user's Account links"],
  [
    'deleteUserAccountLink',
    'DELETE',
    `${USER}/account-links/{account_link_id}`,
    'users:write',
    "Remove a user's Account link",
  ],
];
