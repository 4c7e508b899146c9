/**
 * A real identity provider (oidc-provider) on a free port of 127.0.0.1. Whoever is at the door is signed in and agrees to
 * everything without being asked; what a test makes the provider say wrongly is written over its real answers.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration, type JWK } from 'oidc-provider';
import { createProviderStore, type ProviderStore } from './identity-provider-store.ts';

export interface Visitor {
  readonly sub: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** How they proved who they are. */
  readonly amr?: readonly string[];
}

export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who signs in next; also what is said of them from now on. */
  visitor: Visitor;
  /** Whether refresh tokens are given. */
  offline: boolean;
  /** Whether it knows its people; otherwise nobody is vouched for. */
  isKnown: boolean;
  /** Written over what the discovery document says. */
  discovery: Readonly<Record<string, unknown>>;
  /** Every request of the paths that begin like this is answered 503. */
  broken: readonly string[];
  /** Paths that were asked for, in order. */
  readonly requests: readonly string[];
  /** Codes that were given have expired when they are used. */
  expireCodes(): void;
  /** Nothing that was given is known any more. */
  forgetEverything(): void;
  stop(): Promise<void>;
}

const KEY: JWK = {
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  ...{ kid: 'of-the-test', use: 'sig', alg: 'RS256' },
};

/** @param redirectUri the one that is registered */
export async function startIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const requests: string[] = [];
  const store = createProviderStore();
  const self: IdentityProvider = {
    issuer: `http://127.0.0.1:${port}`,
    clientId: 'tocsin',
    clientSecret: randomBytes(24).toString('base64url'),
    visitor: { sub: 'nobody', claims: {} },
    offline: true,
    isKnown: true,
    discovery: {},
    broken: [],
    requests,
    expireCodes: store.expireCodes,
    forgetEverything: store.forgetEverything,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
  const provider = new Provider(self.issuer, configurationOf(self, store, redirectUri));
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const path = new URL(request.url ?? '/', self.issuer).pathname;
    requests.push(path);
    void answerOf(self, provider, answer, path, request, response);
  });
  return self;
}

function configurationOf(self: IdentityProvider, store: ProviderStore, redirectUri: string): Configuration {
  return {
    adapter: store.adapter,
    jwks: { keys: [KEY] },
    clients: [
      {
        client_id: self.clientId,
        client_secret: self.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    findAccount: (_ctx, sub) =>
      self.isKnown ? { accountId: sub, claims: () => ({ ...self.visitor.claims, sub }) } : undefined,
    claims: {
      openid: ['sub', 'groups', 'amr', 'acr'],
      profile: ['name', 'preferred_username'],
      email: ['email'],
    },
    // What the token answer says of groups is what Keycloak, Okta and Entra ID say: the ID token has them.
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, interaction) => `/door/${interaction.uid}` },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    ttl: {
      AuthorizationCode: 60,
      AccessToken: 600,
      IdToken: 600,
      RefreshToken: 86_400,
      Grant: 86_400,
      Interaction: 600,
      Session: 600,
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
  };
}

async function answerOf(
  self: IdentityProvider,
  provider: Provider,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (self.broken.some((start) => path.startsWith(start))) {
    response.writeHead(503).end('away');
    return;
  }
  if (path.startsWith('/door/')) return letIn(self, provider, request, response);
  if (path === DISCOVERY && !request.headers['x-as-it-is']) return discovery(self, response);
  // The standard grants offline access to those only who are asked; this one asks whenever it gives.
  if (path === '/auth' && self.offline) request.url = `${request.url}&prompt=consent`;
  answer(request, response);
}

const DISCOVERY = '/.well-known/openid-configuration';

async function discovery(
  { issuer, discovery: changes }: IdentityProvider,
  response: ServerResponse,
): Promise<void> {
  const real = await fetch(issuer + DISCOVERY, { headers: { 'x-as-it-is': '1' } });
  const document = { ...((await real.json()) as object), ...changes };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
}

async function letIn(
  { visitor }: IdentityProvider,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  const merging = { mergeWithLastSubmission: true };
  if (prompt.name === 'login') {
    const login = {
      accountId: visitor.sub,
      remember: false,
      ...(visitor.amr ? { amr: [...visitor.amr] } : {}),
    };
    return provider.interactionFinished(request, response, { login }, merging);
  }
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant =
    known ??
    new provider.Grant({ accountId: session?.accountId ?? visitor.sub, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  return provider.interactionFinished(
    request,
    response,
    { consent: { grantId: await grant.save() } },
    merging,
  );
}
