import { beforeEach, describe, expect, test } from 'vitest';
import type { AlertGroupMessage } from '../../../actors/alert-group/messages.ts';
import { ON_CALL_POLICY } from '../../../actors/route/policy.ts';
import { SECOND } from '../../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import {
  createGroupEngine,
  firingPart,
  resolvingPart,
  slotOf,
} from '../../../storage/alert-groups/engine.fixture.ts';
import { createRouteMoves, createRouteStore } from '../../../storage/configuration/routes.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import {
  firstStart,
  internalAlerts,
  NOW,
  readDirectory,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { routeMoveOperations } from './move.ts';
import { routeOperations } from './routes.ts';

const database = useDatabase();
const SENDER = 'NT000000000001' as PublicId;

let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;
let engine: ReturnType<typeof createGroupEngine>;
let routeId: PublicId;
/** Called before a group is asked. */
let beforeAsk: (group: PublicId) => Promise<void>;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'notes', 'slots', 'feeds');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  const directory = await readDirectory(sql);
  audit = recordedAudit();
  beforeAsk = async () => undefined;
  engine = createGroupEngine({ sql, directory, now: () => NOW });
  const ask = async (to: { key: string }, message: unknown) => {
    await beforeAsk(to.key as PublicId);
    return engine.deliver(to.key as PublicId, message as AlertGroupMessage);
  };
  const store = createRouteStore({ sql, appendAudit: audit.appendAudit, internalAlerts });
  api = operationClient({
    operations: [
      ...routeOperations({
        store,
        directory,
        hints: recordedHints(),
        poke: () => undefined,
        checkTemplates: async () => [],
      }),
      ...routeMoveOperations({ moves: createRouteMoves(sql, audit.appendAudit), system: { ask } }),
    ],
    directory,
    clock: stoppedClock,
  });
  const { body } = await api.post('/routes', {
    name: 'Web',
    matchers: [],
    urgent: false,
    group_key: ['name'],
    destination_ids: [],
    policy: ON_CALL_POLICY,
  });
  routeId = body.id;
});

async function fired(name: string): Promise<PublicId> {
  const id = newPublicId('AG');
  await engine.deliver(id, partOf(name));
  return id;
}

function partOf(name: string) {
  return firingPart(NOW, slotOf(routeId, { name }), SENDER, [[name, { alertname: 'X', name }]]);
}

const move = () => api.post(`/routes/${routeId}/move-open-alert-groups`);
const defaultId = async () => (await api.get('/routes')).body.items.at(-1).id as PublicId;
const routesOf = () =>
  database.sql()<
    { id: string; route_id: string; moved_from_route_id: string | null; status: string }[]
  >`select id, route_id, moved_from_route_id, status from alert_groups order by number`;

