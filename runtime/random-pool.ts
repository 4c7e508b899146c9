import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8_192;

/**
 * Secure random bytes, drawn from the system many at a time: for ids made thousands of times a second. What it gives
 * is never given again.
 */
export function createRandomPool(): (size: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (size) => {
    if (used + size > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = pool.slice(used, used + size);
    used += size;
    return bytes;
  };
}
