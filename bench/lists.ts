/** How fast lists, counts and statistics are when many Alert Groups are open and very many are kept. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DAY, type Micros, systemClock, systemMonotonic } from '../runtime/clock.ts';
import { RecentGroups } from '../storage/alert-groups/alert-groups.ts';
import { migrate } from '../storage/migrate.ts';
import { connect } from '../storage/postgres/connection.ts';
import { startEmbeddedPostgres } from '../storage/postgres/embedded/embedded.ts';
import type { Sql } from '../storage/postgres/records.ts';
import { type Question, questions } from './lists/questions.ts';
import { seedGroups } from './lists/seed.ts';
import { type Bench, millis, percentiles, type Row } from './report.ts';

const AMOUNTS = { open: 100_000, resolved: 1_000_000, routes: 50, integrations: 20, days: 730 } as const;
const NOW: Micros = 1_790_000_000_000_000;
/** So many that a hiccup of the machine is no percentile. */
const SAMPLES = 500;
/** A question that takes long is asked for so long only, ms. */
const LONGEST = 20_000;

export const lists: Bench = {
  name: 'lists',
  title: `Reading with ${AMOUNTS.open} open and ${AMOUNTS.resolved} resolved Alert Groups`,
  async run({ progress }) {
    const home = await mkdtemp(path.join(os.tmpdir(), 'tocsin-lists-'));
    const postgres = await startEmbeddedPostgres({ dataDir: home, role: 'superuser' });
    const sql = connect(postgres.settings, { max: 1, applicationName: 'bench' });
    try {
      progress('filling the database (three minutes)');
      await migrate(sql);
      await seedGroups(sql, NOW, AMOUNTS);
      // What is left of the filling would be written to disk meanwhile.
      await sql`vacuum (analyze)`;
      await sql`checkpoint`;
      return await ask(sql, progress);
    } finally {
      await sql.end();
      await postgres.stop();
      await rm(home, { recursive: true, force: true });
    }
  },
};

/** Asks everything on a database that is filled. */
export async function ask(sql: Sql, progress: (line: string) => void) {
  const rows: Row[] = [];
  const raw: Record<string, readonly number[]> = {};
  const recent = new RecentGroups({
    ...{ sql, clock: { ...systemClock, now: () => NOW }, monotonic: systemMonotonic },
    log: (event, fields) => progress(`${event} ${JSON.stringify(fields)}`),
  });
  progress('reading recent groups');
  const from = performance.now();
  await recent.load();
  rows.push({ what: 'recent groups are in memory', value: `after ${millis(performance.now() - from)}` });
  for (const question of questions(sql, NOW, DAY, recent)) {
    progress(question.what);
    const times = await timesOf(question);
    const { p50, p99 } = percentiles(times);
    raw[question.what] = times;
    rows.push({
      what: question.what,
      value: `fastest ${millis(Math.min(...times))}, p50 ${millis(p50)}, p99 ${millis(p99)}`,
      goal: `${question.goal} ms`,
      met: p99 <= question.goal,
    });
  }
  return { rows, raw };
}

/** Milliseconds of each asking, the first ones left out. */
async function timesOf({ ask: run, warmups = 5 }: Question): Promise<number[]> {
  for (let count = 0; count < warmups; count++) await run(count);
  const times: number[] = [];
  const end = performance.now() + LONGEST;
  while (times.length < SAMPLES && (times.length < 3 || performance.now() < end)) {
    const from = performance.now();
    await run(times.length);
    times.push(performance.now() - from);
  }
  return times;
}
