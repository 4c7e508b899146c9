/** The form of a Connection to a bridge and what is sent. */
import type { Connection, ConnectionCheckInput, ConnectionInput, EventMode } from '../../api/connections.ts';
import { fromProxyDraft, NO_PROXY, type ProxyDraft, toProxyDraft } from '../../forms/proxy-draft.ts';

export interface ConnectionDraft {
  name: string;
  baseUrl: string;
  /** Empty: what is stored stays. */
  token: string;
  mode: EventMode;
  /** Empty: what is stored stays. */
  pushSecret: string;
  limit: number;
  perSeconds: number;
  proxy: ProxyDraft;
}

const PUSH_SECRET_BYTES = 32;

export function newDraft(): ConnectionDraft {
  return {
    ...{ name: '', baseUrl: '', token: '', mode: 'poll', pushSecret: '', limit: 5, perSeconds: 1 },
    proxy: { ...NO_PROXY },
  };
}

export function toDraft(connection: Connection): ConnectionDraft {
  const { name, base_url: baseUrl, event_mode: mode, limiter } = connection;
  return {
    ...{ name, baseUrl, mode, token: '', pushSecret: '' },
    limit: limiter.limit,
    perSeconds: limiter.per_seconds,
    proxy: toProxyDraft(connection.proxy),
  };
}

export function fromDraft(draft: ConnectionDraft): ConnectionInput {
  const { name, baseUrl, token, mode, pushSecret, limit, perSeconds, proxy } = draft;
  return {
    ...{ type: 'bridge', name, base_url: baseUrl, event_mode: mode },
    limiter: { limit, per_seconds: perSeconds },
    proxy: fromProxyDraft(proxy),
    ...(token === '' ? {} : { bot_token: token }),
    ...(pushSecret === '' ? {} : { push_secret: pushSecret }),
  };
}

const HIDDEN = '••••••••';

/** The same for comparing and showing: whether a secret was typed, never which. */
export function withoutSecrets(input: ConnectionInput): ConnectionInput {
  const { bot_token: token, push_secret: secret, proxy } = input;
  return {
    ...input,
    proxy: { ...proxy, ...(proxy.password === undefined ? {} : { password: HIDDEN }) },
    ...(token === undefined ? {} : { bot_token: HIDDEN }),
    ...(secret === undefined ? {} : { push_secret: HIDDEN }),
  };
}

/** @param id of the saved Connection: its token is used where address and proxy are the saved ones */
export function checkOf(draft: ConnectionDraft, id: string | null): ConnectionCheckInput {
  const { base_url = '', bot_token, proxy } = fromDraft(draft);
  return {
    ...{ type: 'bridge', base_url, proxy },
    ...(bot_token === undefined ? {} : { bot_token }),
    ...(id === null ? {} : { connection_id: id }),
  };
}

/** `whsec_` and the base64 of 32 random bytes. */
export function newPushSecret(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string {
  const bytes = random(new Uint8Array(PUSH_SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
