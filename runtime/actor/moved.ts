import type { Address } from './address.ts';
import { MovedError } from './system.ts';

/** What a message is refused with whose actor another process owns. */
export function elsewhere({ kind, key }: Address): MovedError {
  return new MovedError(`${kind}/${key} is not in the care of this process`);
}
