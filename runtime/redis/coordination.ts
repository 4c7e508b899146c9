import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { safeParse } from 'valibot';
import { SHARDS } from '../actor/index.ts';
import {
  type Coordination,
  CoordinationUnavailableError,
  DuplicateReplicaError,
  type Member,
  type Picture,
} from '../placement/coordination.ts';
import { LEASE_TTL } from '../placement/lease-times.ts';
import type { Connection } from './connection.ts';
import type { Client } from './link.ts';

/** Coordination through Redis: every call is one script, atomic there and one round trip (operations §5.2). */
export function createCoordination(connection: Connection, prefix: string): Coordination {
  const { replicas, leader, assignment, grants } = meetingKeys(prefix);
  const keys = [replicas, leader, assignment, grants];
  const channel = `${prefix}placement`;
  const scripts = {
    beat: readScript('beat'),
    assign: readScript('assign'),
    release: readScript('release'),
    leave: readScript('leave'),
  } satisfies Record<ScriptName, unknown>;
  const run = (name: ScriptName, me: Member, ...words: readonly (string | number)[]) =>
    connection.call((client) => runScript(client, scripts[name], keys, [channel, me.id, me.boot, ...words]));
  return {
    async beat(beat) {
      const answer = safeParse(
        BeatAnswer,
        await run('beat', beat, LEASE_TTL / 1000, beat.version, beat.isDraining ? 1 : 0, ...beat.holds),
      );
      if (!answer.success)
        throw new CoordinationUnavailableError('Redis answered a beat with something else.');
      if (answer.output === 'duplicate')
        throw new DuplicateReplicaError(`A replica ${beat.id} is running already.`);
      return answer.output;
    },
    async assign(me, generation, targets) {
      return (await run('assign', me, generation, JSON.stringify(targets))) === 1;
    },
    async release(me, shards) {
      if (shards.length > 0) await run('release', me, ...shards);
    },
    async leave(me) {
      await run('leave', me);
    },
    onChange(listener) {
      const stops = [connection.subscribe(channel, () => listener()), connection.onSession(listener)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/**
 * Format of what replicas keep where they meet. It is part of the names of the keys, so that releases with another format
 * leave each other's entries alone while a rolling update lasts. They meet in two places then: each grants every shard,
 * epochs decide, and quarrels are slowed down (`placement/contested-shards.ts`). So a new number is for what cannot be added in a
 * way that the scripts of the release before pass over.
 */
const FORMAT = 'v1';

export interface MeetingKeys {
  readonly replicas: string;
  readonly leader: string;
  readonly assignment: string;
  readonly grants: string;
}

/** Where the installation with this prefix keeps its leases, assignment and grants. */
export function meetingKeys(prefix: string): MeetingKeys {
  const key = (name: keyof MeetingKeys) => `${prefix}${FORMAT}.${name}`;
  return {
    replicas: key('replicas'),
    leader: key('leader'),
    assignment: key('assignment'),
    grants: key('grants'),
  };
}

/** What the beat script answers, in the shape of {@link Picture}. */
const Shard = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(SHARDS - 1));

const Replica = v.pipe(
  v.tuple([v.string(), v.string(), v.string(), v.picklist([0, 1])]),
  v.transform(([id, boot, version, draining]) => ({ id, boot, version, isDraining: draining === 1 })),
);

const MemberText = v.pipe(v.string(), v.transform(memberOf));

const Round = v.pipe(
  v.tuple([
    v.literal('ok'),
    v.array(Replica),
    v.nullable(MemberText),
    v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    v.nullable(v.pipe(v.array(v.nullable(v.string())), v.length(SHARDS))),
    v.array(Shard),
  ]),
  v.transform(
    ([, replicas, leader, generation, targets, granted]): Picture => ({
      replicas: replicas.sort((one, other) => (one.id < other.id ? -1 : 1)),
      leader,
      generation,
      targets,
      granted,
    }),
  ),
);

/** The picture, `duplicate` when another boot of this id has a lease. */
const BeatAnswer = v.union([
  v.pipe(
    v.tuple([v.literal('duplicate')]),
    v.transform(() => 'duplicate' as const),
  ),
  Round,
]);

/** The other way of {@link memberText}. */
function memberOf(text: string): Member {
  const [id = '', boot = ''] = text.split('/');
  return { id, boot };
}

/** A Lua script that the server keeps under its hash. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

type ScriptName = 'beat' | 'assign' | 'release' | 'leave';

/** Reads a script from `scripts/`, with what all of them begin with. */
function readScript(name: ScriptName): Script {
  const [common, own] = ['common', name].map((file) =>
    readFileSync(path.join(import.meta.dirname, 'scripts', `${file}.lua`), 'utf8'),
  );
  const lua = `${common}\n${own}`;
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** Runs it by its hash, and by its text when the server does not know it (yet, or after a flush). */
async function runScript(
  client: Client,
  { lua, sha }: Script,
  keys: readonly string[],
  words: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha, keys.length, ...keys, ...words);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return await client.eval(lua, keys.length, ...keys, ...words);
  }
}
