/**
 * Whether turns were decided with the configuration that counts. Several replicas change it, and each decides with what
 * it remembers; the commit finds out when that is too old, so that a Snapshot or a Command that comes after a change was
 * answered is judged with the change, on every replica (routes §5 rule 5).
 */
import { OutdatedError } from '../runtime/actor/index.ts';
import type { Transaction } from './records.ts';

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
