/** The check `redis`: whether replicas can meet there, and whether what they agreed on fits who lives. */
import * as v from 'valibot';
import { type RecordView, readReplicaView } from '../../../storage/engine/replica-records.ts';
import { SHARDS } from '../../actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../clock.ts';
import { createTrust } from '../../outbound/trust.ts';
import { memberText } from '../../placement/coordination.ts';
import { describeAddress, parseRedisUrl, REDIS_URL_RULE, type RedisAddress } from '../../redis/address.ts';
import { meetingKeys } from '../../redis/coordination.ts';
import { type Client, failureOf, type Link, openLink, RedisFailure } from '../../redis/link.ts';
import { inspectServer, locate } from '../../redis/server.ts';
import {
  type Check,
  counted,
  type Finding,
  fail,
  milliseconds,
  ok,
  reasonOf,
  some,
  unlessWrong,
  warn,
} from './check.ts';
import { DOCTOR, type ReadOnlyDatabase } from './database-checks.ts';
import { liveRecords } from './replicas-check.ts';

/** Slower round trips make beats late, µs. */
const SLOW: Micros = SECOND / 10;
const ROUND_TRIPS = 3;
/** A move of shards is over by then: what is still wrong at the second look is wrong, µs. */
const SECOND_LOOK: Micros = 2 * SECOND;

export interface RedisCheckDeps {
  /** Null: one replica. */
  readonly url: string | null;
  readonly prefix: string;
  readonly database: ReadOnlyDatabase;
  readonly clock: Clock;
}

export function redisCheck(deps: RedisCheckDeps): Check {
  const { url, database, clock } = deps;
  const live = async (): Promise<readonly RecordView[]> => {
    try {
      return liveRecords(await database.read(readReplicaView), clock.now());
    } catch {
      // Whether Redis can be used is worth knowing without the database, too; what is wrong there others say.
      return [];
    }
  };
  return {
    name: 'redis',
    needs: [],
    atWorst: 'FAIL',
    within: 30 * SECOND,
    async run() {
      if (url === null) return judgeSingle(await live());
      const address = parseRedisUrl(url);
      return address === null ? fail(`SVC_REDIS_URL ${REDIS_URL_RULE}`) : examine(address, deps, live);
    },
  };
}

/** Without Redis one process acts, and others wait for it to end. */
export function judgeSingle(live: readonly RecordView[]): Finding {
  const met = live.filter(({ hasRedis }) => hasRedis).map(({ id }) => id);
  if (met.length > 0)
    return warn(
      `SVC_REDIS_URL is not set here, and ${some(met)} use Redis: run the doctor with their environment.`,
    );
  if (live.length > 1)
    return warn(
      `${counted(live.length, 'replica')} have a fresh record (${some(live.map(({ id }) => id))}) and none uses Redis, so only one of them acts. Set SVC_REDIS_URL on all. The record of a killed one counts for 2 min.`,
    );
  return ok('SVC_REDIS_URL is not set: single-replica mode');
}

async function examine(
  address: RedisAddress,
  { prefix, clock }: RedisCheckDeps,
  live: () => Promise<readonly RecordView[]>,
): Promise<Finding> {
  const where = describeAddress(address);
  let link: Link | null = null;
  try {
    link = await openReader(address, clock);
    const { version } = await inspectServer(link);
    await requirePrimary(link);
    const roundTrip = await quickestPing(link, clock);
    const about = `${where}, version ${version}, answers in ${milliseconds(roundTrip)}`;
    let wrong = meetingFaults(await look(link, prefix), await live());
    if (wrong.length > 0) {
      await new Promise<void>((resolve) => void clock.after(SECOND_LOOK, resolve));
      wrong = meetingFaults(await look(link, prefix), await live());
    }
    if (roundTrip > SLOW) wrong.push(`${about}: beats of replicas come late. Run Redis near them.`);
    return unlessWrong(wrong, `${about}; members, Leader and shards fit`);
  } catch (error) {
    return fail(
      `${where}: ${reasonOf(failureOf(error))}. See that SVC_REDIS_URL names a running server of version 6.2 or newer.`,
    );
  } finally {
    link?.giveUp(new RedisFailure('looked'));
  }
}

async function openReader(address: RedisAddress, clock: Clock): Promise<Link> {
  const trust = address.tls ? createTrust()() : null;
  const at = await locate(address, trust, clock);
  const { credentials, database } = address;
  return openLink({ at, credentials, database, trust, name: DOCTOR.replace(' ', '-'), clock });
}

async function requirePrimary(link: Link): Promise<void> {
  const info = await link.call((client) => client.info('replication'));
  if (/^role:slave\r?$/m.test(info)) throw new RedisFailure('it copies another server and takes no writes');
}

