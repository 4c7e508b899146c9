/** Applies the part of a Snapshot that concerns this group (alert-groups §2, ingestion §5.1 and §6). */
import type { PublicId } from '../../../runtime/public-id.ts';
import { alertKey } from '../../model.ts';
import type { SnapshotPart } from '../messages.ts';
import type { Outside } from '../ports.ts';
import type { GroupTurn } from '../turn.ts';
import { hearEndings, hearFirings, listedSince, type NewFiring } from './entries.ts';
import { endFirings, fire, newlyFiring } from './firings.ts';
import { acceptanceIn, liveSlot, PassedOn, sameSlot } from './placing.ts';

/** A part is passed on at most this often; more means that two groups name each other. */
export const MAX_HOPS = 16;

export function receivePart(turn: GroupTurn, part: SnapshotPart, outside: Outside): void {
  if (part.hops > MAX_HOPS) throw new Error(`part of ${part.snapshotId} was passed on ${part.hops} times`);
  const passed = new PassedOn(turn, part, outside);
  const news = part.late ? [] : hearFirings(turn, part, passed, outside);
  place(turn, part, news, passed, outside);
  endFirings(turn, hearEndings(turn, part, passed, outside), part.receivedAt);
  passed.send();
}

/** Keeps the new firings that this group accepts; forwards the others to the group that their Slot names. */
function place(
  turn: GroupTurn,
  part: SnapshotPart,
  news: readonly NewFiring[],
  passed: PassedOn,
  outside: Outside,
): void {
  const slot = turn.state.stage === 'started' ? turn.state.slot : news[0]?.entry.slot;
  const acceptance = slot ? acceptanceIn(turn, slot, part.receivedAt, outside.slots) : 'none';
  const staying: NewFiring[] = [];
  for (const found of news) {
    const live = liveSlot(found.entry.slot, found.entry.report.labels, turn.directory);
    const belongs = slot !== undefined && sameSlot(slot, live);
    if (found.atHome || (belongs && acceptance !== 'none')) staying.push(found);
    else passed.entry({ ...found.entry, slot: live, history: found.history }, belongs);
  }
  if (staying.length === 0 || slot === undefined || acceptance === 'none') return;
  fire(
    turn,
    {
      alerts: staying.map((found, position) => firingAlert(turn, part, found, position, slot.routeId)),
      slot,
      receivedAt: part.receivedAt,
      tailsOf: null,
    },
    acceptance,
  );
}

function firingAlert(
  turn: GroupTurn,
  part: SnapshotPart,
  { entry, endedStart }: NewFiring,
  position: number,
  routeId: PublicId,
) {
  const { report } = entry;
  const { integrationId, receivedAt, feed, groupKey } = part;
  return newlyFiring(
    turn,
    turn.rows.get(alertKey(integrationId, report.fingerprint)),
    {
      integrationId,
      report,
      endedStart,
      lastSeenAt: receivedAt,
      feeds: { [feed]: { state: 'listed', since: listedSince(entry, part), groupKey } },
      senderGroups: [groupKey],
    },
    { position, routeId },
  );
}
