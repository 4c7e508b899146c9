/** The settings of single sign-on: the store behind actors/access/oidc/ports.ts. */
import type { OidcSave, OidcSettingsStore, OidcUpdate } from '../../actors/access/oidc/ports.ts';
import {
  expiryCondition,
  OIDC_OWNER,
  type OidcFields,
  type StoredOidcSettings,
  type WithheldRole,
} from '../../actors/access/oidc/settings.ts';
import { auditDiff, auditEntry } from '../../actors/audit.ts';
import type { AuditChange } from '../../actors/effects.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Keyring, Sealed } from '../../runtime/secrets/keyring.ts';
import type { InternalAlerts } from '../integrations/internal-alerts.ts';
import { inSealingTransaction, type SealingChange } from '../keys/keyring.ts';
import { changedPassword, changesPassword, type ProxyRow } from '../keys/sealed-values.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';

export interface OidcStoreDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
  readonly keyring: Keyring;
}

export interface OidcSettingsDeps extends OidcStoreDeps {
  readonly internalAlerts: Pick<InternalAlerts, 'record' | 'announced'>;
}

export function createOidcSettingsStore(deps: OidcSettingsDeps): OidcSettingsStore {
  const { sql, appendAudit, keyring, internalAlerts } = deps;
  return {
    read: () => readOidcSettings(sql),

    update: (decide, author) =>
      internalAlerts.announced(
        inSealingTransaction(sql, keyring, (tx, sealer) =>
          update({ tx, appendAudit, author, sealer }, internalAlerts, decide),
        ),
      ),

    async sawGroups(version, isMissing) {
      await sql`
        update oidc_settings set groups_claim_missing = ${isMissing}
        where version = ${version} and groups_claim_missing <> ${isMissing}`;
    },

    async withheldRoles() {
      return sql<WithheldRole[]>`
        select jsonb_build_object('id', id, 'name', name, 'login', login) as "user", oidc_withheld_role as role
        from users
        where oidc_withheld_role is not null and role = 'admin' and status = 'active'
        order by id`;
    },
  };
}

/** Raises or resolves SvcOIDCSecretExpiring as the date and the time have it. @returns the settings it went by */
export function checkSecretExpiry(
  sql: Sql,
  internalAlerts: Pick<InternalAlerts, 'record' | 'announced'>,
  now: Micros,
): Promise<StoredOidcSettings> {
  return internalAlerts.announced(
    inTransaction(sql, async (tx) => {
      await lockSettings(tx);
      const settings = await readOidcSettings(tx);
      await internalAlerts.record(tx, [expiryCondition(settings.fields, now)]);
      return settings;
    }),
  );
}

interface SettingsRow extends ProxyRow {
  version: number;
  settings: Omit<OidcFields, 'proxy'>;
  updated_at: Micros | null;
  client_secret: Sealed | null;
  client_secret_at: Micros | null;
  groups_claim_missing: boolean;
}

export async function readOidcSettings(sql: Sql | Transaction): Promise<StoredOidcSettings> {
  const [row] = await sql<SettingsRow[]>`select * from oidc_settings`;
  if (!row) throw new Error('the settings of single sign-on have no row: the schema is incomplete');
  return {
    version: row.version,
    fields: { ...row.settings, proxy: row.proxy },
    updatedAt: row.updated_at,
    clientSecret: row.client_secret,
    clientSecretAt: row.client_secret_at,
    proxyPassword: row.proxy_password,
    proxyPasswordAt: row.proxy_password_at,
    groupsClaimMissing: row.groups_claim_missing,
  };
}

/** Also keeps sign-ins waiting that would go by the settings before. */
async function lockSettings(tx: Transaction): Promise<void> {
  await tx`select 1 from oidc_settings for update`;
}

async function update<Refusal>(
  change: SealingChange,
  internalAlerts: Pick<InternalAlerts, 'record'>,
  decide: (current: StoredOidcSettings) => OidcSave | { readonly refuse: Refusal },
): Promise<OidcUpdate<Refusal>> {
  const { tx, appendAudit, author } = change;
  await lockSettings(tx);
  const current = await readOidcSettings(tx);
  const decision = decide(current);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  const { save: fields } = decision;
  const diff = [...auditDiff(current.fields, fields), ...secretChanges(decision, current)];
  if (diff.length === 0) return { outcome: 'unchanged', settings: current };
  await write(change, decision, current);
  // The trigger keeps the mark of each user; this, of all of them.
  await tx`
    update users set role_locked = not role_locked
    where oidc_subject is not null and role_locked <> ${fields.enabled && fields.sync_role}`;
  await internalAlerts.record(tx, [expiryCondition(fields, author.at)]);
  const entry = { action: 'oidc_settings.updated', resourceId: null, resourceName: null, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'saved', settings: await readOidcSettings(tx) };
}

async function write(
  { tx, sealer, author }: SealingChange,
  { save, clientSecret, proxyPassword }: OidcSave,
  current: StoredOidcSettings,
): Promise<void> {
  const { proxy, ...settings } = save;
  const place = { field: 'oidc.proxy_password', owner: OIDC_OWNER, at: author.at } as const;
  const password = changedPassword(sealer, place, proxyPassword, passwordColumns(current));
  await tx`
    update oidc_settings set
      version = version + 1,
      settings = ${JSON.stringify(settings)}::text::jsonb,
      proxy = ${JSON.stringify(proxy)}::text::jsonb,
      proxy_password = ${password.proxy_password},
      proxy_password_at = ${password.proxy_password_at},
      updated_at = ${author.at},
      groups_claim_missing = groups_claim_missing and ${!isOtherClaim(save, current.fields)}`;
  if (clientSecret === null) return;
  await tx`
    update oidc_settings set
      client_secret = ${sealer.seal('oidc.client_secret', OIDC_OWNER, clientSecret)},
      client_secret_at = ${author.at}`;
}

/** What was seen of groups is about one claim of one provider. */
function isOtherClaim(fields: OidcFields, before: OidcFields): boolean {
  return fields.groups_claim !== before.groups_claim || fields.issuer_url !== before.issuer_url;
}

function passwordColumns(
  current: StoredOidcSettings,
): Pick<ProxyRow, 'proxy_password' | 'proxy_password_at'> {
  return { proxy_password: current.proxyPassword, proxy_password_at: current.proxyPasswordAt };
}

function secretChanges(
  { clientSecret, proxyPassword }: OidcSave,
  current: StoredOidcSettings,
): readonly AuditChange[] {
  return [
    ...(clientSecret === null ? [] : [{ pointer: '/client_secret', secret_changed: true } as const]),
    ...(changesPassword(proxyPassword, passwordColumns(current))
      ? [{ pointer: '/proxy/password', secret_changed: true } as const]
      : []),
  ];
}
