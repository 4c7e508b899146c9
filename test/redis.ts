/** Real Redis servers for tests: each a process of its own, on a private port and folder, that can be mistreated. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { CERTIFICATE, PRIVATE_KEY } from './fakes/certificate.ts';
import { freePorts } from './harness/ports.ts';
import { until } from './harness/until.ts';

export interface RedisServerOptions {
  /** Where to listen; a free port when absent. */
  readonly port?: number;
  /** TLS only, with the certificate of test/fakes. */
  readonly tls?: boolean;
  /** Password of the default user. */
  readonly password?: string;
  /** Copies the server on this port of 127.0.0.1. */
  readonly replicaOf?: number;
  /** Lines of redis.conf. */
  readonly config?: readonly string[];
}

/** One server, empty at every start. Made by {@link startRedis}; {@link RedisServer.stop} ends it and removes its files. */
export class RedisServer {
  readonly port: number;
  readonly #program: RedisProgram;
  readonly #options: RedisServerOptions;

  constructor(port: number, options: RedisServerOptions) {
    this.port = port;
    this.#options = options;
    this.#program = new RedisProgram(serverConfig(port, options), []);
  }

  /** What SVC_REDIS_URL says for it. */
  get url(): string {
    const { tls, password } = this.#options;
    const user = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
    return `${tls ? 'rediss' : 'redis'}://${user}127.0.0.1:${this.port}`;
  }

  /** Starts it, or starts it again on the same port after {@link kill}; resolves once it answers. */
  async start(): Promise<void> {
    this.#program.start();
    await until(`Redis on port ${this.port}`, () => this.#program.alive(() => this.command('ping')));
  }

  /** SIGKILL; resolves once it is gone. */
  async kill(): Promise<void> {
    await this.#program.kill();
  }

  /** Kills it and starts it again, empty. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** SIGSTOP: the kernel goes on accepting connections, nothing answers. */
  freeze(): void {
    this.#program.signal('SIGSTOP');
  }

  /** SIGCONT: everything that was sent meanwhile is executed now. */
  thaw(): void {
    this.#program.signal('SIGCONT');
  }

  /** Empties it, scripts included. */
  async flush(): Promise<void> {
    await this.command('flushall');
    await this.command('script', 'flush');
  }

  /** Sends one command on a connection of its own, and gives its answer as ioredis does. */
  command(name: string, ...words: readonly (string | number)[]): Promise<unknown> {
    const { tls, password } = this.#options;
    return ask({ port: this.port, ...(password === undefined ? {} : { password }) }, tls === true, [
      name,
      ...words,
    ]);
  }

  /** Ends it, in whatever state it is, and removes its files. */
  async stop(): Promise<void> {
    await this.#program.remove();
  }
}

/** A started server. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const port = options.port ?? (await freePort());
  const server = new RedisServer(port, options);
  await server.start();
  return server;
}

/** One process of the guard of a primary and its replicas, which names the primary to clients and replaces it. */
export class RedisSentinel {
  readonly port: number;
  readonly #tls: boolean;
  readonly #program: RedisProgram;

  constructor(port: number, options: SentinelOptions) {
    this.port = port;
    this.#tls = options.tls === true;
    this.#program = new RedisProgram(sentinelConfig(port, options), ['--sentinel']);
  }

  async start(): Promise<void> {
    this.#program.start();
    await until(`Sentinel on port ${this.port}`, () => this.#program.alive(() => this.command('ping')));
  }

  async kill(): Promise<void> {
    await this.#program.kill();
  }

  command(name: string, ...words: readonly (string | number)[]): Promise<unknown> {
    return ask({ port: this.port }, this.#tls, [name, ...words]);
  }

  async stop(): Promise<void> {
    await this.#program.remove();
  }
}

export interface SentinelOptions {
  /** What the guarded group is called. */
  readonly name: string;
  readonly primary: RedisServer;
  /** TLS only, also to the guarded servers, with the certificate of test/fakes. */
  readonly tls?: boolean;
  /** How many must agree that the primary is gone; 1 when absent. */
  readonly quorum?: number;
  /** Password of the guarded servers. */
  readonly password?: string;
  /** Lines of sentinel.conf. */
  readonly config?: readonly string[];
}

/** A started Sentinel, quick to give a silent primary up (500 ms). */
export async function startSentinel(options: SentinelOptions): Promise<RedisSentinel> {
  const sentinel = new RedisSentinel(await freePort(), options);
  await sentinel.start();
  return sentinel;
}

/** A `redis-server` process and its folder. */
class RedisProgram {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'tocsin-redis-'));
  readonly #flags: readonly string[];
  readonly #output: string[] = [];
  #child: ChildProcess | null = null;

