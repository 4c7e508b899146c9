/** The proxy of an owner as a form edits it (outbound-http §3). */
import type { ProxyConfig, ProxyInput, ProxyType } from '../api/shapes.ts';

export interface ProxyDraft {
  enabled: boolean;
  type: ProxyType;
  address: string;
  username: string;
  /** Empty: what is stored stays. */
  password: string;
  removesPassword: boolean;
}

export const NO_PROXY: ProxyDraft = {
  enabled: false,
  type: 'http',
  address: '',
  username: '',
  password: '',
  removesPassword: false,
};

export function toProxyDraft({ enabled, type, address, username }: ProxyConfig): ProxyDraft {
  return { ...NO_PROXY, enabled, type: type ?? 'http', address: address ?? '', username: username ?? '' };
}

/** While it is off only that is said, and what is stored stays. */
export function fromProxyDraft(draft: ProxyDraft): ProxyInput {
  const { enabled, type, address, username, password, removesPassword } = draft;
  if (!enabled) return { enabled };
  const change = removesPassword ? { password: null } : password === '' ? {} : { password };
  return { enabled, type, address, username: username || null, ...change };
}
