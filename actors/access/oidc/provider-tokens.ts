/** What the provider signs, and the keys by which that is checked (access §6.2). */
import * as oauth from 'oauth4webapi';
import type { ProviderAccess } from './provider-fetch.ts';
import type { ProviderMemory } from './provider-memory.ts';
import { jsonOf, type Talk, Unusable } from './provider-talk.ts';

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
