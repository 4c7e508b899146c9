/**
 * Several `tocsin serve` processes as people run them: one PostgreSQL, one Redis, the same keys. Everything is this
 * test's own and gone after {@link Cluster.remove}, whatever state it is in.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from '../../storage/postgres/connection.ts';
import { type RunningPostgres, startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { CERTIFICATE } from '../fakes/certificate.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { type RedisServer, startRedis } from '../redis.ts';
import { Api } from './api.ts';
import { type FirstRows, firstRows } from './cluster-rows.ts';
import { PgBouncer } from './pgbouncer.ts';
import { freePorts } from './ports.ts';
import { copyPreparedDatabase } from './prepared.ts';
import { runTocsin } from './program.ts';
import { RedisGroup } from './redis-group.ts';
import { Replica } from './replica.ts';
import { pidOfClient } from './socket-owner.ts';
import { StandbyServer } from './standby.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

export interface ClusterOptions {
  /** 3 unless said. */
  readonly replicas?: number;
  /** One process without Redis: what a cluster is measured against. */
  readonly withoutRedis?: true;
  /** In place of one Redis: a primary, its copy and three Sentinels, all of them with TLS. */
  readonly redisGroup?: true;
  /** Each replica reaches Redis through a proxy of its own. */
  readonly proxies?: true;
  /** Events-mode webhook Destinations of the Default route, all at one receiver; 2 unless said. */
  readonly destinations?: number;
  /** The receiver notes which replica each request came from. It costs time. */
  readonly identifySenders?: true;
  /** As people run it: every commit reaches the disk. Tests of processes do without. */
  readonly durable?: true;
  /** A standby that every commit waits for; every client is told of both servers, of the standby first. */
  readonly standby?: true;
  /** The main connection of each replica goes through a PgBouncer in transaction mode. */
  readonly pooler?: true;
  readonly logLevel?: 'info' | 'warn' | 'error';
  /** Where the program lies; here unless said. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const ADMIN = { login: 'admin@example.org', password: 'correct horse battery' } as const;

/** Connections of many replicas at once, those of killed ones included; commit times for the witness. */
const SERVER_SETTINGS = { max_connections: '200', track_commit_timestamp: 'on' } as const;
/** Sentinels that do not take a busy machine for a dead primary. */
const PATIENT = ['sentinel down-after-milliseconds mymaster 2000'];
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off' } as const;

export class Cluster {
  readonly replicas: Replica[] = [];
  readonly proxies = new Map<string, TcpProxy>();
  receiver!: WebhookReceiver;
  sql!: Sql;
  rows!: FirstRows;
  /** Null without Redis, and with a group of them. */
  redis: RedisServer | null = null;
  /** Null unless asked for. */
  redisGroup: RedisGroup | null = null;
  /** Null unless asked for. */
  pooler: PgBouncer | null = null;
  /** Null unless asked for. */
  standby: StandbyServer | null = null;
  readonly home: string;
  readonly #options: ClusterOptions;
  readonly #keys = randomBytes(32).toString('base64');
  readonly #killAll = () => this.#killNow();
  readonly #database: string;
  #postgres: RunningPostgres | null = null;
  #api: Api | null = null;

  private constructor(options: ClusterOptions) {
    this.#options = options;
    this.home = mkdtempSync(path.join(tmpdir(), 'tocsin-cluster-'));
    chmodSync(this.home, 0o711);
    this.#database = path.join(this.home, 'postgres');
  }

