/** The Organization in Postgres: its settings, and its outbound policy (organization §1, outbound-http §2). */
import type { OrganizationRecord, OrganizationView } from '../../actors/access/organization.ts';
import {
  changedSettings,
  type OrganizationInput,
  type OrganizationStore,
  type OrganizationUpdate,
  organizationErrors,
  type SeverityCount,
  urlChange,
} from '../../actors/access/organization-change.ts';
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import { changedProxy, type PasswordChange } from '../../actors/proxy-config.ts';
import { routeAddress } from '../../actors/route/messages.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { OutboundPolicy } from '../../runtime/outbound/address-policy.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring, Sealed } from '../../runtime/secrets/keyring.ts';
import { rerenderEverywhere, savedEverywhere } from '../delivery/rerender.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import { inSealingTransaction, type SealingChange } from '../keys/keyring.ts';
import { changedPassword, changesPassword, type ProxyRow } from '../keys/sealed-values.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';

export interface OrganizationStoreDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
  readonly keyring: Pick<Keyring, 'sealer'>;
}

export function createOrganizationStore({
  sql,
  appendAudit,
  keyring,
}: OrganizationStoreDeps): OrganizationStore {
  return {
    read: async () => viewOf(await readRow(sql)),
    update: (input, isCurrent, author) =>
      inSealingTransaction(sql, keyring, (tx, sealer) =>
        update({ tx, appendAudit, author, sealer }, input, isCurrent),
      ),
    severityValues: (since, limit) => severityValues(sql, since, limit),
  };
}

interface OrganizationRow extends OrganizationRecord, ProxyRow {
  readonly heartbeat_url: Sealed | null;
  readonly heartbeat_url_at: Micros | null;
}

async function readRow(sql: Sql | Transaction): Promise<OrganizationRow> {
  const [row] = await sql<OrganizationRow[]>`
    select
      id, version, settings, heartbeat_url, heartbeat_url_at, heartbeat_proxy as proxy,
      heartbeat_proxy_password as proxy_password, heartbeat_proxy_password_at as proxy_password_at
    from organization`;
  if (!row) throw new Error('the Organization is missing: the ensure steps have not run');
  return row;
}

function viewOf(row: OrganizationRow): OrganizationView {
  const { id, version, settings, proxy } = row;
  const isUrlSet = row.heartbeat_url !== null;
  const heartbeat = {
    ...{ isUrlSet, urlAt: row.heartbeat_url_at, proxy },
    proxyPasswordAt: row.proxy_password_at,
  };
  return { id, version, settings, heartbeat };
}

async function update(
  change: SealingChange,
  input: OrganizationInput,
  isCurrent: (version: number) => boolean,
): Promise<OrganizationUpdate> {
  const { tx, appendAudit, author, sealer } = change;
  await tx`select 1 from organization for no key update`;
  const row = await readRow(tx);
  const current = viewOf(row);
  if (!isCurrent(current.version)) return { outcome: 'stale' };
  const errors = organizationErrors(input, current);
  if (errors.length > 0) return { outcome: 'invalid', errors };

  const settings = changedSettings(input, current.settings);
  const proxy = changedProxy(input.outgoing_heartbeat.proxy, row.proxy);
  const url = urlChange(input.outgoing_heartbeat.url);
  const isUrlChanged = url.kind === 'set' || (url.kind === 'clear' && row.heartbeat_url !== null);
  const diff = [
    ...auditDiff(
      { ...current.settings, outgoing_heartbeat: { proxy: row.proxy } },
      { ...settings, outgoing_heartbeat: { proxy: proxy.fields } },
    ),
    ...(isUrlChanged ? [{ pointer: '/outgoing_heartbeat/url', secret_changed: true } as const] : []),
    ...(changesPassword(proxy.password, row)
      ? [{ pointer: '/outgoing_heartbeat/proxy/password', secret_changed: true } as const]
      : []),
  ];
  if (diff.length === 0) return { outcome: 'unchanged', organization: current };

  const place = { field: 'organization.heartbeat_proxy_password', owner: row.id, at: author.at } as const;
  const { proxy_password, proxy_password_at } = row;
  const stored = { proxy_password, proxy_password_at };
  const passwordColumns = changedPassword(sealer, place, proxy.password, stored);
  const saved: OrganizationRow = {
    ...row,
    ...passwordColumns,
    ...urlColumns(change, url, row),
    version: row.version + 1,
    settings,
    proxy: proxy.fields,
  };
  await write(tx, saved);
  if (isUrlChanged)
    await tx`update outgoing_heartbeat set claimed_at = null, at = null, ok = null, error = null`;
  const isUrgencyEdited = settings.critical_is_urgent !== current.settings.critical_is_urgent;
  if (isUrgencyEdited) await rerenderEverywhere(tx, author.at);
  if (isUrgencyEdited && settings.critical_is_urgent) await tellRoutes(tx, author.at);
  const entry = { action: 'organization.updated', resourceId: row.id, resourceName: settings.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'saved', organization: viewOf(saved), isUrlChanged, isUrgencyEdited };
}

