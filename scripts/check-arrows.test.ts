import { expect, test } from 'vitest';
import { judge } from './check-arrows.ts';

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
  ['actors/feed/machine.ts', 'node:crypto', 'is a machine'],
])('%s may not import %s', (file, target, complaint) => {
  expect(judge({ file, target, typeOnly: false })).toContain(complaint);
});
