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

/**
 * Whatever opens HTTP to elsewhere is one client: around it there is no policy, no proxy and no Request log. Tools for
 * people who write bridges are no part of the service, and call bridges on the same machine.
 */
const OUTBOUND = /^runtime\/(outbound\/|cli\/bridge-)/;
/** Plain sockets are opened by the driver of the database, too. */
const SOCKETS = /^(runtime\/(outbound\/|cli\/bridge-)|storage\/driver-socket\.ts$)/;
/** What such modules have that opens nothing. */
const OPENS_NOTHING = new Set(['isIP', 'isIPv4', 'isIPv6', 'STATUS_CODES']);
/** The same without any import. */
const GLOBAL_CALL = /(?<![.\w])(fetch|WebSocket|EventSource)\s*\(/;

/** Packages that only one place may import. */
const KEPT_BEHIND: Readonly<Record<string, RegExp>> = {
  'uWebSockets.js': /^http\//,
  undici: /^(runtime\/outbound\/|test\/|bench\/)/,
  socks: OUTBOUND,
  'node:http': OUTBOUND,
  'node:https': OUTBOUND,
  'node:http2': OUTBOUND,
  'node:net': SOCKETS,
  'node:tls': SOCKETS,
  postgres: /^(storage\/|test\/|bench\/)/,
  ioredis: /^(runtime\/redis\/|test\/|bench\/)/,
};

const IMPORT =
  /(?:^|\n)\s*(import|export)\s+(type\s+)?([^'";]*?)\s*from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;

interface Arrow {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
  /** Values that are imported by name. */
  readonly names?: readonly string[];
}

/** The complaint about one arrow, or null when it is fine. Exported for the test. */
export function judge({ file, target, typeOnly, names }: Arrow): string | null {
  if (!target.startsWith('.')) {
    const keeper = KEPT_BEHIND[target];
    const isHarmless = typeOnly || (names?.every((name) => OPENS_NOTHING.has(name)) ?? false);
    if (keeper && !keeper.test(file) && !isHarmless)
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
    target: match[4] ?? match[5] ?? '',
    typeOnly: match[2] !== undefined,
    names: valuesOf(match[3] ?? ''),
  }));
}

/** Of `{ a, type B, c as d }`: a and c. Anything else is a name that no list knows. */
function valuesOf(clause: string): string[] {
  const listed = /^\{(.*)\}$/s.exec(clause.trim())?.[1];
  if (listed === undefined) return [clause];
  return listed
    .split(',')
    .map((name) => name.trim().split(/\s/)[0] ?? '')
    .filter((name) => name !== '' && name !== 'type');
}

/** The complaint about a file that reaches the network without importing anything. Exported for the test. */
export function judgeGlobals(file: string, source: string): string | null {
  if (OUTBOUND.test(file)) return null;
  const call = source
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line))
    .map((line) => GLOBAL_CALL.exec(line)?.[1])
    .find((name) => name !== undefined);
  return call === undefined ? null : `${file} calls ${call}: requests go through runtime/outbound/`;
}

function main(): void {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /^(runtime|actors|storage|http)\//.test(file) && !/\.(test|fixture)\.ts$/.test(file));
  const complaints = [
    ...files.flatMap(arrowsOf).map(judge),
    ...files.map((file) => judgeGlobals(file, readFileSync(file, 'utf8'))),
  ].filter((complaint) => complaint !== null);
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) process.exit(1);
}

if (import.meta.main ?? process.argv[1]?.endsWith('check-arrows.ts')) main();
