/** The witness itself: what must never be is seen by it, and what may be is not complained about. */
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../storage/migrate.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { type RunningPostgres, startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { Witness } from '../harness/witness.ts';

let home: string;
let server: RunningPostgres;
const clients: Sql[] = [];

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'tocsin-witness-'));
  await chmod(home, 0o711);
  const settings = { fsync: 'off', track_commit_timestamp: 'on' };
  server = await startEmbeddedPostgres({ dataDir: home, settings });
  await migrate(as('witness-test'));
});

afterAll(async () => {
  await Promise.all(clients.map((sql) => sql.end()));
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

function as(applicationName: string): Sql {
  const sql = connect(server.settings, { max: 1, applicationName });
  clients.push(sql);
  return sql;
}

const raise = (sql: Sql, shard: number, owner: string) =>
  sql`update shards set epoch = epoch + 1, owner = ${owner} where shard = ${shard}`;

const write = (sql: Sql, shard: number) => sql`
  insert into actors (kind, key, shard, version, schema, snapshot, updated_at)
  values ('toy', ${`toy ${shard}`}, ${shard}, 1, 1, '{}', 0)
  on conflict (kind, key) do update set version = actors.version + 1`;

test('one committer a shard and epoch is fine; another one, a late one and a skipped epoch are not', async () => {
  const [one, two] = [as('tocsin commits r1'), as('tocsin commits r2')];
  await raise(one, 7, 'r1/a');
  const witness = await Witness.install(as('witness-test'));
  await write(one, 7);
  await write(one, 7);
  await raise(two, 7, 'r2/b');
  await write(two, 7);
  expect(await witness.violations()).toEqual([]);

  await write(one, 7);
  expect(await witness.violations()).toEqual([
    'shard 7, epoch 2: tocsin commits r1, tocsin commits r2',
    'shard 7, epoch 2: tocsin commits r1 wrote for r2/b',
  ]);
  await as('witness-test')`update shards set epoch = epoch + 2 where shard = 9`;
  expect(await witness.violations()).toContain('shard 9, epoch 2: raised from 0');
});

test('a commit that checked its epoch and was overtaken by a raise is seen', async () => {
  const [one, two] = [as('tocsin commits r1'), as('tocsin commits r2')];
  const witness = new Witness(as('witness-test'));
  await raise(one, 8, 'r1/a');
  await write(one, 8);
  const begun = one.begin(async (tx) => {
    await write(tx as unknown as Sql, 8);
    await raise(two, 8, 'r2/b');
  });
  await begun;
  expect(await witness.violations()).toContain(
    'shard 8, epoch 1: committed by tocsin commits r1 after epoch 2 was raised',
  );
});

test('a takeover is measured from the moment that is given', async () => {
  const [one, two] = [as('tocsin commits r3'), as('tocsin commits r4')];
  const witness = new Witness(as('witness-test'));
  await raise(one, 20, 'r3/a');
  await write(one, 20);
  const at = Date.now();
  expect(await witness.takeover('r3', at)).toEqual({ firstCommitMs: null, allRaisedMs: null, shards: 1 });
  await raise(two, 20, 'r4/b');
  expect(await witness.takeover('r3', at)).toMatchObject({ firstCommitMs: null, shards: 1 });
  await write(two, 20);
  const { firstCommitMs, allRaisedMs } = await witness.takeover('r3', at);
  expect(allRaisedMs).toBeGreaterThanOrEqual(0);
  expect(firstCommitMs).toBeGreaterThan(allRaisedMs!);
});
