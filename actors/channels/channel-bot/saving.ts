/** The webhook of a bot when its Connection is saved or deleted, and when it was lost (channel-bot §1.1). */
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Opener, openSecret } from '../../../runtime/secrets/keyring.ts';
import { connectionOwner } from '../../connection/messages.ts';
import type {
  BotSaving,
  ChannelBotFields,
  ChannelBotSettings,
  ConnectionSecrets,
  WebhookSet,
} from '../../connection/ports.ts';
import { type ProxyFields, proxyRoute } from '../../proxy-config.ts';
import { type BotAccess, openBot } from './client.ts';
import type { BotPlace, BotWebhooks } from './webhook.ts';

export interface BotSavingDeps {
  readonly webhooks: BotWebhooks;
  readonly opener: Opener;
  readonly log: Log;
  settings(id: PublicId): Promise<ChannelBotSettings | null>;
  /** Stores what the messenger knows, outside of a save. */
  store(id: PublicId, webhook: WebhookSet): Promise<void>;
  /** Live channel bots in webhook mode whose messenger knows no webhook at the present callback address. */
  notSet(): Promise<readonly ChannelBotSettings[]>;
  /** Those that no check told which bot they are, and no poll does; and asks one. */
  unknown(): Promise<readonly ChannelBotSettings[]>;
  learn(settings: ChannelBotSettings): Promise<void>;
}

/** Nobody knows it, so that every delivery is refused until it is set again. */
const LOST: WebhookSet = { url: null, secret: null };

export function createBotSaving(deps: BotSavingDeps): BotSaving {
  const { webhooks, opener, log, settings, store } = deps;
  const placeOf = (stored: ChannelBotSettings): BotPlace | null => {
    const access = openBot(opener, stored);
    const { id, webhookSecret, updateMode: mode } = stored;
    const secret = webhookSecret && openSecret(opener, 'connection.webhook_secret_token', id, webhookSecret);
    return access && { access, mode, secret };
  };

  return {
    async prepare(id, fields, secrets) {
      const stored = await settings(id);
      if (!changesWebhook(stored, fields, secrets))
        return { ok: true, webhook: null, undo: async () => undefined };
      const before = stored && placeOf(stored);
      const access = accessAfter(opener, { id, stored, fields, secrets });
      if (!access) return { ok: false, error: 'a secret of the Connection cannot be read' };
      const after = { access, mode: fields.update_mode, secret: null };
      // What the messenger is told from here on may never be stored: then the webhook counts as lost, and is set again.
      if (stored?.updateMode === 'webhook') await store(id, LOST);
      const changed = await webhooks.change(id, before, after);
      if (changed.ok) {
        const { url, secret } = changed;
        // Of a Connection that polls on, the next poll removes it.
        const undo = async () => {
          if (!stored) await webhooks.forget(after);
          // Another save may have stored a secret meanwhile that is no longer the one at the messenger.
          if (stored?.updateMode === 'webhook') await store(id, LOST);
        };
        return { ok: true, webhook: { url, secret }, undo };
      }
      const isKept = stored?.updateMode === 'webhook' && !changed.isLost;
      if (isKept && before) await store(id, { url: stored.webhookUrl, secret: before.secret });
      return { ok: false, error: changed.error };
    },

    async leaving(id) {
      const stored = await settings(id);
      const place = stored?.updateMode === 'webhook' ? placeOf(stored) : null;
      return place && (() => webhooks.forget(place));
    },

    async restore() {
      for (const stored of await deps.notSet()) {
        const place = placeOf(stored);
        if (!place) continue;
        const changed = await webhooks.change(stored.id, null, place);
        if (changed.ok) await store(stored.id, changed);
        else log('webhook_not_set', { connection: stored.id, error: changed.error });
      }
      for (const stored of await deps.unknown()) await deps.learn(stored);
    },
  };
}

/** Another mode, or in webhook mode another bot, address or way there. */
function changesWebhook(
  stored: ChannelBotSettings | null,
  fields: ChannelBotFields,
  { token, proxyPassword }: ConnectionSecrets,
): boolean {
  if (fields.update_mode !== 'webhook') return stored?.updateMode === 'webhook';
  if (stored?.updateMode !== 'webhook') return true;
  const isOtherProxy = proxyPassword.kind === 'set' || !isSameProxy(fields.proxy, stored.proxy);
  return token !== null || fields.bot_api_base_url !== stored.baseUrl || isOtherProxy;
}

function isSameProxy(one: ProxyFields, other: ProxyFields): boolean {
  return (['enabled', 'type', 'address', 'username'] as const).every((field) => one[field] === other[field]);
}

interface Saved {
  readonly id: PublicId;
  readonly stored: ChannelBotSettings | null;
  readonly fields: ChannelBotFields;
  readonly secrets: ConnectionSecrets;
}

/** As calls go once it is saved; null when a secret that is kept cannot be opened. */
function accessAfter(opener: Opener, { id, stored, fields, secrets }: Saved): BotAccess | null {
  const { token: typed, proxyPassword } = secrets;
  const kept = stored && openBot(opener, stored);
  const token = typed ?? kept?.token ?? null;
  const keepsPassword = proxyPassword.kind === 'keep' && stored?.proxyPassword != null;
  if (token === null || (keepsPassword && !kept)) return null;
  const password =
    proxyPassword.kind === 'set' ? proxyPassword.password : keepsPassword ? kept?.proxy?.password : null;
  return {
    ...{
      connectionId: stored ? id : null,
      owner: connectionOwner(id),
      credentials: `save ${stored?.access ?? 0}`,
    },
    ...{ baseUrl: fields.bot_api_base_url, token, proxy: proxyRoute(fields.proxy, password ?? null) },
  };
}
