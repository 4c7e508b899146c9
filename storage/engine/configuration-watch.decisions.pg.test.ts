import { beforeEach, describe, expect, test } from 'vitest';
import { type CommitBatch, OutdatedError } from '../../runtime/actor/index.ts';
import { firstStart, readDirectory, stoppedClock } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import type { StoredDirectory } from '../configuration/directory.ts';
import type { Sql } from '../postgres/records.ts';
import { createActorStore } from './actor-store.ts';
import { createDecisions } from './configuration-watch.ts';

const database = useDatabase();
let sql: Sql;
let directory: StoredDirectory;
let commit: (batch: CommitBatch) => Promise<void>;

beforeEach(async () => {
  sql = database.sql();
  await firstStart(sql);
  directory = await readDirectory(sql);
  const store = createActorStore({
    sql,
    clock: stoppedClock,
    writers: [],
    rowLoaders: [],
    consumers: [],
    decisions: createDecisions(directory),
  });
  commit = (batch) => store.commit(batch, () => undefined);
});

/** Whose turns run now. */
const batch = (): CommitBatch => ({
  decidedWith: directory.version(),
  epochs: [],
  claims: [],
  drawnBefore: new Map(),
  writes: [],
  consumed: [],
  sends: [],
  records: [],
  replies: [],
  isLarge: false,
});
/** By another replica. */
const renameRoute = (name: string) => sql`update routes set name = ${name}`;
const routeName = () => directory.current().routes[0]?.name;

describe('a commit', () => {
  test('stores what was decided with the present configuration', async () => {
    await commit(batch());
    await commit(batch());
  });

  test('refuses what another replica has changed the configuration under; run again, it sees the change', async () => {
    await renameRoute('Renamed');
    await expect(commit(batch())).rejects.toThrow(OutdatedError);
    expect(routeName()).toBe('Renamed');
    await commit(batch());
  });

  test('refuses turns that ran before this process read the change', async () => {
    const early = batch();
    await renameRoute('Renamed');
    await directory.reload();
    await expect(commit(early)).rejects.toThrow(OutdatedError);
    await commit(batch());
  });

  test('stores what nothing was decided for', async () => {
    await renameRoute('Renamed');
    await commit({ ...batch(), decidedWith: null });
  });

  test('does not mind changes that no turn is decided with', async () => {
    await sql`update organization_outbound_policy set denied = '[]'`;
    await commit(batch());
  });
});