  /** Starts everything; every replica is ready. @throws after it has removed what was begun */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    process.once('exit', cluster.#killAll);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const redis = this.#startRedis();
    redis.catch(() => undefined);
    this.receiver = await startWebhookReceiver(
      this.#options.identifySenders ? { identify: (client) => this.#senderOf(client) } : {},
    );
    const isMigrated = await copyPreparedDatabase(this.#database);
    if (this.#options.standby)
      this.standby = await StandbyServer.prepare(path.join(this.home, 'standby'), this.#database);
    await this.startPostgres();
    await this.standby?.start({ ...SERVER_SETTINGS, ...NOT_DURABLE });
    await redis;
    if (this.#options.pooler) this.pooler = await PgBouncer.start(this.home, this.#postgres!.settings);
    if (!isMigrated) await runTocsin(['migrate'], this.environment(), this.#options.program);
    const count = this.#options.withoutRedis ? 1 : (this.#options.replicas ?? 3);
    for (let n = 1; n <= count; n++) await this.addReplica(`r${n}`);
    const [first, ...others] = this.replicas as [Replica, ...Replica[]];
    await first.start();
    this.#api = await Api.signIn({ app_url: first.url, ...ADMIN });
    this.rows = await firstRows(this.#api, this.receiver, this.#options.destinations ?? 2);
    // After the first rows, so that nobody has to hear of them before a test begins.
    await Promise.all(others.map((replica) => replica.start()));
  }

  async #startRedis(): Promise<void> {
    if (this.#options.redisGroup) this.redisGroup = await RedisGroup.start({ tls: true, config: PATIENT });
    else if (!this.#options.withoutRedis) this.redis = await startRedis();
  }

  /** Starts PostgreSQL, or starts it again after {@link stopPostgres} or {@link killPostgres}. */
  async startPostgres(): Promise<void> {
    const settings = {
      ...SERVER_SETTINGS,
      ...(this.#options.durable ? {} : NOT_DURABLE),
      ...this.standby?.primarySettings,
    };
    this.#postgres = await startEmbeddedPostgres({ dataDir: this.#database, settings });
    const { host, port } = this.#postgres.settings;
    const others = this.standby ? { host: this.standby.host, others: [{ host, port }] } : {};
    this.sql ??= connect(
      { ...this.#postgres.settings, ...others },
      { max: 4, applicationName: 'cluster-test' },
    );
  }

  async stopPostgres(): Promise<void> {
    await this.#postgres?.stop();
  }

  /** Kills the server's main process; its sessions end by themselves, and until then no other server starts. */
  async killPostgres(): Promise<void> {
    const main = this.#postmaster()!;
    const sessions = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ');
    process.kill(main, 'SIGKILL');
    await this.#postgres?.stop();
    await until('its sessions to end', async () => !sessions.some((pid) => existsSync(`/proc/${pid}/exe`)));
  }

  /** A further replica, not started. `env` goes before what every process is given; undefined: not set. */
  async addReplica(id: string, env: Readonly<Record<string, string | undefined>> = {}): Promise<Replica> {
    const [port] = await freePorts(1);
    const replica = new Replica({
      id,
      port: port!,
      folder: this.home,
      program: this.#options.program,
      env: { ...this.environment(), ...(await this.#redisFor(id)), ...env },
    });
    this.replicas.push(replica);
    return replica;
  }

  async #redisFor(id: string): Promise<Record<string, string>> {
    if (this.redisGroup !== null) {
      const roots = path.join(this.home, 'redis-ca.pem');
      writeFileSync(roots, CERTIFICATE);
      return { SVC_REDIS_URL: this.redisGroup.url, NODE_EXTRA_CA_CERTS: roots };
    }
    if (this.redis === null) return {};
    if (!this.#options.proxies) return { SVC_REDIS_URL: this.redis.url };
    const proxy = await startTcpProxy({ port: this.redis.port });
    this.proxies.set(id, proxy);
    return { SVC_REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
  }

  /** What every process of the installation is given. */
  environment(): Record<string, string> {
    const { host, port, database, user, password } = this.#postgres!.settings;
    const pooler = this.pooler && {
      SVC_DATABASE_HOST: '127.0.0.1',
      SVC_DATABASE_PORT: String(this.pooler.port),
      SVC_DATABASE_SESSION_HOST: host,
      SVC_DATABASE_SESSION_PORT: String(port),
    };
    return {
      SVC_DATABASE_HOST: this.standby ? `${this.standby.host},${host}` : host,
      SVC_DATABASE_PORT: String(port),
      ...pooler,
      SVC_DATABASE_NAME: database,
      SVC_DATABASE_USER: user,
      SVC_DATABASE_PASSWORD: password ?? '',
      SVC_DATABASE_SSLMODE: 'disable',
      SVC_SECRET_KEYS: this.#keys,
      SVC_PUBLIC_URL: 'http://localhost:8080',
      SVC_BOOTSTRAP_ADMIN_EMAIL: ADMIN.login,
      SVC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
      SVC_LOG_LEVEL: this.#options.logLevel ?? 'info',
      ...this.#options.env,
    };
  }

  replica(id: string): Replica {
    const found = this.replicas.find((replica) => replica.id === id);
    if (!found) throw new Error(`There is no replica ${id}`);
    return found;
  }

  proxy(id: string): TcpProxy {
    const found = this.proxies.get(id);
    if (!found) throw new Error(`There is no proxy before ${id}`);
    return found;
  }

  /** The Admin's session, at one replica. */
  api(replica: Replica): Api {
    return this.#api!.at(replica.url);
  }

  /** Who acts for a shard by the rows: the id of a replica. */
  async ownerOf(kind: string, key: string): Promise<Replica | null> {
    const [row] = await this.sql<{ owner: string | null }[]>`
      select s.owner from actors a join shards s using (shard) where a.kind = ${kind} and a.key = ${key}`;
    return this.replicas.find(({ id }) => id === row?.owner?.split('/')[0]) ?? null;
  }

  /** How many shards each replica holds by the rows. */
  async holdings(): Promise<Map<string, number>> {
    const rows = await this.sql<{ id: string; count: number }[]>`
      select coalesce(split_part(owner, '/', 1), '') as id, count(*)::int as count from shards group by 1`;
    return new Map(rows.map(({ id, count }) => [id, count]));
  }

  /** Ends every process and removes every file. `CLUSTER_KEEP=1` keeps the files, the logs among them. */
  async remove(): Promise<void> {
    for (const replica of this.replicas) if (replica.isFrozen) replica.thaw();
    this.standby?.signal('SIGCONT');
    await Promise.all(this.replicas.map((replica) => replica.kill()));
    await Promise.all([...this.proxies.values()].map((proxy) => proxy.stop()));
    await this.sql?.end({ timeout: 1 });
    await this.pooler?.kill();
    await this.redis?.stop();
    await this.redisGroup?.stop();
    await this.#postgres?.stop();
    await this.standby?.stop();
    await this.receiver?.close();
    process.off('exit', this.#killAll);
    if (process.env.CLUSTER_KEEP) console.log(`The logs are in ${this.home}`);
    else rmSync(this.home, { recursive: true, force: true });
  }

  #killNow(): void {
    for (const replica of this.replicas) replica.killNow();
    void this.pooler?.kill();
    this.standby?.killNow();
    const postmaster = this.#postmaster();
    if (postmaster !== null) process.kill(postmaster, 'SIGQUIT');
  }

  #postmaster(): number | null {
    const file = path.join(this.#database, 'cluster', 'postmaster.pid');
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : null;
  }

  #senderOf(port: number): string | null {
    const running = this.replicas.filter(({ isRunning }) => isRunning);
    const pid = pidOfClient(
      port,
      running.map((replica) => replica.pid),
    );
    return running.find((replica) => replica.pid === pid)?.id ?? null;
  }
}
