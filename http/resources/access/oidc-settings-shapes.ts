/** The settings of single sign-on as they arrive and as they are answered (access §6.1). */
import * as v from 'valibot';
import type { OidcSave } from '../../../actors/access/oidc/ports.ts';
import {
  type OidcFields,
  type OidcWarning,
  type StoredOidcSettings,
  storedScopes,
} from '../../../actors/access/oidc/settings.ts';
import { changedProxy, proxyErrors } from '../../../actors/proxy-config.ts';
import { codePoints } from '../../../actors/text.ts';
import { formatInstantOrNull, parseInstant } from '../../../runtime/clock.ts';
import type { FieldError } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody, SecretStatus, UserRef } from '../../schema/shapes.ts';
import { Role } from '../../schema/words.ts';

const MOST_NAME = 100;
const MOST_TEXT = 200;
const MOST_LONG_TEXT = 2_000;
const MOST_MAPPINGS = 500;
const NO_SCOPE = /[\s"\\\p{Cc}]/u;

const GroupMapping = d.named(
  'OidcGroupMapping',
  v.object({ group: d.text('Name of the group, 1 to 200 characters.'), role: Role }),
  'A group of the provider and the Role of its members.',
);

const common = {
  enabled: d.flag('Whether people can sign in this way.'),
  display_name: d.optionalText(
    'Name on the sign-in button, up to 100 characters. Absent: the host of the issuer.',
  ),
  issuer_url: d.described(
    v.string(),
    'Address of the provider, without query and fragment, up to 2,000 characters.',
  ),
  client_id: d.text('Id of Tocsin at the provider, 1 to 200 characters.'),
  groups_claim: d.text('Claim that lists the groups of a person, 1 to 200 characters.'),
  group_mappings: d.described(
    v.array(GroupMapping),
    'Roles by group, at most 500. Of several that match, the highest Role counts.',
  ),
  unmatched_role: d.described(
    v.picklist(['none', 'viewer', 'responder']),
    'Role without a mapped group: `viewer` or `responder`; `none` refuses.',
  ),
  sync_role: d.flag('Whether the Role is set anew from the groups at every sign-in.'),
  skip_totp_with_idp_mfa: d.flag('Whether a second factor that the provider says it asked for is enough.'),
};

const SettingsBase = d.named(
  'OidcSettingsBase',
  v.object(common),
  'Settings of single sign-on that are answered as they are saved.',
);

const aDay = v.pipe(
  v.string(),
  v.check((day) => parseInstant(`${day}T00:00:00Z`) !== null, 'invalid_format'),
);

export const OidcSettingsInput = d.extending(
  SettingsBase,
  'OidcSettingsInput',
  v.object({
    ...common,
    scopes: d.described(
      v.optional(v.array(v.string())),
      'Scopes to ask for besides `openid`; repeats are dropped. Left out they stay.',
    ),
    client_secret: d.optionalTextOrNull(
      'Secret at the provider, up to 2,000 characters. Left out it stays; it cannot be cleared.',
    ),
    client_secret_expires_on: d.described(
      v.optional(v.nullable(aDay)),
      'Day on which the secret expires, `YYYY-MM-DD`; null for never.',
    ),
    proxy: ProxyConfigInput,
  }),
  'Single sign-on as it is saved.',
);
export type OidcSettingsInput = v.InferOutput<typeof OidcSettingsInput>;

export const OidcWarningShape = d.named(
  'OidcWarning',
  v.object({
    kind: d.described(
      v.picklist(['nobody_can_sign_in', 'groups_claim_missing', 'secret_expiring', 'last_admin_kept']),
      '`nobody_can_sign_in`: no group has a Role; `groups_claim_missing`: the last sign-in named no groups; `secret_expiring`: the client secret expires soon; `last_admin_kept`: a user kept the Role as the last active Admin.',
    ),
    expires_on: d.optionalText('The day, with `secret_expiring`.'),
    user: d.described(v.optional(UserRef), 'With `last_admin_kept`.'),
    role: d.described(v.optional(Role), 'The Role that the groups ask for, with `last_admin_kept`.'),
  }),
  'What is wrong with single sign-on. The fields besides `kind` are those of the kind.',
);

export const OidcSettingsShape = d.extending(
  SettingsBase,
  'OidcSettings',
  v.object({
    ...common,
    scopes: d.described(v.array(v.string()), 'Scopes that are asked for besides `openid`.'),
    client_secret_status: SecretStatus,
    client_secret_expires_on: d.textOrNull('Day on which the client secret expires; null when not known.'),
    proxy: ProxyConfigShape,
    warnings: d.described(v.array(OidcWarningShape), 'What is not as it should be.'),
    updated_at: v.nullable(d.time('When the settings were last saved; null before that.')),
    etag: d.text('Their version, as in the header `ETag`.'),
  }),
  'How people sign in through an identity provider.',
);

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
