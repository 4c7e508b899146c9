/**
 * Checks that dependencies point one way: `http → actors → runtime`, `storage → {runtime/actor, actors, …}`, and that
 * only the composition root sees everything. Run as part of `npm run lint`; prints every arrow that is wrong.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What each folder may import from, besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  actors: ['runtime'],
  storage: ['runtime', 'actors'],
  http: ['runtime', 'actors'],
};

/** The composition root: the files that may see every folder. */
const ROOTS = [/^runtime\/main\.ts$/, /^runtime\/compose\//, /^runtime\/cli\//];

/** Files that decide and may not reach storage, network, clock or random numbers. */
const MACHINE = /^actors\/[^/]+\/machine\.ts$/;
const MACHINE_FORBIDDEN = /^(node:|undici|postgres|ioredis|uWebSockets)/;

/** Packages that only one place may import. */
const KEPT_BEHIND: Readonly<Record<string, RegExp>> = {
  'uWebSockets.js': /^http\//,
  undici: /^(runtime\/outbound\/|test\/|bench\/)/,
  postgres: /^(storage\/|test\/|bench\/)/,
  ioredis: /^(runtime\/redis\/|test\/|bench\/)/,
};

const IMPORT =
  /(?:^|\n)\s*(import|export)\s+(type\s+)?[^'";]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;

interface Arrow {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

/** The complaint about one arrow, or null when it is fine. Exported for the test. */
export function judge({ file, target, typeOnly }: Arrow): string | null {
  if (!target.startsWith('.')) {
    const keeper = KEPT_BEHIND[target];
    if (keeper && !keeper.test(file) && !typeOnly)
      return `${file} imports ${target}, which is kept behind ${keeper}`;
    if (MACHINE.test(file) && MACHINE_FORBIDDEN.test(target))
      return `${file} is a machine and imports ${target}`;
    return null;
  }
  const resolved = path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
  const from = file.split('/')[0] ?? '';
  const to = resolved.split('/')[0] ?? '';
  const allowed = ALLOWED[from];
  if (MACHINE.test(file) && !typeOnly && to === 'storage')
    return `${file} is a machine and imports ${resolved}`;
  if (!allowed || from === to || allowed.includes(to)) return insideEngine(file, resolved);
  if (ROOTS.some((root) => root.test(file))) return null;
  return `${file} imports ${resolved}: ${from} may not depend on ${to}`;
}

function insideEngine(file: string, resolved: string): string | null {
  const insideActor = resolved.startsWith('runtime/actor/') && !resolved.endsWith('/index.ts');
  if (!insideActor || file.startsWith('runtime/actor/')) return null;
  return `${file} imports past the engine's face: ${resolved} (use runtime/actor/index.ts)`;
}

function arrowsOf(file: string): Arrow[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(IMPORT)].map((match) => ({
    file,
    target: match[3] ?? match[4] ?? '',
    typeOnly: match[2] !== undefined,
  }));
}

function main(): void {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /^(runtime|actors|storage|http)\//.test(file) && !/\.(test|fixture)\.ts$/.test(file));
  const complaints = files
    .flatMap(arrowsOf)
    .map(judge)
    .filter((complaint) => complaint !== null);
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) process.exit(1);
}

if (import.meta.main ?? process.argv[1]?.endsWith('check-arrows.ts')) main();
