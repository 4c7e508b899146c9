import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type Clock, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import type { OfflineCheck } from './ports.ts';
import type { Provider } from './provider.ts';
import { createRechecks } from './rechecks.ts';
import type { OidcFields, StoredOidcSettings } from './settings.ts';

const key = masterKey(Buffer.alloc(32, 1));
const keyring = createKeyring([key], key.id);
const userId = 'US1' as PublicId;
const check: OfflineCheck = {
  userId,
  identity: { issuer: 'https://id.example.org', subject: 'ann' },
  offlineToken: keyring.sealer(key.id).seal('user.offline_token', userId, 'token'),
  offlineTokenAt: 0,
};
const fields: Partial<OidcFields> = {
  ...{ enabled: true, issuer_url: 'https://id.example.org', client_id: 'tocsin' },
  ...{ scopes: [], proxy: NO_PROXY },
};
const settings = { version: 1, fields, clientSecret: null, proxyPassword: null } as StoredOidcSettings;

function rechecks(refresh: Provider['refresh'], after: Clock['after'] = () => ({ cancel: () => undefined })) {
  const unused = () => Promise.reject(new Error('not expected'));
  return createRechecks({
    stores: {
      settings: { read: async () => settings, update: unused, sawGroups: unused, withheldRoles: unused },
      checks: {
        claim: async (_now, limit) => Array.from({ length: limit }, () => check),
        ...{ vouched: unused, refused: unused, forgotten: unused },
      },
    },
    provider: { refresh },
    opener: { keyring, log: () => undefined },
    clock: { now: () => 0, after },
    log: () => undefined,
    counted: () => undefined,
  });
}

test.each(['takes longer than 10 s', 'is under way while the service stops'])(
  'a check that %s is called off',
  async (when) => {
    const late: (() => void)[] = [];
    const called: AbortSignal[] = [];
    const { round, stop } = rechecks(
      (_access, _token, _identity, signal) =>
        new Promise((resolve) => {
          called.push(signal);
          signal.addEventListener('abort', () =>
            resolve({ ok: false, failure: 'unavailable', error: 'called off' }),
          );
        }),
      (delay, run) => {
        expect(delay).toBe(10 * SECOND);
        late.push(run);
        return { cancel: () => undefined };
      },
    );
    const done = round();
    await new Promise((resolve) => setImmediate(resolve));
    expect(called.map(({ aborted }) => aborted)).toEqual(Array.from({ length: 8 }, () => false));
    if (when.startsWith('takes')) for (const run of late) run();
    else stop();
    await done;
    expect(called.every(({ aborted }) => aborted)).toBe(true);
  },
);

test('checks that are over leave nothing in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const usedMemory = async () => {
    for (let turn = 0; turn < 3; turn++) {
      collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return process.memoryUsage().heapUsed;
  };
  const { round } = rechecks(async () => ({ ok: false, failure: 'unavailable', error: 'away' }));
  const rounds = async (count: number) => {
    for (let number = 0; number < count; number++) {
      await round();
      if (number % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await rounds(100);
  const before = await usedMemory();
  await rounds(1500);
  const perCheck = ((await usedMemory()) - before) / (1500 * 8);
  // An entry for each check takes 175 bytes and more.
  expect(perCheck).toBeLessThan(120);
});
