/** One exchange with the provider, as oauth4webapi wants it (access §6.2). */
import * as oauth from 'oauth4webapi';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import { type ProviderAccess, providerFetch, type Trip } from './provider-fetch.ts';
import { isInClear, type Metadata } from './provider-memory.ts';

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
