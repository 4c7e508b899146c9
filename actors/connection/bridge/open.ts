/** Opens what a bridge Connection has sealed, for one call (secrets §3.4). */
import type { Log } from '../../../runtime/log.ts';
import type { Keyring, Sealed } from '../../../runtime/secrets/keyring.ts';
import type { SealedFieldName } from '../../../runtime/secrets/sealed-fields.ts';
import { proxyRoute } from '../../proxy/proxy-config.ts';
import type { BridgeSettings } from '../ports.ts';
import type { BridgeAccess } from './client.ts';

export interface Opener {
  readonly keyring: Pick<Keyring, 'open'>;
  readonly log: Log;
}

/** Where the bridge is, its token, and the way there; null when one of the secrets cannot be opened. */
export function openBridge(opener: Opener, settings: BridgeSettings): BridgeAccess | null {
  const { id, baseUrl, access } = settings;
  const token = openSecret(opener, 'connection.bridge_token', id, settings.token);
  const password = openProxyPassword(opener, settings);
  if (token === null || password === 'unreadable') return null;
  const pushSecret = openPushSecret(opener, settings);
  return {
    ...{ connectionId: id, owner: connectionOwner(id), baseUrl, token, credentials: String(access) },
    proxy: proxyRoute(settings.proxy, password),
    otherSecrets: pushSecret === null ? [] : [pushSecret],
  };
}

/** The secret that signs pushed events; null when there is none, or it cannot be opened. */
export function openPushSecret(opener: Opener, { id, pushSecret }: BridgeSettings): string | null {
  return pushSecret && openSecret(opener, 'connection.bridge_push_secret', id, pushSecret);
}

/** The password of its proxy; null when it has none. */
export function openProxyPassword(
  opener: Opener,
  { id, proxyPassword }: BridgeSettings,
): string | null | 'unreadable' {
  if (!proxyPassword) return null;
  return openSecret(opener, 'connection.proxy_password', id, proxyPassword) ?? 'unreadable';
}

/** The name under which a Connection's sockets are kept. */
export function connectionOwner(id: string): string {
  return `connection/${id}`;
}

function openSecret(
  { keyring, log }: Opener,
  field: SealedFieldName,
  owner: string,
  sealed: Sealed | null,
): string | null {
  if (!sealed) return null;
  const opened = keyring.open(field, owner, sealed);
  if (opened.ok) return opened.value;
  log('secret_unreadable', { field, owner, key_id: opened.keyId });
  return null;
}
