/** Whether a service that is busy for long stays as it is: memory, latency, and the size of what it writes again and again. */
import { setTimeout as pause } from 'node:timers/promises';
import { Loaded } from './installation.ts';
import { postOne, saturated } from './latency.ts';
import { load } from './load/start.ts';
import { type Bench, millis, percentiles, perSecond, type Row } from './report.ts';
import { growthOf, TOLERATED } from './soak/growth.ts';

/** Of the rate that is sustained. */
const SHARE = 0.7;
const RATE_SECONDS = 20;
const MINUTE = 60;
/** So many rows at least, however short it is. */
const LEAST_ROWS = 8;
const PROBE = 'SoakProbe';
/** Rows of these are written again and again, or come and go. The others grow with what happens. */
const HOT_TABLES = [
  ...['actors', 'alert_groups', 'group_alerts', 'feeds', 'presences', 'slots', 'inbox', 'snapshot_queue'],
  ...['actor_states', 'changed_alert_groups', 'counters', 'shards', 'integration_counter_slots'],
];

interface Sample {
  readonly second: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** From post to commit, p95 since the row before, ms. */
  readonly committed: number;
  readonly tableBytes: number;
  readonly deadRows: number;
}

export const soak: Bench = {
  name: 'soak',
  title: `A service at ${SHARE * 100} % of what it sustains`,
  seconds: 1_800,
  onlyByName: true,
  isStrict: true,
  async run({ seconds, warmupSeconds, progress }) {
    progress(`what is sustained, ${RATE_SECONDS} s`);
    const { changesPerSecond } = await saturated({ seconds: RATE_SECONDS, warmupSeconds });
    const rate = Math.floor(changesPerSecond * SHARE);
    const tocsin = await Loaded.start();
    const over = new AbortController();
    try {
      progress(`${rate} alert changes a second for ${seconds} s`);
      const loading = load({
        ...{ url: tocsin.ready.ingest_endpoint, token: tocsin.ready.integration_token, connections: 64 },
        ...{ seconds, warmupSeconds, rate, groups: 500, body: 'webhook', changes: 1 },
      }).finally(() => over.abort());
      const samples = await sampled(tocsin, over.signal, Math.min(MINUTE, seconds / LEAST_ROWS), (sample) =>
        progress(shown(sample)),
      );
      const { accepted, sent } = await loading;
      return { rows: rowsOf(samples, rate, sent - accepted), raw: { rate, sent, accepted, samples } };
    } finally {
      over.abort();
      await tocsin.remove();
    }
  },
};

/** One row each `every` seconds; a probe is posted twice a second meanwhile. */
async function sampled(
  tocsin: Loaded,
  over: AbortSignal,
  every: number,
  onSample: (sample: Sample) => void,
): Promise<readonly Sample[]> {
  const begun = performance.now();
  const samples: Sample[] = [];
  let times: number[] = [];
  for (let turn = 0; !over.aborted; turn++) {
    times.push(await probed(tocsin, turn % 2 === 0 ? 'firing' : 'resolved'));
    await pause(500);
    const second = (performance.now() - begun) / 1000;
    if (second < (samples.length + 1) * every) continue;
    const sample = { second, committed: percentiles(times).p95, ...(await sizes(tocsin)) };
    samples.push(sample);
    onSample(sample);
    times = [];
  }
  return samples;
}

/** @returns ms from the post to the commit, seen by another connection within 2 ms */
async function probed(tocsin: Loaded, status: 'firing' | 'resolved'): Promise<number> {
  const from = performance.now();
  await postOne(tocsin, PROBE, status);
  const firing = status === 'firing' ? 1 : 0;
  for (;;) {
    // Index: alert_groups_number; the probe's group is the newest, or among the newest.
    const [row] = await tocsin.sql<{ firing: number }[]>`
      select firing_alert_count as firing from alert_groups where title = ${PROBE} order by number desc limit 1`;
    if (row?.firing === firing) return performance.now() - from;
    await pause(1);
  }
}

async function sizes(tocsin: Loaded): Promise<Omit<Sample, 'second' | 'committed'>> {
  const [row] = await tocsin.sql<{ bytes: number; dead: number }[]>`
    select sum(pg_total_relation_size(relid))::bigint as bytes, sum(n_dead_tup)::bigint as dead
    from pg_stat_user_tables where relname = any(${HOT_TABLES}::text[])`;
  const metrics = await (await fetch(new URL('/metrics', tocsin.ready.internal_url))).text();
  const heapBytes = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]);
  return {
    ...{ residentBytes: tocsin.residentBytes(), heapBytes },
    ...{ tableBytes: row?.bytes ?? Number.NaN, deadRows: row?.dead ?? Number.NaN },
  };
}

function rowsOf(samples: readonly Sample[], rate: number, refused: number): Row[] {
  const grows = (what: string, tolerated: number, of: (sample: Sample) => number): Row => {
    const growth = growthOf(samples.map((sample) => [sample.second, of(sample)]));
    return {
      ...{ what: `${what}, growth over the second half`, value: `${(growth * 100).toFixed(1)} %` },
      ...{ goal: `at most ${tolerated * 100} %`, met: growth <= tolerated },
    };
  };
  const last = samples.at(-1);
  return [
    { what: 'load', value: `${perSecond(rate)} for ${Math.round(last?.second ?? 0)} s` },
    { what: 'Snapshots that were refused', value: String(refused), goal: 'none', met: refused === 0 },
    ...samples.map((sample) => ({ what: `second ${Math.round(sample.second)}`, value: shown(sample) })),
    grows('resident memory', TOLERATED.memory, ({ residentBytes }) => residentBytes),
    grows('heap', TOLERATED.heap, ({ heapBytes }) => heapBytes),
    grows('p95 from post to commit', TOLERATED.latency, ({ committed }) => committed),
    grows('hot tables and their indexes', TOLERATED.tables, ({ tableBytes }) => tableBytes),
  ];
}

function shown({ residentBytes, heapBytes, committed, tableBytes, deadRows }: Sample): string {
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  const memory = `resident ${mebibytes(residentBytes)}, heap ${mebibytes(heapBytes)}`;
  return `${memory}, p95 ${millis(committed)}, hot tables ${mebibytes(tableBytes)}, ${deadRows} dead rows`;
}
