/** Worlds of several replicas broken on purpose: a simulation that does not notice them proves nothing. */
import type { ShardEpoch } from '../../runtime/actor/index.ts';
import { Database } from './database.ts';
import { SignalsBetween } from './sim-signals.ts';
import type { ReplicaSeams } from './simulate-replicas.ts';

/** Checks no epochs: whoever believes to own a shard commits. */
class Unfenced extends Database {
  protected override checkEpochs(): void {}
}

/** Refuses a stale owner and stores what it wanted all the same. */
class LateFence extends Database {
  override commit(...args: Parameters<Database['commit']>): void {
    super.commit(...args);
    super.checkEpochs(args[0].epochs);
  }

  protected override checkEpochs(): void {}
}

/** Loses every answer on its way to the table. */
class DeafTable extends Database {
  override takeReplies(): [] {
    return [];
  }
}

/** Gives the same answer to whoever asks for it again. */
class PostsTwice extends Database {
  override post(...args: Parameters<Database['post']>): void {
    super.post(...args);
    super.post(...args);
  }
}

/** Forgets until when an answer is waited for. */
class Patient extends Database {
  protected override store(...[sends]: Parameters<Database['store']>): void {
    super.store(sends.map((it) => (it.asker ? { ...it, asker: { ...it.asker, expiresAt: FAR_AWAY } } : it)));
  }
}

const FAR_AWAY = Number.MAX_SAFE_INTEGER;

/** Nothing arrives, and nobody is told that nothing does. */
class MuteSignals extends SignalsBetween {
  protected override carry(): void {}
}

export const REPLICA_MUTATIONS: Readonly<Record<string, ReplicaSeams>> = {
  'epochs are not checked': {
    plot: 'owners that do not know what they lost',
    database: () => new Unfenced(),
  },
  'epochs are checked after the fact': {
    plot: 'owners that do not know what they lost',
    database: () => new LateFence(),
  },
  'an ask is posted twice': { database: () => new PostsTwice() },
  'answers never arrive': { database: () => new DeafTable() },
  'a takeover keeps the epoch of the owner before': {
    wrapEpochs: (epochs) => ({
      ...epochs,
      raise: async (shards) => {
        const newest = await epochs.newest();
        return newest.filter(({ shard }) => shards.includes(shard)) satisfies readonly ShardEpoch[];
      },
    }),
  },
  'a process that was paused asks nobody before it calls': { stillOwns: async () => true },
  'shards are released before the engine has let go of them': {
    plot: 'moves on purpose',
    wrapPlacement: (placement) => ({
      isAlone: false,
      epochOf: (shard) => placement.epochOf(shard),
      owned: () => placement.owned(),
      followed: () => undefined,
      fenced: (lost) => placement.fenced(lost),
      onChange: (listener) =>
        placement.onChange(() => {
          placement.followed();
          listener();
        }),
    }),
  },
  'a Leader waits for nobody once Redis was emptied': {
    plot: 'Redis fails',
    wrapRecords: (records) => ({ ...records, live: async () => [] }),
  },
  'requests that expired are applied': {
    plot: 'a death without Redis',
    database: () => new Patient(),
  },
  'signals are lost, and nobody polls': { signals: (world) => new MuteSignals(world) },
  'epochs are never compared': {
    plot: 'owners that do not know what they lost',
    wrapEpochs: (epochs) => ({ ...epochs, newest: async () => [] }),
  },
  'the shards of a replica that died are adopted by nobody': {
    plot: 'a death without Redis',
    wrapRecords: (records) => ({ ...records, orphans: async () => [] }),
  },
};
