import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { complete, type Lockfile } from './lock.ts';

interface Declared {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
}

const ROOT = path.resolve(import.meta.dirname, '..');
const read = <T>(file: string): T => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T;
const declared = read<Declared>('package.json');
const { packages } = read<{ packages: Readonly<Record<string, Locked & Partial<Declared>>> }>(
  'package-lock.json',
);
const locked = Object.entries(packages).filter(([folder]) => folder !== '');
const { dependencies, optionalDependencies, devDependencies } = declared;
const direct = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies });

/** `1.2.3`, `1.2.3-beta.4`, or the same of another package: `npm:other@1.2.3`. */
const EXACT = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

test('every dependency is declared at one exact version, and the lockfile holds that one', () => {
  expect(direct.length).toBeGreaterThan(40);
  expect(direct.filter(([, version]) => !EXACT.test(version))).toEqual([]);
  const other = direct.filter(
    ([name, version]) => packages[`node_modules/${name}`]?.version !== version.replace(/^npm:.*@/, ''),
  );
  expect(other).toEqual([]);
  expect(packages['']).toMatchObject({ dependencies, devDependencies });
  expect(packages['']?.optionalDependencies).toEqual(optionalDependencies);
});

test('every package in the lockfile has the hash of its content', () => {
  const unhashed = locked.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
  expect(unhashed.map(([folder]) => folder)).toEqual([]);
});

test('the lockfile names no registry: each installation uses its own', () => {
  expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([folder]) => folder)).toEqual([]);
  expect(readFileSync(path.join(ROOT, '.npmrc'), 'utf8').split('\n')).toEqual(
    expect.arrayContaining(['omit-lockfile-registry-resolved=true', 'save-exact=true']),
  );
});

test('npm run lock has completed the lockfile', () => {
  const lockfile = read<Lockfile>('package-lock.json');
  expect(lockfile).toEqual(complete(lockfile));
});
