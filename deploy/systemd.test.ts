import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const UNIT = path.join(import.meta.dirname, 'systemd', 'tocsin.service');
/** Of 10. */
const MOST_EXPOSED = 2;

const analyze = (...words: string[]) => {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', [...words, UNIT], {
    encoding: 'utf8',
  });
  if (error) throw new Error('systemd-analyze is needed: apt-get install systemd', { cause: error });
  return { status, said: stdout + stderr };
};

test('the unit is one that systemd takes', () => {
  // The release is not installed here.
  const { said } = analyze('verify', '--recursive-errors=no');
  expect(said.split('\n').filter((line) => line !== '' && !/is not executable/.test(line))).toEqual([]);
});

test(`it is exposed ${MOST_EXPOSED}.0 at most`, () => {
  const { said } = analyze('security', '--offline=true', '--no-pager');
  const [, exposure] = /Overall exposure level for tocsin\.service: (\d+\.\d)/.exec(said) ?? [];
  expect(Number(exposure ?? 10)).toBeLessThanOrEqual(MOST_EXPOSED);
});

test('the service has longer to end than it takes at most', () => {
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(readFileSync(UNIT, 'utf8')) ?? [];
  expect(Number(seconds)).toBeGreaterThan(20);
});
