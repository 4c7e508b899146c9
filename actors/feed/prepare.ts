/**
 * What a feed looks up before a turn: the homes of Alerts it has no presence of, or of all that a Snapshot lists when
 * that is to be verified, and where homeless ones go.
 */
import type { Actor } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { SnapshotReceived } from './messages.ts';
import type { Home, Homes, Slots } from './ports.ts';
import type { Teller } from './reports.ts';
import type { FeedRows } from './rows.ts';
import { VERIFICATION_INTERVAL } from './window.ts';

/** Answer of {@link prepareTurn}, by fingerprint. */
export interface Surroundings {
  readonly homes: ReadonlyMap<string, Home>;
  readonly targets: ReadonlyMap<string, PublicId>;
  /** Alerts that are present here were looked up, too. */
  readonly verified: boolean;
}

/** Null when every Alert of the Snapshot is present in the feed and that is relied upon (`verifies` false). */
export function prepareTurn(
  actor: Pick<Actor<unknown, FeedRows>, 'rows'>,
  message: SnapshotReceived,
  teller: Teller,
  ports: { readonly homes: Homes; readonly slots: Slots },
  verifies: boolean,
): Promise<Surroundings> | null {
  const asked = message.snapshot.entries.filter(
    ({ fingerprint, status }) => !actor.rows.has(fingerprint) || (verifies && status === 'firing'),
  );
  return asked.length === 0 ? null : lookUp();

  async function lookUp(): Promise<Surroundings> {
    const homes = await ports.homes.find(
      teller.integration.id,
      asked.map(({ fingerprint }) => fingerprint),
    );
    const homeless = asked.filter(
      (entry) => entry.status === 'firing' && !homes.get(entry.fingerprint)?.live,
    );
    if (homeless.length === 0) return { homes, targets: new Map(), verified: verifies };
    const ids = await ports.slots.ensure(homeless.map((entry) => teller.tell(entry).slot));
    const targets = new Map<string, PublicId>();
    for (const [index, { fingerprint }] of homeless.entries()) {
      const id = ids[index];
      if (id !== undefined) targets.set(fingerprint, id);
    }
    return { homes, targets, verified: verifies };
  }
}

export function homeIn(surroundings: Surroundings | undefined, fingerprint: string): Home | null {
  return surroundings?.homes.get(fingerprint) ?? null;
}

/**
 * Whether an Alert that is present here was found to fire nowhere: what was told of it never arrived, or its end did
 * not arrive here. One that was moved a while ago is on its way to another Alert Group with all that its feeds said.
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
