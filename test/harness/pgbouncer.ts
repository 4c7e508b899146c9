/** A real PgBouncer in transaction mode before a database of a test: many clients share few connections to the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSettings } from '../../runtime/config.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { freePorts } from './ports.ts';
import { until } from './until.ts';

/** Fewer than one replica opens to it. */
const SERVER_CONNECTIONS = 8;

export class PgBouncer {
  readonly port: number;
  readonly #file: string;
  readonly #server: DatabaseSettings;
  #child: ChildProcess | null = null;

  private constructor(port: number, file: string, server: DatabaseSettings) {
    this.port = port;
    this.#file = file;
    this.#server = server;
  }

  /** Started and in use. @param folder for its configuration; others may enter it */
  static async start(folder: string, server: DatabaseSettings): Promise<PgBouncer> {
    const [port] = await freePorts(1);
    const file = path.join(folder, `pgbouncer-${port}.ini`);
    writeFileSync(file, configuration(port!, server));
    const pooler = new PgBouncer(port!, file, server);
    await pooler.restart();
    return pooler;
  }

  /** Starts it, or starts it again after {@link kill}; resolves once a statement is answered through it. */
  async restart(): Promise<void> {
    // It refuses to run as root, and only the user of the server may enter the folder of its socket.
    const { uid, gid } = statSync(this.#server.host);
    const child = spawn('/usr/sbin/pgbouncer', ['-q', this.#file], {
      stdio: ['ignore', 'ignore', 'inherit'],
      ...(process.getuid?.() === 0 ? { uid, gid } : {}),
    });
    this.#child = child;
    const settings = { ...this.#server, host: '127.0.0.1', port: this.port };
    const sql = connect(settings, { max: 1, applicationName: 'pooler-test', prepare: false });
    try {
      await until('PgBouncer to answer', async () => {
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
        return (await sql`select 1`).length === 1;
      });
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** SIGKILL, and with it every connection through it. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}

function configuration(port: number, server: DatabaseSettings): string {
  const { host, database, user, password } = server;
  return [
    '[databases]',
    `${database} = host=${host} port=${server.port} user=${user} password='${password}'`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    'max_client_conn = 500',
    '',
  ].join('\n');
}
