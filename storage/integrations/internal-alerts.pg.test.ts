import { beforeEach, describe, expect, test } from 'vitest';
import { feedKey } from '../../actors/feed/identity.ts';
import { feedAddress } from '../../actors/feed/messages.ts';
import { parseSnapshot, type SnapshotEntry } from '../../actors/feed/snapshot.ts';
import type { InternalAlertChange } from '../../actors/internal-alerts/registry.ts';
import { shardOf } from '../../runtime/actor/index.ts';
import { DAY, type Micros, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { firstStart, insertDestination } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createDestinationStore } from '../configuration/destinations.ts';
import { createRouteStore } from '../configuration/routes.ts';
import type { Transaction } from '../postgres/records.ts';
import { FIRST_DAY, useSnapshotPartitions } from '../snapshots/snapshots.fixture.ts';
import { createIntegrationStore } from './integrations.ts';
import { createInternalAlerts } from './internal-alerts.ts';

const database = useDatabase();
useSnapshotPartitions(database);
const AT: Micros = FIRST_DAY * DAY + 10 * SECOND;
const BUILTIN = newPublicId('NT');
const key = masterKey(Buffer.alloc(32, 7));
const keyring = createKeyring([key], key.id);
const announced: (readonly number[])[] = [];
const alerts = createInternalAlerts({
  integrationId: BUILTIN,
  runbooks: { base: 'https://r.example', version: '1.4.2' },
  stored: (shards) => void announced.push(shards),
});

let destination: PublicId;
let integration: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  await empty(sql, 'internal_alerts', 'snapshot_queue');
  destination = await insertDestination(sql, 'ops');
  integration = newPublicId('NT');
  await sql`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    values (${integration}, 1, false, 'lab', '', '{"env": "prod", "severity": "x"}', 45, true, 300, ${AT})`;
});

const within = (run: (tx: Transaction) => Promise<void>) => database.sql().begin(run);

const broken = (change: 'raise' | 'resolve', at: Micros, name = 'ops'): InternalAlertChange => ({
  change,
  name: 'SvcDestinationBroken',
  entity: { id: destination, name },
  at,
});

const record = (...changes: InternalAlertChange[]) => within((tx) => alerts.record(tx, changes));

interface Stored extends SnapshotEntry {
  readonly receivedAt: Micros;
}

/** What waits to be processed, in the order in which it will be. */
async function stored(): Promise<Stored[]> {
  const rows = await database.sql()<
    { body: Buffer; received_at: Micros; shard: number; integration_id: PublicId }[]
  >`
    select b.body, q.received_at, q.shard, q.integration_id
    from snapshot_queue q
    join snapshot_bodies b on b.hash = q.body_hash and b.day = ${FIRST_DAY}
    order by q.seq`;
  return rows.map((row) => {
    const parsed = parseSnapshot(row.body);
    if (!parsed.ok) throw new Error(parsed.error);
    const { snapshot } = parsed;
    expect(row.integration_id).toBe(BUILTIN);
    expect(row.shard).toBe(shardOf(feedAddress(feedKey(BUILTIN, snapshot.groupKeyHash))));
    const [entry] = snapshot.entries;
    if (!entry || snapshot.entries.length > 1) throw new Error('one entry a Snapshot');
    return { ...entry, receivedAt: row.received_at };
  });
}

const outline = async () =>
  (await stored()).map(({ status, labels, startsAt, receivedAt }) => [
    status,
    labels.destination_name ?? labels.integration_name ?? null,
    startsAt - AT,
    receivedAt - AT,
  ]);

test('a raise and its resolve are a Snapshot each', async () => {
  await record(broken('raise', AT));
  await record(broken('resolve', AT + SECOND));
  expect(await outline()).toEqual([
    ['firing', 'ops', 0, 0],
    ['resolved', null, SECOND, SECOND],
  ]);
});

