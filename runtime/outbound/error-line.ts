/** What another side says about an error, for people: its first bytes as one line (outbound-http §1.2). */
import { cutToBytes, type Mask } from '../secrets/masking.ts';

const SHOWN_BYTES = 1024;
/** Characters that are looked at, and those at their end that may be a secret which the cut went through. */
const LOOKED_AT = 128 * 1024;
const OVERLAP = 96 * 1024;

/** Masked before it is cut, so that no part of a secret shows. */
export function errorLine(said: string, mask: Mask): string {
  const isWhole = said.length <= LOOKED_AT;
  const masked = mask(isWhole ? said : said.slice(0, LOOKED_AT));
  const safe = isWhole ? masked : masked.slice(0, Math.max(0, masked.length - OVERLAP));
  return cutToBytes(safe.replace(/[\s\p{Cc}]+/gu, ' ').trim(), SHOWN_BYTES);
}
