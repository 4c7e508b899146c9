/** The proxy of an owner as a form edits it (outbound-http §3). */
import type { ProxyConfig, ProxyInput, ProxyType } from '../api/connections.ts';

export interface ProxyDraft {
  enabled: boolean;
  type: ProxyType;
  address: string;
  username: string;
  /** Empty: what is stored stays. */
  password: string;
}

export const NO_PROXY: ProxyDraft = { enabled: false, type: 'http', address: '', username: '', password: '' };

export function toProxyDraft({ enabled, type, address, username }: ProxyConfig): ProxyDraft {
  return { enabled, type: type ?? 'http', address: address ?? '', username: username ?? '', password: '' };
}

/** While it is off only that is said, and what is stored stays. */
export function fromProxyDraft({ enabled, type, address, username, password }: ProxyDraft): ProxyInput {
  if (!enabled) return { enabled };
  return { enabled, type, address, username: username || null, ...(password === '' ? {} : { password }) };
}
