/** Which master keys there are, who holds them and which may go (secrets §5, api §9). */
import * as v from 'valibot';
import type { Micros } from '../../runtime/clock.ts';
import { type KeyEntry, keyringBody } from '../../runtime/secrets/key-report.ts';
import { type Operation, operation } from '../operation.ts';

export interface KeyringOperationsDeps {
  /** The active key first, then by id. */
  keys(now: Micros): Promise<readonly KeyEntry[]>;
}

const KeyringShape = v.object({
  keys: v.array(
    v.object({
      id: v.string(),
      active: v.boolean(),
      held_by: v.array(v.string()),
      missing_on: v.array(v.string()),
      needed: v.boolean(),
      removable: v.boolean(),
    }),
  ),
});

export function keyringOperations(deps: KeyringOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getKeyring',
      method: 'GET',
      path: '/organization/keyring',
      tag: 'Organization',
      summary: 'Read which master keys are held, needed and removable',
      needs: 'organization:read',
      answers: { 200: { description: 'The keyring', schema: KeyringShape } },
      handle: async ({ now }) => ({ status: 200, body: keyringBody(await deps.keys(now)) }),
    }),
  ];
}
