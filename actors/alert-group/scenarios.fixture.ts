/** Vocabulary of the scenarios of alert-groups §11. */
import { expect } from 'vitest';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Command, SnapshotPart } from './messages.ts';
import { type createWorld, SENDER } from './world.fixture.ts';

export const ACKNOWLEDGE: Command = { name: 'acknowledge' };
export const UNRESOLVE: Command = { name: 'unresolve' };
export const RESOLVE: Command = { name: 'resolve', note: null };
export const CREATED = 'created L [new_alert_group]';
export const DONE = { outcome: 'done' };

export function refused(code: string, related: unknown = null) {
  return { outcome: 'refused', code, related };
}

export function snooze(minute: number | null): Command {
  return { name: 'snooze', until: minute === null ? null : minute * MINUTE };
}

/** Events of a group after its `created`. */
export function eventsAfterCreated(world: ReturnType<typeof createWorld>, number: number): readonly string[] {
  const [first, ...rest] = world.events(number);
  expect(first).toBe(CREATED);
  return rest;
}

/** What a feed sends to the group that it sent to before, wherever the Alert is now. */
export function partOf(minute: number, said: Partial<SnapshotPart>): SnapshotPart {
  return {
    type: 'part',
    snapshotId: 'SS000000000000' as PublicId,
    receivedAt: minute * MINUTE,
    late: false,
    integrationId: SENDER,
    feed: `${SENDER}.G`,
    groupKey: 'G',
    duplicateWindow: 45 * SECOND,
    firing: [],
    resolved: [],
    groupWideResolved: [],
    presences: [],
    hops: 0,
    ...said,
  };
}

export function resolvesOf(fingerprint: string, minute: number): SnapshotPart {
  return partOf(minute, { resolved: [{ fingerprint, startsAt: 0 }] });
}
