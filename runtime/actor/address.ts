/** How many shards actors are spread over. Fixed for the life of an installation. */
export const SHARDS = 256;

/** Names one actor: what it is and which one. */
export interface Address {
  readonly kind: string;
  readonly key: string;
}

/** `kind/key`, the text form used as a map key, in rows and in logs. */
export function addressText(address: Address): string {
  return `${address.kind}/${address.key}`;
}

/** Reads {@link addressText} back. The kind never holds a slash, the key may. */
export function parseAddress(text: string): Address {
  const slash = text.indexOf('/');
  return { kind: text.slice(0, slash), key: text.slice(slash + 1) };
}

/** The shard of an actor. */
export function shardOf(address: Address): number {
  return shardAmong(SHARDS, address);
}

/** FNV-1a (32 bit) over the actor's text form, folded to so many shards: a power of two, at most 65,536. */
export function shardAmong(shards: number, address: Address): number {
  const text = addressText(address);
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return ((hash >>> 16) ^ hash) & (shards - 1);
}
