/** Single sign-on: the way to the identity provider, what comes back, and whom it is asked about meanwhile. */
import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { OidcSettingsStore } from '../../actors/access/oidc/ports.ts';
import { type CheckDeps, createProvider } from '../../actors/access/oidc/provider.ts';
import { createOidcMetrics, createRechecks, type Rechecks } from '../../actors/access/oidc/rechecks.ts';
import { isSecretExpiring } from '../../actors/access/oidc/settings.ts';
import { createSingleSignOn, type SingleSignOn } from '../../actors/access/oidc/sign-in.ts';
import type { AccessStore } from '../../actors/access/ports.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import { createOfflineChecks } from '../../storage/access/oidc-checks.ts';
import { checkSecretExpiry, createOidcSettingsStore } from '../../storage/access/oidc-settings.ts';
import { createIdentities, createOidcRequests } from '../../storage/access/oidc-sign-ins.ts';
import type { InternalAlerts } from '../../storage/integrations/internal-alerts.ts';
import { type Clock, MINUTE } from '../clock.ts';
import type { LeaderTask } from '../leader-tasks.ts';
import type { Log } from '../log.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import type { Database } from './database.ts';

const LOOK_AT_SECRET_EVERY = 5 * MINUTE;

export interface OidcDeps {
  readonly publicUrl: string;
  readonly database: Pick<Database, 'main' | 'keyring'>;
  readonly access: Pick<AccessStore, 'sessions' | 'organization'>;
  readonly internalAlerts: InternalAlerts;
  readonly caller: OutboundCaller;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Oidc {
  readonly singleSignOn: SingleSignOn;
  /** What the operations on the settings need. */
  readonly forSettings: Omit<CheckDeps, 'settings'> & { readonly settings: OidcSettingsStore };
  readonly rechecks: Rechecks;
  readonly secretExpiry: LeaderTask;
}

export function createOidc(deps: OidcDeps): Oidc {
  const { access, internalAlerts, clock, log } = deps;
  const { main: sql, keyring } = deps.database;
  const opener = { keyring, log };
  const provider = createProvider(deps);
  const stores = {
    settings: createOidcSettingsStore({ sql, appendAudit, keyring, internalAlerts }),
    requests: createOidcRequests(sql, keyring),
    identities: createIdentities({ sql, appendAudit, keyring }),
    checks: createOfflineChecks({ sql, appendAudit, keyring }),
  };
  const shared = { stores, provider, opener, clock, log };
  return {
    singleSignOn: createSingleSignOn({
      ...shared,
      ...access,
      random: (size) => randomBytes(size),
      redirectUri: `${deps.publicUrl}/api/v1/sessions/oidc/callback`,
    }),
    forSettings: { settings: stores.settings, provider, opener, clock },
    rechecks: createRechecks({ ...shared, counted: createOidcMetrics(deps.registry).checked }),
    secretExpiry: secretExpiry(deps),
  };
}

/** The date passes by itself; a save is looked at when it is made. */
function secretExpiry({ database, internalAlerts, clock, log }: OidcDeps): LeaderTask {
  let told: string | null = null;
  return {
    name: 'oidc_secret_expiry',
    every: LOOK_AT_SECRET_EVERY,
    async run() {
      const now = clock.now();
      const { fields } = await checkSecretExpiry(database.main, internalAlerts, now);
      const { client_secret_expires_on: expiresOn } = fields;
      const isExpiring = fields.enabled && isSecretExpiring(fields, now);
      if (isExpiring && expiresOn !== told) log('oidc_secret_expiring', { expires_on: expiresOn });
      told = isExpiring ? expiresOn : null;
    },
  };
}
