/** The settings as the provider is spoken to with them. */
import { type Opener, openSecret } from '../../../runtime/secrets/open-secret.ts';
import { proxyRoute } from '../../proxy/proxy-config.ts';
import type { ProviderAccess } from './provider-fetch.ts';
import { OIDC_OWNER, requestedScope, type StoredOidcSettings } from './settings.ts';

/** Null when one of the secrets cannot be opened. */
export function openProvider(opener: Opener, settings: StoredOidcSettings): ProviderAccess | null {
  const { fields, clientSecret, proxyPassword, version } = settings;
  const secret = clientSecret && openSecret(opener, 'oidc.client_secret', OIDC_OWNER, clientSecret);
  const password = proxyPassword && openSecret(opener, 'oidc.proxy_password', OIDC_OWNER, proxyPassword);
  if ((clientSecret && secret === null) || (proxyPassword && password === null)) return null;
  return {
    version,
    issuerUrl: fields.issuer_url,
    clientId: fields.client_id,
    clientSecret: secret,
    scope: requestedScope(fields),
    proxy: proxyRoute(fields.proxy, password),
  };
}
