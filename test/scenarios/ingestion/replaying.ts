/** Replays of what was processed: nothing may come of them, however often (ingestion §9). */
import { expect } from 'vitest';
import type { Scenario } from '../scenario.ts';
import type { Lab } from './lab.ts';

/** Everything that a Snapshot of the Integrations may change, as it is read. */
async function everything(s: Scenario, integrationIds: readonly string[]) {
  const groups = await Promise.all(
    Array.from({ length: await s.count() }, async (_, index) => [
      await s.group(index + 1),
      await s.timeline(index + 1),
    ]),
  );
  const views = await Promise.all(
    integrationIds.map(async (id) => [
      await s.admin.all(`/integrations/${id}/alerts`),
      (await s.admin.get(`/integrations/${id}`)).snapshot_count,
    ]),
  );
  return { groups, views };
}

/** Replays everything that the scenario's Integrations sent, twice. @throws when anything came of it */
export async function expectReplayChangesNothing(lab: Lab): Promise<void> {
  const { s } = lab;
  const { name } = await lab.integration();
  const before = await everything(s, [lab.sender.id]);
  for (let time = 1; time <= 2; time++) {
    expect(await s.world.replay(s.begin, name)).toBe(lab.sent.length);
    expect(await everything(s, [lab.sender.id])).toEqual(before);
  }
}
