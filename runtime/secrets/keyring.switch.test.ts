import { expect, test } from 'vitest';
import { createKeyring, createKeySwitch, masterKey } from './keyring.ts';

const [one, two] = [1, 2].map((fill) => masterKey(Buffer.alloc(32, fill))) as [
  ReturnType<typeof masterKey>,
  ReturnType<typeof masterKey>,
];

function switching() {
  const keyring = createKeyring([one, two], one.id);
  const did: string[] = [];
  const activeKey = createKeySwitch({
    keyring,
    log: (event) => void did.push(event),
    onSwitched: () => void did.push('told browsers'),
    onNotHeld: () => void did.push('ended'),
  });
  return { keyring, did, activeKey };
}

test('the key that is active in the database signs from then on, said once', () => {
  const { keyring, did, activeKey } = switching();
  activeKey(one.id);
  expect(did).toEqual([]);
  activeKey(two.id);
  activeKey(two.id);
  expect(keyring.activeKeyId).toBe(two.id);
  expect(did).toEqual(['key_switched', 'told browsers']);
});

test('an active key that is not held is logged and told once', () => {
  const { keyring, did, activeKey } = switching();
  activeKey('k-3');
  activeKey('k-3');
  expect(keyring.activeKeyId).toBe(one.id);
  expect(did).toEqual(['active_key_not_held', 'ended']);
});