function urlColumns(
  { sealer, author }: SealingChange,
  change: PasswordChange,
  { id, heartbeat_url, heartbeat_url_at }: OrganizationRow,
): Pick<OrganizationRow, 'heartbeat_url' | 'heartbeat_url_at'> {
  if (change.kind === 'set') {
    const sealed = sealer.seal('organization.heartbeat_url', id, change.password);
    return { heartbeat_url: sealed, heartbeat_url_at: author.at };
  }
  if (change.kind === 'keep' || heartbeat_url === null) return { heartbeat_url, heartbeat_url_at };
  return { heartbeat_url: null, heartbeat_url_at: author.at };
}

async function write(tx: Transaction, row: OrganizationRow): Promise<void> {
  await tx`
    update organization set
      version = ${row.version},
      settings = ${JSON.stringify(row.settings)}::text::jsonb,
      heartbeat_url = ${row.heartbeat_url},
      heartbeat_url_at = ${row.heartbeat_url_at},
      heartbeat_proxy = ${JSON.stringify(row.proxy)}::text::jsonb,
      heartbeat_proxy_password = ${row.proxy_password},
      heartbeat_proxy_password_at = ${row.proxy_password_at}`;
}

/** A Storm of theirs may hold Alert Groups that are Urgent from now on; Routes without one do nothing. */
async function tellRoutes(tx: Transaction, at: Micros): Promise<void> {
  const routes = await tx<{ id: PublicId }[]>`select id from routes where deleted_at is null order by id`;
  const message = { type: 'urgency_edited' } as const;
  await enqueueInbox(
    tx,
    routes.map(({ id }) => ({ to: routeAddress(id), message })),
    at,
  );
}

/** Of an Alert that fired in several Alert Groups, the value where it was seen last. */
async function severityValues(sql: Sql, since: Micros, limit: number): Promise<readonly SeverityCount[]> {
  return sql<SeverityCount[]>`
    with label as (select settings->>'severity_label' as name from organization),
    latest as (
      select distinct on (integration_id, fingerprint) labels->>(select name from label) as value
      from group_alerts
      where last_seen_at >= ${since}
      order by integration_id, fingerprint, last_seen_at desc
    )
    select value, count(*)::int as count
    from latest
    where value <> ''
    group by value
    order by count(*) desc, value collate "C"
    limit ${limit}`;
}

/** @throws when the ensure steps never ran on this database */
export async function readOrganization(sql: Sql | Transaction): Promise<OrganizationRecord> {
  const [row] = await sql<OrganizationRecord[]>`select id, version, settings from organization`;
  if (!row) throw new Error('the Organization is missing: the ensure steps have not run');
  return row;
}

/** The Organization's outbound address policy (outbound-http §2). */
export interface VersionedPolicy {
  readonly version: number;
  readonly policy: OutboundPolicy;
}

export type PolicyUpdate =
  | { readonly outcome: 'saved' | 'unchanged'; readonly stored: VersionedPolicy }
  | { readonly outcome: 'stale' };

export interface OutboundPolicyStore {
  read(): Promise<VersionedPolicy>;
  /** `policy` holds normalised entries. */
  update(
    policy: OutboundPolicy,
    isCurrent: (version: number) => boolean,
    author: Authorship,
  ): Promise<PolicyUpdate>;
}

export function createOutboundPolicyStore(sql: Sql, appendAudit: AppendAudit): OutboundPolicyStore {
  return {
    read: () => readOutboundPolicy(sql),
    update: (policy, isCurrent, author) =>
      inTransaction(sql, async (tx) => {
        await tx`select 1 from organization_outbound_policy for update`;
        const stored = await readOutboundPolicy(tx);
        if (!isCurrent(stored.version)) return { outcome: 'stale' };
        const diff = auditDiff(stored.policy, policy);
        if (diff.length === 0) return { outcome: 'unchanged', stored };
        await tx`
          update organization_outbound_policy set
            version = version + 1,
            policy = ${policy.policy},
            allowed = ${JSON.stringify(policy.allowed)}::text::jsonb,
            denied = ${JSON.stringify(policy.denied)}::text::jsonb`;
        await savedEverywhere(tx, author.at);
        const entry = { action: 'outbound_policy.updated', resourceId: null, resourceName: null, diff };
        await appendAudit(tx, auditEntry(author, entry));
        return { outcome: 'saved', stored: { version: stored.version + 1, policy } };
      }),
  };
}

export async function readOutboundPolicy(sql: Sql | Transaction): Promise<VersionedPolicy> {
  const [row] = await sql<(OutboundPolicy & { version: number })[]>`
    select version, policy, allowed, denied from organization_outbound_policy`;
  if (!row) throw new Error('the outbound policy has no row: the schema is incomplete');
  const { version, policy, allowed, denied } = row;
  return { version, policy: { policy, allowed, denied } };
}
