/** What a page holds in Chromium, and how long its processor was taken. */
import type { CDPSession, Page } from 'playwright-core';

export interface PageCost {
  /** Bytes of its JavaScript heap that are in use after a collection of garbage. */
  readonly heap: number;
  /** Nodes of its documents, those that nothing but code refers to included. */
  readonly nodes: number;
  /** Event listeners. */
  readonly listeners: number;
}

/** A connection to the browser that {@link costOf} asks. */
export async function costMeter(page: Page): Promise<CDPSession> {
  const meter = await page.context().newCDPSession(page);
  await meter.send('HeapProfiler.enable');
  await meter.send('Performance.enable');
  return meter;
}

export async function costOf(meter: CDPSession): Promise<PageCost> {
  // What a finalizer lets go is collected by the next one.
  for (let turn = 0; turn < 2; turn++) await meter.send('HeapProfiler.collectGarbage');
  const { usedSize } = await meter.send('Runtime.getHeapUsage');
  const { metrics } = await meter.send('Performance.getMetrics');
  const metric = (name: string) => {
    const found = metrics.find((each) => each.name === name);
    if (found === undefined) throw new Error(`Chromium has no metric ${name}`);
    return found.value;
  };
  return { heap: usedSize, nodes: metric('Nodes'), listeners: metric('JSEventListeners') };
}
