/** Tokens of an Integration: list, create, revoke (ingestion §2.2 to §2.4, api §10). */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import {
  alertmanagerSnippet,
  heartbeatSnippet,
  newIntegrationToken,
  tokenHash,
} from '../../../actors/integration/snippets.ts';
import { codePoints } from '../../../actors/text.ts';
import { webAddress } from '../../../runtime/config-values.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { authorOf, type Operation, operation } from '../../operation.ts';
import { invalid, notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { NAME_LIMIT } from '../../schema/fields.ts';
import { itemsOf } from '../../schema/shapes.ts';
import { senderFiles } from './sender-files.ts';
import {
  BUILTIN,
  BUILTIN_REFUSAL,
  INTEGRATION_ID,
  type IntegrationOperationsDeps,
  IntegrationTokenShape,
  integrationId,
  tokenBody,
} from './shapes.ts';

const TokenInput = d.named(
  'IntegrationTokenInput',
  v.object({
    name: d.optionalTextOrNull('Name, up to 200 characters; null or left out for none.'),
    ingest_url: v.optional(
      v.nullable(
        d.url('Where senders reach the ingest listener, without a login; null or left out: SVC_INGEST_URL.'),
      ),
    ),
  }),
  'A new token of an Integration.',
);

const CreatedToken = d.named(
  'CreatedIntegrationToken',
  v.object({
    token: IntegrationTokenShape,
    value: d.text('The token itself, `svc_int_…`. In this answer only.'),
    alertmanager_snippet: d.text('A receiver for `alertmanager.yml`, with the token.'),
    heartbeat_snippet: d.textOrNull(
      'A rule and a receiver for Heartbeats, with the token; null while they are off.',
    ),
    files: d.described(
      v.array(
        v.object({
          name: d.text('`alertmanager.yml`, `tocsin-rules.yml` or `tocsin-heartbeat-rule.yml`.'),
          content: d.text('The whole file. That of Alertmanager holds the token.'),
        }),
      ),
      'For an Alertmanager and a Prometheus that have no configuration yet.',
    ),
  }),
  'A new token and what to paste at the sender.',
);

export function integrationTokenOperations(deps: IntegrationOperationsDeps): readonly Operation[] {
  const { store, hints } = deps;
  return [
    operation({
      id: 'listIntegrationTokens',
      method: 'GET',
      path: '/integrations/{integration_id}/tokens',
      tag: 'Integrations',
      summary: 'List the tokens of an Integration, oldest first',
      description: 'Several may be in use, so that a sender can change to the next.',
      needs: 'integrations:read',
      ids: INTEGRATION_ID,
      answers: {
        200: { description: 'Tokens without their values', schema: itemsOf(IntegrationTokenShape) },
      },
      async handle(call) {
        const tokens = await store.tokens(integrationId(call));
        return tokens ? { status: 200, body: { items: tokens.map(tokenBody) } } : notFound();
      },
    }),

    operation({
      id: 'createIntegrationToken',
      method: 'POST',
      path: '/integrations/{integration_id}/tokens',
      tag: 'Integrations',
      summary: 'Create a token; its value is in this answer only',
      description: 'The answer has snippets and whole files with the token for the sender.',
      needs: 'integrations:write',
      ids: INTEGRATION_ID,
      body: TokenInput,
      bodyOptional: true,
      answers: { 201: { description: 'The token, its value and what to paste', schema: CreatedToken } },
      refusals: [BUILTIN_REFUSAL],
      async handle(call) {
        const id = integrationId(call);
        const name = call.body.name?.trim() || null;
        if (name !== null && codePoints(name) > NAME_LIMIT) {
          // Existence is judged before meaning (api §1.3).
          return (await store.read(id)) ? NAME_TOO_LONG : notFound();
        }
        const ingestUrl = addressOf(call.body.ingest_url ?? deps.ingestUrl);
        if (ingestUrl === null) return (await store.read(id)) ? NO_ADDRESS : notFound();
        const value = newIntegrationToken(randomBytes);
        const added = await store.addToken(id, { name, hash: tokenHash(value) }, authorOf(call));
        if (added.outcome === 'unknown') return notFound();
        if (added.outcome === 'builtin') return BUILTIN;
        hints.send({ type: 'integration', id });
        const { fields } = added.integration;
        const snippet = { name: fields.name, ingestUrl, token: value };
        const body = {
          token: tokenBody(added.token),
          value,
          alertmanager_snippet: alertmanagerSnippet(snippet),
          heartbeat_snippet: fields.heartbeat.enabled ? heartbeatSnippet(snippet) : null,
          files: Object.entries(senderFiles(snippet, deps.publicUrl)).map(([name, content]) => ({
            ...{ name, content },
          })),
        };
        return { status: 201, body };
      },
    }),

    operation({
      id: 'revokeIntegrationToken',
      method: 'DELETE',
      path: '/integrations/{integration_id}/tokens/{integration_token_id}',
      tag: 'Integrations',
      summary: 'Revoke a token at once',
      description: 'Senders that use it get 401 from then on.',
      needs: 'integrations:write',
      ids: { ...INTEGRATION_ID, integration_token_id: 'NK' },
      answers: { 204: { description: 'Revoked' } },
      async handle(call) {
        const id = integrationId(call);
        const tokenId = call.params.integration_token_id as PublicId;
        if (!(await store.revokeToken(id, tokenId, authorOf(call)))) return notFound();
        await deps.tokens.invalidate();
        hints.send({ type: 'integration', id });
        return { status: 204 };
      },
    }),
  ];
}

/** What is longer is no address that anybody uses. */
const ADDRESS_LIMIT = 2_000;

function addressOf(text: string): string | null {
  const read = v.safeParse(webAddress, text.trim());
  return read.success && text.length <= ADDRESS_LIMIT ? read.output : null;
}

const NO_ADDRESS = invalid([
  {
    ...{ pointer: '/ingest_url', code: 'invalid_format' },
    detail: 'Senders reach Tocsin at an http or https address without a login, query and fragment.',
  },
]);
const NAME_TOO_LONG = invalid([
  { pointer: '/name', code: 'too_long', detail: `A name has at most ${NAME_LIMIT} characters.` },
]);
