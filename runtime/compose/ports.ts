/**
 * Where a lower layer of the composition root needs what a higher one makes: the engine performs effects through channels
 * that call it back, and commits wake an intake that delivers to it. Each is a port that its maker fills once, before
 * anything is started.
 */
import type { DestinationProbe, MessageSend } from '../../actors/channels/calls.ts';
import type { ConnectionPerformed } from '../../actors/connection/effects.ts';
import type { Ingest } from '../../http/ingest/index.ts';
import type { ConfigurationWatch } from '../../storage/engine/configuration-watch.ts';
import { type Address, SHARDS, shardOf } from '../actor/index.ts';
import type { PublicId } from '../public-id.ts';

export interface Port<T> {
  /** @throws {Error} it was filled before */
  fill(value: T): void;
  /** @throws {Error} nothing is started before every port is filled, so this is a defect */
  get(): T;
}

export function createPort<T>(name: string): Port<T> {
  let filled: { readonly value: T } | null = null;
  return {
    fill(value) {
      if (filled) throw new Error(`The port ${name} is filled twice`);
      filled = { value };
    },
    get() {
      if (!filled) throw new Error(`The port ${name} is not filled`);
      return filled.value;
    },
  };
}

/** What committed turns ask of the channels. */
export interface ChannelCalls {
  sendMessage(effect: MessageSend | DestinationProbe): void;
  performForConnection(effect: ConnectionPerformed): void;
  /** Whether a call of a Destination of the shard is under way. */
  isCalling(shard: number): boolean;
  /** Drops what is kept of the settings of a Destination. */
  forgetSettings(destinationId: PublicId): void;
}

export interface Ports {
  /** Filled by the engine layer; tokens of Integrations are remembered below it. */
  readonly configuration: Port<Pick<ConfigurationWatch, 'isTrusted'>>;
  readonly channels: Port<ChannelCalls>;
  /** Filled by the HTTP layer. */
  readonly intake: Port<Pick<Ingest, 'stored'>>;
}

export function createPorts(): Ports {
  return {
    configuration: createPort('configuration'),
    channels: createPort('channels'),
    intake: createPort('intake'),
  };
}

const EVERY_SHARD = Array.from({ length: SHARDS }, (_, shard) => shard);

/** What a wake-up reaches: the engine of this process, and the owners of shards elsewhere. */
export interface Woken {
  poke(): void;
  call(shards: readonly number[]): void;
}

/**
 * Wakes the actors for which a message was stored. Until {@link Wake.attach} a wake-up is dropped: the engine reads all
 * stored messages when it starts.
 */
export interface Wake {
  /** Saves and what messengers report store messages for many actors: every shard's owner polls now. */
  everyone(): void;
  /** One actor's owner polls now: there are too many signals to wake every owner. */
  owner(of: Address): void;
  /** The engine of this process polls now. */
  here(): void;
  attach(woken: Woken): void;
}

export function createWake(): Wake {
  let woken: Woken | null = null;
  const wake = (shards: readonly number[]) => {
    woken?.poke();
    woken?.call(shards);
  };
  return {
    everyone: () => wake(EVERY_SHARD),
    owner: (of) => wake([shardOf(of)]),
    here: () => woken?.poke(),
    attach(attached) {
      woken = attached;
    },
  };
}
