/**
 * An HA pair of real Prometheuses: both scrape the recorder, which says what is the case, evaluate rules every second and
 * send to both Alertmanagers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { freePorts } from '../harness/ports.ts';
import { until } from '../harness/until.ts';
import type { SentAlert } from './evaluator.ts';
import type { Rule } from './rules.ts';

/** Seconds for which the last scraped value counts, so that a scrape that came too late ends nothing. */
const LOOK_BACK = 15;
/** Seconds after which an annotation with the value changes. */
const LEVEL_EVERY = 90;

interface Instance {
  readonly folder: string;
  readonly url: string;
  readonly words: readonly string[];
  child: ChildProcess | null;
}

export interface PrometheusOptions {
  readonly rules: readonly Rule[];
  /** Seconds since the begin of the recording. */
  now(): number;
  /** Gives alerts to the Alertmanager of this number; false while it is away. */
  deliver(alertmanager: number, alerts: readonly SentAlert[]): Promise<boolean>;
}

export class Prometheuses {
  readonly #instances: readonly Instance[];
  readonly #server: Server;

  private constructor(instances: readonly Instance[], server: Server) {
    this.#instances = instances;
    this.#server = server;
  }

  static async start(options: PrometheusOptions): Promise<Prometheuses> {
    const server = createServer((request, response) => {
      const [, kind, number] = (request.url ?? '').split('/');
      if (kind === 'metrics')
        return void response.end(exposition(rulesOf(options, Number(number)), options.now()));
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const alerts: SentAlert[] = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        const taken = await options.deliver(Number(number), alerts);
        response.writeHead(taken ? 200 : 503).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const webs = await freePorts(2);
    const instances = webs.map((web, index) => instance(web, port, index + 1, rulesOf(options, index + 1)));
    const both = new Prometheuses(instances, server);
    await Promise.all([both.begin(1), both.begin(2)]);
    return both;
  }

  async begin(number: number): Promise<void> {
    const one = this.#one(number);
    const child = spawn('/usr/bin/prometheus', one.words, { stdio: 'ignore' });
    one.child = child;
    await until(`Prometheus ${number} to be ready`, async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      return (await fetch(`${one.url}/-/ready`)).ok;
    });
  }

  async end(number: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const one = this.#one(number);
    if (!one.child) throw new Error(`Prometheus ${number} does not run`);
    const gone = once(one.child, 'exit');
    one.child.kill(signal);
    one.child = null;
    await gone;
  }

  async close(): Promise<void> {
    for (const [index, { child, folder }] of this.#instances.entries()) {
      if (child) await this.end(index + 1, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #one(number: number): Instance {
    const found = this.#instances[number - 1];
    if (!found) throw new Error(`there is no Prometheus ${number}`);
    return found;
  }
}

function rulesOf({ rules }: PrometheusOptions, number: number): Rule[] {
  return rules.filter(({ by }) => by === 'both' || (by === 'prometheus' && number === 1));
}

/** One series a rule: 0 while it is not true, else a level that changes now and then. */
function exposition(rules: readonly Rule[], second: number): string {
  const level = 1 + (Math.floor(second / LEVEL_EVERY) % 3);
  const lines = rules.map((rule) => {
    // Empty, or the scrape would fill in its own.
    const labels = { job: '', instance: '', ...rule.labels };
    const written = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    return `level{${written}} ${rule.trueAt(second) ? level : 0}\n`;
  });
  return `# TYPE level gauge\n${lines.join('')}`;
}

function instance(web: number, recorder: number, number: number, rules: readonly Rule[]): Instance {
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-recording-prometheus-'));
  const file = path.join(folder, 'prometheus.yml');
  writeFileSync(path.join(folder, 'rules.yml'), rulesFile(rules));
  writeFileSync(file, configuration(recorder, number));
  const words = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${web}`,
    '--web.external-url=http://prometheus.example:9090/',
    '--rules.alert.resend-delay=1s',
    '--log.level=error',
  ];
  return { folder, url: `http://127.0.0.1:${web}`, words, child: null };
}

function configuration(recorder: number, number: number): string {
  const target = [{ targets: [`127.0.0.1:${recorder}`] }];
  return stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    alerting: {
      alertmanagers: [1, 2].map((alertmanager) => ({
        static_configs: target,
        path_prefix: `/alertmanager/${alertmanager}`,
      })),
    },
    scrape_configs: [
      {
        job_name: 'recorder',
        metrics_path: `/metrics/${number}`,
        honor_labels: true,
        static_configs: target,
      },
    ],
  });
}

function rulesFile(rules: readonly Rule[]): string {
  const names = [...new Set(rules.map(({ labels }) => labels.alertname))];
  const watchdog = {
    alert: 'Watchdog',
    expr: 'vector(1)',
    labels: { cluster: 'a' },
    annotations: { summary: 'Alerts arrive' },
  };
  const alerting = names.map((alert) => ({
    alert,
    expr: `last_over_time(level{alertname="${alert}"}[${LOOK_BACK}s]) > 0`,
    annotations: { summary: `${alert}, level {{ $value }}` },
  }));
  return stringify({ groups: [{ name: 'day', rules: [watchdog, ...alerting] }] });
}
