import { expect, test } from 'vitest';
import type { OidcSettings } from '../../api/organization.ts';
import { fromDraft, shown, toDraft } from './oidc-input.ts';

const STORED: OidcSettings = {
  enabled: true,
  issuer_url: 'https://id.example.org',
  client_id: 'tocsin',
  client_secret_status: { set: true, updated_at: '2026-10-01T08:00:00Z' },
  client_secret_expires_on: null,
  scopes: ['profile', 'email'],
  groups_claim: 'groups',
  group_mappings: [{ group: 'ops', role: 'responder' }],
  unmatched_role: 'none',
  sync_role: true,
  skip_totp_with_idp_mfa: false,
  proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
  warnings: [],
  updated_at: null,
  etag: '"3"',
};

test('what was read is sent as it is, and the stored secret stays', () => {
  expect(fromDraft(toDraft(STORED))).toEqual({
    ...{ enabled: true, display_name: '', issuer_url: 'https://id.example.org', client_id: 'tocsin' },
    ...{ client_secret_expires_on: null, scopes: ['profile', 'email'], groups_claim: 'groups' },
    group_mappings: [{ group: 'ops', role: 'responder' }],
    ...{ unmatched_role: 'none', sync_role: true, skip_totp_with_idp_mfa: false, proxy: { enabled: false } },
  });
});

test('scopes are words, however they are spaced', () => {
  expect(fromDraft({ ...toDraft(STORED), scopes: '  groups   email ' }).scopes).toEqual(['groups', 'email']);
});

test('a secret that was typed is sent, and shown nowhere', () => {
  const draft = { ...toDraft(STORED), clientSecret: 'hunter22' };
  expect(fromDraft(draft).client_secret).toBe('hunter22');
  expect(JSON.stringify(shown(draft))).not.toContain('hunter22');
  expect(shown(draft)).not.toEqual(shown(toDraft(STORED)));
});
