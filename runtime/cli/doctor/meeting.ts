/** What replicas agreed on in Redis, read without changing it (operations §5.2). */
import * as v from 'valibot';
import { meetingKeys } from '../../redis/keys.ts';
import type { Client } from '../../redis/link.ts';

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
export async function readMeeting(client: Client, prefix: string): Promise<Meeting | null> {
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
