/** What this process does while it leads (operations §5.3). */
import type { HintBus } from '../../actors/effects.ts';
import type { SystemMetrics } from '../../actors/system/metrics.ts';
import { beat } from '../../actors/system/outgoing-heartbeat.ts';
import { createHeartbeatStore, markAlive, tellDowntime } from '../../storage/engine/signs-of-life.ts';
import { readGauges } from '../../storage/engine/system-status.ts';
import { tellUntold } from '../../storage/integrations/integrations.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { type Clock, formatInstant, SECOND } from '../clock.ts';
import { createLeaderTasks, type LeaderTask, type LeaderTasks } from '../leader-tasks.ts';
import type { Log } from '../log.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import type { Member } from '../placement/coordination.ts';
import type { Leadership } from '../placement/leadership.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type HousekeepingMetrics, housekeepingTasks } from './housekeeping.ts';

const MARK_EVERY = 10 * SECOND;
const READ_GAUGES_EVERY = 15 * SECOND;
const TELL_INTEGRATIONS_EVERY = 60 * SECOND;
/** A URL that was just set is tried at once; whether a minute has passed, the database knows. */
const LOOK_FOR_BEAT_EVERY = SECOND;

export interface LeaderDeps {
  readonly leadership: Leadership;
  readonly me: Member;
  readonly sql: Sql;
  readonly caller: OutboundCaller;
  readonly keyring: Pick<Keyring, 'open'>;
  readonly metrics: SystemMetrics;
  readonly housekeepingMetrics: HousekeepingMetrics;
  /** Looks whether the client secret of single sign-on ends soon. */
  readonly secretExpiry: LeaderTask;
  /** What bots need. */
  readonly forBots: readonly LeaderTask[];
  /** Makes the engine look into the inbox. */
  readonly poke: () => void;
  readonly hints: Pick<HintBus, 'send'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createLeader(deps: LeaderDeps): LeaderTasks {
  const { leadership, clock, log } = deps;
  const tasks = [
    aliveMark(deps),
    gauges(deps),
    untoldIntegrations(deps),
    outgoingHeartbeat(deps),
    deps.secretExpiry,
    ...deps.forBots,
    ...housekeepingTasks({ ...deps, metrics: deps.housekeepingMetrics }),
  ];
  return createLeaderTasks({ leadership, clock, log, tasks });
}

/**
 * The first one of a Leader finds the downtime that it ended, and tells the open Alert Groups; what an earlier Leader
 * left untold is told, too.
 */
function aliveMark({ me, sql, clock, log, hints, poke }: LeaderDeps): LeaderTask {
  return {
    name: 'alive_mark',
    every: MARK_EVERY,
    async run(goesOn) {
      const downtime = await markAlive(sql, me, clock.now());
      if (downtime !== null) {
        log('downtime_recorded', {
          started_at: formatInstant(downtime.startedAt),
          ended_at: formatInstant(downtime.endedAt),
          duration_seconds: Math.round((downtime.endedAt - downtime.startedAt) / SECOND),
        });
        hints.send({ type: 'system-notices', id: null });
        hints.send({ type: 'system-status', id: null });
      }
      while (goesOn() && (await tellDowntime(sql, clock.now()))) poke();
    },
  };
}

function gauges({ metrics, sql }: LeaderDeps): LeaderTask {
  return {
    name: 'gauges',
    every: READ_GAUGES_EVERY,
    run: async () => metrics.show(await readGauges(sql)),
  };
}

function outgoingHeartbeat({ sql, ...deps }: LeaderDeps): LeaderTask {
  const store = createHeartbeatStore(sql);
  return {
    name: 'outgoing_heartbeat',
    every: LOOK_FOR_BEAT_EVERY,
    run: () => beat({ ...deps, store }),
  };
}

/** What a replica of the previous release saved, its actor was not told. */
function untoldIntegrations({ sql, poke, clock }: LeaderDeps): LeaderTask {
  return {
    name: 'untold_integrations',
    every: TELL_INTEGRATIONS_EVERY,
    async run() {
      if ((await tellUntold(sql, clock.now())) > 0) poke();
    },
  };
}
