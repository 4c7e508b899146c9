import { expect, test } from 'vitest';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createProvider } from './provider.ts';
import type { ProviderAccess } from './provider-access.ts';

const ISSUER = 'https://id.example.org';
const SECRET = 'cLient  sEcret';
const ACCESS: ProviderAccess = {
  ...{ version: 1, issuerUrl: ISSUER, clientId: 'tocsin', clientSecret: SECRET },
  ...{ scope: 'openid', proxy: null },
};

/** A provider that answers every exchange with 400 and this body. */
function answering(refusal: string) {
  const answers: Readonly<Record<string, readonly [number, string]>> = {
    '/.well-known/openid-configuration': [
      200,
      JSON.stringify({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        jwks_uri: `${ISSUER}/jwks`,
      }),
    ],
    '/token': [400, refusal],
  };
  const caller: OutboundCaller = {
    async call({ request }) {
      const [status, body] = answers[request.url.pathname] ?? [404, '{}'];
      const headers = { 'content-type': 'application/json' };
      const bytes = Buffer.from(body);
      return {
        result: { kind: 'answer', status, headers, body: bytes, tooLarge: false },
        verdict: { class: 'ok' },
      };
    },
  };
  return createProvider({ caller, clock: { now: () => 0 } });
}

test.each([
  ['as one line', 'not\n\tthis  one', 'answered 400: invalid_client: not this one'],
  [
    'without the client secret, which holds two blanks',
    `not ${SECRET}`,
    'answered 400: invalid_client: not [redacted]',
  ],
  [
    'in its first bytes',
    'x'.repeat(8_000_000),
    `answered 400: invalid_client: ${'x'.repeat(1_024 - 'answered 400: invalid_client: '.length)}`,
  ],
])('what a provider says about a refusal is told %s', async (_, said, told) => {
  const refusal = JSON.stringify({ error: 'invalid_client', error_description: said });
  expect(await exchanged(refusal)).toMatchObject({ ok: false, error: told });
});

test('an answer of too many parts is not read', async () => {
  const deep = `{"error":"invalid_client","more":${'['.repeat(100)}${']'.repeat(100)}}`;
  expect(await exchanged(deep)).toMatchObject({ ok: false, error: 'the answer has too many parts' });
});

function exchanged(refusal: string) {
  const returned = { code: 'code-of-a-person', iss: null };
  const request = { redirectUri: 'https://oncall.example.org/callback', verifier: 'v'.repeat(43) };
  return answering(refusal).exchange(ACCESS, returned, request);
}
