import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { judgeSettings } from './doctor/keys-checks.ts';
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

test('a keys file that others may read is a warning at the start and for doctor', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'secret-keys');
  writeFileSync(file, PRINTED, { mode: 0o600 });
  const env = {
    SVC_DATABASE_URL: 'postgres://a@b/c',
    SVC_SECRET_KEYS_FILE: file,
    SVC_PUBLIC_URL: 'https://a.example',
  };
  const check = () => readCheckedConfig(env, { ...options, acceptPrintedKeys: true });
  expect(check()).toMatchObject({ warnings: [] });
  chmodSync(file, 0o640);
  expect(check()).toMatchObject({ warnings: [{ event: 'secret_keys_file_mode' }] });
  expect(judgeSettings(check())).toMatchObject({
    verdict: 'WARN',
    detail: expect.stringContaining('chmod 600'),
  });
});
