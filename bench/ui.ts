/** Whether the Alert Group list stays light and quick while it is open for long and Alert Groups go on changing. */
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../test/harness/browser.ts';
import { ChangingGroups } from '../test/harness/changing-groups.ts';
import { costMeter, costOf, type PageCost } from '../test/harness/page-cost.ts';
import { Sender } from '../test/harness/sender.ts';
import { traced } from '../test/harness/trace.ts';
import { until } from '../test/harness/until.ts';
import { Loaded } from './installation.ts';
import { type Bench, millis, percentiles, type Row } from './report.ts';

const OPEN = 5_000;
const SHOWN = 500;
const CHANGES_PER_SECOND = 20;
const MOST_AT_ONCE = 8;
const MINUTE_MS = 60_000;
/** After the measurements: long enough for new rows to enter a few times. */
const TRACED_MS = 15_000;
/** Between two rounds of presses. */
const PRESS_EVERY_MS = 15_000;
const PATIENCE_MS = 300_000;
const YIELDING = 10;
const MEBIBYTE = 2 ** 20;
const GOALS = {
  /** What the heap may grow after the first minute. */
  heapMebibytes: 5,
  /** Share by which nodes and listeners may grow after the first minute: rows differ in what they hold. */
  nodes: 0.05,
  longTaskMs: 100,
  pressMs: 200,
} as const;

/** Notes tasks that took more than 50 ms, and how long presses took to show (Event Timing). */
const NOTES = `
  window.longTasks = [];
  window.presses = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) longTasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, startTime, duration } of list.getEntries())
      if (interactionId > 0) presses.push({ startTime, duration });
  }).observe({ type: 'event', durationThreshold: 16 });
`;

interface Noted {
  /** ms since the page began, and ms. */
  readonly startTime: number;
  readonly duration: number;
}

interface Measured extends PageCost {
  /** ms since the changes began. */
  readonly at: number;
  readonly rows: number;
}

export const ui: Bench = {
  name: 'ui',
  title: `The list with ${SHOWN} rows of ${OPEN} Alert Groups in Chromium, ${CHANGES_PER_SECOND} changes a second`,
  needs: ['chromium'],
  seconds: 600,
  isStrict: true,
  async run({ seconds, progress }) {
    const browser = await launchChromium();
    // Who reads the list shares a processor with neither the service, its database nor the load: they yield to the browser.
    setPriority(YIELDING);
    const loaded = await Loaded.start();
    try {
      progress(`opening ${OPEN} Alert Groups`);
      const groups = new ChangingGroups(
        new Sender(loaded.ready.ingest_endpoint, loaded.ready.integration_token!),
      );
      await groups.open(OPEN);
      await loaded.drained();
      const page = await openList(browser, loaded);
      const { rows, raw } = await watch(page, groups, seconds, progress);
      const tasks = await processorTimes(browser, page, groups);
      return { rows: [...rows, ...taskRows(tasks)], raw: { ...raw, tasks } };
    } finally {
      await browser.close();
      await loaded.remove();
    }
  },
};

/** The list with as many rows as a person loads at most. */
async function openList(browser: Browser, { ready, api }: Loaded): Promise<Page> {
  const profile = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 } });
  const [name = '', value = ''] = api.cookie.split('=');
  await profile.addCookies([{ name, value, url: ready.app_url }]);
  const page = await profile.newPage();
  // A machine that is busy makes figures worse, and no run fail.
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript(NOTES);
  await page.goto(`${ready.app_url}/alert-groups`);
  const rows = page.locator('[data-group]');
  await rows.first().waitFor();
  const more = page.getByRole('button', { name: 'Load more' });
  for (let shown = await rows.count(); shown < SHOWN; shown = await rows.count()) {
    await more.click();
    await until('more rows', async () => (await rows.count()) > shown);
  }
  await page.evaluate('window.scrollTo({ top: 0 })');
  return page;
}

async function watch(page: Page, groups: ChangingGroups, seconds: number, progress: (line: string) => void) {
  const meter = await costMeter(page);
  const measured: Measured[] = [];
  const begun = performance.now();
  const measure = async () => {
    const rows = await page.locator('[data-group]').count();
    const cost = await costOf(meter);
    const at = performance.now() - begun;
    measured.push({ at, rows, ...cost });
    progress(
      `${Math.round(at / 1_000)} s: ${rows} rows, heap ${mebibytes(cost.heap)}, ${cost.nodes} nodes, ${cost.listeners} listeners`,
    );
  };
  await measure();
  // A measurement stops the page, and opening it loaded rows: neither is what is asked about.
  const from = await now(page);
  const apart: (readonly [from: number, to: number])[] = [];
  const every = Math.min(MINUTE_MS, (seconds * 1_000) / 3);
  let measureAt = every;
  let pressAt = PRESS_EVERY_MS / 3;
  let isOver = false;
  const changing = keepChanging(groups, () => isOver);
  try {
    for (let elapsed = 0; elapsed < seconds * 1_000; elapsed = performance.now() - begun) {
      if (elapsed >= measureAt) {
        const start = await now(page);
        await measure();
        apart.push([start, await now(page)]);
        measureAt += every;
      } else if (elapsed >= pressAt) {
        await press(page);
        pressAt = performance.now() - begun + PRESS_EVERY_MS;
      } else await pause(100);
    }
  } finally {
    isOver = true;
    await changing;
  }
  const changes = await changing;
  const changed = (performance.now() - begun) / 1_000;
  const start = await now(page);
  await measure();
  apart.push([start, await now(page)]);
  const isMeant = ({ startTime, duration }: Noted) =>
    startTime >= from && !apart.some(([first, last]) => startTime + duration >= first && startTime <= last);
  const longTasks = (await page.evaluate<Noted[]>('longTasks')).filter(isMeant);
  const presses = (await page.evaluate<Noted[]>('presses')).filter(isMeant);
  return {
    rows: rowsOf(measured, longTasks, presses, changes / changed),
    raw: { measured, longTasks, presses, changes },
  };
}

