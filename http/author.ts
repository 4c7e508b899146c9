import type { Authorship } from '../actors/audit.ts';
import type { Call } from './operation.ts';

/** Whom the Audit log names for what a call changes. @throws when the operation needs no identity */
export function authorOf(call: Pick<Call, 'principal' | 'now' | 'address'>): Authorship {
  return { by: call.principal(), at: call.now, address: call.address };
}
