import { expect, test } from 'vitest';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { BridgeOutcome } from './answer.ts';
import type { BridgeAccess } from './client.ts';
import { createInfoReader } from './info-reader.ts';

const REDIRECT: BridgeOutcome<never> = {
  class: 'unknown',
  code: 'redirect_refused',
  status: 308,
  error: 'redirect to https://elsewhere.example/ not followed',
  detail: null,
};

test('while there is no Info, whoever asks before the next read is due is told how the last one ended', async () => {
  const clock = createManualClock();
  let calls = 0;
  const reader = createInfoReader({
    bridge: {
      call: async () => {
        calls++;
        return REDIRECT;
      },
    },
    tokens: { take: async () => 'granted', takeForHost: async () => 'granted' },
    system: { tell: () => undefined },
    clock,
  });
  const settings = { id: 'CN1' as PublicId, access: 1, info: null, infoReadAt: null } as BridgeSettings;
  const access = {} as BridgeAccess;
  const ask = (more: Partial<BridgeSettings>) =>
    reader.upToDate({ ...settings, ...more }, access, 'delivery');

  expect(await ask({ infoFailedAt: null })).toEqual(REDIRECT);
  expect(await ask({ infoFailedAt: clock.now() })).toEqual(REDIRECT);
  expect(calls).toBe(1);
  expect(await ask({ infoFailedAt: clock.now(), access: 2 })).toEqual({ class: 'ok', info: null });
});
