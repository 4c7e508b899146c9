/** People who have nothing set up and store nothing, for tests of the HTTP layer that look at something else. */
import type { People } from '../../actors/access/ports.ts';

export const nobodysPeople: People = {
  profiles: { update: notHere },
  ownPasswords: { hashOf: async () => null, change: notHere },
  passwordLinks: { standing: async () => 'unknown', refused: async () => undefined, complete: notHere },
  enrolments: {
    status: async () => ({ enrolledAt: null, isPending: false, recoveryCodesRemaining: 0 }),
    begin: async () => true,
    pendingSeed: async () => null,
    confirm: notHere,
    replaceRecoveryCodes: notHere,
    remove: notHere,
  },
};

async function notHere(): Promise<never> {
  throw new Error('this test stores nothing about people');
}
