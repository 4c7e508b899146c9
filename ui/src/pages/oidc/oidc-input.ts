/** The settings of single sign-on as a form edits them. */

import type { GroupMapping, OidcSettings, OidcSettingsInput } from '../../api/organization.ts';
import type { RoleName } from '../../api/people.ts';

import { fromProxyDraft, type ProxyDraft, toProxyDraft } from '../../forms/proxy-draft.ts';

export const MOST_MAPPINGS = 500;

export interface MappingDraft {
  group: string;
  role: RoleName;
}

export interface OidcDraft {
  enabled: boolean;
  displayName: string;
  issuerUrl: string;
  clientId: string;
  /** Empty: what is stored stays. */
  clientSecret: string;
  /** `YYYY-MM-DD`, or empty. */
  secretEnds: string;
  /** Separated by spaces. */
  scopes: string;
  groupsClaim: string;
  mappings: MappingDraft[];
  unmatched: OidcSettings['unmatched_role'];
  syncRole: boolean;
  skipTotp: boolean;
  proxy: ProxyDraft;
}

export function toDraft(settings: OidcSettings): OidcDraft {
  return {
    enabled: settings.enabled,
    displayName: settings.display_name ?? '',
    issuerUrl: settings.issuer_url,
    clientId: settings.client_id,
    clientSecret: '',
    secretEnds: settings.client_secret_expires_on ?? '',
    scopes: settings.scopes.join(' '),
    groupsClaim: settings.groups_claim,
    mappings: settings.group_mappings.map((mapping) => ({ ...mapping })),
    unmatched: settings.unmatched_role,
    syncRole: settings.sync_role,
    skipTotp: settings.skip_totp_with_idp_mfa,
    proxy: toProxyDraft(settings.proxy),
  };
}

export function fromDraft(draft: OidcDraft): OidcSettingsInput {
  const mappings: readonly GroupMapping[] = draft.mappings;
  return {
    enabled: draft.enabled,
    display_name: draft.displayName,
    issuer_url: draft.issuerUrl,
    client_id: draft.clientId,
    ...(draft.clientSecret === '' ? {} : { client_secret: draft.clientSecret }),
    client_secret_expires_on: draft.secretEnds || null,
    scopes: draft.scopes.split(/\s+/).filter((scope) => scope !== ''),
    groups_claim: draft.groupsClaim,
    group_mappings: mappings,
    unmatched_role: draft.unmatched,
    sync_role: draft.syncRole,
    skip_totp_with_idp_mfa: draft.skipTotp,
    proxy: fromProxyDraft(draft.proxy),
  };
}

const HIDDEN = '••••••••';

/** The same without secrets: what may be shown beside another version. */
export function shown(draft: OidcDraft): OidcSettingsInput {
  const { clientSecret, proxy } = draft;
  return fromDraft({
    ...draft,
    clientSecret: clientSecret === '' ? '' : HIDDEN,
    proxy: { ...proxy, password: proxy.password === '' ? '' : HIDDEN },
  });
}
