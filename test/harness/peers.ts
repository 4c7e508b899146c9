/** Debian's Prometheus and Alertmanager as child processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from './ports.ts';
import { until } from './until.ts';

export interface Peer {
  readonly url: string;
  readonly folder: string;
  stop(): Promise<void>;
}

export interface AlertmanagerOptions {
  /** The whole configuration file. */
  readonly config: string;
  readonly clusterPort?: number;
  readonly clusterPeers?: readonly string[];
}

/** Starts an Alertmanager; alone unless a cluster port is given. */
export async function startAlertmanager(options: AlertmanagerOptions): Promise<Peer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-alertmanager-'));
  const config = path.join(folder, 'alertmanager.yml');
  writeFileSync(config, options.config);
  const [port] = await freePorts(1);
  const cluster = options.clusterPort ? `127.0.0.1:${options.clusterPort}` : '';
  const words = [
    `--config.file=${config}`,
    `--storage.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    `--cluster.listen-address=${cluster}`,
    ...(options.clusterPeers ?? []).map((peer) => `--cluster.peer=${peer}`),
    '--log.level=warn',
  ];
  return running(spawn('/usr/bin/prometheus-alertmanager', words), `http://127.0.0.1:${port}`, folder);
}

export interface PrometheusOptions {
  readonly config: string;
  /** File name → content, written beside the configuration. */
  readonly files: Readonly<Record<string, string>>;
}

export async function startPrometheus(options: PrometheusOptions): Promise<Peer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-prometheus-'));
  for (const [name, content] of Object.entries(options.files))
    writeFileSync(path.join(folder, name), content);
  const config = path.join(folder, 'prometheus.yml');
  writeFileSync(config, options.config);
  const [port] = await freePorts(1);
  const words = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--web.enable-lifecycle',
    '--rules.alert.resend-delay=1s',
    '--log.level=warn',
  ];
  return running(spawn('/usr/bin/prometheus', words), `http://127.0.0.1:${port}`, folder);
}

async function running(child: ChildProcess, url: string, folder: string): Promise<Peer> {
  const said: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  child.stdout?.resume();
  await until(`${url} to be ready`, async () => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${said.join('')}`);
    return (await fetch(`${url}/-/ready`)).ok;
  });
  return {
    url,
    folder,
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
