/** Starts the bare loop of a burst on the data of an installation that stands still, as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from '../../storage/postgres/connection.ts';
import { embeddedSettings } from '../../storage/postgres/embedded/embedded.ts';
import { committed } from '../installation.ts';
import { cpuSeconds, postgresCpuSeconds } from '../processor-time.ts';

/**
 * @param home the data folder of the installation
 * @param post where each message is posted, and with what credentials; empty: those of the address
 * @param template the title of a group whose rows are written again
 * @throws when it ends before it listens
 */
export async function startLoop(
  home: string,
  post: { readonly url: string; readonly authorization: string },
  template: string,
) {
  const file = path.join(import.meta.dirname, 'burst-loop.ts');
  const postgres = path.join(home, 'postgres');
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=32', file, postgres, post.url, post.authorization, template],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const first = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const port = await Promise.race([first.then(([line]) => line), ended.then(() => null)]);
  if (port === null) throw new Error('The bare loop ended before it listened.');
  const sql = connect(await embeddedSettings(postgres), { max: 1, applicationName: 'bench' });
  return {
    url: `http://127.0.0.1:${port}/`,
    cpuSeconds: () => cpuSeconds(child.pid ?? 0),
    postgresCpuSeconds: () => postgresCpuSeconds(home),
    transactions: () => committed(sql),
    async stop(): Promise<void> {
      await sql.end();
      child.kill('SIGTERM');
      await ended;
    },
  };
}
