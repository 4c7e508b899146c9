/** Later: identity providers and Account links (api §3–5). */
import type { LaterOperation } from './later-table.ts';

const USER = '/users/{user_id}';
const LINKS = '/me/account-links';

export const LATER_PEOPLE: readonly LaterOperation[] = [
  ['startOidcSignIn', 'GET', '/sessions/oidc/start', 'none', 'Sign in through the identity provider'],
  ['completeOidcSignIn', 'GET', '/sessions/oidc/callback', 'none', 'Return from the identity provider'],

  ['startOidcLink', 'POST', '/me/oidc-identity', 'session', 'Link your account to the identity provider'],

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

  ['listUserAccountLinks', 'GET', `${USER}/account-links`, 'users:read', "List a user's Account links"],
  [
    'deleteUserAccountLink',
    'DELETE',
    `${USER}/account-links/{account_link_id}`,
    'users:write',
    "Remove a user's Account link",
  ],
];
