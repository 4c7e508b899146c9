/** The settings of single sign-on as they arrive and as they are answered (seed 2 §2.5, access §6.1). */
import * as v from 'valibot';
import type { OidcSave } from '../../actors/access/oidc/ports.ts';
import { type OidcFields, type StoredOidcSettings, storedScopes } from '../../actors/access/oidc/settings.ts';
import type { OidcWarning } from '../../actors/access/oidc/warnings.ts';
import { changedProxy, proxyErrors } from '../../actors/proxy/proxy-config.ts';
import { codePoints } from '../../actors/text.ts';
import { formatInstantOrNull, parseInstant } from '../../runtime/clock.ts';
import { ROLES } from '../permissions.ts';
import type { FieldError } from '../problem.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody } from '../proxy-shapes.ts';
import { SecretStatus, UserRef } from '../shapes.ts';

const MOST_NAME = 100;
const MOST_TEXT = 200;
const MOST_LONG_TEXT = 2_000;
const MOST_MAPPINGS = 500;
const NO_SCOPE = /[\s"\\\p{Cc}]/u;

const GroupMapping = v.object({ group: v.string(), role: v.picklist(ROLES) });

const common = {
  enabled: v.boolean(),
  display_name: v.optional(v.string()),
  issuer_url: v.string(),
  client_id: v.string(),
  scopes: v.array(v.string()),
  groups_claim: v.string(),
  group_mappings: v.array(GroupMapping),
  unmatched_role: v.picklist(['none', 'viewer', 'responder']),
  sync_role: v.boolean(),
  skip_totp_with_idp_mfa: v.boolean(),
};

const aDay = v.pipe(
  v.string(),
  v.check((day) => parseInstant(`${day}T00:00:00Z`) !== null, 'invalid_format'),
);

export const OidcSettingsInput = v.object({
  ...common,
  scopes: v.optional(v.array(v.string())),
  client_secret: v.optional(v.nullable(v.string())),
  client_secret_expires_on: v.optional(v.nullable(aDay)),
  proxy: ProxyConfigInput,
});
export type OidcSettingsInput = v.InferOutput<typeof OidcSettingsInput>;

export const OidcWarningShape = v.object({
  kind: v.picklist(['nobody_can_sign_in', 'groups_claim_missing', 'secret_expiring', 'last_admin_kept']),
  expires_on: v.optional(v.string()),
  user: v.optional(UserRef),
  role: v.optional(v.picklist(ROLES)),
});

export const OidcSettingsShape = v.object({
  ...common,
  client_secret_status: SecretStatus,
  client_secret_expires_on: v.nullable(v.string()),
  proxy: ProxyConfigShape,
  warnings: v.array(OidcWarningShape),
  updated_at: v.nullable(v.string()),
  etag: v.string(),
});

export function oidcSettingsBody(stored: StoredOidcSettings, warnings: readonly OidcWarning[]) {
  const { display_name, proxy, ...fields } = stored.fields;
  return {
    ...fields,
    ...(display_name === '' ? {} : { display_name }),
    client_secret_status: {
      set: stored.clientSecret !== null,
      updated_at: formatInstantOrNull(stored.clientSecretAt),
    },
    proxy: proxyBody(proxy, stored.proxyPasswordAt),
    warnings: warnings.map(warningBody),
    updated_at: formatInstantOrNull(stored.updatedAt),
    etag: `"${stored.version}"`,
  };
}

export function warningBody(warning: OidcWarning) {
  const { kind } = warning;
  switch (kind) {
    case 'secret_expiring':
      return { kind, expires_on: warning.expiresOn };
    case 'last_admin_kept':
      return { kind, user: { ...warning.user, deactivated: false }, role: warning.role };
    default:
      return { kind };
  }
}

/** Everything that is wrong with new settings, field by field. */
export function oidcSettingsErrors(body: OidcSettingsInput, current: OidcFields): readonly FieldError[] {
  return [
    ...longest('/display_name', body.display_name ?? '', MOST_NAME),
    ...issuerErrors(body.issuer_url),
    ...textErrors('/client_id', body.client_id),
    ...secretErrors(body.client_secret),
    ...(body.scopes ?? []).flatMap((scope, index) => scopeErrors(`/scopes/${index}`, scope)),
    ...textErrors('/groups_claim', body.groups_claim),
    ...mappingErrors(body.group_mappings),
    ...proxyErrors(body.proxy, current.proxy),
  ];
}

/** @param body without {@link oidcSettingsErrors} */
export function oidcSave(body: OidcSettingsInput, { fields: current }: StoredOidcSettings): OidcSave {
  const { fields: proxy, password } = changedProxy(body.proxy, current.proxy);
  const { client_secret_expires_on: expiresOn = current.client_secret_expires_on } = body;
  return {
    save: {
      enabled: body.enabled,
      display_name: body.display_name?.trim() ?? current.display_name,
      issuer_url: body.issuer_url.trim(),
      client_id: body.client_id.trim(),
      client_secret_expires_on: expiresOn,
      scopes: body.scopes ? storedScopes(body.scopes) : current.scopes,
      groups_claim: body.groups_claim.trim(),
      group_mappings: body.group_mappings.map(({ group, role }) => ({ group: group.trim(), role })),
      unmatched_role: body.unmatched_role,
      sync_role: body.sync_role,
      skip_totp_with_idp_mfa: body.skip_totp_with_idp_mfa,
      proxy,
    },
    clientSecret: body.client_secret ?? null,
    proxyPassword: password,
  };
}

function issuerErrors(issuer: string): readonly FieldError[] {
  const detail = 'Give the issuer as an absolute http or https URL without query, fragment or user.';
  return isIssuer(issuer.trim()) ? [] : [{ pointer: '/issuer_url', code: 'invalid_format', detail }];
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || codePoints(text) > MOST_LONG_TEXT) return false;
  return url.username === '' && url.password === '' && !/[?#@\\]/.test(text);
}

function secretErrors(secret: string | null | undefined): readonly FieldError[] {
  const pointer = '/client_secret';
  if (secret === undefined) return [];
  if (secret === null) {
    return [
      { pointer, code: 'required', detail: 'A client secret cannot be cleared. Leave it out to keep it.' },
    ];
  }
  if (secret === '') return [{ pointer, code: 'too_short', detail: 'Leave it out to keep it.' }];
  return longest(pointer, secret, MOST_LONG_TEXT);
}

function scopeErrors(pointer: string, scope: string): readonly FieldError[] {
  if (scope !== '' && !NO_SCOPE.test(scope)) return [];
  const detail = 'A scope is a word without spaces, quotes and backslashes.';
  return [{ pointer, code: 'invalid_format', detail }];
}

function mappingErrors(mappings: OidcSettingsInput['group_mappings']): readonly FieldError[] {
  if (mappings.length > MOST_MAPPINGS) {
    const detail = `At most ${MOST_MAPPINGS} mappings are possible.`;
    return [{ pointer: '/group_mappings', code: 'too_long', detail }];
  }
  return mappings.flatMap(({ group }, index) => textErrors(`/group_mappings/${index}/group`, group));
}

function textErrors(pointer: string, text: string): readonly FieldError[] {
  if (text.trim() === '') return [{ pointer, code: 'required', detail: 'This is needed.' }];
  return longest(pointer, text, MOST_TEXT);
}

function longest(pointer: string, text: string, most: number): readonly FieldError[] {
  if (codePoints(text.trim()) <= most) return [];
  return [{ pointer, code: 'too_long', detail: `At most ${most} characters are possible.` }];
}
