import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { IntegrationRecord } from '../../actors/integration/effects.ts';
import { type LearnedRoute, routePathOf } from '../../actors/integration/rows.ts';
import type { RecordedEffect } from '../../runtime/actor/index.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, NOW, readDirectory } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { createHeartbeatSignals, tellConfiguration, tellUntold } from './integrations.ts';
import { integrationRows, integrationWriters } from './states.ts';

const database = useDatabase();
const LAB = newPublicId('NT');

beforeEach(async () => {
  await firstStart(database.sql());
  await empty(database.sql(), 'integration_states', 'learned_repeats', 'truncated_feeds');
});

async function record(...effects: (IntegrationRecord & RecordedEffect)[]): Promise<void> {
  await inTransaction(database.sql(), async (tx) => {
    for (const writer of integrationWriters) {
      const own = effects.filter(({ type }) => writer.types.includes(type));
      if (own.length > 0) await writer.write(tx, own, new Map());
    }
  });
}

const route = (routePath: string, samples: readonly number[]): LearnedRoute => ({
  path: routePath,
  samples,
  interval: samples[0] ?? 0,
  heardAt: NOW,
});
const routes = (saved: readonly LearnedRoute[], removed: readonly string[] = []) =>
  ({ type: 'integration.routes', integrationId: LAB, saved, removed }) as const;
const cut = (saved: readonly string[], removed: readonly string[] = []) =>
  ({
    type: 'integration.truncations',
    integrationId: LAB,
    saved: saved.map((feed) => ({ feed, routePath: feed === 'f2' ? null : '{}', since: NOW })),
    removed,
  }) as const;

describe('what an Integration owns', () => {
  it('comes back as it was written, of a batch the last change of each', async () => {
    const odd = route('{}/{a="\\"x, {y}\\""}', [3, 2, 1]);
    await record(
      routes([odd, route('{}', [1])]),
      cut(['f1', 'f2', 'f3']),
      routes([route('{}', [5, 6])]),
      routes([route('gone', [1])]),
      routes([], ['gone']),
      cut([], ['f1']),
    );
    await record(cut([], ['f3']), routes([{ ...odd, samples: [4, 3, 2, 1] }]));
    const loaded = await integrationRows.load(database.sql(), [LAB]);
    expect(loaded.get(LAB)).toEqual({
      routes: new Map([
        [odd.path, { ...odd, samples: [4, 3, 2, 1] }],
        ['{}', route('{}', [5, 6])],
      ]),
      truncated: new Map([['f2', { feed: 'f2', routePath: null, since: NOW }]]),
    });
  });

  it('holds no samples of the previous release, which may be those of restarts', async () => {
    await database.sql()`
      insert into learned_routes values (${LAB}, 'hash', '{}', '{75}', 75, ${NOW})
      on conflict do nothing`;
    expect(await integrationRows.load(database.sql(), [LAB])).toEqual(new Map());
  });

  it('takes route paths that no index would', async () => {
    const long = route(`{}/${'x'.repeat(4_000)}`, [1]);
    await record(routes([long]));
    const loaded = await integrationRows.load(database.sql(), [LAB]);
    expect(loaded.get(LAB)).toMatchObject({ routes: new Map([[long.path, long]]) });
  });
});

async function integration(given: { on?: boolean; deleted?: boolean } = {}): Promise<PublicId> {
  const id = newPublicId('NT');
  await database.sql()`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at, deleted_at
    )
    values (${id}, 3, false, ${id}, '', '{"a": "b"}', 45, ${given.on ?? true}, 60, ${NOW}, ${given.deleted ? NOW : null})`;
  return id;
}

const inbox = async () => {
  const rows = await database.sql()`select receiver_kind, receiver_key, message from inbox order by seq`;
  return rows.map(({ receiver_kind, receiver_key, message }) => [receiver_kind, receiver_key, message]);
};
const saved = (integrationId: PublicId, version: number) =>
  record({
    type: 'integration.saved',
    integrationId,
    version,
    lostSince: null,
    truncatedSince: null,
    truncatedGroups: 0,
  });