describe('moving the open Alert Groups of a Route', () => {
  test('frees it for its deletion; the groups stay as they are on the Default route', async () => {
    const [one, two] = [await fired('a'), await fired('b')];
    await engine.deliver(two, {
      type: 'command',
      command: { name: 'snooze', until: null },
      by: {
        kind: 'user',
        id: newPublicId('SR'),
        name: 'Ann',
        login: 'ann',
        tokenName: null,
        transport: 'ui',
      },
    });
    const refused = await api.delete(`/routes/${routeId}`);
    expect([refused.status, refused.body.open_alert_group_count]).toEqual([409, 2]);

    const answer = await move();
    expect([answer.status, answer.body]).toEqual([200, { moved: 2 }]);
    const fallback = await defaultId();
    expect(await routesOf()).toEqual([
      { id: one, route_id: fallback, moved_from_route_id: routeId, status: 'firing' },
      { id: two, route_id: fallback, moved_from_route_id: routeId, status: 'snoozed' },
    ]);
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'route.open_alert_groups_moved',
      resourceId: routeId,
      resourceName: 'Web',
      details: { moved: 2 },
    });
    expect((await api.delete(`/routes/${routeId}`)).status).toBe(204);
  });

  test('again, or without any, moves none and writes no Audit entry', async () => {
    await fired('a');
    await move();
    const entries = audit.entries.length;
    expect((await move()).body).toEqual({ moved: 0 });
    expect(audit.entries).toHaveLength(entries);
  });

  test('leaves resolved ones where they are', async () => {
    const part = partOf('a');
    const id = newPublicId('AG');
    await engine.deliver(id, part);
    await engine.deliver(id, resolvingPart(NOW + 60 * SECOND, part, ['a']));
    expect((await move()).body).toEqual({ moved: 0 });
    expect(await routesOf()).toMatchObject([{ route_id: routeId, status: 'resolved' }]);
  });

  test('goes through more than a page', async () => {
    for (let index = 0; index < 53; index++) await fired(`n${index}`);
    expect((await move()).body).toEqual({ moved: 53 });
  });

  test('moves at most as many as it is asked to', async () => {
    for (let index = 0; index < 60; index++) await fired(`n${index}`);
    const portion = () => api.post(`/routes/${routeId}/move-open-alert-groups?limit=55`);
    expect((await portion()).body).toEqual({ moved: 55 });
    expect((await routesOf()).filter(({ route_id }) => route_id === routeId)).toHaveLength(5);
    expect((await portion()).body).toEqual({ moved: 5 });
    expect((await portion()).body).toEqual({ moved: 0 });
    for (const wrong of ['0', '1001', 'all']) {
      const { status } = await api.post(`/routes/${routeId}/move-open-alert-groups?limit=${wrong}`);
      expect(status, wrong).toBe(400);
    }
  });

  test('goes on when those that it asked first had resolved', async () => {
    const names = new Map<PublicId, string>();
    for (const name of ['a', 'b', 'c']) names.set(await fired(name), name);
    let isFirst = true;
    beforeAsk = async (group) => {
      if (!isFirst) return;
      isFirst = false;
      const name = names.get(group) ?? '';
      await engine.deliver(group, resolvingPart(NOW + 60 * SECOND, partOf(name), [name]));
    };
    const { body } = await api.post(`/routes/${routeId}/move-open-alert-groups?limit=1`);
    expect(body).toEqual({ moved: 1 });
    const open = (await routesOf()).filter(({ status }) => status !== 'resolved');
    expect(open.filter(({ route_id }) => route_id === routeId)).toHaveLength(1);
  });

  test('leaves a group that began meanwhile, and one that resolved meanwhile is not counted', async () => {
    const part = partOf('a');
    const id = newPublicId('AG');
    await engine.deliver(id, part);
    const other = await fired('b');
    let isFirst = true;
    beforeAsk = async (group) => {
      if (group === id) await engine.deliver(id, resolvingPart(NOW + 60 * SECOND, part, ['a']));
      if (isFirst) {
        isFirst = false;
        await fired('c');
      }
    };
    expect((await move()).body).toEqual({ moved: 1 });
    const rows = await routesOf();
    expect(rows.map(({ route_id }) => route_id === routeId)).toEqual([true, false, true]);
    expect(rows[1]).toMatchObject({ id: other });
  });

  test('that meets a group without an answer tells what was moved, and fails', async () => {
    const [, two] = [await fired('a'), await fired('b')];
    beforeAsk = async (group) => {
      if (group === two) throw new Error('no answer');
    };
    await expect(move()).rejects.toThrow('no answer');
    expect(audit.entries.at(-1)).toMatchObject({ details: { moved: 1 } });
    beforeAsk = async () => undefined;
    expect((await move()).body).toEqual({ moved: 1 });
  });

  test('of the Default route is refused, of an unknown or deleted one not found', async () => {
    const refused = await api.post(`/routes/${await defaultId()}/move-open-alert-groups`);
    expect([refused.status, refused.body.code]).toEqual([409, 'default-route-immutable']);
    await api.delete(`/routes/${routeId}`);
    expect((await move()).status).toBe(404);
    expect((await api.post('/routes/RT000000000000/move-open-alert-groups')).status).toBe(404);
  });

  test('needs routes:write', async () => {
    expect((await api.as('responder').post(`/routes/${routeId}/move-open-alert-groups`)).status).toBe(403);
  });
});
