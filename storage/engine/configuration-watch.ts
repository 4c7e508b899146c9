/**
 * Keeps what a process remembers of the configuration in step with what is stored, whoever changed it: a change counts
 * on every replica from the next request on (api §1.2 rule 10), and is seen within a second where nobody asks.
 */
import { OutdatedError } from '../../runtime/actor/index.ts';
import { type Clock, type Micros, type Monotonic, SECOND, type Timer } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { POLL_EVERY } from '../../runtime/placement/lease-times.ts';
import { shareNext } from '../../runtime/share-next.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

/** Columns of `configuration_versions`. */
const PARTS = ['directory', 'webhooks', 'integration_tokens', 'outbound_policy', 'links', 'keyring'] as const;
export type ConfigurationPart = (typeof PARTS)[number];

/** What is remembered counts for this long after it was last found to be current. */
const TRUSTED_FOR: Micros = 2 * POLL_EVERY;
/** A look without an answer for longer is left behind: one silent connection must not keep every request waiting. */
const SHARED_FOR: Micros = 1.5 * SECOND;

export interface ConfigurationWatch {
  /**
   * Resolves when everything remembered shows what was stored at the time of the call.
   * @throws when the database does not answer, or something could not be read again
   */
  look(): Promise<void>;
  /** Whether what is remembered was found to be current a moment ago. False after a pause of the process, too. */
  isTrusted(): boolean;
  start(): void;
  stop(): void;
}

export interface ConfigurationWatchDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
  /** Brings what is remembered of a part to this version at least. Called when it changed, and once at the beginning. */
  readonly follow: Readonly<Record<ConfigurationPart, (version: number) => void | Promise<void>>>;
}

type Versions = Readonly<Record<ConfigurationPart, number>>;

export function createConfigurationWatch(deps: ConfigurationWatchDeps): ConfigurationWatch {
  const { sql, clock, monotonic, follow, log } = deps;
  const reached = new Map<ConfigurationPart, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let timer: Timer | null = null;
  let isStopped = false;

  const reach = async (part: ConfigurationPart, version: number) => {
    if (reached.get(part) === version) return;
    await follow[part](version);
    reached.set(part, version);
  };
  const lookOnce = async () => {
    const begun = monotonic();
    const stored = await readVersions(sql);
    // A look that was left behind may put back what a later one found: the next one sees that by the version.
    await Promise.all(PARTS.map((part) => reach(part, stored[part])));
    lookedAt = Math.max(lookedAt, begun);
  };
  const look = shareNext(lookOnce, { clock, longest: SHARED_FOR });

  const lookNow = async () => {
    try {
      await look();
      isFailing = false;
    } catch (error) {
      // The next look repeats it; meanwhile nothing is trusted for long.
      if (!isFailing) log('store_read_failed', { what: 'configuration', error: String(error) });
      isFailing = true;
    }
  };
  const rounds = () => {
    timer = clock.after(POLL_EVERY, () => void lookNow().then(() => isStopped || rounds()));
  };

  return {
    look,
    isTrusted: () => monotonic() - lookedAt < TRUSTED_FOR,
    start() {
      void lookNow();
      rounds();
    },
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}

/** For a process that is alone: what it remembers changes only with what it saves itself. */
export const noConfigurationWatch: ConfigurationWatch = {
  look: async () => undefined,
  isTrusted: () => true,
  start: () => undefined,
  stop: () => undefined,
};

async function readVersions(sql: Sql): Promise<Versions> {
  const [row] = await sql<Versions[]>`
    select directory, webhooks, integration_tokens, outbound_policy, links, keyring
    from configuration_versions`;
  if (!row) throw new Error('configuration_versions has no row: the schema is incomplete');
  return row;
}

/**
 * Whether turns were decided with the configuration that counts. Several replicas change it, and each decides with what
 * it remembers; the commit finds out when that is too old, so that a Snapshot or a Command that comes after a change was
 * answered is judged with the change, on every replica (routes §5 rule 5).
 */
export interface Decisions {
  /**
   * Within the commit of turns, the first of which was decided with this version.
   * @throws {OutdatedConfiguration} a later one is stored
   */
  check(tx: Transaction, decidedWith: number): Promise<void>;
  /** Reads the configuration again: what runs from then on is decided with it. */
  catchUp(outdated: OutdatedConfiguration): Promise<void>;
}

export class OutdatedConfiguration extends OutdatedError {
  override readonly name = 'OutdatedConfiguration';
  /** The version that is stored. */
  readonly version: number;

  constructor(decidedWith: number, version: number) {
    super(`decided with version ${decidedWith} of the configuration, which is at ${version}`);
    this.version = version;
  }
}

/** @param configuration what turns are decided with: the Directory as this process has it */
export function createDecisions(configuration: { reach(version: number): Promise<void> }): Decisions {
  return {
    async check(tx, decidedWith) {
      const [stored] = await tx<{ version: number }[]>`
        select directory as version from configuration_versions`;
      if (!stored) throw new Error('configuration_versions has no row: the schema is incomplete');
      if (stored.version > decidedWith) throw new OutdatedConfiguration(decidedWith, stored.version);
    },
    catchUp: ({ version }) => configuration.reach(version),
  };
}
