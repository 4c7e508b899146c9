/** A Slot that is taken back by Unresolve while a new firing is on its way to the group that was to have it. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { EMPTY_DIRECTORY } from '../../directory.fixture.ts';
import type { Directory, RouteConfig } from '../../directory.ts';
import type { UserActor } from '../../model.ts';
import { slotFor } from '../../route/evaluate.ts';
import { ON_CALL_POLICY } from '../../route/policy.ts';
import { createAlertGroup } from '../actor.ts';
import { type AlertGroupMessage, alertGroupAddress, type SnapshotPart } from '../messages.ts';
import { createContestedAlerts, slotKey } from '../ports.ts';
import { type GroupState, isOpen, UNSTARTED } from '../state.ts';

const NT = 'NT0000000000AB' as PublicId;
const ROUTE: RouteConfig = {
  id: 'RT0000000000AB' as PublicId,
  name: 'Default',
  isDefault: true,
  deleted: false,
  matchers: [],
  urgent: false,
  groupKey: ['alertname'],
  destinationIds: [],
  policy: ON_CALL_POLICY,
};
const DIRECTORY: Directory = {
  ...EMPTY_DIRECTORY,
  routes: [ROUTE],
  routesById: new Map([[ROUTE.id, ROUTE]]),
};
const ANN: UserActor = {
  kind: 'user',
  ...{ id: 'SR0000000000AB' as PublicId, name: 'ann', login: 'ann', tokenName: null, transport: 'ui' },
};
const FIRST = 'AG0000000000A1' as PublicId;

function listing(name: string, at: number): SnapshotPart {
  const labels = { alertname: 'X', n: name };
  const report = {
    ...{ fingerprint: name, labels, annotations: {}, startsAt: at, generatorUrl: null },
    ...{ severityLevel: 'warning' as const, severityRaw: null, labelConflicts: [] },
  };
  return {
    ...{ type: 'part', snapshotId: null, receivedAt: at, late: false, integrationId: NT, feed: `${NT}.G` },
    ...{ groupKey: 'G', duplicateWindow: 0, resolved: [], groupWideResolved: [], presences: [], hops: 0 },
    firing: [{ report, slot: slotFor(ROUTE, labels), history: null }],
  };
}

test('the new firing goes to the group that was unresolved', async () => {
  const groups = new Map<PublicId, GroupState>();
  const slots = new Map([[slotKey(slotFor(ROUTE, { alertname: 'X' })), FIRST]]);
  const contested = createContestedAlerts();
  const isOpenNow = (state: GroupState) => state.stage === 'started' && isOpen(state);
  const definition = createAlertGroup({
    directory: { current: () => DIRECTORY, reload: () => Promise.resolve() },
    contested,
    related: {
      newerOpen: async ({ except }) => {
        const found = [...groups].find(([id, state]) => id !== except && isOpenNow(state));
        return found ? { id: found[0], number: 9 } : null;
      },
      slotTargets: async (asked) =>
        new Map(asked.map((slot) => [slotKey(slot), slots.get(slotKey(slot)) as PublicId])),
      homesOf: async () => new Map(),
      eventHandled: async () => null,
      feedsHeardAt: async () => new Map(),
    },
  });
  let seed = 0;
  let now = 0;
  const deliver = async (id: PublicId, message: AlertGroupMessage) => {
    const actor = { self: alertGroupAddress(id), state: groups.get(id) ?? UNSTARTED, rows: new Map() };
    const prepared = (await definition.prepare?.(actor, message)) ?? undefined;
    const random = (size: number) => createHash('sha512').update(String(++seed)).digest().subarray(0, size);
    const turn = definition.receive(actor, message, { now, from: null, prepared, random });
    const state = turn.claim ? (definition.numbered?.(turn.state, seed) ?? turn.state) : turn.state;
    groups.set(id, state);
    for (const record of turn.records as readonly { type: string; groupId?: PublicId }[])
      if (record.type === 'slot.moved') slots.set([...slots.keys()][0] as string, record.groupId as PublicId);
    return turn;
  };

  await deliver(FIRST, listing('1', now));
  now = MINUTE;
  await deliver(FIRST, { type: 'command', command: { name: 'resolve', note: null }, by: ANN });
  now = 2 * MINUTE;
  // X2 fires: a new address is chosen for it. The part waits in the inbox of another replica.
  const { sends } = await deliver(FIRST, listing('2', now));
  const [part] = sends.filter(({ message }) => message.type === 'part');
  const second = part?.to.key as PublicId;
  const { reply } = await deliver(FIRST, { type: 'command', command: { name: 'unresolve' }, by: ANN });
  expect(reply).toEqual({ outcome: 'done' });

  // alert_groups_open_slot refuses the second open group of the Slot; the message is tried again.
  contested.mark([...slots.keys()][0] as string);
  const tried = await deliver(second, part?.message as SnapshotPart);
  expect([...groups.values()].filter(isOpenNow)).toHaveLength(1);
  expect(tried.sends.map(({ to }) => to.key)).toContain(FIRST);
});