async function quickestPing(link: Link, clock: Clock): Promise<Micros> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
    const asked = clock.now();
    await link.call((client) => client.ping());
    quickest = Math.min(quickest, clock.now() - asked);
  }
  return quickest;
}

const look = (link: Link, prefix: string) => link.call((client) => readMeeting(client, prefix));

/** What does not fit together. Nothing needs to be there while no replica runs. */
export function meetingFaults(meeting: Meeting | null, live: readonly RecordView[]): string[] {
  if (meeting === null)
    return ['Something else is kept under the keys of SVC_REDIS_PREFIX: give Tocsin a prefix of its own.'];
  const { members } = meeting;
  const apart = live.filter(({ hasRedis }) => !hasRedis).map(({ id }) => id);
  const absent = live
    .filter((record) => record.hasRedis && !members.has(memberText(record)))
    .map(({ id }) => id);
  return [
    apart.length > 0 && `${some(apart)} run without Redis beside the others: set SVC_REDIS_URL there.`,
    absent.length > 0 &&
      `${some(absent)} have a fresh record and no lease here: look for redis_unavailable in their logs, and whether they have this SVC_REDIS_URL and SVC_REDIS_PREFIX. The record of a killed one counts for 2 min.`,
    ...(members.size > 0 ? agreementFaults(meeting) : []),
  ].filter((fault) => fault !== false);
}

function agreementFaults({ members, leader, targets, grants }: Meeting): (string | false)[] {
  const ids = new Set([...members].map((member) => member.split('/', 1)[0]));
  const astray = targets?.filter((target) => target === null || !ids.has(target)).length ?? 0;
  const granted = [...grants.values()].filter((member) => members.has(member)).length;
  const ungranted = SHARDS - granted;
  return [
    leader === null && 'Nobody leads: some replica takes the lead within 4 s, unless all are about to stop.',
    leader !== null && !members.has(leader) && `${leader} leads and has no lease.`,
    targets === null && 'Shards are not assigned: look for leader_task_failed in the log of the Leader.',
    astray > 0 && `Assigned to replicas that do not live: ${counted(astray, 'shard')}.`,
    ungranted > 0 && `Granted to nobody who lives: ${counted(ungranted, 'shard')}.`,
  ];
}

/** All members as `id/boot`. */
export interface Meeting {
  /** Whose lease has not lapsed. */
  readonly members: ReadonlySet<string>;
  readonly leader: string | null;
  /** Id of the replica that shall act for a shard, by shard; null while there is no assignment. */
  readonly targets: readonly (string | null)[] | null;
  /** Who may act for a shard. */
  readonly grants: ReadonlyMap<number, string>;
}

const Lease = v.pipe(v.string(), v.parseJson(), v.object({ boot: v.string(), expiry: v.number() }));

const Assignment = v.pipe(v.string(), v.parseJson(), v.object({ targets: v.array(v.nullable(v.string())) }));

const Answers = v.tuple([
  v.pipe(
    v.tuple([v.string(), v.string()]),
    v.transform(([seconds, micros]) => Number(seconds) * 1000 + Number(micros) / 1000),
  ),
  v.record(v.string(), v.string()),
  v.nullable(v.string()),
  v.nullable(v.string()),
  v.record(v.string(), v.string()),
]);

/**
 * Reads everything at once, though not of one moment: that would take the right to begin transactions.
 * @returns null when something else is kept under these keys
 * @throws {Error} when Redis refuses to read
 */
async function readMeeting(client: Client, prefix: string): Promise<Meeting | null> {
  const keys = meetingKeys(prefix);
  const results = await client
    .pipeline()
    .time()
    .hgetall(keys.replicas)
    .get(keys.leader)
    .get(keys.assignment)
    .hgetall(keys.grants)
    .exec();
  const read = (results ?? []).map(([error, answer]) => {
    if (error && !error.message.startsWith('WRONGTYPE')) throw error;
    return error ? undefined : answer;
  });
  const time = Array.isArray(read[0]) ? read[0].map(String) : [];
  const answers = v.safeParse(Answers, [time, ...read.slice(1)]);
  return answers.success ? meetingOf(answers.output) : null;
}

function meetingOf([now, replicas, leader, assignment, grants]: v.InferOutput<typeof Answers>): Meeting {
  const members = Object.entries(replicas).flatMap(([id, text]) => {
    const lease = v.safeParse(Lease, text);
    return lease.success && lease.output.expiry > now ? [`${id}/${lease.output.boot}`] : [];
  });
  const assigned = v.safeParse(Assignment, assignment);
  return {
    members: new Set(members),
    leader,
    targets: assigned.success ? assigned.output.targets : null,
    grants: new Map(Object.entries(grants).map(([shard, member]) => [Number(shard), member])),
  };
}
