import { afterEach, expect, test, vi } from 'vitest';
import { missingPrograms } from '../test/prerequisites.ts';
import { printTable, type Report, tableOf } from './report.ts';

const REPORTS: readonly Report[] = [
  {
    ...{ name: 'accept', title: 'Accepted Snapshots', raw: null },
    rows: [
      { what: 'Alertmanager in memory', value: '8,000/s' },
      {
        ...{ what: 'accepting', value: '15,000/s (1.88×)', goal: '2× Alertmanager', met: false },
        compared: { product: 15_000, peer: 8_000 },
      },
      { what: 'every body new', value: '?', compared: { product: 9_000, peer: Number.NaN } },
    ],
  },
  {
    ...{ name: 'delivery', title: 'Messages', raw: null },
    rows: [
      { what: 'post to bridge call', value: 'p95 13 ms', goal: 'p95 under 100 ms', met: true },
      { what: 'messages', value: '0.30', compared: { product: 258, limit: 856 } },
    ],
  },
  { name: 'cluster', title: 'Three replicas', rows: [], raw: null },
];

afterEach(() => {
  vi.restoreAllMocks();
});

test('what has a goal or is compared is a row, with ratios; a bench without figures is not measured', () => {
  const printed = vi.spyOn(console, 'log').mockReturnValue();
  printTable(tableOf(REPORTS));
  const lines = printed.mock.calls.map(([line]) => String(line).split(/ {2,}/));
  expect(lines.slice(1)).toEqual([
    ['', 'Bench', 'Work', 'Product', 'Alertmanager', 'Bare loop', '÷ Alertmanager', '÷ bare loop', 'Goal'],
    ['✗ accept', 'accepting', '15,000/s', '8,000/s', '1.88', '2× Alertmanager'],
    ['', 'accept', 'every body new', '9,000/s', 'not measured', 'not measured'],
    ['✓ delivery', 'post to bridge call', 'p95 13 ms', 'p95 under 100 ms'],
    ['', 'delivery', 'messages', '258/s', '856/s', '0.30'],
    ['', 'cluster', 'Three replicas', 'not measured'],
  ]);
});

test('the columns are aligned', () => {
  const printed = vi.spyOn(console, 'log').mockReturnValue();
  printTable(tableOf(REPORTS));
  const [, headings = '', accepting = '', , , messages = ''] = printed.mock.calls.map(([line]) =>
    String(line),
  );
  expect(accepting.indexOf('8,000/s')).toBe(headings.indexOf('Alertmanager'));
  expect(messages.indexOf('856/s')).toBe(headings.indexOf('Bare loop'));
});

test('a program that is missing is named with the package to install', () => {
  expect(missingPrograms([])).toBeNull();
  expect(missingPrograms(['redis-server'], () => false)).toBe(
    '/usr/bin/redis-server is missing. As root: apt-get install redis-server',
  );
  expect(missingPrograms(['redis-server'], () => true)).toBeNull();
});
