/** What the service is started with, whoever worked it out: `serve` from the environment, `quickstart` from a folder. */
import type { ListenAddress, Listener } from '../../http/listeners.ts';
import type { BootstrapAdmin } from '../../storage/access-ensure.ts';
import type { DatabaseSettings } from '../config.ts';
import type { LogLevel } from '../log.ts';
import type { MasterKey } from '../secrets/keyring.ts';

export interface ServiceSettings {
  readonly listen: Readonly<Record<Listener, ListenAddress>>;
  /** Address for people, without a trailing slash. */
  readonly publicUrl: string;
  /** Address for machines, without a trailing slash. */
  readonly ingestUrl: string;
  /** CIDR notation. */
  readonly trustedProxies: readonly string[];
  readonly database: DatabaseSettings;
  /** Where connections keep their session; the same as `database` unless a transaction pooler stands before it. */
  readonly sessionDatabase: DatabaseSettings;
  /** False behind a transaction pooler, which cannot keep prepared statements. */
  readonly prepareStatements: boolean;
  /** Connections of the main pool at most. */
  readonly poolMax: number;
  /** In the order of the list; the first becomes active on a new database. */
  readonly masterKeys: readonly MasterKey[];
  readonly bootstrap: BootstrapAdmin | null;
  /** Where several replicas meet; null for the only one. */
  readonly redis: { readonly url: string; readonly prefix: string } | null;
  readonly replicaId: string;
  /** Of the runbook links in Internal alerts; null for none. */
  readonly runbookBaseUrl: string | null;
  readonly logLevel: LogLevel;
  /** Whether accepted Snapshots are processed. Only the accept bench measures without. */
  readonly processing: 'on' | 'paused';
}