describe('what an Integration is told', () => {
  it('is its configuration, in the transaction that saves it', async () => {
    const id = await integration();
    await inTransaction(database.sql(), (tx) => tellConfiguration(tx, id, NOW));
    const heartbeat = { enabled: true, timeoutSeconds: 60 };
    expect(await inbox()).toEqual([
      ['integration', id, { type: 'configured', version: 3, name: id, staticLabels: { a: 'b' }, heartbeat }],
    ]);
  });

  it('is told later when the previous release saved it, until it says that it knows', async () => {
    const sql = database.sql();
    const [live, gone] = [await integration(), await integration({ deleted: true })];
    expect(await tellUntold(sql, NOW)).toBe(2);
    expect(new Set((await inbox()).map(([, key, { type }]) => `${key} ${type}`))).toEqual(
      new Set([`${live} configured`, `${gone} deleted`]),
    );
    await saved(live, 3);
    await saved(gone, 3);
    expect(await tellUntold(sql, NOW)).toBe(1);
    await saved(gone, 4);
    expect(await tellUntold(sql, NOW)).toBe(0);
    await sql`update integrations set version = 4 where id = ${live}`;
    expect(await tellUntold(sql, NOW)).toBe(1);
  });

  it('is every signal, in order, and none while the Heartbeat is off', async () => {
    const sql = database.sql();
    const [on, off] = [await integration(), await integration({ on: false })];
    let pokes = 0;
    const signals = createHeartbeatSignals(sql, () => pokes++);
    await signals.record(on, NOW);
    await signals.record(on, NOW - 1);
    await signals.record(off, NOW);
    await signals.record(newPublicId('NT'), NOW);
    await Promise.all([1, 2, 3].map((later) => signals.record(on, NOW + later)));
    const told = (await inbox()).map(([, key, { type, at }]) => {
      expect([key, type]).toEqual([on, 'signal']);
      return at as number;
    });
    expect(told).toEqual([...told].sort());
    expect([told[0], told.at(-1)]).toEqual([NOW, NOW + 3]);
    expect(pokes).toBe(told.length);
    const [row] = await sql`select last_signal_at, version from integrations where id = ${on}`;
    expect(row).toEqual({ last_signal_at: NOW + 3, version: 3 });
  });
});

describe('versions of the configuration', () => {
  const version = async () => {
    const [row] = await database.sql()`select directory from configuration_versions`;
    return row?.directory as number;
  };

  it('are not raised by what runs, and by the end of a deletion, after which nothing is taken', async () => {
    const sql = database.sql();
    const id = await integration({ deleted: true });
    const directory = await readDirectory(sql);
    expect(directory.current().integrationsById.get(id)).toMatchObject({ deletedAt: NOW, ended: false });
    const before = await version();
    await saved(id, 3);
    await record(routes([route('{}', [1])]), cut(['f1']));
    await createHeartbeatSignals(sql, () => undefined).record(await integration(), NOW);
    // The new Integration is one.
    expect(await version()).toBe(before + 1);
    await record({ type: 'integration.ended', integrationId: id, at: NOW });
    expect(await version()).toBe(before + 2);
    await directory.reload();
    expect(directory.current().integrationsById.get(id)?.ended).toBe(true);
    directory.stop();
  });
});

it('route paths of feeds from before are those that new ones get', async () => {
  const migration = path.join(import.meta.dirname, '../migrations/0010_integration_states.sql');
  const [, pattern] = /substring\(group_key from '(.*)'\)/.exec(readFileSync(migration, 'utf8')) ?? [];
  if (!pattern) throw new Error('the migration does not read route paths');
  const keys = ['{}/{team="db"}:{alertname="a:b"}', '{}:{}', 'plain', 'a:b:c', '{}/{x="}:\\""}:{y="{"}'];
  const [row] = await database.sql()<{ paths: string[] }[]>`
    select array_agg(coalesce(substring(key from ${pattern}), key) order by place) as paths
    from unnest(${keys}::text[]) with ordinality as k (key, place)`;
  expect(row?.paths).toEqual(keys.map(routePathOf));
});
