/** Copies pieces of bodies out of memory that the server uses again. */

const SLAB_BYTES = 512 * 1024;
/** Larger pieces get memory of their own, so that little of a slab is left over. */
const SLAB_PIECE = 32 * 1024;

/**
 * Gives copies that share slabs of memory: a buffer of its own for every body of a few kilobytes would cost more than
 * the copy. Bodies live as long as their commit, so a slab is free soon after it is full.
 */
export function createBodyCopies(): (piece: ArrayBuffer) => Buffer {
  let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  let used = 0;
  return (piece) => {
    const bytes = new Uint8Array(piece);
    if (bytes.length > SLAB_PIECE) return Buffer.from(bytes);
    if (used + bytes.length > SLAB_BYTES) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      used = 0;
    }
    slab.set(bytes, used);
    const copy = slab.subarray(used, used + bytes.length);
    used += bytes.length;
    return copy;
  };
}