/** ms of a processor that each task of the page took while groups went on changing, whatever else the machine did. */
async function processorTimes(
  browser: Browser,
  page: Page,
  groups: ChangingGroups,
): Promise<readonly number[]> {
  const end = performance.now() + TRACED_MS;
  const { tasks } = await traced(browser, page, () => keepChanging(groups, () => performance.now() >= end));
  return tasks;
}

function taskRows(tasks: readonly number[]): readonly Row[] {
  const longest = Math.max(...tasks);
  const busy = tasks.reduce((sum, one) => sum + one, 0) / TRACED_MS;
  return [
    {
      what: `the longest of ${tasks.length} tasks, by the time of a processor that it took`,
      value: millis(longest),
      goal: `≤ ${GOALS.longTaskMs} ms`,
      met: tasks.length > 0 && longest <= GOALS.longTaskMs,
    },
    { what: 'of a processor for the page', value: `${(busy * 100).toFixed(0)} %` },
  ];
}

const now = (page: Page) => page.evaluate<number>('performance.now()');

/** Changes at fixed times, whether those before were answered or not. @returns how many were made */
async function keepChanging(groups: ChangingGroups, isOver: () => boolean): Promise<number> {
  const begun = performance.now();
  const underWay = new Set<Promise<void>>();
  let changes = 0;
  while (!isOver()) {
    if (underWay.size === MOST_AT_ONCE) await Promise.race(underWay);
    const change = groups.change(SHOWN).finally(() => underWay.delete(change));
    underWay.add(change);
    changes += 1;
    const due = begun + (changes / CHANGES_PER_SECOND) * 1_000;
    await pause(Math.max(0, due - performance.now()));
  }
  await Promise.all(underWay);
  return changes;
}

/** What a person does at the list: picks a row and lets it go, opens its menu and the filters, and closes them. */
async function press(page: Page): Promise<void> {
  const row = page.locator('[data-group]').nth(5);
  const pick = row.getByRole('checkbox');
  const menu = row.getByRole('button', { name: /^Commands for/ });
  const filters = page.getByRole('button', { name: 'Filters' });
  for (const target of [pick, pick, menu, menu, filters, filters]) {
    const box = await target.boundingBox();
    if (box === null) throw new Error('what is to be pressed is not shown');
    // A click by the driver would ask the page for what is under the pointer.
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await pause(300);
  }
  // New rows do not enter under a pointer.
  await page.mouse.move(0, 0);
  await page.evaluate('document.activeElement?.blur()');
}

function rowsOf(
  measured: readonly Measured[],
  longTasks: readonly Noted[],
  presses: readonly Noted[],
  rate: number,
): readonly Row[] {
  const first = measured[1]!;
  const last = measured.at(-1)!;
  const later = measured.slice(1);
  const growth = last.heap - first.heap;
  const most = (of: 'nodes' | 'listeners') => Math.max(...later.map((each) => each[of])) / first[of] - 1;
  const longest = Math.max(0, ...longTasks.map(({ duration }) => duration));
  const tooLong = longTasks.filter(({ duration }) => duration > GOALS.longTaskMs).length;
  const slowest = Math.max(0, ...presses.map(({ duration }) => duration));
  const { p50 } = percentiles(presses.map(({ duration }) => duration));
  return [
    {
      what: 'changes made',
      value: `${rate.toFixed(1)}/s`,
      goal: `${CHANGES_PER_SECOND}/s`,
      met: rate >= CHANGES_PER_SECOND * 0.95,
    },
    { what: 'rows at the start / at the end', value: `${measured[0]!.rows} / ${last.rows}` },
    {
      what: 'heap at the start / at the first measurement / at the end',
      value: [measured[0]!, first, last].map(({ heap }) => mebibytes(heap)).join(' / '),
    },
    {
      what: 'growth of the heap after the first measurement',
      value: mebibytes(growth),
      goal: `≤ ${GOALS.heapMebibytes} MiB`,
      met: growth <= GOALS.heapMebibytes * MEBIBYTE,
    },
    ...(['nodes', 'listeners'] as const).map((of) => ({
      what: `${of} at the first measurement / at the end`,
      value: `${first[of]} / ${last[of]}`,
      goal: `+${GOALS.nodes * 100} % at most`,
      met: most(of) <= GOALS.nodes,
    })),
    {
      what: `long tasks / above ${GOALS.longTaskMs} ms`,
      value: `${longTasks.length} / ${tooLong}`,
    },
    {
      what: 'the longest task',
      value: longest === 0 ? 'below 50 ms' : millis(longest),
      goal: `≤ ${GOALS.longTaskMs} ms`,
      met: longest <= GOALS.longTaskMs,
    },
    {
      what: `${presses.length} presses to the next frame, p50 / slowest`,
      value: `${millis(p50)} / ${millis(slowest)}`,
      goal: `≤ ${GOALS.pressMs} ms`,
      met: presses.length > 0 && slowest <= GOALS.pressMs,
    },
  ];
}

const mebibytes = (bytes: number) => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
