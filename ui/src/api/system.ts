/** The state of the service itself, and what everybody should know right now (api §18). */
import type { Answer, ApiClient } from './client.ts';
import type { EntityRef, Instant, Items } from './shapes.ts';

export interface SystemNotice {
  /** `recovering_after_downtime`, `no_replica_leading`; a newer server may send more. */
  readonly kind: string;
  readonly since: string;
  readonly until: string | null;
}

export interface Queue {
  readonly waiting: number;
  readonly oldest_at: string | null;
}

export interface SystemStatus {
  readonly version: string;
  readonly commit: string;
  readonly replicas: readonly {
    readonly id: string;
    readonly leader: boolean;
    readonly key_ids: readonly string[];
    readonly refreshed_at: string;
  }[];
  readonly coordination: {
    readonly mode: 'single' | 'redis';
    readonly redis_up: boolean | null;
    /** When all of this was read, by the clock of the service. */
    readonly read_at: string;
    readonly replicas: readonly {
      readonly id: string;
      readonly version: string;
      readonly started_at: string;
      readonly shards: number;
    }[];
    readonly shards: {
      readonly total: number;
      readonly without_owner: number;
      readonly taken_last_hour: number;
    };
    readonly queues: { readonly snapshots: Queue; readonly inbox: Queue };
  };
  readonly recovery: {
    readonly active: boolean;
    readonly period_from: string | null;
    readonly period_to: string | null;
    readonly until: string | null;
  };
  readonly delivery_queues: readonly { readonly destination: EntityRef; readonly queued: number }[];
  readonly broken_destinations: readonly {
    readonly destination: EntityRef;
    readonly since: string;
    readonly reason: string;
  }[];
  readonly integrations_attention: readonly {
    readonly integration: EntityRef;
    readonly issue: string;
    readonly since: string;
  }[];
  readonly template_errors: readonly {
    readonly subject_kind: 'route' | 'destination';
    readonly subject: EntityRef;
    readonly template: string;
    readonly since: string;
    readonly error: string;
  }[];
  readonly active_storms: readonly {
    readonly route: EntityRef;
    readonly since: string;
    readonly alert_group_count: number;
  }[];
  readonly outgoing_heartbeat: {
    readonly configured: boolean;
    readonly last_attempt_at: string | null;
    readonly last_ok: boolean | null;
    readonly last_error: string | null;
  };
}

/** A master key of the installation; the key itself is never sent. */
export interface MasterKeyUse {
  readonly id: string;
  readonly active: boolean;
  /** Ids of live replicas. */
  readonly held_by: readonly string[];
  readonly missing_on: readonly string[];
  readonly needed: boolean;
  readonly removable: boolean;
}

/** The active key first. */
export interface Keyring {
  readonly keys: readonly MasterKeyUse[];
}

/** One actor as it is now, and what it was given since it was loaded, the newest first. */
export interface ActorState {
  readonly kind: string;
  readonly key: string;
  readonly replica: string | null;
  /** As XState writes it: a name, or names within names. */
  readonly state: unknown;
  readonly schema: number;
  readonly version: number;
  readonly wake_at: Instant | null;
  readonly messages: readonly {
    readonly at: Instant;
    readonly type: string;
    /** Kind of the actor that sent it; null from outside. */
    readonly from: string | null;
  }[];
}

export type SystemApi = ReturnType<typeof createSystemApi>;

export function createSystemApi(client: ApiClient) {
  return {
    notices: (): Promise<Answer<Items<SystemNotice>>> => client.get('/system-notices'),
    status: (): Promise<Answer<SystemStatus>> => client.get('/system-status'),
    keyring: (): Promise<Answer<Keyring>> => client.get('/organization/keyring'),
    actor: (kind: string, key: string): Promise<Answer<ActorState>> =>
      client.get(`/actors/${encodeURIComponent(kind)}/${encodeURIComponent(key)}`),
  };
}
