/**
 * The database dies and freezes under load while Tocsin serves. Senders are refused meanwhile; afterwards everything
 * that was answered 202 is processed once and no lifecycle event is missing (ingestion §15 row 34).
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../storage/postgres/connection.ts';
import { type RunningPostgres, startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { Api, type Json } from '../harness/api.ts';
import { snapshotBody } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const RESTARTS = 2;
const SENDERS = 8;
/** Between two Snapshots of a sender. */
const PACE_MS = 100;
const FROZEN_MS = 15_000;
/** Snapshots accepted between two deaths of the database, so that each finds it in the middle of work. */
const BETWEEN = 4 * SENDERS;
/** The engine's pauses between tries grow to 30 s while the database is away; what is left is done after the last. */
const PROCESSED_WITHIN_S = 90;

let home: string;
let postgres: RunningPostgres;
let tocsin: Installation;
let ready: Ready;

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'tocsin-lost-postgres-'));
  chmodSync(home, 0o711);
  postgres = await startEmbeddedPostgres({ dataDir: home });
  const { host, port, database, user, password } = postgres.settings;
  tocsin = new Installation({
    SVC_DATABASE_HOST: host,
    SVC_DATABASE_PORT: String(port),
    SVC_DATABASE_NAME: database,
    SVC_DATABASE_USER: user,
    SVC_DATABASE_PASSWORD: password ?? '',
    SVC_DATABASE_SSLMODE: 'disable',
  });
  ready = await tocsin.start();
});

afterAll(async () => {
  await tocsin.remove();
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
});

/** The main process of the server. */
function postmaster(): number {
  return Number(readFileSync(path.join(home, 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** The main process and every session of it. */
function family(): number[] {
  const main = postmaster();
  const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ');
  return [main, ...children.filter(Boolean).map(Number)];
}

async function readiness(): Promise<number> {
  return (await fetch(`${ready.internal_url}/health/ready`)).status;
}

const becomes = (status: number) =>
  until(`readiness ${status}`, async () => ((await readiness()) === status ? true : null), 20);

/** One sender: each Snapshot adds one alert to its group, sent again until it was accepted. */
class Lane {
  readonly name: string;
  accepted = 0;
  readonly unexpected: string[] = [];
  refused = 0;

  constructor(name: string) {
    this.name = name;
  }

  async send(): Promise<void> {
    const alerts = Array.from({ length: this.accepted + 1 }, (_, n) => ({
      labels: { alertname: this.name, n: String(n) },
    }));
    const body = snapshotBody({ groupKey: this.name, alerts });
    const answer = await fetch(ready.ingest_endpoint, {
      method: 'POST',
      headers: { authorization: `Bearer ${ready.integration_token}`, 'content-type': 'application/json' },
      body,
    }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 202) {
      this.accepted++;
      await pause(PACE_MS);
      return;
    }
    this.refused++;
    const isExpected = answer === null || (answer.status === 503 && answer.headers.has('retry-after'));
    if (!isExpected) this.unexpected.push(String(answer?.status));
    await pause(PACE_MS);
  }
}

test('a database that dies and freezes costs time only', async () => {
  const lanes = Array.from({ length: SENDERS }, (_, n) => new Lane(`Lost${n}`));
  let sending = true;
  const senders = lanes.map(async (lane) => {
    while (sending) await lane.send();
  });
  const accepted = () => lanes.reduce((sum, lane) => sum + lane.accepted, 0);
  const more = async () => {
    const before = accepted();
    await until('Snapshots to be accepted', async () => accepted() >= before + BETWEEN, 30);
  };

  await more();
  for (let restart = 0; restart < RESTARTS; restart++) {
    process.kill(postmaster(), 'SIGKILL');
    await becomes(503);
    await postgres.stop();
    postgres = await startEmbeddedPostgres({ dataDir: home });
    await becomes(200);
    await more();
  }

  const frozen = family();
  for (const pid of frozen) process.kill(pid, 'SIGSTOP');
  await becomes(503);
  await pause(FROZEN_MS);
  for (const pid of frozen.toReversed()) process.kill(pid, 'SIGCONT');
  await becomes(200);
  await more();
  sending = false;
  await Promise.all(senders);

  expect(lanes.flatMap((lane) => lane.unexpected)).toEqual([]);
  expect(lanes.some((lane) => lane.refused > 0)).toBe(true);
  await processed();
  const api = await Api.signIn(ready);
  const groups: Json[] = await api.all('/alert-groups');
  for (const lane of lanes) {
    const group = groups.find(({ title }) => title === lane.name);
    const alerts = group ? await api.all(`/alert-groups/${group.id}/alerts`) : [];
    expect(alerts.map(({ labels }) => Number(labels.n)).sort((a, b) => a - b)).toEqual(
      expect.arrayContaining(Array.from({ length: lane.accepted }, (_, n) => n)),
    );
  }
  for (const group of groups) {
    const timeline = await api.all(`/alert-groups/${group.id}/timeline?order=asc`);
    const sequences = timeline.flatMap(({ sequence }) => (typeof sequence === 'number' ? [sequence] : []));
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  }
  expect(await tocsin.stop()).toBe(0);
});

/** Waits until nothing is queued, between actors neither; what was stored is processed, without an error. */
async function processed(): Promise<void> {
  const sql = connect(postgres.settings, { max: 1, applicationName: 'crash-test' });
  try {
    await until(
      'every stored Snapshot to be processed',
      async () => {
        const [row] = await sql<{ queued: number; told: number; unprocessed: number; failed: number }[]>`
          select (select count(*)::int from snapshot_queue) as queued,
            (select count(*)::int from inbox) as told,
            (select count(*)::int from stored_snapshots where processed_at is null) as unprocessed,
            (select count(*)::int from stored_snapshots where processing_error is not null) as failed`;
        if (row?.queued === 0 && row.told === 0 && row.unprocessed === 0 && row.failed === 0) return true;
        throw new Error(JSON.stringify(row));
      },
      PROCESSED_WITHIN_S,
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}
