import { expect, test } from 'vitest';
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
