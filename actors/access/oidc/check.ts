/** Whether the provider of the settings can be reached and says what is needed (access §6.1). */
import type { Clock } from '../../../runtime/clock.ts';
import type { Opener } from '../../../runtime/secrets/open-secret.ts';
import { openProvider } from './open.ts';
import type { OidcSettingsStore } from './ports.ts';
import type { Provider } from './provider.ts';
import type { Metadata } from './provider-memory.ts';
import type { StoredOidcSettings } from './settings.ts';

const MICROS_PER_MILLISECOND = 1_000;

export interface CheckDeps {
  readonly settings: Pick<OidcSettingsStore, 'sawGroups'>;
  readonly provider: Pick<Provider, 'check'>;
  readonly opener: Opener;
  readonly clock: Pick<Clock, 'now'>;
}

export interface OidcCheck {
  readonly via: 'direct' | 'proxy';
  /** Null when nothing was sent. */
  readonly latencyMs: number | null;
  /** What the provider says of itself, its keys read, too; null when something of that failed. */
  readonly found: Metadata | null;
  /** For people; masked. */
  readonly error: string | null;
}

export async function checkProvider(deps: CheckDeps, settings: StoredOidcSettings): Promise<OidcCheck> {
  const { fields, version } = settings;
  const via = fields.proxy.enabled ? 'proxy' : 'direct';
  const unsent = { via, latencyMs: null, found: null } as const;
  if (fields.issuer_url === '') return { ...unsent, error: 'no identity provider is configured' };
  const access = openProvider(deps.opener, settings);
  if (access === null) return { ...unsent, error: 'secret_unreadable' };
  const began = deps.clock.now();
  const checked = await deps.provider.check(access);
  const latencyMs = Math.round((deps.clock.now() - began) / MICROS_PER_MILLISECOND);
  if (!checked.ok) return { via, latencyMs, found: null, error: checked.error };
  const { claims_supported: claims } = checked.value;
  if (claims) await deps.settings.sawGroups(version, !claims.includes(fields.groups_claim));
  return { via, latencyMs, found: checked.value, error: null };
}
