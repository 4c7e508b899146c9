/** The settings of single sign-on: read, change, check (api §6, access §6.1). */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { OidcSettingsStore } from '../../../actors/access/oidc/ports.ts';
import { type CheckDeps, checkProvider, type OidcCheck } from '../../../actors/access/oidc/provider.ts';
import {
  OIDC_OWNER,
  type OidcWarning,
  oidcWarnings,
  type StoredOidcSettings,
} from '../../../actors/access/oidc/settings.ts';
import { changedProxy } from '../../../actors/proxy-config.ts';
import type { Micros } from '../../../runtime/clock.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { invalid, preconditionFailed } from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import * as d from '../../schema/described.ts';
import { Via } from '../../schema/words.ts';
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

const CheckShape = d.named(
  'OidcCheck',
  v.object({
    ok: d.flag('Whether everything needed was read.'),
    via: Via,
    latency_ms: d.described(v.nullable(v.number()), 'Milliseconds it took; null when nothing was asked.'),
    issuer: d.textOrNull('Issuer as the provider names itself; null when it did not answer.'),
    authorization_endpoint: d.textOrNull('Where people are sent to; null when it did not answer.'),
    token_endpoint: d.textOrNull('Where codes are exchanged; null when it did not answer.'),
    jwks_uri: d.textOrNull('Where its keys are; null when it did not answer.'),
    error: d.textOrNull('What went wrong, masked; null when `ok`.'),
    warnings: d.described(v.array(OidcWarningShape), 'What is not as it should be.'),
  }),
  'What the provider said.',
);

export function oidcSettingsOperations(deps: OidcSettingsDeps): readonly Operation[] {
  const { settings, client } = deps;
  return [
    operation({
      id: 'getOidcSettings',
      method: 'GET',
      path: '/oidc-settings',
      tag: 'OIDC',
      summary: 'Read how people sign in through an identity provider',
      description: 'The client secret is never answered.',
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
      description: 'Changes what the next sign-in does; `checkOidcSettings` asks the provider.',
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
      description: '200 whatever came of it; `ok` and `error` say what did.',
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
  const errors = [...oidcSettingsErrors(call.body, current.fields), ...unheld(call, current)];
  return errors.length > 0 ? { refuse: invalid(errors) } : oidcSave(call.body, current);
}

/**
 * What the settings would give, changed or not: with another issuer or claim an old mapping takes in other people. Whoever
 * puts a proxy in between may speak for the provider, to accounts of every Role.
 */
function unheld({ identity, body }: Call<unknown, OidcSettingsInput>, { fields }: StoredOidcSettings) {
  const { unmatched_role: unmatched } = body;
  const isProxyKept = isDeepStrictEqual(changedProxy(body.proxy, fields.proxy).fields, fields.proxy);
  return [
    ...body.group_mappings.flatMap(({ role }, index) =>
      unheldErrors(identity, `/group_mappings/${index}/role`, role),
    ),
    ...(unmatched === 'none' ? [] : unheldErrors(identity, '/unmatched_role', unmatched)),
    ...(isProxyKept ? [] : unheldErrors(identity, '/proxy', 'admin')),
  ];
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
