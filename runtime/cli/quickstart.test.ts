import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readFirstStart } from './first-start.ts';
import { forPeople, type Shown } from './quickstart.ts';

const SHOWN: Shown = {
  isOpenWithoutHttps: false,
  urls: {
    app: 'http://localhost:8080',
    ingest: 'http://localhost:8081',
    internal: 'http://127.0.0.1:8082',
    ingestPublic: 'http://localhost:8081',
  },
  login: 'admin',
  password: 'made up',
  integration: null,
  messengerUrl: null,
};

test('the first screen says that other machines cannot sign in over plain http, and what to set', () => {
  expect(forPeople(SHOWN)).not.toContain('SVC_PUBLIC_URL');
  const screen = forPeople({ ...SHOWN, isOpenWithoutHttps: true });
  expect(screen).toContain('People on other machines cannot sign in over plain http');
  expect(screen).toContain('Serve Tocsin over https and set SVC_PUBLIC_URL to that address.');
});

test('each installation makes up a password of its own, in a file of its owner', async () => {
  const passwords = new Set<string>();
  for (const _ of [1, 2, 3]) {
    const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-first-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const made = await readFirstStart(folder);
    expect(made?.password).toMatch(/^[\w-]{16}$/);
    passwords.add(made?.password ?? '');
    expect((await stat(path.join(folder, 'first-start'))).mode & 0o777).toBe(0o600);
    expect(await readFirstStart(folder)).toEqual({ ...made, wasPending: true });
  }
  expect(passwords.size).toBe(3);
});
