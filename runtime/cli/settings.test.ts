import { expect, test } from 'vitest';
import { readCheckedConfig } from './settings.ts';

const options = {
  acceptPrintedKeys: false,
  machine: { cpus: 2, hostName: 'node', random: 'k3x9' },
};
const PRINTED = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

test('a wrong key is told together with everything else that is wrong', () => {
  const env = {
    SVC_DATABASE_PORT: 'x',
    SVC_DATABASE_HOST: 'db',
    SVC_SECRET_KEYS: 'short',
    SVC_PUBLIC_URL: '',
  };
  const read = readCheckedConfig(env, options);
  const named = 'errors' in read ? read.errors.map((line) => line.split(/[:,]/)[0]) : [];
  expect(named.sort()).toEqual([
    'SVC_DATABASE_NAME',
    'SVC_DATABASE_PORT',
    'SVC_DATABASE_USER',
    'SVC_PUBLIC_URL',
    'SVC_SECRET_KEYS',
  ]);
});

test('keys that are printed in documentation are for trying out only', () => {
  const env = {
    SVC_DATABASE_URL: 'postgres://a@b/c',
    SVC_SECRET_KEYS: PRINTED,
    SVC_PUBLIC_URL: 'https://a.example',
  };
  expect(readCheckedConfig(env, options)).toHaveProperty('errors.length', 1);
  expect(readCheckedConfig(env, { ...options, acceptPrintedKeys: true })).toHaveProperty(
    'masterKeys.length',
    1,
  );
});
