/**
 * The load generator, a process of its own: `node bench/load/generator.ts '<plan as JSON>'`. Prints one JSON line.
 * Closed load keeps every connection busy; open load sends at fixed times, so that waiting counts.
 */
import { Connection, postRequest } from './http-client.ts';
import { alertmanagerBody, profileAlert, profileAlerts, webhookBody } from './profile.ts';

export interface Plan {
  readonly url: string;
  readonly token: string | null;
  readonly connections: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** Requests a second; null for closed load. */
  readonly rate: number | null;
  /** How many sender groups the bodies come from. */
  readonly groups: number;
  /** First sender group. */
  readonly firstGroup?: number;
  readonly body: 'alertmanager' | 'webhook';
  /** Share of Snapshots in which one alert changes (0: all repeats once each was sent). */
  readonly changes: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly accepted: number;
  readonly other: Readonly<Record<string, number>>;
  readonly changes: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Milliseconds, of the measured part. */
  readonly latency: {
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly max: number;
  };
  readonly cpuSeconds: number;
  readonly bodyBytes: number;
}

/** Gives one request after the other: round robin over the groups, now and then with a change. */
class Requests {
  changes = 0;
  readonly bodyBytes: number;
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #plan: Plan;
  readonly #ready: Buffer[];
  readonly #generation: Uint32Array;
  #next = 0;
  #debt = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#url = new URL(plan.url);
    this.#headers = plan.token ? { Authorization: `Bearer ${plan.token}` } : {};
    const bodies = Array.from({ length: plan.groups }, (_, index) => this.#body(index, 0));
    this.bodyBytes = bodies[0]!.length;
    this.#ready = bodies.map((body) => postRequest(this.#url, this.#headers, body));
    this.#generation = new Uint32Array(plan.groups);
  }

  take(): Buffer {
    const index = this.#next;
    this.#next = (index + 1) % this.#ready.length;
    this.#debt += this.#plan.changes;
    if (this.#debt >= 1) {
      this.#debt -= 1;
      this.#change(index);
    }
    return this.#ready[index]!;
  }

  /** The last alert of the group ends, or fires anew: one alert change. */
  #change(index: number): void {
    const generation = this.#generation[index]! + 1;
    this.#generation[index] = generation;
    this.changes++;
    this.#ready[index] = postRequest(this.#url, this.#headers, this.#body(index, generation));
  }

  #body(index: number, generation: number): Buffer {
    const group = (this.#plan.firstGroup ?? 0) + index;
    const alerts = profileAlerts(group);
    if (this.#plan.body === 'alertmanager') return alertmanagerBody(alerts);
    if (generation > 0) {
      const startsAt = new Date(Date.UTC(2026, 9, 4) + Math.floor(generation / 2) * 1000).toISOString();
      alerts[9] = profileAlert(group, 9, startsAt, generation % 2 === 1);
    }
    return webhookBody(group, alerts);
  }
}

function percentile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

async function run(plan: Plan): Promise<LoadResult> {
  const requests = new Requests(plan);
  const url = new URL(plan.url);
  const connections = Array.from(
    { length: plan.connections },
    () => new Connection(url.hostname, Number(url.port)),
  );
  await Promise.all(connections.map((connection) => connection.opened()));

  const latencies: number[] = [];
  const other: Record<string, number> = {};
  let sent = 0;
  let accepted = 0;
  const begun = performance.now();
  const measureFrom = begun + plan.warmupSeconds * 1000;
  const end = measureFrom + plan.seconds * 1000;
  let cpuAtMeasure = process.cpuUsage();
  setTimeout(() => {
    cpuAtMeasure = process.cpuUsage();
  }, plan.warmupSeconds * 1000);

  const settle = (from: number, status: number) => {
    const now = performance.now();
    if (from < measureFrom || now > end) return;
    if (status === 200 || status === 202) accepted++;
    else other[status] = (other[status] ?? 0) + 1;
    latencies.push(now - from);
  };

  await new Promise<void>((resolve) => {
    let open = connections.length;
    const done = () => {
      if (--open === 0) resolve();
    };
    const due = (ticket: number) => begun + (ticket / plan.rate!) * 1000;
    let ticket = 0;
    const next = (connection: Connection) => {
      const now = performance.now();
      if (now >= end) return done();
      const at = plan.rate === null ? now : due(ticket++);
      if (at >= end) return done();
      const go = () => {
        sent++;
        const from = plan.rate === null ? performance.now() : at;
        connection.send(
          requests.take(),
          (status) => {
            settle(from, status);
            next(connection);
          },
          () => {
            settle(from, 0);
            done();
          },
        );
      };
      if (at <= now) go();
      else setTimeout(go, at - now);
    };
    for (const connection of connections) next(connection);
  });
  for (const connection of connections) connection.close();

  const cpu = process.cpuUsage(cpuAtMeasure);
  const sorted = Float64Array.from(latencies).sort();
  return {
    sent,
    accepted,
    other,
    changes: requests.changes,
    seconds: plan.seconds,
    perSecond: accepted / plan.seconds,
    latency: {
      p50: percentile(sorted, 0.5),
      p95: percentile(sorted, 0.95),
      p99: percentile(sorted, 0.99),
      max: sorted.at(-1) ?? Number.NaN,
    },
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    bodyBytes: requests.bodyBytes,
  };
}

if (process.argv[1]?.endsWith('generator.ts')) {
  const result = await run(JSON.parse(process.argv[2] ?? '{}') as Plan);
  console.log(JSON.stringify(result));
}
