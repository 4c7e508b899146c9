/** A Route's actor without storage: new Alert Groups come in, wake-ups fire when they are due. */
import type { Turn } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { GroupEvent, StormTold } from '../destination/messages.ts';
import type { DirectorySource } from '../directory.ts';
import { createRouteActor } from './actor.ts';
import type { RouteRecord, StormSaved } from './effects.ts';
import type { RouteMessage } from './messages.ts';
import { type RouteState, SWEEP_PAGE } from './turn.ts';

export const ROUTE_ID = 'RT000000000001' as PublicId;

const CHAT_ID = 'DS000000000001' as PublicId;
const HOOK_ID = 'DS000000000002' as PublicId;

export function groupId(number: number): PublicId {
  return `AG${String(number).padStart(12, '0')}` as PublicId;
}

export function createStormWorld(threshold: number, { isKnown = true } = {}) {
  const policy = { storm_threshold: threshold };
  let known = isKnown;
  const directory = {
    current: () => ({
      routesById: new Map(known ? [[ROUTE_ID, { policy, destinationIds: [CHAT_ID, HOOK_ID] }]] : []),
      destinationsById: new Map([
        [CHAT_ID, { id: CHAT_ID, type: 'bridge', mode: null }],
        [HOOK_ID, { id: HOOK_ID, type: 'webhook', mode: 'events' }],
      ]),
    }),
    reload: async () => {
      known = true;
    },
  } as unknown as DirectorySource;
  /** #N of held groups by the start of their Storm. */
  const held = new Map<PublicId, { readonly since: Micros; readonly number: number }>();
  const storms: StormSaved[] = [];
  const told: string[] = [];
  const chat: ((GroupEvent | StormTold) & { readonly to: string })[] = [];
  const hints: string[] = [];
  const definition = createRouteActor({
    directory,
    held: {
      page: async ({ since, after, limit }) =>
        [...held]
          .filter(([, one]) => one.since === since && one.number > after)
          .sort(([, left], [, right]) => left.number - right.number)
          .slice(0, limit)
          .map(([id, { number }]) => ({ id, number })),
    },
  });
  let state: RouteState = definition.start(ROUTE_ID);
  let wakeAt: Micros | null = null;
  let now: Micros = 0;
  let drawn = 0;
  let wakeUps = 0;

  async function give(message: RouteMessage): Promise<void> {
    const actor = { self: { kind: definition.kind, key: ROUTE_ID }, state, rows: null };
    const prepared = await definition.prepare?.(actor, message);
    const turn = definition.receive(actor, message, {
      now,
      from: null,
      prepared: prepared ?? undefined,
      random: (size) => new Uint8Array(size),
    });
    // The way through storage is part of every step.
    state = definition.restore(JSON.parse(JSON.stringify(definition.persist(turn.state))));
    wakeAt = turn.wakeAt;
    keep(turn);
  }

  function keep({ records, sends, performs }: Turn<RouteState>): void {
    for (const record of records as readonly RouteRecord[]) {
      switch (record.type) {
        case 'storm.saved':
          if (storms.at(-1)?.since === record.since) storms.pop();
          storms.push(record);
          break;
        case 'storm.held':
          held.set(record.groupId, { since: record.since, number: Number(record.groupId.slice(2)) });
          break;
        case 'storm.let_go':
          held.delete(record.groupId);
          break;
        case 'storm.hold_ended':
          for (const [id, one] of held) {
            if (one.since === record.since && one.number <= record.through) held.delete(id);
          }
          break;
      }
    }
    for (const { to, message } of sends) {
      if (to.kind === 'destination') chat.push({ ...(message as GroupEvent | StormTold), to: to.key });
      else told.push(`${message.type} #${Number(to.key.slice(2))}`);
    }
    for (const effect of performs) {
      if (effect.type === 'hint') hints.push((effect as unknown as { hint: { type: string } }).hint.type);
    }
  }

  /** Fires what is due until `to`. */
  async function runTo(to: Micros): Promise<void> {
    while (wakeAt !== null && wakeAt <= to) {
      now = Math.max(now, wakeAt);
      wakeUps++;
      await give({ type: 'wake' });
    }
    now = Math.max(now, to);
  }

  return {
    give,
    runTo,
    /** A new Alert Group; due wake-ups fire before unless `late`. */
    async created(at: Micros, { urgent = false, late = false } = {}): Promise<void> {
      if (!late) await runTo(at - 1);
      now = Math.max(now, at);
      await give({ type: 'group_created', groupId: groupId(++drawn), urgent, at });
    },
    setThreshold(value: number) {
      policy.storm_threshold = value;
    },
    storms,
    /** What Alert Groups were told since the last look. */
    takeTold: () => told.splice(0),
    /** What Destinations were told since the last look. */
    takeChat: () => chat.splice(0),
    hints,
    held: () => held.size,
    wakeUps: () => wakeUps,
    wakeAt: () => wakeAt,
    state: () => state,
    pageSize: SWEEP_PAGE,
  };
}
