/** Gives a process a share of a core and no more, by a control group of Linux: what a small machine of its own were. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const GROUPS = '/sys/fs/cgroup';
/** Of the scheduler, µs: so short that nobody stands still for long. */
const PERIOD = 20_000;

/** A share of a core for one process; ends with {@link Share.end}. */
export class Share {
  readonly #folder: string;

  /**
   * @param share of one core: 0.25 is a quarter
   * @throws when this machine does not let us make control groups; the text says what it takes
   */
  constructor(pid: number, share: number) {
    const isFirstVersion = existsSync(`${GROUPS}/cpu`);
    this.#folder = path.join(GROUPS, isFirstVersion ? 'cpu' : '', `tocsin-bench-${pid}`);
    const quota = Math.round(PERIOD * share);
    try {
      mkdirSync(this.#folder);
      if (isFirstVersion) {
        this.#write('cpu.cfs_period_us', PERIOD);
        this.#write('cpu.cfs_quota_us', quota);
      } else this.#write('cpu.max', `${quota} ${PERIOD}`);
      this.#write('cgroup.procs', pid);
    } catch (error) {
      throw new Error(
        `Shares of a core need a writable ${GROUPS} with the cpu controller: run the bench as root. ${String(error)}`,
      );
    }
  }

  /** Once the process is gone; a control group outlives its last member by a moment. */
  async end(): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        rmdirSync(this.#folder);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || tries === 50) throw error;
        await pause(20);
      }
    }
  }

  #write(file: string, value: string | number): void {
    writeFileSync(path.join(this.#folder, file), String(value));
  }
}
