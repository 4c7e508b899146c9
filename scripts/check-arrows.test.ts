import { expect, test } from 'vitest';
import { judge, judgeGlobals } from './check-arrows.ts';

test.each([
  ['http/server.ts', '../actors/model.ts', false],
  ['storage/snapshots.ts', '../actors/effects.ts', false],
  ['runtime/main.ts', '../storage/connection.ts', false],
  ['actors/feed/actor.ts', '../../runtime/actor/index.ts', false],
])('%s may import %s', (file, target, typeOnly) => {
  expect(judge({ file, target, typeOnly })).toBeNull();
});

test.each([
  ['runtime/clock.ts', '../actors/model.ts', 'runtime may not depend on actors'],
  ['actors/feed/actor.ts', '../../storage/feeds.ts', 'actors may not depend on storage'],
  ['http/server.ts', '../storage/access.ts', 'http may not depend on storage'],
  ['actors/feed/actor.ts', '../../runtime/actor/host.ts', "past the engine's face"],
  ['actors/feed/actor.ts', 'undici', 'kept behind'],
  ['actors/connection/bridge/client.ts', 'node:https', 'kept behind'],
  ['runtime/redis/link.ts', 'node:net', 'kept behind'],
  ['actors/destination/webhook-sender.ts', 'socks', 'kept behind'],
  ['actors/feed/machine.ts', 'node:crypto', 'is a machine'],
])('%s may not import %s', (file, target, complaint) => {
  expect(judge({ file, target, typeOnly: false })).toContain(complaint);
});

test.each([
  ['runtime/outbound/connect.ts', 'node:net', ['connect']],
  ['storage/driver-socket.ts', 'node:tls', []],
  ['runtime/cli/doctor/address-checks.ts', 'node:net', ['isIP']],
  ['http/exchange-uws.ts', 'node:http', ['STATUS_CODES']],
])('%s may import from %s what opens nothing: %j', (file, target, names) => {
  expect(judge({ file, target, typeOnly: false, names })).toBeNull();
});

test('a file that calls the network without an import is found', () => {
  expect(judgeGlobals('actors/feed/actor.ts', "const a = 1;\nawait fetch('https://x');")).toContain(
    'calls fetch',
  );
  expect(judgeGlobals('actors/feed/actor.ts', "await store.fetch('x');\n// fetch(it)")).toBeNull();
});
