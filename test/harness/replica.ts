/** One `tocsin serve` process of a cluster: it can be killed, frozen, stopped and started again under its id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { processEnvironment } from './prepared.ts';
import { until } from './until.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

/** A line of the service's log. */
export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly event: string;
  readonly [field: string]: unknown;
}

export interface ReplicaOptions {
  /** SVC_REPLICA_ID. */
  readonly id: string;
  /** Of all three listeners, on 127.0.0.1. */
  readonly port: number;
  /** SVC_* variables; undefined: not set. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the log of every run is kept. */
  readonly folder: string;
  /** Where the program lies; here unless said. */
  readonly program?: string | undefined;
}

export class Replica {
  readonly id: string;
  readonly port: number;
  readonly url: string;
  /** Where the program lies that is run from the next start on. */
  program: string;
  /** Runs that ended without being told to. */
  readonly crashes: string[] = [];
  readonly #options: ReplicaOptions;
  readonly #logFile: string;
  #child: ChildProcess | null = null;
  #isFrozen = false;

  constructor(options: ReplicaOptions) {
    this.id = options.id;
    this.port = options.port;
    this.url = `http://127.0.0.1:${options.port}`;
    this.#options = options;
    this.program = options.program ?? root;
    this.#logFile = path.join(options.folder, `${options.id}.log`);
  }

  /** Starts the process and does not wait for it; `env` replaces variables for this run. */
  launch(env: Readonly<Record<string, string | undefined>> = {}): void {
    if (this.isRunning) throw new Error(`${this.id} runs already`);
    const output = openSync(this.#logFile, 'a');
    const address = `127.0.0.1:${this.port}`;
    const child = spawn(process.execPath, ['--max-semi-space-size=32', 'runtime/main.ts', 'serve'], {
      cwd: this.program,
      stdio: ['ignore', output, output],
      env: {
        ...processEnvironment(),
        SVC_REPLICA_ID: this.id,
        SVC_LISTEN_APP: address,
        SVC_LISTEN_INGEST: address,
        SVC_LISTEN_INTERNAL: address,
        ...this.#options.env,
        ...env,
      },
    });
    closeSync(output);
    child.once('exit', (code, signal) => {
      if (this.#child === child) this.crashes.push(`${this.id} ended by itself (${signal ?? code})`);
    });
    this.#child = child;
    this.#isFrozen = false;
  }

  /** {@link launch}, and waits until it is ready. */
  async start(env: Readonly<Record<string, string | undefined>> = {}): Promise<void> {
    this.launch(env);
    await this.becomesReady();
  }

  /** @throws when it ends instead, or is not ready in time */
  async becomesReady(seconds = 120): Promise<void> {
    const child = this.#child;
    const hasEnded = () => child === null || child.exitCode !== null || child.signalCode !== null;
    await until(`${this.id} to be ready`, async () => hasEnded() || (await this.isReady()), seconds);
    if (hasEnded()) throw new Error(`${this.id} ended before it was ready:\n${this.tail()}`);
  }

  /** @throws when there is no answer within the time */
  async isReady(withinMs = 1_000): Promise<boolean> {
    const answer = await fetch(`${this.url}/health/ready`, { signal: AbortSignal.timeout(withinMs) });
    await answer.arrayBuffer();
    return answer.status === 200;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.id} does not run`);
    return pid;
  }

  /** How long its main thread has waited for a processor since the process began, ms; 0 when it does not run. */
  waitedMs(): number {
    if (!this.isRunning) return 0;
    const [, waitedNs] = readFileSync(`/proc/${this.pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** SIGKILL, and waits until the process is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGTERM. @returns the exit code */
  terminate(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Waits for a process that ends by itself. @returns the exit code */
  async ends(): Promise<number | null> {
    const child = this.#child;
    if (child === null) return null;
    this.#child = null;
    return exited(child);
  }

  /** SIGSTOP: it does nothing and notices nothing until {@link thaw}; its connections stay open. */
  freeze(): void {
    process.kill(this.pid, 'SIGSTOP');
    this.#isFrozen = true;
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT');
    this.#isFrozen = false;
  }

  /** For exit handlers: ends it without waiting. */
  killNow(): void {
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGKILL');
  }

  /** What it logged so far, all runs together; only events of that name when one is given. */
  events(name?: string): LogLine[] {
    return this.lines().flatMap((line) => {
      if (!line.startsWith('{') || (name !== undefined && !line.includes(`"event":"${name}"`))) return [];
      return [JSON.parse(line) as LogLine];
    });
  }

  /** Everything that it printed and that is no log line. */
  said(): string[] {
    return this.lines().filter((line) => line !== '' && !line.startsWith('{'));
  }

  tail(lines = 15): string {
    return this.lines().slice(-lines).join('\n');
  }

  /** Everything it printed so far, all runs together. */
  lines(): string[] {
    if (!existsSync(this.#logFile)) return [];
    return readFileSync(this.#logFile, 'utf8').split('\n');
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (child === null) return null;
    this.#child = null;
    const gone = exited(child);
    child.kill(signal);
    // A frozen process takes no signal but SIGKILL.
    if (this.#isFrozen && signal !== 'SIGKILL') child.kill('SIGCONT');
    return gone;
  }
}

function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}
