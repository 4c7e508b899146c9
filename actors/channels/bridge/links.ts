/** What a bridge can do for Account links: take tokens, find people and write to them (account-links §5.2). */
import { type NotStarted, sendsCodes } from '../../account-links/link.ts';
import type { LinkPeople, LinkPlaces } from '../../account-links/linking.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import { failed } from '../access.ts';
import type { BridgeOutcome } from './answer.ts';
import { type BridgeAccess, type BridgeUse, openBridge } from './client.ts';
import { accountOf } from './events.ts';
import type { InfoReader } from './info-reader.ts';
import { bridgeCalls } from './operations.ts';

export interface BridgePlacesDeps extends BridgeUse {
  readonly infos: InfoReader;
}

export function createBridgePlaces(deps: BridgePlacesDeps): LinkPlaces {
  const { bridge } = deps;

  const open = async (settings: BridgeSettings): Promise<LinkPeople | NotStarted> => {
    const access = openBridge(deps.opener, settings);
    if (!access) return { is: 'failed', error: 'a secret of the Connection cannot be read' };
    const known = await deps.infos.upToDate(settings, access, 'interactive');
    if (known.class === 'no_token') return { is: 'busy', retryAfterSeconds: 1 };
    if (known.class !== 'ok') return failed(known);
    return sendsCodes(known.info) ? peopleBehind(access) : { is: 'unsupported' };
  };

  const peopleBehind = (access: BridgeAccess): LinkPeople => ({
    way: 'bridge_direct',
    callsToWrite: 1,

    async find(handle) {
      const found = await bridge.call(access, bridgeCalls.findPerson(handle), { class: 'interactive' });
      // The bridge cannot search for what was typed: an e-mail address where it takes logins.
      if (found.class === 'unknown' && isRefusal(found.status)) return { is: 'nobody' };
      if (found.class !== 'ok') return failed(found);
      const [person] = found.value.items;
      return !person || person.bot ? { is: 'nobody' } : accountOf(person);
    },

    async write({ externalId, key, text, secrets }) {
      const hiding = { ...access, otherSecrets: [...(access.otherSecrets ?? []), ...secrets] };
      const message = bridgeCalls.sendDirectMessage(externalId, text, key);
      const sent = await bridge.call(hiding, message, { class: 'interactive' });
      if (sent.class === 'ok') return 'sent';
      return isForbidden(sent) ? { is: 'unreachable' } : failed(sent);
    },
  });

  return async (id) => {
    const settings = await deps.settings(id);
    return (
      settings && {
        tokenAddress: async () => ({ address: settings.info?.link_url_template ?? null }),
        ...(sendsCodes(settings.info) ? { people: () => open(settings) } : {}),
      }
    );
  };
}

function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400;
}

/** The bot may not write to this account, while its token is good. */
function isForbidden(outcome: Exclude<BridgeOutcome<unknown>, { readonly class: 'ok' }>): boolean {
  return outcome.class === 'fatal' && isRefusal(outcome.status) && outcome.status !== 401;
}
