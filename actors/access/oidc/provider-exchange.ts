/** One exchange with the provider, and the keys by which its signatures are checked (access §6.2). */
import * as oauth from 'oauth4webapi';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import {
  isInClear,
  type Metadata,
  type ProviderAccess,
  type ProviderMemory,
  providerFetch,
  type Trip,
} from './provider-access.ts';

/** Claims of the ID token, its signature checked; null without one. */
export async function verifiedClaims(
  memory: ProviderMemory,
  access: ProviderAccess,
  talk: Talk,
  response: Response,
  tokens: oauth.TokenEndpointResponse,
): Promise<oauth.IDToken | null> {
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  if (claims === undefined) return null;
  if (claims.azp !== undefined && claims.azp !== access.clientId) {
    throw new Unusable('the ID token was made for another client');
  }
  if (claims.sub.includes('\0')) throw new Unusable('the subject of the ID token cannot be stored');
  const verify = async (keys: string) => {
    const answer = async () => new Response(keys, { headers: { 'content-type': 'application/json' } });
    // A server object of its own: the library keeps keys by it, and these are kept here.
    await oauth.validateApplicationLevelSignature({ ...talk.server }, response, {
      ...talk.options,
      [oauth.customFetch]: answer,
    });
  };
  try {
    await verify(await knownKeys(memory, access, talk));
  } catch (error) {
    if (!isUnknownKey(error) || !memory.mayAskForKeys(access)) throw error;
    await verify(await freshKeys(memory, access, talk));
  }
  return claims;
}

function isUnknownKey(error: unknown): boolean {
  return error instanceof oauth.OperationProcessingError && error.code === oauth.KEY_SELECTION;
}

/** The remembered keys; an old set is asked for again, and stays when that fails. */
async function knownKeys(memory: ProviderMemory, access: ProviderAccess, talk: Talk): Promise<string> {
  const known = memory.keys(access);
  if (known?.isFresh) return known.document;
  try {
    return await freshKeys(memory, access, talk);
  } catch (error) {
    if (known) return known.document;
    throw error;
  }
}

export async function freshKeys(memory: ProviderMemory, access: ProviderAccess, talk: Talk): Promise<string> {
  memory.askingForKeys(access);
  const response = await talk.fetchKeys();
  if (response.status !== 200) throw new Unusable(`the keys answered ${response.status}`);
  const document = JSON.stringify(await jsonOf(response));
  memory.rememberKeys(access, document);
  return document;
}

/** Signatures that are accepted: asymmetric ones that every provider can make. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];
const LEEWAY_SECONDS = 60;

export interface Talk {
  readonly metadata: Metadata;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly options: {
    readonly [oauth.customFetch]: ReturnType<typeof providerFetch>;
    readonly [oauth.allowInsecureRequests]: boolean;
  };
  readonly fetchKeys: () => Promise<Response>;
}

const ACCEPT_JSON = { accept: 'application/json' };

/** It answered, and the answer is of no use. */
export class Unusable extends Error {}

export function talkOf(caller: OutboundCaller, access: ProviderAccess, trip: Trip, metadata: Metadata): Talk {
  const send = providerFetch(caller, access, trip);
  return {
    metadata,
    server: serverOf(metadata),
    client: { client_id: access.clientId, [oauth.clockTolerance]: LEEWAY_SECONDS },
    auth: clientAuth(access, metadata),
    options: { [oauth.customFetch]: send, [oauth.allowInsecureRequests]: isInsecure(access) },
    fetchKeys: async () => send(metadata.jwks_uri, { method: 'GET', headers: ACCEPT_JSON, body: undefined }),
  };
}

export function isInsecure({ issuerUrl }: ProviderAccess): boolean {
  return isInClear(issuerUrl);
}

function serverOf(metadata: Metadata): oauth.AuthorizationServer {
  const { userinfo_endpoint, authorization_response_iss_parameter_supported } = metadata;
  return {
    issuer: metadata.issuer,
    token_endpoint: metadata.token_endpoint,
    jwks_uri: metadata.jwks_uri,
    id_token_signing_alg_values_supported: ALGORITHMS,
    ...(userinfo_endpoint === undefined ? {} : { userinfo_endpoint }),
    ...(authorization_response_iss_parameter_supported === undefined
      ? {}
      : { authorization_response_iss_parameter_supported }),
  };
}

function clientAuth({ clientSecret }: ProviderAccess, metadata: Metadata): oauth.ClientAuth {
  if (clientSecret === null) return oauth.None();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const takesPostOnly = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return takesPostOnly ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
}

export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new Unusable('the answer is not JSON');
  }
}
