/** The check `replicas`: who runs, in which versions, who leads, and whether every shard has a living owner. */
import {
  LIVE_FOR,
  type RecordView,
  type ReplicaView,
  readReplicaView,
} from '../../../storage/engine/replica-records.ts';
import { type Clock, MINUTE, type Micros, SECOND } from '../../clock.ts';
import { memberText } from '../../placement/coordination.ts';
import { type Check, counted, duration, type Finding, ok, some, warn } from './check.ts';
import type { ReadOnlyDatabase } from './database-checks.ts';

/** Nobody leads when the Leader's last sign of life is older (operations §5.4). */
const TOLERATED: Micros = 2 * MINUTE;
/** An owner that died is replaced in seconds; a record may be half a minute behind a start. */
const TAKEOVER: Micros = MINUTE;

/** The newest run of every replica that lives, by id. */
export function liveRecords({ records }: ReplicaView, now: Micros): readonly RecordView[] {
  const newest = records.filter(({ id }, index) => records[index - 1]?.id !== id);
  return newest.filter(({ refreshedAt }) => now - refreshedAt <= LIVE_FOR);
}

export function replicasCheck(database: ReadOnlyDatabase, clock: Clock): Check {
  return {
    name: 'replicas',
    needs: ['database', 'schema'],
    atWorst: 'FAIL',
    within: 10 * SECOND,
    run: async () => judgeReplicas(await database.read(readReplicaView), clock.now()),
  };
}

export function judgeReplicas(view: ReplicaView, now: Micros): Finding {
  const live = liveRecords(view, now);
  if (live.length === 0) {
    const { aliveMarkedAt: at } = view;
    return ok(`none runs${at === null ? '' : `; the last sign of life was ${duration(now - at)} ago`}`);
  }
  const wrong = [
    versionFault(live),
    leaderFault(live, view.aliveMarkedAt, now),
    orphanFault(view, live, now),
    silentFault(view, now),
  ].filter((fault) => fault !== null);
  const facts = summary(live, view.aliveMarkedAt, now);
  return wrong.length > 0 ? warn(`${facts}. ${wrong.join(' ')}`) : ok(facts);
}

function summary(live: readonly RecordView[], markedAt: Micros | null, now: Micros): string {
  const versions = [...new Set(live.map(({ version }) => version))].sort(inOrder);
  const leader = live.find(({ isLeader }) => isLeader);
  const sign = markedAt === null ? '' : `, sign of life ${duration(now - markedAt)} ago`;
  return `${counted(live.length, 'replica')} (${some(live.map(({ id }) => id))}), version ${versions.join(', ')}, Leader ${leader?.id ?? 'nobody'}${sign}`;
}

/** Rolling updates go from one minor version to the next (operations §15). */
function versionFault(live: readonly RecordView[]): string | null {
  const minors = [...new Set(live.map(({ version }) => minorOf(version)))].sort(inOrder);
  const [one, other, ...more] = minors;
  if (one === undefined || other === undefined) return null;
  if (more.length === 0 && areAdjacent(one, other)) return null;
  return `Versions ${minors.join(', ')} run together, and only two adjacent ones may: stop the oldest before you start newer ones.`;
}

/** 0.9 before 0.11. */
function inOrder(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function minorOf(version: string): string {
  return version.split('.', 2).join('.');
}

function areAdjacent(one: string, other: string): boolean {
  const [oneMajor, oneMinor] = one.split('.').map(Number);
  const [otherMajor, otherMinor] = other.split('.').map(Number);
  return oneMajor === otherMajor && Math.abs((oneMinor ?? 0) - (otherMinor ?? 0)) === 1;
}

function leaderFault(live: readonly RecordView[], markedAt: Micros | null, now: Micros): string | null {
  if (markedAt !== null && now - markedAt > TOLERATED)
    return `No replica has led for ${duration(now - markedAt)}: look for leader_task_failed, redis_unavailable and leadership_lost in the logs.`;
  const leaders = live.filter(({ isLeader }) => isLeader);
  const startedLately = live.every(({ startedAt }) => now - startedAt < TAKEOVER);
  if (leaders.length === 0 && !startedLately)
    return 'No replica says that it leads. After a change of the Leader that lasts half a minute; after that look at the check redis.';
  if (leaders.length > 1)
    return `${some(leaders.map(({ id }) => id))} say that they lead. That lasts half a minute after a change of the Leader, and 2 min after a Leader was killed; then look for redis_unavailable in their logs.`;
  return null;
}

function orphanFault({ shards }: ReplicaView, live: readonly RecordView[], now: Micros): string | null {
  const owners = new Set(live.map(memberText));
  const orphans = shards.filter(
    ({ owner, takenAt }) => (owner === null || !owners.has(owner)) && now - (takenAt ?? 0) > TAKEOVER,
  );
  if (orphans.length === 0) return null;
  const owned = [...new Set(orphans.map(({ owner }) => owner ?? 'nobody'))];
  return `Owned by nobody who lives: ${counted(orphans.length, 'shard')} (owner by record: ${some(owned)}). A takeover lasts 5 s, or 2 min while Redis is away; after that restart the replicas one by one.`;
}

/** A run that ended cleanly removes its record. */
function silentFault({ records }: ReplicaView, now: Micros): string | null {
  const live = new Set(liveRecords({ records, shards: [], aliveMarkedAt: null }, now).map(({ id }) => id));
  const silent = records.filter(({ id, refreshedAt }) => now - refreshedAt > LIVE_FOR && !live.has(id));
  if (silent.length === 0) return null;
  const names = silent.map((record) => `${memberText(record)} ${duration(now - record.refreshedAt)}`);
  return `Silent: ${some(names)}. They ended without a goodbye or cannot reach the database; the Leader forgets them after 1 h.`;
}
