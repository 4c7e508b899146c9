/** What a channel bot can do for Account links: a deep link that brings a token to it (account-links §4). */
import type { NotStarted } from '../../account-links/link.ts';
import type { LinkPlaces } from '../../account-links/linking.ts';
import type { ChannelBotSettings } from '../../connection/ports.ts';
import type { WaitingTokens } from '../../connection/tokens.ts';
import { failed } from '../access.ts';
import { type BotUse, openBot } from './client.ts';
import { botCalls } from './operations.ts';

export interface ChannelBotPlacesDeps extends BotUse {
  readonly tokens: Pick<WaitingTokens, 'take'>;
}

export function createChannelBotPlaces(deps: ChannelBotPlacesDeps): LinkPlaces {
  /** As it is stored, else as the messenger says. */
  const usernameOf = async (settings: ChannelBotSettings): Promise<string | NotStarted> => {
    if (settings.info) return settings.info.bot_username;
    const access = openBot(deps.opener, settings);
    if (!access) return { is: 'failed', error: 'a secret of the Connection cannot be read' };
    const grant = await deps.tokens.take(settings.id);
    if (grant !== 'granted') return { is: 'busy', ...grant };
    const me = await deps.bot.call(access, botCalls.getMe(), { class: 'interactive' });
    return me.class === 'ok' ? me.value.username : failed(me);
  };

  return async (id) => {
    const settings = await deps.settings(id);
    return (
      settings && {
        async tokenAddress() {
          const username = await usernameOf(settings);
          return typeof username === 'string'
            ? { address: `https://t.me/${username}?start={token}` }
            : username;
        },
      }
    );
  };
}
