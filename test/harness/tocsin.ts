/** Runs the real service as its own process, the way a new user does: `tocsin quickstart`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts } from './ports.ts';
import { copyPreparedDatabase, processEnvironment } from './prepared.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const TOCSIN = ['--max-semi-space-size=32', path.join(root, 'runtime', 'main.ts'), 'quickstart'];

export interface Ready {
  readonly app_url: string;
  readonly ingest_url: string;
  readonly internal_url: string;
  readonly login: string;
  readonly password: string | null;
  readonly integration_id: string;
  readonly integration_token: string | null;
  readonly ingest_endpoint: string;
}

/** One data folder and the processes that run on it, one after the other. */
export class Installation {
  readonly dataDir = mkdtempSync(path.join(tmpdir(), 'tocsin-test-'));
  readonly env: Record<string, string>;
  /** What the first start printed, secrets included; later starts print null for those. */
  first!: Ready;
  #child: ChildProcess | null = null;
  #ports: readonly number[] = [];
  readonly log: string[] = [];

  readonly #program: readonly string[];

  readonly #folder: string;

  /** `program` takes the words of `tocsin quickstart`; benches bring their own. Nothing is prepared for those. */
  constructor(env: Record<string, string> = {}, program: readonly string[] = TOCSIN, folder = root) {
    this.env = env;
    this.#program = program;
    this.#folder = folder;
  }

  /** Starts the service and resolves once it says that it is ready. */
  async start(): Promise<Ready> {
    if (this.#ports.length === 0) this.#ports = await freePorts(3);
    const isOurs = this.#program === TOCSIN;
    if (isOurs) await copyPreparedDatabase(path.join(this.dataDir, 'postgres'));
    const [app, ingest, internal] = this.#ports.map((port) => `127.0.0.1:${port}`);
    const words = [
      '--data-dir',
      this.dataDir,
      '--app',
      app!,
      '--ingest',
      ingest!,
      '--internal',
      internal!,
      '--json',
    ];
    const child = spawn(process.execPath, [...this.#program, ...words], {
      cwd: this.#folder,
      env: { ...process.env, ...(isOurs && processEnvironment()), SVC_LOG_LEVEL: 'warn', ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    createInterface({ input: child.stderr! }).on('line', (line) => this.log.push(line));
    const ready = await readiness(child, this.log);
    this.first ??= ready;
    return { ...ready, password: this.first.password, integration_token: this.first.integration_token };
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** SIGKILL, and waits until the process is gone. Its embedded database server lives on, as it would. */
  async kill(): Promise<void> {
    const child = this.#child!;
    const gone = exited(child);
    child.kill('SIGKILL');
    await gone;
  }

  /** SIGTERM, and the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return child?.exitCode ?? null;
    const gone = exited(child);
    child.kill('SIGTERM');
    return gone;
  }

  /** Stops the service and removes its data. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** What deploy/ allows a replica, MiB. */
export const MEMORY_LIMIT = 512;

/** The environment of the image, with the heap that Node.js takes in a container of {@link MEMORY_LIMIT}. */
export function containerEnvironment(): Record<string, string> {
  const dockerfile = readFileSync(path.join(root, 'Dockerfile'), 'utf8');
  const allocator = [...dockerfile.matchAll(/(MALLOC_\w+)=(\d+)/g)].map(([, name, value]) => [name, value]);
  return { NODE_OPTIONS: `--max-old-space-size=${MEMORY_LIMIT / 2}`, ...Object.fromEntries(allocator) };
}

/** The most memory that a process has taken since its start, MiB. */
export function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** A started installation with default settings. */
export async function startTocsin(env: Record<string, string> = {}): Promise<Installation> {
  const installation = new Installation(env);
  await installation.start();
  return installation;
}

function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

function readiness(child: ChildProcess, log: string[]): Promise<Ready> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      log.push(line);
      if (line.startsWith('{"ready":true')) resolve(JSON.parse(line) as Ready);
    });
    child.once('exit', (code, signal) =>
      reject(
        new Error(`Tocsin ended before it was ready (${signal ?? code}):\n${log.slice(-30).join('\n')}`),
      ),
    );
  });
}
