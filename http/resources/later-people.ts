/** Later: identity providers and Account links (api §3–5). */
import type { LaterOperation } from './later-table.ts';

const LINKS = '/me/account-links';

export const LATER_PEOPLE: readonly LaterOperation[] = [
  ['startChannelBotLink', 'POST', `${LINKS}/channel-bot`, 'session', 'Begin to link a channel-bot account'],
  ['startChatServerLink', 'POST', `${LINKS}/chat-server`, 'session', 'Begin to link a chat account'],
  ['confirmChatServerLink', 'POST', `${LINKS}/chat-server/confirmation`, 'session', 'Confirm a chat account'],
];
