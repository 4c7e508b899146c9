/** docs/operating.md names what exists. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LOG_EVENTS } from '../../log.ts';

const read = (page: string) => readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');

function section(title: string): string {
  const [, text = ''] = read('operating.md').split(`\n## ${title}\n`);
  return text.split('\n## ')[0] ?? '';
}

/** Checks as the table of the doctor's section lists them. */
const checks = [...section('tocsin doctor').matchAll(/^\| (`[^|]+`) \|/gm)].flatMap((row) =>
  [...(row[1] ?? '').matchAll(/`(\w+)`/g)].map((name) => name[1] ?? ''),
);

test('the table of checks lists them all, in their order', () => {
  expect(checks).toEqual([
    'settings',
    'database',
    'postgresql_version',
    'schema',
    'session_connection',
    'tls_main',
    'tls_session',
    'redis',
    'replicas',
    'key_canary',
    'keyring',
    'clock_skew',
    'partitions',
    'backlog',
    'integrations',
    'public_url',
    'connection',
    'destination',
  ]);
});

test('what an operator is told to look for exists', () => {
  const metrics = [...read('metrics.md').matchAll(/`(svc_\w+)`/g)].map((metric) => metric[1]);
  const named = [...section('When something is wrong').matchAll(/`([a-z]+(?:_[a-z]+)+)(?:\{[^}]*\})?`/g)];
  const fields = Object.values(LOG_EVENTS).flatMap(([, ...names]) => names as readonly string[]);
  const known = new Set<string | undefined>([...checks, ...metrics, ...Object.keys(LOG_EVENTS), ...fields]);
  const unknown = named
    .map((match) => match[1] ?? '')
    .filter((name) => !name.startsWith('pg_') && !known.has(name));
  expect(named.length).toBeGreaterThan(30);
  expect(unknown).toEqual([]);
});
