/** What pages took of a processor, whatever else the machine did meanwhile: from a trace of Chromium. */
import type { Browser, Page } from 'playwright-core';

/** `ts` and `dur` are by the clock, `tdur` is what the thread had of a processor; all in µs. */
interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Times are ms of the browser's clock, which the DevTools protocol tells in seconds. */
export interface Trace {
  /** ms of a processor that each task of a page took. */
  readonly tasks: readonly number[];
  /** Of the tasks that ran between two times, together; of pages that load or make marks alone. */
  processor(from: number, to: number): number;
  /** When a page made a mark (`performance.mark`) first. */
  at(mark: string): number;
}

export async function traced(browser: Browser, page: Page, act: () => Promise<unknown>): Promise<Trace> {
  const categories = ['disabled-by-default-devtools.timeline', 'blink.user_timing'];
  await browser.startTracing(page, { categories });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString('utf8'));
  const events: readonly TraceEvent[] = traceEvents;
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const isPages = ({ name, args }: TraceEvent) => name === 'thread_name' && args?.name === 'CrRendererMain';
  const threads = new Set(events.filter(isPages).map(threadOf));
  const marked = new Set(events.filter(({ cat }) => cat.includes('blink.user_timing')).map(threadOf));
  const tasks = events
    .filter((event) => event.name === 'RunTask' && threads.has(threadOf(event)))
    .map((task) => ({
      begun: task.ts / 1_000,
      ended: (task.ts + (task.dur ?? 0)) / 1_000,
      took: (task.tdur ?? 0) / 1_000,
      isMarked: marked.has(threadOf(task)),
    }));
  return {
    tasks: tasks.map(({ took }) => took),
    processor: (from, to) =>
      tasks
        .filter(({ begun, ended, isMarked }) => isMarked && ended >= from && begun < to)
        .reduce((sum, { took }) => sum + took, 0),
    at(mark) {
      const found = events.find(({ name }) => name === mark);
      if (found === undefined) throw new Error(`The trace has no mark ${mark}`);
      return found.ts / 1_000;
    },
  };
}
