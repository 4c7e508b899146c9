/** Later: settings, identity provider (api §6, §7, §9). */
import { CHANGES, type LaterOperation } from './later-table.ts';

export const LATER_SETTINGS: readonly LaterOperation[] = [
  ['getOidcSettings', 'GET', '/oidc-settings', 'oidc:read', 'Read the settings of the identity provider'],
  ['updateOidcSettings', 'PUT', '/oidc-settings', 'oidc:write', 'Change them', CHANGES],
  ['checkOidcSettings', 'POST', '/oidc-settings/checks', 'oidc:write', 'Check the identity provider'],
];
