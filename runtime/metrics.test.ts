import { expect, test } from 'vitest';
import { createRegistry } from './metrics.ts';

test('the longest block of the event loop is shown, even when it follows a scrape at once', async () => {
  const registry = createRegistry({ version: '0.0.0', commit: 'unknown' });
  const longest = async () => {
    const text = await registry.getSingleMetricAsString('svc_event_loop_lag_seconds');
    return Number(/quantile="1"\} (\S+)/.exec(text)?.[1]);
  };
  await longest();
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(await longest()).toBeGreaterThan(0.9);
});
