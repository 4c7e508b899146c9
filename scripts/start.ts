/** `npm start`: builds the UI with the docs when they are missing or older than their sources, then starts a single-node Tocsin. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** Most objects live for one Snapshot: room for them saves a fifth of the work under load. */
const YOUNG_GENERATION = '--max-semi-space-size=32';

/** npm passes on what the terminal has sent already: signals this close together are one. */
const SAME_WISH_MS = 1_000;

/** How often it is checked that the shell in which npm runs this script is still there. */
const SHELL_CHECK_MS = 100;

const shell = process.ppid;

const root = path.resolve(import.meta.dirname, '..');
const index = path.join(root, 'ui', 'dist', 'index.html');

function newest(folder: string): number {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    latest = Math.max(latest, statSync(path.join(entry.parentPath, entry.name)).mtimeMs);
  }
  return latest;
}

/** The docs are part of the build. */
const SOURCES = ['ui/src', 'docs', 'scripts/docs'];
const stale =
  !existsSync(index) || SOURCES.some((folder) => newest(path.join(root, folder)) > statSync(index).mtimeMs);
if (stale) {
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  if (!existsSync(vite)) {
    console.error('The web interface is not built, and what builds it is not installed. Run "npm ci" first.');
    process.exit(1);
  }
  console.error('The web interface is being built …');
  const build = spawnSync(process.execPath, [vite, 'build', 'ui', '--logLevel', 'warn'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (build.status !== 0) process.exit(build.status ?? 1);
}

const service = spawn(
  process.execPath,
  [YOUNG_GENERATION, path.join(root, 'runtime', 'main.ts'), 'quickstart', ...process.argv.slice(2)],
  // A process group of its own: Ctrl-C reaches npm, this script and every child, but one signal is one wish.
  { cwd: root, stdio: 'inherit', detached: true },
);
let forwardedAt = Number.NEGATIVE_INFINITY;
function forward(signal: 'SIGINT' | 'SIGTERM'): void {
  if (performance.now() - forwardedAt < SAME_WISH_MS) return;
  forwardedAt = performance.now();
  service.kill(signal);
}
process.on('SIGINT', () => forward('SIGINT'));
process.on('SIGTERM', () => forward('SIGTERM'));
// The terminal is gone: nothing could stop the service any more.
process.on('SIGHUP', () => forward('SIGTERM'));
if (process.env.npm_lifecycle_script === 'node scripts/start.ts' && process.platform !== 'win32') {
  // npm forwards SIGTERM to its shell alone. A shell that does not exec the script ends without forwarding the signal.
  const check = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(check);
    if (forwardedAt === Number.NEGATIVE_INFINITY) forward('SIGTERM');
  }, SHELL_CHECK_MS);
}
service.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
