/**
 * `npm run lighthouse`: what Lighthouse says of the list and of an Alert Group on a phone, in the real service with
 * {@link GROUPS} groups. Fails below {@link LEAST}. Lighthouse is no dependency: npm fetches it when this runs.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Api } from '../test/harness/api.ts';
import { launchChromium } from '../test/harness/browser.ts';
import { ChangingGroups } from '../test/harness/changing-groups.ts';
import { freePorts } from '../test/harness/ports.ts';
import { Sender } from '../test/harness/sender.ts';
import { Installation } from '../test/harness/tocsin.ts';
import { until } from '../test/harness/until.ts';

const LIGHTHOUSE = 'lighthouse@12.2.3';
const GROUPS = 50;
/** Least scores of 100. */
const LEAST = { performance: 95, accessibility: 100, 'best-practices': 100, seo: 95 } as const;
/** Runs of each page; the one with the median performance counts, as Lighthouse's own documentation recommends. */
const RUNS = 5;
/** How much slower than here the processor of the phone is, and what counts as a long task, both as in Lighthouse. */
const SLOWED = 4;
const LONG_TASK_MS = 50;
const MOST_OUTPUT = 2 ** 24;
/** A phone shares its processor with neither the service, its database nor Lighthouse: they yield to the browser here. */
const YIELDING = 10;

interface Audit {
  readonly title: string;
  readonly score: number | null;
  readonly displayValue?: string;
}

interface Result {
  readonly categories: Readonly<
    Record<string, { readonly score: number; readonly auditRefs: readonly { id: string; weight: number }[] }>
  >;
  readonly audits: Readonly<Record<string, Audit>>;
}

/** Of a trace of Chromium: what ran on a thread, µs; `tdur` is what it had of a processor. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly tdur?: number;
}

interface Judged {
  readonly result: Result;
  readonly blocking: number;
}

type Category = keyof typeof LEAST;
const CATEGORIES = Object.keys(LEAST) as Category[];

const run = promisify(execFile);
const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-lighthouse-'));
const tocsin = new Installation();
const [port] = await freePorts(1);
const browser = await launchChromium(`--remote-debugging-port=${port}`);
setPriority(YIELDING);
try {
  const ready = await tocsin.start();
  const api = await Api.signIn(ready);
  await new ChangingGroups(new Sender(ready.ingest_endpoint, ready.integration_token!)).open(GROUPS);
  await until('the groups', async () => (await api.get('/alert-group-counts')).all >= GROUPS);
  const [group] = (await api.get('/alert-groups?limit=1')).items;
  const headers = path.join(folder, 'headers.json');
  await writeFile(headers, JSON.stringify({ cookie: api.cookie }));
  for (const page of ['/alert-groups', `/alert-groups/${group.id}`]) {
    const judged: Judged[] = [];
    for (let count = 0; count < RUNS; count++) judged.push(await judge(ready.app_url + page, headers));
    report(page, median(judged));
  }
} finally {
  await browser.close();
  await tocsin.remove();
  await rm(folder, { recursive: true, force: true });
}

async function judge(url: string, headers: string): Promise<Judged> {
  const output = path.join(folder, 'result.json');
  const words = [
    ...['exec', '--yes', `--package=${LIGHTHOUSE}`, '--', 'lighthouse', url, '--quiet'],
    ...['--output=json', `--output-path=${output}`, '--save-assets', `--extra-headers=${headers}`],
    `--only-categories=${CATEGORIES.join(',')}`,
    `--port=${port}`,
  ];
  await run('npm', words, { maxBuffer: MOST_OUTPUT });
  const trace = JSON.parse(await readFile(path.join(folder, 'result-0.trace.json'), 'utf8'));
  const result = JSON.parse(await readFile(output, 'utf8')) as Result;
  return { result, blocking: blockingTime(trace.traceEvents as readonly TraceEvent[]) };
}

/**
 * Total Blocking Time by the time of a processor, ms: Lighthouse takes that of the clock, in which other processes had
 * the processors, too.
 */
function blockingTime(events: readonly TraceEvent[]): number {
  const painted = events.findLast(({ name }) => name === 'firstContentfulPaint');
  if (painted === undefined) throw new Error('the page painted nothing');
  return events
    .filter(({ name, pid, tid, ts }) => {
      return name === 'RunTask' && pid === painted.pid && tid === painted.tid && ts >= painted.ts;
    })
    .map(({ tdur = 0 }) => (SLOWED * tdur) / 1_000)
    .reduce((sum, ms) => sum + Math.max(0, ms - LONG_TASK_MS), 0);
}

function scoreOf(result: Result, category: Category): number {
  return Math.round((result.categories[category]?.score ?? 0) * 100);
}

function median(judged: readonly Judged[]): Judged {
  const sorted = [...judged].sort(
    (one, other) => scoreOf(one.result, 'performance') - scoreOf(other.result, 'performance'),
  );
  return sorted[Math.floor(sorted.length / 2)]!;
}

function report(page: string, { result, blocking }: Judged): void {
  console.log(`${page}: ${CATEGORIES.map((each) => `${each} ${scoreOf(result, each)}`).join(', ')}`);
  console.log(`  Total Blocking Time by the time of a processor: ${Math.round(blocking)} ms`);
  for (const category of CATEGORIES) {
    if (scoreOf(result, category) < LEAST[category]) {
      console.error(`  ${category} is below ${LEAST[category]}`);
      process.exitCode = 1;
    }
    for (const { id, weight } of result.categories[category]?.auditRefs ?? []) {
      const { title, score, displayValue = '' } = result.audits[id]!;
      if (weight > 0 && score !== null && score < 1)
        console.log(`  ${score} ${id}: ${title} ${displayValue}`);
    }
  }
}
