/** Proxies as they arrive and as they are answered (api §2: ProxyConfigInput, ProxyConfig). */
import * as v from 'valibot';
import type { ProxyFields } from '../actors/proxy/proxy-config.ts';
import { formatInstantOrNull, type Micros } from '../runtime/clock.ts';
import { PROXY_TYPES } from '../runtime/outbound/proxy.ts';
import { SecretStatus } from './shapes.ts';

export const ProxyConfigInput = v.object({
  enabled: v.boolean(),
  type: v.optional(v.picklist(PROXY_TYPES)),
  address: v.optional(v.string()),
  username: v.optional(v.nullable(v.string())),
  password: v.optional(v.nullable(v.string())),
});

export const ProxyConfigShape = v.object({
  enabled: v.boolean(),
  /** Absent, like the address, when it was never set. */
  type: v.optional(v.picklist(PROXY_TYPES)),
  address: v.optional(v.string()),
  username: v.nullable(v.string()),
  password_status: SecretStatus,
});

/** @param passwordAt when the stored password was set; null without one */
export function proxyBody({ enabled, type, address, username }: ProxyFields, passwordAt: Micros | null) {
  return {
    enabled,
    ...(type === null ? {} : { type }),
    ...(address === null ? {} : { address }),
    username,
    password_status: { set: passwordAt !== null, updated_at: formatInstantOrNull(passwordAt) },
  };
}
