/** The lowest layer of the composition root: what every other layer is given, and nothing that acts by itself. */

import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { createDirectory, type StoredDirectory } from '../../storage/configuration/directory.ts';
import { createLinkSource, type StoredLinks } from '../../storage/configuration/link-source.ts';
import { type Address, SHARDS, shardOf } from '../actor/index.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createRegistry } from '../metrics.ts';
import type { Member } from '../placement/coordination.ts';
import type { Version } from '../version.ts';
import { createPoolMetrics, type Database, type ServiceSettings } from './database.ts';
import { type Outbound, openOutbound } from './performer.ts';
import { type Readiness, readiness } from './readiness.ts';

const EVERY_SHARD = Array.from({ length: SHARDS }, (_, shard) => shard);

export interface ServiceDeps {
  readonly settings: ServiceSettings;
  readonly version: Version;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Wakes the actors for which a message was stored. It is made before the engine, so that what the engine is made of can
 * wake it. Until {@link Wake.attach} a wake-up is dropped: the engine reads all stored messages when it starts.
 */
export interface Wake {
  /** Saves and what messengers report store messages for many actors: every shard's owner polls now. */
  everyone(): void;
  /** One actor's owner polls now: there are too many signals to wake every owner. */
  owner(of: Address): void;
  /** @param polls called with the shards whose owners poll now; there is one, a second replaces the first */
  attach(polls: (shards: readonly number[]) => void): void;
}

export interface Ground extends ServiceDeps {
  readonly registry: Registry;
  /** This process among the replicas. */
  readonly me: Member;
  readonly directory: StoredDirectory;
  readonly links: StoredLinks;
  readonly outbound: Outbound;
  readonly state: Readiness;
  readonly wake: Wake;
}

/** Reads the configuration once and opens the outbound client. */
export async function openGround(deps: ServiceDeps): Promise<Ground> {
  const { settings, database, clock, log } = deps;
  const registry = createRegistry(deps.version);
  createPoolMetrics(registry).watch(database.pools);
  const me: Member = { id: settings.replicaId, boot: randomBytes(4).toString('hex') };
  const directory = createDirectory({ sql: database.main, clock, log });
  await directory.reload();
  const links = createLinkSource(database.main, clock);
  await links.reload();
  const outbound = await openOutbound({ ...deps, registry });
  const state = readiness(database.main, clock);
  return { ...deps, registry, me, directory, links, outbound, state, wake: createWake() };
}

export function createWake(): Wake {
  let polls: ((shards: readonly number[]) => void) | null = null;
  return {
    everyone: () => polls?.(EVERY_SHARD),
    owner: (of) => polls?.([shardOf(of)]),
    attach(attached) {
      polls = attached;
    },
  };
}
