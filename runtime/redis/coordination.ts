import { safeParse } from 'valibot';
import {
  type Coordination,
  CoordinationUnavailableError,
  DuplicateReplicaError,
  type Member,
} from '../placement/coordination.ts';
import { LEASE_TTL } from '../placement/lease-times.ts';
import type { Connection } from './connection.ts';
import { meetingKeys } from './keys.ts';
import { BeatAnswer } from './picture.ts';
import { readScript, runScript, type ScriptName } from './script.ts';

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
