/** A Tocsin under load, and what can be read off it from outside. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../storage/postgres/connection.ts';
import { embeddedSettings } from '../storage/postgres/embedded/embedded.ts';
import type { Sql } from '../storage/postgres/records.ts';
import { Api, type Json } from '../test/harness/api.ts';
import { Installation, type Ready } from '../test/harness/tocsin.ts';
import { cpuSeconds, postgresCpuSeconds } from './processor-time.ts';

const PAUSED = path.join(import.meta.dirname, 'paused-service.ts');

export class Loaded {
  readonly installation: Installation;
  readonly ready: Ready;
  readonly api: Api;
  readonly sql: Sql;

  private constructor(installation: Installation, ready: Ready, api: Api, sql: Sql) {
    this.installation = installation;
    this.ready = ready;
    this.api = api;
    this.sql = sql;
  }

  /** Starts a fresh installation. Paused, Snapshots are stored and answered but not processed. */
  static async start(
    processing: 'on' | 'paused' = 'on',
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Loaded> {
    const env = { SVC_LOG_LEVEL: 'error', ...settings };
    const installation =
      processing === 'on'
        ? new Installation(env)
        : new Installation(env, ['--max-semi-space-size=32', PAUSED]);
    const ready = await installation.start();
    const api = await Api.signIn(ready);
    const database = await embeddedSettings(path.join(installation.dataDir, 'postgres'));
    return new Loaded(installation, ready, api, connect(database, { max: 1, applicationName: 'bench' }));
  }

  /** Whether anything accepted still waits: a Snapshot to be processed, or what it led to, to reach its actor. */
  async isBusy(): Promise<boolean> {
    const [row] = await this.sql<{ waits: boolean }[]>`
      select exists (select from snapshot_queue) or exists (select from inbox) as waits`;
    return row!.waits;
  }

  /** Waits until everything accepted is processed; gives the seconds it took. */
  async drained(): Promise<number> {
    const from = performance.now();
    while (await this.isBusy()) await pause(20);
    return (performance.now() - from) / 1000;
  }

  /** Lifecycle events recorded so far. */
  async events(): Promise<number> {
    const [row] = await this.sql<{ count: number }[]>`
      select count(*)::int as count from timeline_entries where kind <> 'delivery'`;
    return row!.count;
  }

  /** Resident memory of the service process, bytes (the database is another process). */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.installation.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  /** Processor seconds the service process used so far. */
  cpuSeconds(): number {
    return cpuSeconds(this.installation.pid);
  }

  /** Those of its database. */
  postgresCpuSeconds(): number {
    return postgresCpuSeconds(this.installation.dataDir);
  }

  /** Sends every event of the Default route to a webhook receiver on this machine. */
  async attachWebhook(url: string): Promise<void> {
    await this.api.change('/organization/outbound-policy', (policy) => ({
      ...policy,
      allowed: ['127.0.0.0/8'],
    }));
    const created = await this.api.post('/destinations', {
      type: 'webhook',
      name: 'bench',
      mode: 'events',
      events: { url, headers: [] },
      limiter: { limit: 1000, per_seconds: 1 },
    });
    const routes = await this.api.get('/routes');
    const fallback = routes.items.find((route: Json) => route.is_default);
    await this.api.change(`/routes/${fallback.id}`, (route) => ({
      ...route,
      destination_ids: [created.destination.id],
    }));
  }

  /** Transactions that its database committed so far. The counters of sessions lag by a second. */
  async transactions(): Promise<number> {
    return committed(this.sql);
  }

  async remove(): Promise<void> {
    await this.sql.end();
    await this.installation.remove();
  }
}

/** Transactions that the database of a client committed so far. */
export async function committed(sql: Sql): Promise<number> {
  await pause(1_500);
  const [row] = await sql<{ count: number }[]>`
    select xact_commit::bigint as count from pg_stat_database where datname = current_database()`;
  return row?.count ?? 0;
}
