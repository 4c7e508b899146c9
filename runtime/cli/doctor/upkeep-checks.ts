/** What keeps a running service well: clocks, partitions, and what waits to be worked on. */
import { INTEGRATION_ISSUES } from '../../../actors/integration/heartbeat.ts';
import { type Backlog, COUNTED_AT_MOST, readBacklog, type Waiting } from '../../../storage/engine/backlog.ts';
import { readReplicaView } from '../../../storage/engine/replica-records.ts';
import {
  type IntegrationAttention,
  readIntegrationAttention,
} from '../../../storage/engine/system-status.ts';
import { readDatabaseClock } from '../../../storage/postgres/database-check.ts';
import { missingPartitions, type Period } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import { type Clock, MINUTE, type Micros, SECOND } from '../../clock.ts';
import { type Check, counted, duration, type Finding, fail, ok, some, unlessWrong, warn } from './check.ts';
import type { ReadOnlyDatabase } from './database-checks.ts';
import { liveRecords } from './replicas-check.ts';

/** Clocks that are further apart are worth a word, µs (operations §7 rule 3). */
const SKEW: Micros = 2 * SECOND;
const LOOKS = 3;
/** What waits longer, or in larger numbers, does not keep up. */
const WAITS_LONG: Micros = MINUTE;
const WAITS_MANY = 10_000;

export function upkeepChecks(database: ReadOnlyDatabase, clock: Clock): readonly Check[] {
  const base = { needs: ['database', 'schema'], atWorst: 'FAIL', within: 10 * SECOND } as const;
  return [
    {
      ...base,
      name: 'clock_skew',
      needs: ['database'],
      atWorst: 'WARN',
      run: () => database.read(async (tx) => judgeSkew(await clockSkew(() => readDatabaseClock(tx), clock))),
    },
    {
      ...base,
      name: 'partitions',
      run: () =>
        database.read(async (tx) => {
          const now = clock.now();
          const missing = await missingPartitions(tx, now, PARTITIONED_TABLES);
          const live = liveRecords(await readReplicaView(tx), now);
          return judgePartitions(missing, live.length > 0, now);
        }),
    },
    {
      ...base,
      name: 'backlog',
      run: async () => {
        const now = clock.now();
        return judgeBacklog(await database.read((tx) => readBacklog(tx, now)), now);
      },
    },
    {
      ...base,
      name: 'integrations',
      atWorst: 'WARN',
      run: async () => judgeIntegrations(await database.read(readIntegrationAttention)),
    },
  ];
}

/**
 * How far this machine's clock is ahead of the database's, µs, half of the round trip taken off (operations §7 rule 3).
 * Of some looks the quickest counts.
 */
export async function clockSkew(databaseNow: () => Promise<Micros>, clock: Clock): Promise<Micros> {
  let best = { roundTrip: Number.POSITIVE_INFINITY, skew: 0 };
  for (let look = 0; look < LOOKS; look += 1) {
    const asked = clock.now();
    const theirs = await databaseNow();
    const roundTrip = clock.now() - asked;
    if (roundTrip < best.roundTrip) best = { roundTrip, skew: asked + roundTrip / 2 - theirs };
  }
  return best.skew;
}

/** @param skew of this machine, µs; positive: ahead of the database */
export function judgeSkew(skew: Micros): Finding {
  const text = `this machine is ${(Math.abs(skew) / SECOND).toFixed(3)} s ${skew < 0 ? 'behind' : 'ahead of'} the database`;
  return Math.abs(skew) > SKEW ? warn(`${text}: let NTP set the clocks of both.`) : ok(text);
}

/** @param isRunning a replica that is starting makes what is missing; one that runs refuses what belongs there */
export function judgePartitions(missing: readonly Period[], isRunning: boolean, now: Micros): Finding {
  if (missing.length === 0) return ok('there for today and the days ahead');
  const names = some(missing.map(({ name }) => name));
  if (!isRunning) return warn(`${names} do not exist yet: the next start makes them.`);
  const overdue = missing.some(({ from }) => from <= now);
  const remedy =
    'The Leader makes them hourly and at its start: look for partition_maintenance_failed in its log.';
  return overdue
    ? fail(`${names} do not exist, so what belongs there cannot be stored. ${remedy}`)
    : warn(`${names} do not exist yet. ${remedy}`);
}

export function judgeBacklog({ snapshots, messages, wakeUps }: Backlog, now: Micros): Finding {
  const late = [
    lateness('Waiting to be processed', 'Snapshot', snapshots, now),
    lateness('Waiting for their actors', 'message', messages, now),
    lateness('Due', 'wake-up', wakeUps, now),
  ].filter((fault) => fault !== null);
  if (late.length > 0)
    late.push('While no replica runs that is natural; otherwise look at the checks replicas and database.');
  const all = [
    counted(snapshots.count, 'Snapshot'),
    counted(messages.count, 'message'),
    counted(wakeUps.count, 'due wake-up'),
  ];
  return unlessWrong(late, `waiting: ${all.join(', ')}`);
}

const ISSUES: Readonly<Record<IntegrationAttention['issue'], readonly [says: string, remedy: string]>> = {
  heartbeat_lost: ['The Heartbeat is lost of', 'Look at the runbook of SvcHeartbeatLost.'],
  snapshot_truncated: ['Alerts are cut off by the sender of', 'Raise or remove max_alerts.'],
  snapshot_failed: [
    'Nobody is notified of bodies that are no Snapshots, from',
    '`tocsin ingest failed` says why.',
  ],
};

export function judgeIntegrations(attention: readonly IntegrationAttention[]): Finding {
  const wrong = INTEGRATION_ISSUES.flatMap((issue) => {
    const [says, remedy] = ISSUES[issue];
    const names = attention.flatMap((one) => (one.issue === issue ? [one.integration.name] : []));
    return names.length === 0 ? [] : [`${says} ${some(names)}. ${remedy}`];
  });
  return unlessWrong(wrong, 'none needs a look');
}

function lateness(what: string, noun: string, { count, since }: Waiting, now: Micros): string | null {
  const age = since === null ? 0 : now - since;
  if (count <= WAITS_MANY && age <= WAITS_LONG) return null;
  const orMore = count >= COUNTED_AT_MOST ? ' or more' : '';
  return `${what}: ${counted(count, noun)}${orMore}, the oldest for ${duration(age)}.`;
}
