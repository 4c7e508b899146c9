import { expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Directory } from '../directory.ts';
import { createDestination } from './actor.ts';
import type { DestinationMessage, GroupEvent } from './messages.ts';

const ID = 'DSK7M3QX9P2RTA' as PublicId;
const CONFIG = { type: 'bridge', mode: null, connectionId: null, target: 1, name: 'ops' } as const;
const NOW = 1_791_020_467_000_000;

/** A Destination with nothing in storage, and what it looked for there. */
function destination() {
  const asked: (readonly string[])[] = [];
  const forgotten: string[] = [];
  let reloads = 0;
  const directory = {
    destinationsById: new Map([[ID, { id: ID, ...CONFIG, limiter: { limit: 1000, per_seconds: 1 } }]]),
    routesById: new Map(),
    connectionsById: new Map(),
  };
  const definition = createDestination({
    directory: { current: () => directory as unknown as Directory, reload: async () => void reloads++ },
    waiting: { page: async () => ({ events: [], more: false, cut: [] }) },
    deliveries: {
      page: async () => ({ deliveries: [], more: false }),
      read: async (_id, subjects) => {
        asked.push(subjects);
        return [];
      },
      open: async () => [],
      summary: async () => [],
      waiting: async () => [],
      openGroups: async () => ({ groups: [], stormSince: null }),
    },
    forgetSettings: (id) => void forgotten.push(id),
  });
  const self = { kind: 'destination', key: ID };
  const actor = { self, state: definition.start(ID), rows: definition.emptyRows(ID) };
  const give = async (message: DestinationMessage, following: readonly GroupEvent[] = []): Promise<void> => {
    const prepared = (await definition.prepare?.(actor, message, following)) ?? undefined;
    const env = { now: NOW, from: null, prepared, random: (size: number) => new Uint8Array(size) };
    actor.state = definition.receive(actor, message, env).state;
  };
  return { asked, forgotten, reloads: () => reloads, give };
}

function created(group: string): GroupEvent {
  return {
    ...{ type: 'group_event', groupId: group as PublicId, number: null, routeId: 'RT1' as PublicId },
    ...{ event: 'created', sequence: 1, at: NOW, loudness: 'loud', mentions: [], owner: null },
    ...{ by: 'system', status: 'firing', urgent: false, facts: null, judged: 'free' },
  };
}

test('groups that begin together are looked for in storage with one question', async () => {
  const { asked, give } = destination();
  const events = Array.from({ length: 300 }, (_, index) => created(`AG${index}`));
  for (const [index, event] of events.entries()) await give(event, events.slice(index + 1));
  expect(asked).toEqual([events.map(({ groupId }) => groupId)]);
});

test('what comes later is looked for when it comes, and what is known is not', async () => {
  const { asked, give } = destination();
  await give(created('AG1'), [created('AG2'), created('AG2')]);
  await give(created('AG2'));
  await give({ ...created('AG2'), event: 'severity_raised', sequence: 2 }, [created('AG1')]);
  await give(created('AG3'), [created('AG1')]);
  expect(asked).toEqual([['AG1', 'AG2'], ['AG3']]);
});

test.each<DestinationMessage>([{ type: 'saved' }, { type: 'rerender', routeId: null }])(
  'a turn about $type keeps nothing of the settings that were read before it',
  async (message) => {
    const { forgotten, reloads, give } = destination();
    await give(created('AG1'));
    expect([forgotten, reloads()]).toEqual([[], 0]);
    await give(message);
    expect([forgotten, reloads()]).toEqual([[ID], 1]);
  },
);
