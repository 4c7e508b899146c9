/** A second server of a cluster's database: it copies the first one, confirms every commit, and takes its place when told to. */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connect } from '../../storage/postgres/connection.ts';
import {
  embeddedSettings,
  type RunningPostgres,
  startEmbeddedPostgres,
} from '../../storage/postgres/embedded/embedded.ts';
import { copyPreparedDatabase } from './prepared.ts';

const NAME = 'standby';
const ACCESS = 'local all postgres trust\nlocal replication postgres trust\nlocal all all scram-sha-256\n';

export class StandbyServer {
  /** Where it listens. */
  readonly host: string;
  /** What the other server is started with: a commit is answered once this one has it. */
  readonly primarySettings: Readonly<Record<string, string>>;
  readonly #home: string;
  readonly #primary: string;
  #server: RunningPostgres | null = null;

  private constructor(home: string, host: string, primary: string) {
    this.#home = home;
    this.host = host;
    this.#primary = primary;
    this.primarySettings = {
      synchronous_standby_names: NAME,
      hba_file: path.join(primary, 'cluster', 'pair.conf'),
    };
  }

  /** Two copies of one database, not started. @param primary folder of the other server */
  static async prepare(home: string, primary: string): Promise<StandbyServer> {
    if (!(await copyPreparedDatabase(home)))
      throw new Error('A standby needs the prepared database of a run.');
    await writeOwned(home, 'standby.signal', '');
    for (const folder of [home, primary]) await writeOwned(folder, 'pair.conf', ACCESS);
    return new StandbyServer(home, (await embeddedSettings(home)).host, primary);
  }

  /** Begins to follow the other server, which runs. */
  async start(settings: Readonly<Record<string, string>>): Promise<void> {
    const { host, port } = await embeddedSettings(this.#primary);
    this.#server = await startEmbeddedPostgres({
      dataDir: this.#home,
      settings: {
        ...settings,
        hba_file: path.join(this.#home, 'cluster', 'pair.conf'),
        primary_conninfo: `host=${host} port=${port} user=postgres application_name=${NAME}`,
      },
    });
  }

  /** Makes it the one that takes writes. */
  async promote(): Promise<void> {
    const sql = connect(
      { ...this.#server!.settings, user: 'postgres', password: null },
      { max: 1, applicationName: 'promote', onStandby: true },
    );
    const asked = sql<{ done: boolean }[]>`select pg_promote(true, 120) as done`;
    const [row] = await asked.finally(() => sql.end({ timeout: 1 }));
    if (!row?.done) throw new Error('The standby was not promoted within 120 s.');
  }

  /** Stops or continues all its processes, if it runs. While they are stopped, no commit is confirmed. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    const main = this.#postmaster();
    if (main === null) return;
    const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number);
    const family = [main, ...children].filter((pid) => pid > 0);
    for (const pid of name === 'SIGSTOP' ? family : family.toReversed()) signalled(pid, name);
  }

  /** Ends it at once, without waiting, frozen or not. */
  killNow(): void {
    this.signal('SIGCONT');
    const main = this.#postmaster();
    if (main !== null) signalled(main, 'SIGQUIT');
  }

  #postmaster(): number | null {
    const file = path.join(this.#home, 'cluster', 'postmaster.pid');
    if (!existsSync(file)) return null;
    const main = Number(readFileSync(file, 'utf8').split('\n')[0]);
    return existsSync(`/proc/${main}`) ? main : null;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }
}

/** Makes a server's primary come back as a standby that follows nobody. */
export async function comesBackInRecovery(home: string): Promise<void> {
  await writeOwned(home, 'standby.signal', '');
}

/** One that has ended meanwhile needs no signal. */
function signalled(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function writeOwned(home: string, name: string, text: string): Promise<void> {
  const cluster = path.join(home, 'cluster');
  const file = path.join(cluster, name);
  const { uid, gid } = await stat(cluster);
  await writeFile(file, text);
  await chown(file, uid, gid);
  await chmod(file, 0o600);
}
