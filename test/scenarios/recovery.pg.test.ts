/** internal-alerts §7 rule 6: what was stored before a crash is applied before overdue timers fire. */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createSnapshotWriter } from '../../storage/snapshots/writer.ts';
import { momentOf } from './notation.ts';
import { Scenario } from './scenario.ts';
import { useWorld } from './world.ts';

const world = useWorld();

/** Stores a Snapshot as a process does that is killed before it can process it. */
async function storeAtTheLastMoment(s: Scenario, group: string, changes: readonly string[]): Promise<void> {
  const receivedAt = s.world.clock.now();
  const body = Buffer.from(JSON.stringify(s.sender().snapshot(group, changes, receivedAt)));
  await createSnapshotWriter(s.world.sql).write([
    {
      id: newPublicId('SS'),
      integrationId: s.sender().id as PublicId,
      receivedAt,
      body,
      bodyHash: hash('sha256', body),
      contentType: 'application/json',
      shard: null,
    },
  ]);
}

test('an Alert that ended before the crash is not reminded of after it', async () => {
  const s = await Scenario.open(world());
  await s.play('t0 +X1; t5');
  await s.world.stop();
  await storeAtTheLastMoment(s, 'G', ['-X1']);
  s.world.clock.jumpTo(s.begin + momentOf('t50'));
  await s.world.start();
  expect(await s.events()).toEqual(['t50 resolved Q']);
  await s.close();
});

test('without such a Snapshot it is, once for all missed notices, beside the downtime', async () => {
  const s = await Scenario.open(world());
  await s.play('t0 +X1; t5');
  await s.downUntil('t50');
  const told = (await s.timeline()).map(({ event, system_event: system }) => event ?? system);
  expect(told.slice(1).sort()).toEqual(['notices_missed', 'service_unavailable']);
  await s.close();
});
