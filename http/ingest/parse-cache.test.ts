import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createParseCache } from './parse-cache.ts';

const LIMIT = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedMemory(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function alert(labels: Readonly<Record<string, string>>) {
  return { status: 'firing', labels, startsAt: '2026-10-03T09:41:07Z' };
}

function body(groupKey: string, alerts: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ groupKey, status: 'firing', truncatedAlerts: 0, alerts }));
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const TWO_BYTES = 'Ж'.padEnd(4_000, 'x');

describe('what is remembered stays within its memory', () => {
  test.each<[string, number, (number: number) => Buffer]>([
    ['bodies that are no JSON', 40_000, (n) => Buffer.from(`{${n}`)],
    ['bodies without an Alert', 20_000, (n) => body(`g${n}`, [])],
    [
      'small Alerts',
      10,
      (n) =>
        body(
          `g${n}`,
          times(8_000, (i) => alert({ a: `${n}-${i}` })),
        ),
    ],
    [
      'Alerts of many short labels',
      20,
      (n) =>
        body(
          `g${n}`,
          times(40, (a) => alert(Object.fromEntries(times(250, (i) => [`${n}_${a}_${i}`, ''])))),
        ),
    ],
    ['texts beyond Latin-1', 3_000, (n) => body(`g${n}`, [alert({ a: `${TWO_BYTES}${n}` })])],
    [
      'texts beyond Latin-1, escaped',
      3_000,
      (n) => escaped(body(`g${n}`, [alert({ a: `${TWO_BYTES}${n}` })])),
    ],
  ])('%s', (_, count, make) => {
    const cache = createParseCache(LIMIT);
    cache.read('warm', make(-1));
    const before = usedMemory();
    for (let number = 0; number < count; number++) cache.read(`hash of ${number}`, make(number));
    // The heap also takes compiled code meanwhile, some kilobytes.
    expect(usedMemory() - before).toBeLessThan(1.05 * LIMIT);
    expect(cache.get(`hash of ${count - 1}`)).not.toBeNull();
    expect(cache.get('hash of 0')).toBeNull();
  });
});

function escaped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString().replaceAll('Ж', '\\u0416'));
}

test('ordinary bodies of a third of that size are remembered all', () => {
  const cache = createParseCache(LIMIT);
  const make = (number: number) =>
    body(
      `g${number}`,
      times(100, (i) => ({
        ...alert({
          alertname: 'HighLoad',
          instance: `host-${number}-${i}.example.org:9100`,
          severity: 'warning',
        }),
        annotations: { summary: `The load of host ${i} is high`, description: 'd'.repeat(300) },
        generatorURL: `https://prometheus.example.org/graph?g0.expr=${i}`,
      })),
    );
  const count = Math.floor(LIMIT / 3 / make(0).length);
  for (let number = 0; number < count; number++) cache.read(String(number), make(number));
  expect(times(count, (number) => cache.get(String(number))).every((found) => found !== null)).toBe(true);
});
