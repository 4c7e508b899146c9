/** The feed as the engine runs it: one sender's group of one Integration (ingestion §5.1). */
import {
  type ActorDefinition,
  begin,
  persistSnapshot,
  restoreSnapshot,
  step,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Directory } from '../directory.ts';
import { NO_COUNTS } from './effects.ts';
import { fallSilent } from './fall-silent.ts';
import { integrationOf } from './feed-key.ts';
import { hear, isKnown, mustVerify, verdictOn } from './hear.ts';
import { hearInternal } from './hear-internal.ts';
import { type FeedState, feedMachine } from './machine.ts';
import { FEED, type FeedMessage, type SnapshotReceived } from './messages.ts';
import { migrateFeed, SCHEMA } from './migrate.ts';
import type { Homes, Slots } from './ports.ts';
import { prepareTurn } from './prepare.ts';
import { createTellers, type Teller } from './reports.ts';
import type { FeedRows } from './rows.ts';
import { createTellSample, type TellSample } from './tell-integration.ts';
import { type FeedActor, type FeedTurn, presencesChanged, report, settled, turn, unchanged } from './turn.ts';

export interface FeedDependencies {
  readonly directory: () => Directory;
  readonly homes: Homes;
  readonly slots: Slots;
}

const INTEGRATION_DELETED = 'the Integration was deleted';

/** Defines the actor kind `feed`; its rows come from the loader in storage/feeds.ts. */
export function createFeedActor(
  dependencies: FeedDependencies,
): ActorDefinition<FeedState, FeedRows, FeedMessage> {
  const tellerOf = createTellers();
  const tellSample = createTellSample();

  return {
    kind: FEED,
    schema: SCHEMA,
    migrate: migrateFeed,
    start: () => begin(feedMachine),
    restore: (persisted) => restoreSnapshot(feedMachine, persisted),
    persist: (state) => persistSnapshot(feedMachine, state),
    emptyRows: () => new Map(),
    weight: (_state, rows) => 1 + rows.size,
    prepare(actor, message) {
      if (message.type !== 'snapshot') return null;
      const teller = tellerFor(actor, message);
      if (teller === null) return null;
      if (teller.integration.builtin) return prepareTurn(actor, message, teller, dependencies, false);
      const verdict = verdictOn(actor.state, message, teller);
      const verifies = mustVerify(actor.state, message.receivedAt, verdict);
      if (!verifies && isKnown(actor.state, message.snapshot, teller, verdict)) return null;
      return prepareTurn(actor, message, teller, dependencies, verifies);
    },
    receive(actor, message, env) {
      switch (message.type) {
        case 'snapshot':
          return hearSnapshot(actor, message, env, tellerFor(actor, message), tellSample);
        case 'ended':
          return forget(actor, message.fingerprints, message.at);
        case 'silent':
          return fallSilent(actor, message);
        case 'wake':
          return unchanged(actor.state);
        default:
          return message satisfies never;
      }
    },
  };

  /** Null for a Snapshot that came after its Integration was deleted, or after all that was before is done with. */
  function tellerFor(actor: FeedActor, { receivedAt }: SnapshotReceived): Teller | null {
    const teller = tellerOf(dependencies.directory(), integrationOf(actor.self.key));
    const deletedAt = teller?.integration.deletedAt ?? null;
    return deletedAt !== null && receivedAt > deletedAt ? null : teller;
  }
}

function hearSnapshot(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  teller: Teller | null,
  tellSample: TellSample,
): FeedTurn {
  if (teller === null) return refuse(actor, message, env);
  if (teller.integration.builtin) return hearInternal(actor, message, env, teller);
  return hear(actor, message, env, teller, tellSample);
}

/**
 * Stored after its Integration was deleted: failed, and nothing of it is applied. A replay of what was processed stays
 * processed (ingestion §8).
 */
function refuse(actor: FeedActor, message: SnapshotReceived, env: TurnEnv): FeedTurn {
  const error = message.replayed ? null : INTEGRATION_DELETED;
  return {
    ...turn(actor.state),
    records: [settled(message, env, error)],
    performs: [report(actor, message, NO_COUNTS, error, message.replayed)],
  };
}

/** Drops presences of firings that ended; one that was listed anew since then stays. */
function forget(actor: FeedActor, fingerprints: readonly string[], at: Micros): FeedTurn {
  const removed = fingerprints.filter((fingerprint) => {
    const presence = actor.rows.get(fingerprint);
    return presence !== undefined && presence.since <= at;
  });
  if (removed.length === 0) return unchanged(actor.state);
  for (const fingerprint of removed) actor.rows.delete(fingerprint);
  return {
    ...turn(step(feedMachine, actor.state, { type: 'ended' }).snapshot),
    records: [presencesChanged(actor, [], removed)],
  };
}
