import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createTemplateMetrics } from './metrics.ts';
import { rendered } from './run.fixture.ts';

test('every render is timed under the kind of its template, a failed one too', async () => {
  const registry = new Registry();
  let now = 0;
  const timer = createTemplateMetrics(registry).timer(() => now++ * 1_000);
  const count = async () => {
    const text = await registry.getSingleMetricAsString('svc_template_render_duration_seconds');
    return /_count\{template="root_message"\} (\d+)/.exec(text)?.[1];
  };
  rendered('text', { context: { monotonic: timer } });
  expect(await count()).toBe('1');
  rendered('{{ index 1 2 }}', { context: { monotonic: timer } });
  expect(await count()).toBe('2');
});
