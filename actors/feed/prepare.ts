/**
 * What a feed reads before a turn: the homes of Alerts without a presence here, or of all listed Alerts when presences
 * are verified, and the target groups of Alerts that no group holds.
 */
import { setImmediate } from 'node:timers/promises';
import type { Actor } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertMapper, MappedAlert } from './alert-mapper.ts';
import { VERIFICATION_INTERVAL } from './machine.ts';
import type { SnapshotReceived } from './messages.ts';
import type { Home, Homes, Slots } from './ports.ts';
import type { FeedRows } from './rows.ts';
import type { SnapshotEntry } from './snapshot.ts';

/** Answer of {@link prepareTurn}, by fingerprint. */
export interface Surroundings {
  readonly homes: ReadonlyMap<string, Home>;
  readonly targets: ReadonlyMap<string, PublicId>;
  /** The homes of present Alerts were read as well. */
  readonly verified: boolean;
  /** What homeless firing entries were mapped to, where they are many. */
  readonly mapped?: {
    readonly mapper: AlertMapper;
    readonly entries: ReadonlyMap<SnapshotEntry, MappedAlert>;
  };
}

/** Entries processed before the event loop gets a turn. */
const STEP_ENTRIES = 500;

/** Null when every Alert of the Snapshot is present in the feed and that is relied upon (`verifies` false). */
export function prepareTurn(
  actor: Pick<Actor<unknown, FeedRows>, 'rows'>,
  message: SnapshotReceived,
  mapper: AlertMapper,
  ports: { readonly homes: Homes; readonly slots: Slots },
  verifies: boolean,
): Promise<Surroundings> | null {
  const asked = message.snapshot.entries.filter(
    ({ fingerprint, status }) => !actor.rows.has(fingerprint) || (verifies && status === 'firing'),
  );
  return asked.length === 0 ? null : lookUp();

  async function lookUp(): Promise<Surroundings> {
    const homes = await ports.homes.find(
      mapper.integration.id,
      asked.map(({ fingerprint }) => fingerprint),
    );
    const homeless = asked.filter(
      (entry) => entry.status === 'firing' && !homes.get(entry.fingerprint)?.live,
    );
    if (homeless.length === 0) return { homes, targets: new Map(), verified: verifies };
    const mapped = await mappedInSteps(homeless, mapper);
    const ids = await ports.slots.ensure([...mapped.values()].map(({ slot }) => slot));
    const targets = new Map<string, PublicId>();
    for (const [index, { fingerprint }] of homeless.entries()) {
      const id = ids[index];
      if (id !== undefined) targets.set(fingerprint, id);
    }
    // Kept for the turn of a large Snapshot; a few are mapped again at less cost.
    const isMany = homeless.length >= STEP_ENTRIES;
    return { homes, targets, verified: verifies, ...(isMany ? { mapped: { mapper, entries: mapped } } : {}) };
  }
}

async function mappedInSteps(
  entries: readonly SnapshotEntry[],
  mapper: AlertMapper,
): Promise<ReadonlyMap<SnapshotEntry, MappedAlert>> {
  const mapped = new Map<SnapshotEntry, MappedAlert>();
  for (const entry of entries) {
    if (mapped.size % STEP_ENTRIES === STEP_ENTRIES - 1) await setImmediate();
    mapped.set(entry, mapper.map(entry));
  }
  return mapped;
}

/** An entry as it was mapped before the turn, if the configuration is still the same. */
export function mappedIn(
  surroundings: Surroundings | undefined,
  mapper: AlertMapper,
  entry: SnapshotEntry,
): MappedAlert {
  const known = surroundings?.mapped;
  return (known?.mapper === mapper ? known.entries.get(entry) : undefined) ?? mapper.map(entry);
}

export function homeIn(surroundings: Surroundings | undefined, fingerprint: string): Home | null {
  return surroundings?.homes.get(fingerprint) ?? null;
}

/**
 * Whether an Alert that is present here fires in no group: either the message about it never arrived, or its end did
 * not arrive here. An Alert that was moved recently is in transit to another Alert Group together with its presences.
 */
export function isLostIn(
  surroundings: Surroundings | undefined,
  fingerprint: string,
  receivedAt: Micros,
): boolean {
  if (!surroundings?.verified) return false;
  const history = surroundings.homes.get(fingerprint)?.history;
  if (history?.state === 'firing') return false;
  const { resolvedBy = null, resolvedAt = null } = history ?? {};
  return !(resolvedBy === 'moved' && receivedAt < (resolvedAt ?? 0) + VERIFICATION_INTERVAL);
}

/** @throws when the preparation did not cover the Alert, which would be a defect of the engine or of this file */
export function targetIn(surroundings: Surroundings | undefined, fingerprint: string): PublicId {
  const id = surroundings?.targets.get(fingerprint);
  if (id === undefined) throw new Error(`no Alert Group was prepared for the Alert ${fingerprint}`);
  return id;
}
