import { expect, test } from 'vitest';
import { type ListenAddress, type Listener, listenerOf, planSockets } from './listeners.ts';

const A = { host: '', port: 8080 };
const B = { host: '', port: 8081 };
const C = { host: '', port: 8082 };
const FREE = { host: '', port: 0 };

test.each<[ListenAddress, ListenAddress, ListenAddress, readonly string[]]>([
  [A, B, C, ['app', 'ingest', 'internal']],
  [A, A, C, ['app ingest', 'internal']],
  [A, B, A, ['app internal', 'ingest']],
  [A, B, B, ['app', 'ingest internal']],
  [A, A, A, ['app ingest internal']],
  [FREE, FREE, FREE, ['app', 'ingest', 'internal']],
  [A, { host: '127.0.0.1', port: 8080 }, C, ['app', 'ingest', 'internal']],
])('%j, %j, %j make the sockets %j', (app, ingest, internal, sockets) => {
  expect(planSockets({ app, ingest, internal }).map(({ serves }) => serves.join(' '))).toEqual(sockets);
});

const ALL: readonly Listener[] = ['app', 'ingest', 'internal'];

test.each<[string, readonly Listener[], Listener]>([
  ['/', ALL, 'app'],
  ['/metrics', ALL, 'internal'],
  ['/metrics/x', ALL, 'app'],
  ['/health/ready', ALL, 'internal'],
  ['/api/v1/ingest/svc_int_x', ALL, 'ingest'],
  ['/api/v1/ingested', ALL, 'app'],
  ['/api/v1/callbacks/bridge/CN1', ALL, 'ingest'],
  ['/api/v1/ingest', ['app'], 'app'],
  ['/metrics', ['app', 'ingest'], 'app'],
  ['/', ['ingest', 'internal'], 'ingest'],
  ['/', ['internal'], 'internal'],
])('%s where %j are served is for %s', (path, serves, listener) => {
  expect(listenerOf(path, serves)).toBe(listener);
});
