/** By which ways accounts of a bridge can be linked (account links §5.2, bridge §3.1). Pure. */
import type { BridgeInfo } from '../connection/bridge/info.ts';

export const LINK_METHODS = ['token', 'code'] as const;
export type LinkMethod = (typeof LINK_METHODS)[number];

/** Every bridge takes tokens; a code needs somebody found by a name, and a bot that may begin to talk. */
export function linkMethods(info: BridgeInfo | null): readonly LinkMethod[] {
  if (!info || info.user_lookup === 'none') return ['token'];
  const { direct_messages: direct } = info.capabilities;
  return direct !== false && direct.bot_can_start ? ['token', 'code'] : ['token'];
}

/** What a person types so that the bridge finds them; null where it finds nobody. */
export function handleKind(info: BridgeInfo | null): Exclude<BridgeInfo['user_lookup'], 'none'> | null {
  return info && info.user_lookup !== 'none' ? info.user_lookup : null;
}

/** Where a click brings the token to the bot; null when people send it themselves. */
export function deepLinkOf(info: BridgeInfo | null, token: string): string | null {
  return info?.link_url_template?.replace('{token}', encodeURIComponent(token)) ?? null;
}
