/** How long a post takes to become a committed Alert Group, and a delivered webhook: at 50 a second, and saturated. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Loaded } from './installation.ts';
import { load } from './load/start.ts';
import { type Bench, type BenchOptions, millis, percentiles, perSecond, type Row } from './report.ts';

const SLOW_RATE = 50;

interface Arrival {
  readonly name: string;
  readonly at: number;
}

/** Counts and times what the service delivers. */
async function startReceiver() {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at = performance.now();
      response.writeHead(204).end();
      const event = JSON.parse(Buffer.concat(chunks).toString()) as {
        event: string;
        alert_group: { title: string };
      };
      if (event.event === 'created') {
        arrivals.push({ name: event.alert_group.title, at });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    close: () => server.close(),
  };
}

/** Watches the table of Alert Groups: when each title was first seen there by somebody else, to about 2 ms. */
function watchCommits(tocsin: Loaded) {
  const seenAt = new Map<string, number>();
  let newest = 0;
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const rows = await tocsin.sql<{ number: number; title: string }[]>`
        select number, title from alert_groups where number > ${newest} order by number`;
      const at = performance.now();
      for (const { number, title } of rows) {
        newest = number;
        seenAt.set(title, at);
      }
      await pause(1);
    }
  };
  const watching = watch();
  return {
    seenAt,
    stop: () => {
      isOver = true;
      return watching;
    },
  };
}

/** New groups at a fixed rate, one Snapshot each. */
async function atFixedRate(options: BenchOptions) {
  const tocsin = await Loaded.start();
  const receiver = await startReceiver();
  try {
    await tocsin.attachWebhook(receiver.url);
    const commits = watchCommits(tocsin);
    const posted = new Map<string, number>();
    const total = SLOW_RATE * (options.seconds + options.warmupSeconds);
    const begun = performance.now();
    const answers: Promise<void>[] = [];
    for (let n = 0; n < total; n++) {
      const due = begun + (n / SLOW_RATE) * 1000;
      const wait = due - performance.now();
      if (wait > 0) await pause(wait);
      const name = `Latency${n}`;
      if (n >= SLOW_RATE * options.warmupSeconds) posted.set(name, due);
      answers.push(postOne(tocsin, name));
    }
    await Promise.all(answers);
    while (receiver.arrivals.length < total) await pause(20);
    await commits.stop();
    const delivered: number[] = [];
    const committed: number[] = [];
    const arrivedAt = new Map(receiver.arrivals.map(({ name, at }) => [name, at]));
    for (const [name, due] of posted) {
      delivered.push(arrivedAt.get(name)! - due);
      committed.push(commits.seenAt.get(name)! - due);
    }
    return { committed: percentiles(committed), delivered: percentiles(delivered) };
  } finally {
    receiver.close();
    await tocsin.remove();
  }
}

export async function postOne(
  tocsin: Loaded,
  name: string,
  status: 'firing' | 'resolved' = 'firing',
): Promise<void> {
  const response = await fetch(tocsin.ready.ingest_endpoint, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tocsin.ready.integration_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      version: '4',
      groupKey: name,
      status,
      alerts: [
        {
          status,
          labels: { alertname: name, cluster: 'production-eu-1', severity: 'warning' },
          annotations: { summary: 'Something is wrong' },
          startsAt: '2026-10-03T09:58:00Z',
        },
      ],
    }),
  });
  if (response.status !== 202) throw new Error(`A Snapshot was answered ${response.status}`);
}

/** One alert changes in every Snapshot, as fast as they are taken. */
export async function saturated(options: Pick<BenchOptions, 'seconds' | 'warmupSeconds'>) {
  const tocsin = await Loaded.start();
  try {
    const before = await tocsin.events();
    const from = performance.now();
    const result = await load({
      url: tocsin.ready.ingest_endpoint,
      token: tocsin.ready.integration_token,
      connections: 64,
      seconds: options.seconds,
      warmupSeconds: options.warmupSeconds,
      rate: null,
      groups: 500,
      body: 'webhook',
      changes: 1,
    });
    const drainSeconds = await tocsin.drained();
    const seconds = (performance.now() - from) / 1000;
    const changes = (await tocsin.events()) - before;
    return {
      changesPerSecond: changes / seconds,
      accepted: result.perSecond,
      drainSeconds,
      latency: result.latency,
    };
  } finally {
    await tocsin.remove();
  }
}

export const latency: Bench = {
  name: 'latency',
  title: 'From post to committed Alert Group and to delivered webhook',
  async run(options) {
    options.progress(`${SLOW_RATE} new groups a second`);
    const slow = await atFixedRate(options);
    options.progress('saturated with alert changes');
    const full = await saturated(options);
    const show = (p: { p50: number; p95: number; p99: number }) =>
      `p50 ${millis(p.p50)}, p95 ${millis(p.p95)}, p99 ${millis(p.p99)}`;
    const rows: Row[] = [
      {
        what: 'committed, at 50/s',
        value: show(slow.committed),
        goal: 'p95 under 50 ms',
        met: slow.committed.p95 < 50,
      },
      {
        what: 'delivered, at 50/s',
        value: show(slow.delivered),
        goal: 'p95 under 50 ms',
        met: slow.delivered.p95 < 50,
      },
      {
        what: 'alert changes processed, saturated',
        value: perSecond(full.changesPerSecond),
        goal: '1,000/s',
        met: full.changesPerSecond >= 1000,
      },
      { what: 'accept latency, saturated', value: show(full.latency) },
    ];
    return { rows, raw: { slow, full } };
  },
};