test('the intake is told where to look, after the save and whatever came of it', async () => {
  announced.length = 0;
  const saving = record(broken('raise', AT)).then(() => {
    expect(announced).toEqual([]);
    return 'saved';
  });
  expect(await alerts.announced(saving)).toBe('saved');
  const [row] = await database.sql()<{ shard: number }[]>`select shard from snapshot_queue`;
  expect(announced).toEqual([expect.arrayContaining([row?.shard])]);
  await expect(alerts.announced(Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  expect(announced).toHaveLength(2);
});

test('what is raised already, or was never raised, stores nothing', async () => {
  await record(broken('resolve', AT));
  await record(broken('raise', AT), broken('raise', AT + 1));
  await record(broken('raise', AT + 2));
  await record(broken('resolve', AT + 3));
  await record(broken('resolve', AT + 4));
  expect(await outline()).toEqual([
    ['firing', 'ops', 0, 0],
    ['resolved', null, 3, 3],
  ]);
});

test('changes of one commit keep their order, and each is later than the one before', async () => {
  await record(broken('raise', AT), broken('resolve', AT), broken('raise', AT - SECOND));
  expect(await outline()).toEqual([
    ['firing', 'ops', 0, 0],
    ['resolved', null, 1, 1],
    ['firing', 'ops', 2, 2],
  ]);
});

test('a commit that fails stores neither the Snapshot nor the condition', async () => {
  const failing = within(async (tx) => {
    await alerts.record(tx, [broken('raise', AT)]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await stored()).toEqual([]);
  await record(broken('raise', AT));
  expect(await outline()).toEqual([['firing', 'ops', 0, 0]]);
});

test('the name is the present one, whatever the turn remembered', async () => {
  await record(broken('raise', AT, 'as it was called yesterday'));
  expect(await outline()).toEqual([['firing', 'ops', 0, 0]]);
});

test('Static labels go with SvcHeartbeatLost only, and never over a label of the registry', async () => {
  const entity = { id: integration, name: 'lab' };
  await record(
    { change: 'raise', name: 'SvcHeartbeatLost', entity, at: AT },
    { change: 'raise', name: 'SvcSnapshotTruncated', entity, at: AT },
  );
  expect((await stored()).map(({ labels }) => labels)).toEqual([
    {
      alertname: 'SvcHeartbeatLost',
      severity: 'critical',
      integration,
      integration_name: 'lab',
      env: 'prod',
    },
    { alertname: 'SvcSnapshotTruncated', severity: 'warning', integration, integration_name: 'lab' },
  ]);
});

test('an alert about the installation has no entity', async () => {
  await record({
    change: 'raise',
    name: 'SvcOIDCSecretExpiring',
    entity: null,
    date: '2026-12-01',
    at: AT,
  });
  const [raised] = await stored();
  expect(raised?.fingerprint).toBe('a0b238980de44693');
  expect(raised?.annotations.summary).toBe('The OIDC client secret expires on 2026-12-01');
});

describe('an entity that is renamed', () => {
  const rename = (name: string, at: Micros) =>
    within((tx) => alerts.entityChanged(tx, { id: destination, name, staticLabels: {} }, at));

  test('raises again what is raised: the firing and its start stay', async () => {
    await record(broken('raise', AT));
    await rename('ops-eu', AT + SECOND);
    expect(await outline()).toEqual([
      ['firing', 'ops', 0, 0],
      ['firing', 'ops-eu', 0, SECOND],
    ]);
    const [first, second] = await stored();
    expect(second?.fingerprint).toBe(first?.fingerprint);
  });

  test('raises nothing that is not raised, and nothing twice', async () => {
    await rename('ops-eu', AT);
    await record(broken('raise', AT), broken('resolve', AT + 1));
    await rename('ops-us', AT + 2);
    expect(await outline()).toHaveLength(2);
    await record(broken('raise', AT + 3));
    await rename('ops', AT + 4);
    expect(await outline()).toHaveLength(3);
  });

  test('keeps what the raise carried', async () => {
    const route = (await database.sql()<{ id: PublicId }[]>`select id from routes`)[0]?.id as PublicId;
    const entity = { id: route, name: 'Default' };
    await record({
      change: 'raise',
      name: 'SvcTemplateError',
      entity,
      labels: { template: 'line' },
      at: AT,
    });
    await within((tx) => alerts.entityChanged(tx, { ...entity, name: 'All', staticLabels: {} }, AT + 1));
    expect((await stored()).map(({ labels }) => [labels.route_name, labels.template])).toEqual([
      ['Default', 'line'],
      ['All', 'line'],
    ]);
  });
});

test('changed Static labels raise SvcHeartbeatLost again, and nothing else', async () => {
  const entity = { id: integration, name: 'lab' };
  await record(
    { change: 'raise', name: 'SvcHeartbeatLost', entity, at: AT },
    { change: 'raise', name: 'SvcSnapshotTruncated', entity, at: AT },
  );
  const changed = { ...entity, staticLabels: { env: 'test' } };
  await within((tx) => alerts.entityChanged(tx, changed, AT + 1));
  expect((await stored()).slice(2).map(({ labels }) => [labels.alertname, labels.env])).toEqual([
    ['SvcHeartbeatLost', 'test'],
  ]);
});

describe('an entity that is deleted', () => {
  const remove = (at: Micros) =>
    within(async (tx) => {
      await tx`update destinations set deleted_at = ${at} where id = ${destination}`;
      await alerts.entityDeleted(tx, destination, at);
    });

  test('resolves what is raised, also when that still waits', async () => {
    await record(broken('raise', AT));
    await remove(AT + SECOND);
    expect(await outline()).toEqual([
      ['firing', 'ops', 0, 0],
      ['resolved', null, SECOND, SECOND],
    ]);
    expect(await database.sql()`select 1 from internal_alerts`).toHaveLength(0);
  });

  test('is never raised about again, also by a turn that did not know of it', async () => {
    await remove(AT);
    await record(broken('raise', AT + 1));
    expect(await stored()).toEqual([]);
    expect(await database.sql()`select 1 from internal_alerts`).toHaveLength(0);
  });

  test('a raise that is under way is waited for, and resolved', async () => {
    let removal: Promise<unknown> = Promise.resolve();
    await within(async (tx) => {
      await alerts.record(tx, [broken('raise', AT)]);
      removal = remove(AT + SECOND);
    });
    await removal;
    expect((await outline()).map(([status]) => status)).toEqual(['firing', 'resolved']);
  });
});

describe('saving what an alert is about', () => {
  const appendAudit = async () => undefined;
  const author = { by: { kind: 'system', id: null, name: 'test' }, at: AT + SECOND, address: null } as const;

  interface Saved {
    readonly fields: { readonly name: string };
  }
  /** Any of the three stores, as far as this is about. */
  interface Renaming {
    update(
      id: PublicId,
      decide: (current: Saved) => { readonly save: Saved['fields'] },
      by: typeof author,
    ): Promise<unknown>;
    remove(id: PublicId, isCurrent: null, by: typeof author): Promise<unknown>;
  }
  const deps = () => ({ sql: database.sql(), appendAudit, internalAlerts: alerts });
  const cases: [InternalAlertChange['name'], () => Promise<PublicId>, () => Renaming][] = [
    [
      'SvcDestinationBroken',
      async () => destination,
      () => {
        const store = createDestinationStore({ ...deps(), keyring });
        return {
          update: (id, decide, by) =>
            store.update(
              id,
              (current) => ({
                save: {
                  fields: { ...current.fields, name: decide(current).save.name },
                  proxyPassword: { kind: 'keep' },
                  found: null,
                },
              }),
              by,
            ),
          remove: store.remove,
        };
      },
    ],
    ['SvcSnapshotTruncated', async () => integration, () => createIntegrationStore(deps()) as never],
    [
      'SvcTemplateError',
      async () => {
        const id = newPublicId('RT');
        await database.sql()`
          insert into routes (
            id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids,
            policy, created_at
          )
          select ${id}, 1, 0, false, 'old', '', '[]', false, group_key, '[]', policy, created_at
          from routes where is_default`;
        return id;
      },
      () => createRouteStore(deps()) as never,
    ],
  ];

  test.each(cases)(
    '%s gets the new name in the save, and ends with the deletion',
    async (name, idOf, storeOf) => {
      const id = await idOf();
      await record({ change: 'raise', name, entity: { id, name: 'old' }, at: AT });
      const store = storeOf();
      announced.length = 0;
      await store.update(id, ({ fields }) => ({ save: { ...fields, name: 'renamed' } }), author);
      expect(
        (await stored()).map(({ status, labels }) => [status, Object.values(labels).includes('renamed')]),
      ).toEqual([
        ['firing', false],
        ['firing', true],
      ]);
      await store.remove(id, null, author);
      expect((await stored()).map(({ status }) => status)).toEqual(['firing', 'firing', 'resolved']);
      expect(announced).toHaveLength(2);
      expect(await database.sql()`select 1 from internal_alerts`).toHaveLength(0);
    },
  );
});
