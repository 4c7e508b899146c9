/** The feed as the engine runs it: one sender's group of one Integration (ingestion §5.1). */
import {
  type ActorDefinition,
  begin,
  persistSnapshot,
  restoreSnapshot,
  step,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import type { Directory } from '../directory.ts';
import { type AlertMapper, createAlertMappers } from './alert-mapper.ts';
import { NO_COUNTS } from './effects.ts';
import { fallSilent, handleSnapshot, isKnown, mustVerify, verdictOn } from './handle-snapshot.ts';
import { integrationOf } from './identity.ts';
import { handleInternal } from './internal.ts';
import { type FeedState, feedMachine, type NamedEnd } from './machine.ts';
import { type AlertsEnded, FEED, type FeedMessage, type SnapshotReceived } from './messages.ts';
import type { Places } from './ports.ts';
import { prepareTurn } from './prepare.ts';
import { type FeedRows, isEnding, isListedWhileEnding, type Presence, UNSURE } from './rows.ts';
import { MANY_ENTRIES } from './snapshot.ts';
import {
  createTellSample,
  type FeedActor,
  type FeedTurn,
  keep,
  presencesChanged,
  report,
  settled as snapshotSettled,
  type TellSample,
  turn,
  unchanged,
} from './turn.ts';

export interface FeedDependencies {
  readonly directory: () => Directory;
  readonly places: Places;
}

const INTEGRATION_DELETED = 'the Integration was deleted';

/** Defines the actor kind `feed`; its rows come from the loader in storage/snapshots/feeds.ts. */
export function createFeedActor(
  dependencies: FeedDependencies,
): ActorDefinition<FeedState, FeedRows, FeedMessage> {
  const mapperOf = createAlertMappers();
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
    isLarge(message) {
      if (message.type === 'ended') return message.fingerprints.length >= MANY_ENTRIES;
      return message.type === 'snapshot' && message.snapshot.isLarge;
    },
    prepare(actor, message) {
      if (message.type !== 'snapshot') return null;
      const mapper = mapperFor(actor, message);
      if (mapper === null) return null;
      if (mapper.integration.builtin) return prepareTurn(actor, message, mapper, dependencies.places, false);
      const verdict = verdictOn(actor.state, message, mapper);
      const verifies = mustVerify(actor.state, message.receivedAt, verdict);
      if (!verifies && isKnown(actor, message, mapper, verdict)) return null;
      return prepareTurn(actor, message, mapper, dependencies.places, verifies);
    },
    receive(actor, message, env) {
      switch (message.type) {
        case 'snapshot':
          return hearSnapshot(actor, message, env, mapperFor(actor, message), tellSample);
        case 'ended':
          return forget(actor, message, dependencies.directory());
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
  function mapperFor(actor: FeedActor, { receivedAt }: SnapshotReceived): AlertMapper | null {
    const mapper = mapperOf(dependencies.directory(), integrationOf(actor.self.key));
    const deletedAt = mapper?.integration.deletedAt ?? null;
    return deletedAt !== null && receivedAt > deletedAt ? null : mapper;
  }
}

function hearSnapshot(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  mapper: AlertMapper | null,
  tellSample: TellSample,
): FeedTurn {
  if (mapper === null) return refuse(actor, message, env);
  if (mapper.integration.builtin) return handleInternal(actor, message, env, mapper);
  return handleSnapshot(actor, message, env, mapper, tellSample);
}

/**
 * Stored after its Integration was deleted: failed, and nothing of it is applied. A replay of what was processed stays
 * processed (ingestion §8).
 */
function refuse(actor: FeedActor, message: SnapshotReceived, env: TurnEnv): FeedTurn {
  const error = message.replayed ? null : INTEGRATION_DELETED;
  return {
    ...turn(actor.state),
    records: [snapshotSettled(message, env, error)],
    performs: [report(actor, message, NO_COUNTS, error, message.replayed)],
  };
}

/**
 * Drops presences of firings that ended. One that was listed anew since then stays; its home has judged the end that
 * was pending, so that repeats need no message again once a window was opened.
 */
function forget(actor: FeedActor, { fingerprints, at }: AlertsEnded, directory: Directory): FeedTurn {
  const isBuiltin = directory.integrationsById.get(integrationOf(actor.self.key))?.builtin === true;
  const removed: string[] = [];
  const settled: Presence[] = [];
  const ends: NamedEnd[] = [];
  for (const fingerprint of fingerprints) {
    const presence = actor.rows.get(fingerprint);
    if (presence === undefined) continue;
    if (presence.since <= at) {
      removed.push(fingerprint);
      if (!isBuiltin && !isEnding(presence)) ends.push([fingerprint, presence.startsAt]);
    } else if (!isBuiltin && isListedWhileEnding(presence)) settled.push({ ...presence, digest: UNSURE });
  }
  if (removed.length + settled.length === 0) return unchanged(actor.state);
  keep(actor.rows, { saved: settled, removed });
  return {
    ...turn(step(feedMachine, actor.state, { type: 'ended', ends }).snapshot),
    records: [presencesChanged(actor, settled, removed)],
  };
}

/** 2: `verifiedAt` in the context. 3: `openedBy`. 4: `namedEnds`, `endsElsewhere`. */
const SCHEMA = 4;

/** @throws for a schema that no version stored */
export function migrateFeed(persisted: unknown, from: number): unknown {
  if (![1, 2, 3].includes(from)) throw new Error(`no feed was ever stored with schema ${from}`);
  const stored = persisted as { readonly context: object };
  const added = { verifiedAt: null, openedBy: null, namedEnds: [], endsElsewhere: [] };
  return { ...stored, context: { ...added, ...stored.context } };
}