  constructor(config: (folder: string) => readonly string[], flags: readonly string[]) {
    this.#flags = flags;
    writeFileSync(path.join(this.#folder, 'tls.pem'), `${CERTIFICATE}${PRIVATE_KEY}`);
    writeFileSync(path.join(this.#folder, 'redis.conf'), `${config(this.#folder).join('\n')}\n`);
  }

  start(): void {
    if (this.#child !== null) throw new Error('It is running.');
    const child = spawn('redis-server', [path.join(this.#folder, 'redis.conf'), ...this.#flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => this.#output.push(text.toString()));
    child.once('error', (error) => this.#output.push(String(error)));
    this.#child = child;
  }

  /** Whether it answers. @throws when it does not, with what it printed when it ended by itself */
  async alive(ping: () => Promise<unknown>): Promise<boolean> {
    const child = this.#child;
    if (child === null || child.exitCode !== null)
      throw new Error(`redis-server ended:\n${this.#output.slice(-20).join('')}`);
    return (await ping()) === 'PONG';
  }

  signal(name: NodeJS.Signals): void {
    if (this.#child === null) throw new Error('It is not running.');
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function serverConfig(port: number, { tls, password, replicaOf, config = [] }: RedisServerOptions) {
  return (folder: string) => [
    ...basics(folder),
    ...listening(folder, port, tls),
    'save ""',
    'appendonly no',
    // Replicas copy at once and are told at once; the defaults are for large data sets.
    'repl-diskless-sync-delay 0',
    ...(password === undefined ? [] : [`requirepass "${password}"`, `masterauth "${password}"`]),
    ...(replicaOf === undefined ? [] : [`replicaof 127.0.0.1 ${replicaOf}`]),
    ...config,
  ];
}

function sentinelConfig(
  port: number,
  { name, primary, tls, quorum = 1, password, config = [] }: SentinelOptions,
) {
  return (folder: string) => [
    ...basics(folder),
    ...listening(folder, port, tls),
    `sentinel monitor ${name} 127.0.0.1 ${primary.port} ${quorum}`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 3000`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${name} ${password}`]),
    ...config,
  ];
}

function basics(folder: string): readonly string[] {
  return ['bind 127.0.0.1', 'daemonize no', `dir ${folder}`];
}

function listening(folder: string, port: number, tls = false): readonly string[] {
  if (!tls) return [`port ${port}`];
  const file = path.join(folder, 'tls.pem');
  return [
    'port 0',
    `tls-port ${port}`,
    `tls-cert-file ${file}`,
    `tls-key-file ${file}`,
    `tls-ca-cert-file ${file}`,
    'tls-auth-clients no',
    'tls-replication yes',
  ];
}

interface Door {
  readonly port: number;
  readonly password?: string;
}

async function ask(door: Door, tls: boolean, words: readonly (string | number)[]): Promise<unknown> {
  const [name = '', ...rest] = words;
  const client = new Redis({
    ...door,
    host: '127.0.0.1',
    ...(tls ? { tls: { ca: CERTIFICATE } } : {}),
    lazyConnect: true,
    retryStrategy: null,
    disableClientInfo: true,
    connectTimeout: 2_000,
    commandTimeout: 5_000,
  });
  // The command itself fails with the connection's error.
  client.on('error', () => undefined);
  try {
    return await client.call(String(name), ...rest);
  } finally {
    client.disconnect();
  }
}

async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('No free port.');
  return port;
}
