/**
 * How the database carries out each statement of a service that runs, while its tables grow from a thousand Alert Groups
 * to very many. A statement reads a bounded number of rows, whichever plan it has: one for the values at hand, one for
 * all values, or one that the server keeps from when the tables were small.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Micros } from '../../runtime/clock.ts';
import { connect } from '../../storage/postgres/connection.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { startTestServer, type TestServer } from '../postgres.ts';
import { World } from '../scenarios/world.ts';
import { boundOf, HOT, HOT_QUEUES } from './bounds.ts';
import { age, FIRST, fill, fillConfiguration, fillQueues, QUEUED_FROM } from './fill.ts';
import { planReader, RECORDED, RECORDING, type RecordedPlan } from './recorded-plans.ts';
import { Rounds, readQueues } from './rounds.ts';

/** In npm test. `npm run plans` takes a million. */
const GROUPS = Number(process.env.PLANS_GROUPS ?? 50_000);
const SMALL = 1_000;
const QUEUED = GROUPS / 5;
const NOW: Micros = 1_790_000_000_000_000;

const OF_QUEUES = 'of queues, kept from when they were empty';
const PHASES = [
  'kept from a thousand groups',
  'made for all values',
  'made for the values at hand',
  OF_QUEUES,
] as const;
type Phase = (typeof PHASES)[number];

let server: TestServer;
let world: World;
let rounds: Rounds;
/** Asks of the queues, on one connection. */
let queues: Sql;
const recorded = new Map<Phase, readonly RecordedPlan[]>();

beforeAll(async () => {
  server = await startTestServer({ ...RECORDING, plan_cache_mode: 'force_generic_plan' });
  world = await World.open(server.settings, NOW);
  queues = connect(world.settings, { max: 1, applicationName: 'tocsin queues' });
  const read = planReader(`${server.dataDir}/${RECORDED}`, world.sql);
  await fillConfiguration(world.sql, NOW);
  rounds = await Rounds.begin(world);
  const untouched = { open: FIRST + SMALL, resolved: FIRST };
  const run = async (count = 1) => {
    await age(world.sql, NOW, untouched.resolved);
    untouched.resolved += 100;
    for (let round = 0; round < count; round++)
      await rounds.round([groupId(--untouched.open), groupId(--untouched.open)]);
    return read();
  };
  await fill(world.sql, NOW, FIRST, FIRST + SMALL, rounds.places);
  await world.sql`vacuum (analyze)`;
  await readQueues(queues, NOW, QUEUED_FROM + 1);
  // So that each connection has its plans.
  await run(3);
  await fill(world.sql, NOW, FIRST + SMALL, FIRST + GROUPS, rounds.places);
  await read();
  recorded.set('kept from a thousand groups', await run());
  await world.sql`vacuum (analyze)`;
  recorded.set('made for all values', await run());
  await world.sql`alter system set plan_cache_mode = 'force_custom_plan'`;
  await world.sql`select pg_reload_conf()`;
  recorded.set('made for the values at hand', await run());
  await world.stop();
  await fillQueues(world.sql, NOW, QUEUED);
  await read();
  await readQueues(queues, NOW, QUEUED_FROM + 2);
  recorded.set(OF_QUEUES, await read());
}, 900_000);

afterAll(async () => {
  await queues?.end();
  await world?.close(server.settings);
  await rounds?.bridge.close();
  await server?.stop();
}, 60_000);

const groupId = (number: number) => `AG${String(number).padStart(12, '0')}`;

describe.each(PHASES)('plans %s', (phase) => {
  const plans = () => recorded.get(phase) ?? [];

  test('read a bounded number of rows', () => {
    const beyond = new Map<string, string>();
    for (const { statement, rows, buffers, scanned } of plans()) {
      const bound = boundOf(statement, phase.includes('kept'), GROUPS);
      if (rows <= bound.rows && buffers <= bound.buffers) continue;
      beyond.set(
        `${statement.slice(0, 150)} … ${statement.slice(-250)}`,
        `${rows} rows, ${buffers} pages, from end to end: ${scanned.join(' ')}`,
      );
    }
    expect([...beyond]).toEqual([]);
  });

  test('are those of every hot statement', () => {
    const statements = plans().map(({ statement }) => statement);
    const missing = (phase === OF_QUEUES ? HOT_QUEUES : HOT).filter(
      (one) => !statements.some((text) => one.statement.test(text)),
    );
    expect(missing.map(({ what }) => what)).toEqual([]);
  });
});
