/** An HA pair of real Alertmanagers that can be killed, stopped, started anew and reconfigured. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../harness/ports.ts';
import { until } from '../harness/until.ts';
import type { SentAlert } from './evaluator.ts';

/** ms; what `--dispatch.start-delay` does in newer versions: groups are not looked at before everything was re-sent. */
const START_DELAY = 2_500;

interface Instance {
  readonly name: string;
  readonly url: string;
  readonly folder: string;
  readonly words: readonly string[];
  child: ChildProcess | null;
  /** What waits for the end of the start delay, the newest of each alert; null once it is over. */
  held: Map<string, SentAlert> | null;
}

export class Pair {
  readonly #instances: readonly Instance[];

  private constructor(instances: readonly Instance[]) {
    this.#instances = instances;
  }

  /** @param config of the instance with this number, 1 or 2 */
  static async start(config: (instance: number) => string): Promise<Pair> {
    const [web1, web2, cluster1, cluster2] = (await freePorts(4)) as [number, number, number, number];
    const pair = new Pair([instance(1, web1, cluster1, cluster2), instance(2, web2, cluster2, cluster1)]);
    pair.#write(config);
    await Promise.all([pair.start(1), pair.start(2)]);
    return pair;
  }

  async start(number: number): Promise<void> {
    const one = this.#one(number);
    one.held = new Map();
    const child = spawn('/usr/bin/prometheus-alertmanager', one.words, { stdio: 'ignore' });
    one.child = child;
    await until(`${one.name} to be ready`, async () => {
      if (child.exitCode !== null) throw new Error(`${one.name} ended with ${child.exitCode}`);
      return (await fetch(`${one.url}/-/ready`)).ok;
    });
    setTimeout(() => void this.#release(one), START_DELAY);
  }

  async end(number: number, signal: 'SIGTERM' | 'SIGKILL', { wipe = false } = {}): Promise<void> {
    const one = this.#one(number);
    if (!one.child) throw new Error(`${one.name} does not run`);
    const gone = once(one.child, 'exit');
    one.child.kill(signal);
    one.child = null;
    await gone;
    if (wipe) rmSync(path.join(one.folder, 'data'), { recursive: true, force: true });
  }

  /** Gives alerts to one instance, as Prometheus does; false while it does not run. */
  async deliver(number: number, alerts: readonly SentAlert[]): Promise<boolean> {
    const one = this.#one(number);
    if (!one.child) return false;
    await this.#sendTo(one, alerts);
    return true;
  }

  /** SIGHUP to both, with another configuration. */
  reload(config: (instance: number) => string): void {
    this.#write(config);
    for (const { child } of this.#instances) child?.kill('SIGHUP');
  }

  /** @returns the silence's id */
  async silence(labels: Readonly<Record<string, string>>, milliseconds: number): Promise<string> {
    const now = Date.now();
    const answer = await fetch(`${this.#one(1).url}/api/v2/silences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        matchers: Object.entries(labels).map(([name, value]) => ({
          name,
          value,
          isRegex: false,
          isEqual: true,
        })),
        startsAt: new Date(now).toISOString(),
        endsAt: new Date(now + milliseconds).toISOString(),
        createdBy: 'somebody',
        comment: 'maintenance',
      }),
    });
    if (!answer.ok) throw new Error(`the silence was refused: ${await answer.text()}`);
    return ((await answer.json()) as { silenceID: string }).silenceID;
  }

  async expire(silence: string): Promise<void> {
    const answer = await fetch(`${this.#one(2).url}/api/v2/silence/${silence}`, { method: 'DELETE' });
    if (!answer.ok) throw new Error(`the silence did not expire: ${await answer.text()}`);
  }

  async close(): Promise<void> {
    for (const [index, { child, folder }] of this.#instances.entries()) {
      if (child) await this.end(index + 1, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #one(number: number): Instance {
    const found = this.#instances[number - 1];
    if (!found) throw new Error(`a pair has no instance ${number}`);
    return found;
  }

  #write(config: (instance: number) => string): void {
    for (const [index, { folder }] of this.#instances.entries()) {
      writeFileSync(path.join(folder, 'alertmanager.yml'), config(index + 1));
    }
  }

  async #release(one: Instance): Promise<void> {
    const held = [...(one.held?.values() ?? [])];
    one.held = null;
    if (one.child && held.length > 0) await this.#sendTo(one, held);
  }

  async #sendTo(one: Instance, alerts: readonly SentAlert[]): Promise<void> {
    if (one.held) {
      for (const alert of alerts) one.held.set(JSON.stringify(alert.labels), alert);
      return;
    }
    try {
      await fetch(`${one.url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
    } catch (error) {
      // It was killed meanwhile.
      if (one.child) throw error;
    }
  }
}

function instance(number: number, web: number, cluster: number, peer: number): Instance {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-recording-'));
  const words = [
    `--config.file=${path.join(folder, 'alertmanager.yml')}`,
    `--storage.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${web}`,
    `--web.external-url=http://alertmanager-${number}.example:9093/`,
    `--cluster.listen-address=127.0.0.1:${cluster}`,
    `--cluster.advertise-address=127.0.0.1:${cluster}`,
    `--cluster.peer=127.0.0.1:${peer}`,
    '--cluster.peer-timeout=500ms',
    '--cluster.gossip-interval=50ms',
    '--cluster.pushpull-interval=5s',
    '--cluster.settle-timeout=2s',
    '--cluster.reconnect-interval=1s',
    '--alerts.gc-interval=30s',
    '--log.level=error',
  ];
  return {
    name: `Alertmanager ${number}`,
    url: `http://127.0.0.1:${web}`,
    folder,
    words,
    child: null,
    held: null,
  };
}
