/** What the identity provider of the tests keeps: in memory, and its own. */
import type { Adapter, AdapterPayload } from 'oidc-provider';

export interface ProviderStore {
  /** For the provider, by kind of what is kept. */
  adapter(kind: string): Adapter;
  /** Codes that were given have expired when they are used. */
  expireCodes(): void;
  /** Nothing that was given is known any more. */
  forgetEverything(): void;
}

const PAST_SECONDS = 60;

export function createProviderStore(): ProviderStore {
  const kept = new Map<string, AdapterPayload>();
  let isCodeExpired = false;

  const adapter = (kind: string): Adapter => {
    const keyOf = (id: string) => `${kind} ${id}`;
    const by = (field: 'uid' | 'userCode', value: string) =>
      [...kept].find(([key, payload]) => key.startsWith(`${kind} `) && payload[field] === value)?.[1];
    return {
      upsert: async (id, payload) => void kept.set(keyOf(id), payload),
      async find(id) {
        const payload = kept.get(keyOf(id));
        if (!payload || kind !== 'AuthorizationCode' || !isCodeExpired) return payload;
        return { ...payload, exp: Math.floor(Date.now() / 1_000) - PAST_SECONDS };
      },
      findByUid: async (uid) => by('uid', uid),
      findByUserCode: async (userCode) => by('userCode', userCode),
      async consume(id) {
        const payload = kept.get(keyOf(id));
        if (payload) kept.set(keyOf(id), { ...payload, consumed: Math.floor(Date.now() / 1_000) });
      },
      destroy: async (id) => void kept.delete(keyOf(id)),
      async revokeByGrantId(grantId) {
        for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
      },
    };
  };

  return {
    adapter,
    expireCodes() {
      isCodeExpired = true;
    },
    forgetEverything: () => kept.clear(),
  };
}
