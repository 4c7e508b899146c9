/**
 * What a run of tests makes once for every start of the service: the files of a database with all migrations, the
 * sources without their types, and what they compile to. Outside of a run nothing is prepared, and a service makes what it lacks itself.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** Names the folder that holds the files of the database. */
export const PREPARED_DATABASE = 'TOCSIN_TEST_DATABASE';

/**
 * Puts the files of a migrated database where the embedded PostgreSQL of a folder looks for its own, unless it has some.
 * @returns whether the database has its migrations now, as far as is known
 */
export async function copyPreparedDatabase(home: string): Promise<boolean> {
  const prepared = process.env[PREPARED_DATABASE];
  const cluster = path.join(home, 'cluster');
  if (prepared === undefined || existsSync(cluster)) return false;
  await mkdir(home, { recursive: true, mode: 0o711 });
  await promisify(execFile)('cp', ['-a', path.join(prepared, 'cluster'), cluster]);
  return true;
}

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** Names the module that gives Node.js the sources of the service without their types. */
export const PREPARED_SOURCES = 'TOCSIN_TEST_SOURCES';

/**
 * Takes the types out of the sources once, which each start would take half of its time for.
 * @returns the module to be imported before the program
 */
export async function prepareSources(folder: string): Promise<string> {
  const sources: Record<string, string> = {};
  for (const room of ['actors', 'http', 'runtime', 'storage']) {
    for (const name of await readdir(path.join(ROOT, room), { recursive: true })) {
      if (!/(?<!\.test|\.fixture|\.d)\.ts$/.test(name)) continue;
      const file = path.join(ROOT, room, name);
      sources[pathToFileURL(file).href] = stripTypeScriptTypes(await readFile(file, 'utf8'));
    }
  }
  const module = path.join(folder, 'sources.mjs');
  await writeFile(path.join(folder, 'sources.json'), JSON.stringify(sources));
  await writeFile(module, GIVES_SOURCES);
  return module;
}

const GIVES_SOURCES = `
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';

const text = readFileSync(path.join(import.meta.dirname, 'sources.json'), 'utf8');
const sources = new Map(Object.entries(JSON.parse(text)));
registerHooks({
  load(url, context, next) {
    const source = sources.get(url);
    if (source === undefined) return next(url, context);
    sources.delete(url);
    return { format: 'module', source, shortCircuit: true };
  },
});
`;

/** The whole suite runs on node:http with SVC_HTTP_ENGINE=node, or where the HTTP library has no build. */
export const HTTP_ENGINE = process.env.SVC_HTTP_ENGINE === 'node' ? 'node' : 'auto';

/**
 * What a process of the service needs of the environment of this one: where programs are, its compiled sources, and
 * which HTTP server it is tested on.
 */
export function processEnvironment(): Record<string, string | undefined> {
  const { PATH, NODE_COMPILE_CACHE, LATE_ANSWERS, [PREPARED_SOURCES]: sources } = process.env;
  const passed = { PATH, NODE_COMPILE_CACHE, SVC_HTTP_ENGINE: HTTP_ENGINE };
  const imports = [
    ...(sources === undefined ? [] : [sources]),
    ...(LATE_ANSWERS === undefined ? [] : [`${new URL('../late-answers.ts', import.meta.url)}?sockets`]),
  ];
  if (imports.length === 0) return passed;
  const NODE_OPTIONS = imports.map((file) => `--import="${file}"`).join(' ');
  return { ...passed, NODE_OPTIONS };
}
