/** The way to the provider: what oauth4webapi fetches goes through the one outbound client (outbound-http §1). */
import type { CustomFetchOptions } from 'oauth4webapi';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { isModest } from '../../../runtime/outbound/answer-json.ts';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { OutboundAnswer } from '../../../runtime/outbound/client.ts';
import type { ProxyRoute } from '../../../runtime/outbound/proxy.ts';
import { DEFAULT_MAPPING, isRedirect } from '../../../runtime/outbound/verdict.ts';
import { OIDC_OWNER } from './settings.ts';

const TIMEOUT: Micros = 10 * SECOND;
const ANSWER_LIMIT = 8 * 1024 * 1024;
/** Of which the standard does not let a body be given. */
const WITHOUT_BODY = [204, 205, 304];
/** What the library looks at. */
const READ_HEADERS = ['content-type', 'www-authenticate'];

/** The settings with their secrets opened, for one operation. */
export interface ProviderAccess {
  /** Of the settings: what is remembered of a provider is remembered for one version. */
  readonly version: number;
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly scope: string;
  readonly proxy: ProxyRoute | null;
}

export interface Trip {
  readonly class: 'interactive' | 'background';
  /** Ends the requests that are under way. */
  readonly signal?: AbortSignal;
  /** Codes and tokens that travel, and are shown nowhere. */
  readonly secrets: readonly string[];
}

/** No answer that could be read; the message is for people, and masked. */
class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable';
}

type Fetch = (
  url: string,
  options: Pick<CustomFetchOptions<string, unknown>, 'method' | 'headers' | 'body'>,
) => Promise<Response>;

/** Answers of every status, redirects aside: nobody is followed. @throws {ProviderUnreachable} */
export function providerFetch(caller: OutboundCaller, access: ProviderAccess, trip: Trip): Fetch {
  return async (url, { method, headers, body }) => {
    const { result, verdict } = await caller.call({
      request: {
        owner: OIDC_OWNER,
        class: trip.class,
        proxy: access.proxy,
        credentials: String(access.version),
        method,
        url: new URL(url),
        headers: Object.entries(headers),
        body: body === undefined || body === null ? null : Buffer.from(String(body), 'utf8'),
        timeout: TIMEOUT,
        answerLimit: ANSWER_LIMIT,
        ...(trip.signal ? { signal: trip.signal } : {}),
      },
      secrets: knownSecrets(access, trip),
      mapping: DEFAULT_MAPPING,
      about: null,
    });
    if (result.kind !== 'answer' || result.tooLarge || isRedirect(result.status)) {
      throw new ProviderUnreachable(verdict.class === 'ok' ? 'no answer' : verdict.error);
    }
    if (!isModest(result.body)) throw new ProviderUnreachable('the answer has too many parts');
    return responseOf(result);
  };
}

/** Everything that must not show in what is told of a trip. */
export function knownSecrets(access: ProviderAccess, { secrets }: Trip): readonly string[] {
  const own = [access.clientSecret, access.proxy?.password].filter((secret) => typeof secret === 'string');
  return [...own, ...secrets];
}

function responseOf({ status, headers, body }: OutboundAnswer): Response {
  const read = READ_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  return new Response(WITHOUT_BODY.includes(status) ? null : new Uint8Array(body), { status, headers: read });
}
