/** A primary Redis, its copy, and three Sentinels that put one in the place of the other. */
import { type RedisSentinel, type RedisServer, startRedis, startSentinel } from '../redis.ts';
import { until } from './until.ts';

const PASSWORD = 'hunter2';
const QUORUM = 2;
const SENTINELS = 3;

export interface RedisGroupOptions {
  /** All of them speak TLS only, with the certificate of test/fakes. */
  readonly tls?: true;
  /** Lines of sentinel.conf. */
  readonly config?: readonly string[];
}

export class RedisGroup {
  /** What the Sentinels call it. */
  readonly name = 'mymaster';
  /** As they begin; a failover changes their roles. */
  primary!: RedisServer;
  copy!: RedisServer;
  readonly sentinels: RedisSentinel[] = [];
  readonly #options: RedisGroupOptions;

  private constructor(options: RedisGroupOptions) {
    this.#options = options;
  }

  /** Starts all of them; each Sentinel knows the others and the copy. @throws after it has ended what was begun */
  static async start(options: RedisGroupOptions = {}): Promise<RedisGroup> {
    const group = new RedisGroup(options);
    try {
      await group.#start();
      return group;
    } catch (error) {
      await group.stop();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const { tls = false, config = [] } = this.#options;
    this.primary = await startRedis({ password: PASSWORD, tls });
    this.copy = await startRedis({ password: PASSWORD, tls, replicaOf: this.primary.port });
    const guard = { name: this.name, primary: this.primary, password: PASSWORD, quorum: QUORUM, tls, config };
    while (this.sentinels.length < SENTINELS) this.sentinels.push(await startSentinel(guard));
    for (const sentinel of this.sentinels)
      await until('the Sentinels to know each other and the copy', async () => {
        const facts = pairs(await sentinel.command('sentinel', 'master', this.name));
        return facts.get('num-other-sentinels') === `${SENTINELS - 1}` && facts.get('num-slaves') === '1';
      });
  }

  /** What SVC_REDIS_URL says for it. */
  get url(): string {
    return this.urlOf(this.sentinels.map(({ port }) => port));
  }

  /** The same with Sentinels at these ports. */
  urlOf(ports: readonly number[]): string {
    const list = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `redis${this.#options.tls ? 's' : ''}+sentinel://:${PASSWORD}@${list}/${this.name}`;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, this.copy, this.primary].map((program) => program?.stop()));
  }
}

/** Whether a server is the primary now. */
export async function leads(server: RedisServer): Promise<boolean> {
  return String(await server.command('info', 'replication')).includes('role:master');
}

/** `[name, value, name, value, …]`, or the same as an object. */
function pairs(answer: unknown): Map<string, unknown> {
  if (!Array.isArray(answer)) return new Map(Object.entries(answer ?? {}));
  return new Map(
    answer.flatMap((name, at) => (at % 2 === 0 ? [[String(name), answer[at + 1]] as const] : [])),
  );
}
