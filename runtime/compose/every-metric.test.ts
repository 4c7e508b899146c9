import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { everyMetric, metricsPage } from './every-metric.fixture.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Files of the service in which metrics are made. */
function makers(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((file) => /^(runtime|actors|http|storage)\//.test(file) && !/\.(test|fixture)\.ts$/.test(file))
    .filter((file) => /new (Counter|Gauge|Histogram|Summary)\(/.test(read(file)));
}

describe('docs/metrics.md', () => {
  test('lists the metrics as the registry has them (write it anew with vitest --update)', async () => {
    await expect(metricsPage()).toMatchFileSnapshot('../../docs/metrics.md');
  });

  test('says of every metric what it is', () => {
    for (const { name, help } of everyMetric().values()) expect(help.length, name).toBeGreaterThan(10);
  });
});

test('no metric of the service is left out', () => {
  const called = read('runtime/compose/every-metric.fixture.ts');
  for (const file of makers()) {
    const functions = [...read(file).matchAll(/^export function (create\w+)/gm)].map(([, name]) => name);
    expect(
      functions.some((name) => called.includes(`${name}(registry)`)) || file === 'runtime/metrics.ts',
      `${file} makes metrics; runtime/compose/every-metric.fixture.ts must call it`,
    ).toBe(true);
  }
});

test('metrics are named as the service’s, in base units', () => {
  const own = [...everyMetric().values()].filter(({ name }) => name.startsWith('svc_'));
  expect(own.length).toBeGreaterThan(20);
  for (const { name, type } of own) {
    expect(name).toMatch(/^svc_[a-z0-9]+(_[a-z0-9]+)*$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(name, 'seconds, not parts of them').not.toMatch(/_(ms|millis|milliseconds|us)(_|$)/);
  }
});
