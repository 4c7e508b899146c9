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
import type { AskedPlace, FoundPlaces, Home, Places } from './ports.ts';
import type { FeedRows } from './rows.ts';
import type { SnapshotEntry } from './snapshot.ts';

/** Answer of {@link prepareTurn}. */
export interface Surroundings extends FoundPlaces {
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
  places: Places,
  verifies: boolean,
): Promise<Surroundings> | null {
  const asked = message.snapshot.entries.filter(
    ({ fingerprint, status }) => !actor.rows.has(fingerprint) || (verifies && status === 'firing'),
  );
  return asked.length === 0 ? null : lookUp();

  async function lookUp(): Promise<Surroundings> {
    const { id } = mapper.integration;
    const found = await places.find(
      id,
      asked.map((entry) => ({ fingerprint: entry.fingerprint, slot: firstSlot(entry) })),
    );
    const homeless = asked.filter(
      ({ fingerprint, status }) =>
        status === 'firing' && !found.homes.get(fingerprint)?.live && !found.targets.has(fingerprint),
    );
    if (homeless.length === 0) return { ...found, verified: verifies };
    const mapped = await mappedInSteps(homeless, mapper);
    const rest = await places.find(
      id,
      homeless.map((entry) => ({
        fingerprint: entry.fingerprint,
        slot: mapped.get(entry)?.slot ?? null,
      })),
    );
    // Kept for the turn of a large Snapshot; a few are mapped again at less cost.
    const isMany = homeless.length >= STEP_ENTRIES;
    return {
      homes: new Map([...found.homes, ...rest.homes]),
      targets: new Map([...found.targets, ...rest.targets]),
      fresh: new Set([...found.fresh, ...rest.fresh]),
      verified: verifies,
      ...(isMany ? { mapped: { mapper, entries: mapped } } : {}),
    };
  }

  /** Of a few that are new here the Slot is asked for with the home: most of those have none. */
  function firstSlot(entry: SnapshotEntry): AskedPlace['slot'] {
    const isNew = entry.status === 'firing' && !actor.rows.has(entry.fingerprint);
    return isNew && asked.length < STEP_ENTRIES ? mapper.map(entry).slot : null;
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
