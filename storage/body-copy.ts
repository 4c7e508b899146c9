/** PostgreSQL's binary COPY format for `snapshot_bodies (day integer, hash bytea, body bytea)`. */
import type { NewSnapshot } from '../actors/feed/ports.ts';
import { dayOf } from './day.ts';

/** Signature, no flags, no extension. */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const FIELDS = 3;
const DAY_BYTES = 4;
const HASH_BYTES = 32;
/** Field count and three lengths, with the two fields of fixed size. */
const ROW_BYTES = 2 + 4 + DAY_BYTES + 4 + HASH_BYTES + 4;
const END = -1;

/** All rows as one buffer, trailer included. */
export function encodeBodies(
  snapshots: readonly Pick<NewSnapshot, 'receivedAt' | 'bodyHash' | 'body'>[],
): Buffer {
  const size = snapshots.reduce((sum, { body }) => sum + ROW_BYTES + body.length, HEADER.length + 2);
  const out = Buffer.allocUnsafe(size);
  let at = HEADER.copy(out, 0);
  for (const { receivedAt, bodyHash, body } of snapshots) {
    at = out.writeInt16BE(FIELDS, at);
    at = out.writeInt32BE(DAY_BYTES, at);
    at = out.writeInt32BE(dayOf(receivedAt), at);
    at = out.writeInt32BE(HASH_BYTES, at);
    at += out.write(bodyHash, at, 'hex');
    at = out.writeInt32BE(body.length, at);
    at += body.copy(out, at);
  }
  out.writeInt16BE(END, at);
  return out;
}
