/** One service for the scenarios of a test file, the time it lives in, and the receiver that it delivers to. */
import { afterAll, beforeAll, inject } from 'vitest';
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { DatabaseSettings } from '../../runtime/config.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import { connect } from '../../storage/postgres/connection.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { replaySnapshots } from '../../storage/snapshots/stored-snapshots.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api } from '../harness/api.ts';
import { until } from '../harness/until.ts';
import { createTestDatabase, dropTestDatabase } from '../postgres.ts';
import { insertPerson } from './by-hand.ts';
import { untilIdle } from './idle.ts';
import { type RunningService, runService } from './running-service.ts';
import { createScenarioClock, type ScenarioClock } from './scenario-clock.ts';

export interface Logged {
  readonly at: Micros;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export class World {
  readonly clock: ScenarioClock;
  readonly receiver: WebhookReceiver;
  readonly sql: Sql;
  /** What the service logged, warnings and notices alike. */
  readonly logged: Logged[] = [];
  readonly settings: DatabaseSettings;
  #running: RunningService | null = null;
  #admin: Api | null = null;
  #bell = '';
  #markedAt: Micros = 0;
  #rung = 0;

  private constructor(settings: DatabaseSettings, receiver: WebhookReceiver, start?: Micros) {
    this.settings = settings;
    this.receiver = receiver;
    this.clock = createScenarioClock(start);
    this.sql = connect(settings, { max: 2, applicationName: 'scenario' });
  }

  /** A started service on a database of its own. */
  static async open(server: DatabaseSettings, start?: Micros): Promise<World> {
    const world = new World(await createTestDatabase(server), await startWebhookReceiver(), start);
    await world.start();
    const { cookie } = await insertPerson(world.sql, 'Adm', 'admin', world.clock.now());
    world.#admin = await Api.resume(world.running.appUrl, cookie);
    await world.admin.change('/organization/outbound-policy', (policy) => ({
      ...policy,
      allowed: ['127.0.0.0/8'],
    }));
    const bell = await world.admin.post('/integrations', {
      name: 'bell',
      connection_mode: 'webhook_only',
      static_labels: {},
      duplicate_window_seconds: 45,
      heartbeat: { enabled: false },
    });
    world.#bell = `/integrations/${bell.id}`;
    return world;
  }

  /** A process that is alone reads its configuration when it saves some: after rows were written by hand, it saves. */
  async ring(): Promise<void> {
    const description = String(++this.#rung);
    await this.admin.change(this.#bell, (bell) => ({ ...bell, description }));
  }

  get running(): RunningService {
    if (this.#running === null) throw new Error('the service does not run');
    return this.#running;
  }

  get admin(): Api {
    if (this.#admin === null) throw new Error('there is no Admin yet');
    return this.#admin.at(this.running.appUrl);
  }

  async start(): Promise<void> {
    this.#running = await runService(this.settings, this.clock, (event, fields) => {
      this.logged.push({ at: this.clock.now(), event, fields: fields ?? {} });
    });
    await this.settle();
  }

  async stop(): Promise<void> {
    const { running } = this;
    this.#running = null;
    await running.stop();
  }

  /** Resolves once the service has nothing to do at this moment, with the next moment at which it will. */
  async settle(): Promise<Micros | null> {
    for (;;) {
      const next = await untilIdle(this.sql, this.clock.now, () => this.running.service.system.poke());
      // An actor that wants its next turn at once asks to be woken a microsecond later.
      if (next === null || next > this.clock.now() + 1_000) return next;
      this.#jumpTo(next);
    }
  }

  #jumpTo(at: Micros): void {
    this.clock.jumpTo(at);
    this.running.service.system.poke();
  }

  /**
   * Time goes on to `to`. Wake-ups of actors run at their times; what the service looks at now and then it looks at
   * whenever something happens, and at least every `step`.
   */
  async passTo(to: Micros, step: Micros = Number.POSITIVE_INFINITY): Promise<void> {
    let next = await this.settle();
    while (this.clock.now() < to) {
      const stop = Math.min(to, next ?? to, this.clock.now() + step);
      await this.#keepAlive(stop);
      this.#jumpTo(stop);
      next = await this.settle();
    }
  }

  /**
   * Business time that outruns the Leader is no downtime: its sign of life comes along. One leap does that, and so do many
   * steps that together take less real time than one round of the Leader.
   */
  async #keepAlive(at: Micros): Promise<void> {
    if (at - this.#markedAt < 10 * SECOND) return;
    await this.sql`update alive_mark set at = greatest(at, ${at})`;
    this.#markedAt = at;
  }

  /** The service is down from now until `to`. */
  async downUntil(to: Micros): Promise<void> {
    await this.settle();
    await this.stop();
    this.clock.jumpTo(to);
    await this.start();
    await until('the sign of life of the new Leader', async () => {
      const [mark] = await this.sql`select at from alive_mark where at >= ${to}`;
      return mark !== undefined;
    });
    await this.settle();
  }

  /**
   * Has Stored Snapshots of an Integration processed once more, as the command line does; the service finds them within
   * half a minute. Answers how many.
   */
  async replay(since: Micros, integration: string): Promise<number> {
    await this.settle();
    const by = { kind: 'cli', id: null, name: 'scenario' } as const;
    const author = { by, at: this.clock.now(), address: null };
    const asked = { since, period: '1h', integration, author };
    const outcome = await replaySnapshots(this.sql, appendAudit, asked);
    if (outcome === 'unknown') throw new Error(`there is no Integration ${integration}`);
    this.#jumpTo(this.clock.now() + MINUTE / 2);
    await this.settle();
    return outcome.count;
  }

  /** The first full hour from now on that nothing of an earlier scenario reaches. */
  async freshHour(): Promise<Micros> {
    const begin = Math.ceil((this.clock.now() + HOUR) / HOUR) * HOUR;
    await this.passTo(begin);
    return begin;
  }

  async close(server: DatabaseSettings): Promise<void> {
    if (this.#running) await this.stop();
    await this.sql.end({ timeout: 1 });
    await this.receiver.close();
    await dropTestDatabase(server, this.settings);
  }
}

/** Gives the calling test file a {@link World} from before its first test until after its last. */
export function useWorld(start?: Micros): () => World {
  let world: World | null = null;
  beforeAll(async () => {
    world = await World.open(inject('postgres'), start);
  });
  afterAll(() => world?.close(inject('postgres')));
  return () => {
    if (world === null) throw new Error('the world exists inside tests and hooks only');
    return world;
  };
}
