/** The settings of single sign-on: read, change, check (api §6, access §6.1). */
import * as v from 'valibot';
import { type CheckDeps, checkProvider, type OidcCheck } from '../../actors/access/oidc/check.ts';
import type { OidcSettingsStore } from '../../actors/access/oidc/ports.ts';
import { OIDC_OWNER, type StoredOidcSettings } from '../../actors/access/oidc/settings.ts';
import { type OidcWarning, oidcWarnings } from '../../actors/access/oidc/warnings.ts';
import type { Micros } from '../../runtime/clock.ts';
import { authorOf } from '../author.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { invalid, preconditionFailed } from '../problem.ts';
import {
  OidcSettingsInput,
  OidcSettingsShape,
  OidcWarningShape,
  oidcSave,
  oidcSettingsBody,
  oidcSettingsErrors,
  warningBody,
} from './oidc-settings-shapes.ts';

export interface OidcSettingsDeps extends Omit<CheckDeps, 'settings'> {
  readonly settings: OidcSettingsStore;
  /** Closes connections that were opened with the settings before. */
  readonly client: { release(owner: string): void };
}

const OF_SETTINGS = { description: 'The settings', schema: OidcSettingsShape, etag: true } as const;

const CheckShape = v.object({
  ok: v.boolean(),
  via: v.picklist(['direct', 'proxy']),
  latency_ms: v.nullable(v.number()),
  issuer: v.nullable(v.string()),
  authorization_endpoint: v.nullable(v.string()),
  token_endpoint: v.nullable(v.string()),
  jwks_uri: v.nullable(v.string()),
  error: v.nullable(v.string()),
  warnings: v.array(OidcWarningShape),
});

export function oidcSettingsOperations(deps: OidcSettingsDeps): readonly Operation[] {
  const { settings, client } = deps;
  return [
    operation({
      id: 'getOidcSettings',
      method: 'GET',
      path: '/oidc-settings',
      tag: 'OIDC',
      summary: 'Read how people sign in through an identity provider',
      needs: 'oidc:read',
      answers: { 200: OF_SETTINGS },
      handle: async ({ now }) => settingsAnswer(settings, await settings.read(), now),
    }),

    operation({
      id: 'updateOidcSettings',
      method: 'PUT',
      path: '/oidc-settings',
      tag: 'OIDC',
      summary: 'Change it; the next sign-in goes by it, and the provider is not called',
      needs: 'oidc:write',
      ifMatch: 'required',
      body: OidcSettingsInput,
      answers: { 200: OF_SETTINGS },
      async handle(call) {
        const update = await settings.update((current) => decide(call, current), authorOf(call));
        if (update.outcome === 'refused') return update.refusal;
        if (update.outcome === 'saved') client.release(OIDC_OWNER);
        return settingsAnswer(settings, update.settings, call.now);
      },
    }),

    operation({
      id: 'checkOidcSettings',
      method: 'POST',
      path: '/oidc-settings/checks',
      tag: 'OIDC',
      summary: 'Ask the saved provider what it says of itself, and for its keys',
      needs: 'oidc:write',
      answers: { 200: { description: 'How it went', schema: CheckShape } },
      async handle({ now }) {
        const check = await checkProvider(deps, await settings.read());
        const warnings = await warningsOf(settings, await settings.read(), now);
        return { status: 200, body: checkBody(check, warnings) };
      },
    }),
  ];
}

function decide(call: Call<unknown, OidcSettingsInput>, current: StoredOidcSettings) {
  // Stale before meaning (api §1.3).
  if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
  const errors = oidcSettingsErrors(call.body, current.fields);
  return errors.length > 0 ? { refuse: invalid(errors) } : oidcSave(call.body, current);
}

async function settingsAnswer(
  store: OidcSettingsStore,
  stored: StoredOidcSettings,
  now: Micros,
): Promise<Answer> {
  const warnings = await warningsOf(store, stored, now);
  return { status: 200, body: oidcSettingsBody(stored, warnings), etag: stored.version };
}

async function warningsOf(
  store: OidcSettingsStore,
  stored: StoredOidcSettings,
  now: Micros,
): Promise<readonly OidcWarning[]> {
  return oidcWarnings(stored, await store.withheldRoles(), now);
}

function checkBody({ via, latencyMs, found, error }: OidcCheck, warnings: readonly OidcWarning[]) {
  return {
    ok: found !== null,
    via,
    latency_ms: latencyMs,
    issuer: found?.issuer ?? null,
    authorization_endpoint: found?.authorization_endpoint ?? null,
    token_endpoint: found?.token_endpoint ?? null,
    jwks_uri: found?.jwks_uri ?? null,
    error,
    warnings: warnings.map(warningBody),
  };
}
