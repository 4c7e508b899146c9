/** What is done to the senders during the recorded day, and what is true meanwhile. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Configure, configurationFor } from './alertmanager-config.ts';
import type { Pair } from './pair.ts';
import type { Prometheuses } from './prometheus.ts';
import type { Disturbance, Line } from './recording.ts';

const BY_CLUSTER = ['alertname', 'cluster'];

/** Seconds; a second of the recording is a minute of the day. */
const AWAY = 3;

export interface Stage {
  readonly pair: Pair;
  readonly prometheuses: Prometheuses;
  readonly receiverPort: number;
  readonly truth: Line[];
  /** µs since the begin. */
  since(): number;
}

export const firstConfiguration = (receiverPort: number): Configure =>
  configurationFor(receiverPort, BY_CLUSTER);

export class Story {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Plays everything at its time; resolves when all is done. */
  async play(): Promise<void> {
    await Promise.all(
      this.#acts().map(async ([second, act]) => {
        await pause(second * 1000);
        await act();
      }),
    );
  }

  #acts(): readonly (readonly [second: number, act: () => unknown])[] {
    return [
      [70.3, () => this.#restart(1, 'SIGTERM')],
      [115.7, () => this.#restart(2, 'SIGKILL')],
      [150.1, () => this.#silence({ alertname: 'DiskFull', instance: 'db-3' }, 60, 600)],
      [185.4, () => this.#silence({ alertname: 'BackupOld' }, 100)],
      [240.2, () => this.#group(['alertname'])],
      [300.6, () => this.#restart(1, 'SIGKILL')],
      [330.8, () => this.#group(BY_CLUSTER)],
      [385.2, () => this.#restartPrometheus(1, 'SIGTERM', 0)],
      [430.9, () => this.#restart(2, 'SIGTERM')],
      [455.3, () => this.#cutFor(50)],
      [540.4, () => this.#rollingUpgrade()],
      [640.7, () => this.#restart(1, 'SIGKILL')],
      [690.2, () => this.#silence({ alertname: 'HighLatency', cluster: 'a' }, 80)],
      [700.6, () => this.#silence({ alertname: 'CpuHot', instance: 'web-3' }, 60, 400)],
      [745.1, () => this.#restartPrometheus(2, 'SIGKILL', 5)],
      [785.6, () => this.#restartBoth({ wipe: true })],
      [850.3, () => this.#group([...BY_CLUSTER, 'severity'])],
      [880.9, () => this.#group(BY_CLUSTER)],
      [905.4, () => this.#cutFor(35)],
      [980.2, () => this.#restartPrometheus(1, 'SIGKILL', 8)],
      [1030.5, () => this.#restart(1, 'SIGTERM')],
      [1085.1, () => this.#restartBoth({ wipe: false })],
      [1130.7, () => this.#reload('the same configuration again', BY_CLUSTER)],
      [1160.3, () => this.#silence({ alertname: 'CertificateEnds' }, 60)],
      [1200.8, () => this.#restart(2, 'SIGKILL')],
      [1260.6, () => this.#restart(1, 'SIGKILL', { wipe: true })],
      [1310.2, () => this.#reload('the same configuration again', BY_CLUSTER)],
    ];
  }

  async #restart(instance: number, signal: 'SIGTERM' | 'SIGKILL', { wipe = false } = {}): Promise<void> {
    this.#tell(`${signal} to ${instance}${wipe ? ', its data lost' : ''}`);
    this.#disturb('restarted');
    await this.#stage.pair.end(instance, signal, { wipe });
    await pause(AWAY * 1000);
    await this.#stage.pair.start(instance);
  }

  async #restartBoth({ wipe }: { readonly wipe: boolean }): Promise<void> {
    await Promise.all([this.#restart(1, 'SIGKILL', { wipe }), this.#restart(2, 'SIGKILL', { wipe })]);
  }

  async #rollingUpgrade(): Promise<void> {
    await this.#restart(1, 'SIGTERM');
    await pause(6_000);
    await this.#restart(2, 'SIGTERM');
  }

  /** It forgets since when everything fires; when it is away for longer than 4 s, what it told last runs out. */
  async #restartPrometheus(number: number, signal: 'SIGTERM' | 'SIGKILL', seconds: number): Promise<void> {
    this.#tell(`${signal} to Prometheus ${number}, away for ${seconds} s`);
    this.#disturb('prometheus_restarted');
    await this.#stage.prometheuses.end(number, signal);
    await pause(seconds * 1000);
    await this.#stage.prometheuses.begin(number);
  }

  async #silence(labels: Readonly<Record<string, string>>, seconds: number, setFor = seconds): Promise<void> {
    const { pair, truth, since } = this.#stage;
    this.#tell(`silence ${JSON.stringify(labels)}`);
    const at = since();
    const id = await pair.silence(labels, setFor * 1000);
    await pause(seconds * 1000);
    if (setFor > seconds) await pair.expire(id);
    truth.push({ kind: 'silenced', at, until: since(), labels });
    this.#tell(`silence over ${JSON.stringify(labels)}`);
  }

  async #cutFor(seconds: number): Promise<void> {
    const { truth, since } = this.#stage;
    const at = since();
    this.#reload('max_alerts 2', BY_CLUSTER, 2);
    await pause(seconds * 1000);
    this.#reload('max_alerts 0', BY_CLUSTER);
    truth.push({ kind: 'cut', at, until: since() });
  }

  #group(by: readonly string[]): void {
    this.#reload(`group_by ${by}`, by);
  }

  #reload(words: string, by: readonly string[], maxAlerts = 0): void {
    const { pair, receiverPort } = this.#stage;
    this.#tell(words);
    this.#disturb('reloaded');
    pair.reload(configurationFor(receiverPort, by, maxAlerts));
  }

  #disturb(what: Disturbance): void {
    const { truth, since } = this.#stage;
    truth.push({ kind: 'disturbed', at: since(), what });
  }

  #tell(text: string): void {
    const { truth, since } = this.#stage;
    console.log(`${(since() / 1e6).toFixed(1).padStart(6)}  ${text}`);
    truth.push({ kind: 'story', at: since(), text });
  }
}
