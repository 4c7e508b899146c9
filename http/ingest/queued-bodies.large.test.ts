import { expect, it } from 'vitest';
import { silentLog } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createHandClock } from './ingest.fixture.ts';
import { LargeBodies, type Place } from './queued-bodies.ts';

const place = (integration: number, shard: number | null = 1): Place => ({
  integrationId: `NT${integration}` as PublicId,
  shard,
});

it('holds a thousand places at most: with more everything waits, and nothing of it is forgotten', () => {
  const queue = { beginAttempt: async () => 1, forgetAttempt: async () => undefined };
  const large = new LargeBodies({ clock: createHandClock(), queue, log: silentLog }, () => undefined);
  for (let integration = 0; integration < 999; integration++) large.hold(place(integration));
  large.hold(place(0));
  expect(large.holdsBack(place(5_000))).toBe(false);
  for (let integration = 999; integration < 2_000; integration++) large.hold(place(integration));
  expect([...large.held]).toHaveLength(1_000);
  expect(large.holdsBack(place(1_500))).toBe(true);
  expect(large.holdsBack(place(5_000))).toBe(true);
  large.release(() => true);
  expect(large.holdsBack(place(1_500))).toBe(false);
});
