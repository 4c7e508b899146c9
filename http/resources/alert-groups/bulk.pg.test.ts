import { beforeEach, describe, expect, test } from 'vitest';
import type { AlertGroupMessage } from '../../../actors/alert-group/messages.ts';
import { type ActorSystem, BusyError, UnavailableError } from '../../../runtime/actor/index.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createGroupReader } from '../../../storage/alert-groups/alert-groups.ts';
import { createGroupEngine, firingPart, slotOf } from '../../../storage/alert-groups/engine.fixture.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import {
  firstStart,
  linksWithoutRules,
  NOW,
  readDirectory,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import type { Identity } from '../../operation.ts';
import { alertGroupOperations } from './alert-groups.ts';

const database = useDatabase();
const SENDER = 'NT000000000001' as PublicId;

let admin: OperationClient;
let responder: OperationClient;
let engine: ReturnType<typeof createGroupEngine>;
let routeId: PublicId;
let logged: [string, unknown][];
let counted: string[];
/** What happens to a Command on its way to the group. */
let onTheWay: (id: string) => void;
let underWay: number;
let mostUnderWay: number;
/** Permissions that the callers lack, whatever their Role. */
let withheld: readonly string[];

const ask: ActorSystem['ask'] = async ({ key }, message) => {
  mostUnderWay = Math.max(mostUnderWay, ++underWay);
  try {
    onTheWay(key);
    return await engine.deliver(key as PublicId, message as AlertGroupMessage);
  } finally {
    underWay--;
  }
};

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'notes', 'slots', 'feeds');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  const directory = await readDirectory(sql);
  routeId = directory.current().routes.at(-1)?.id as PublicId;
  engine = createGroupEngine({ sql, directory, now: () => NOW });
  logged = [];
  counted = [];
  onTheWay = () => undefined;
  underWay = 0;
  mostUnderWay = 0;
  withheld = [];
  const operations = alertGroupOperations({
    reader: createGroupReader(sql),
    links: linksWithoutRules,
    system: { ask },
    log: (event, fields) => logged.push([event, fields]),
    metrics: { command: (...labels) => counted.push(labels.join(' ')) },
  }).map((declared) => ({
    ...declared,
    handle: (call: Parameters<typeof declared.handle>[0]) =>
      declared.handle({ ...call, identity: without(call.identity) }),
  }));
  admin = operationClient({ operations, directory, clock: stoppedClock });
  responder = admin.as('responder');
});

function without(identity: Identity | null): Identity | null {
  if (!identity) return null;
  const kept = [...identity.permissions].filter((permission) => !withheld.includes(permission));
  return { ...identity, permissions: new Set(kept) };
}

async function fired(name: string): Promise<PublicId> {
  const id = newPublicId('AG');
  const alerts = [[name, { alertname: 'X', name }]] as const;
  await engine.deliver(id, firingPart(NOW, slotOf(routeId, { name }), SENDER, alerts));
  return id;
}

function bulk(client: OperationClient, command: string, ids: readonly string[], more: object = {}) {
  return client.post('/alert-groups/bulk-commands', { command, alert_group_ids: ids, ...more });
}

const brief = (body: { results: { number: number | null; outcome: string; code: string | null }[] }) =>
  body.results.map(({ number, outcome, code }) => `${number} ${outcome} ${code}`);

const fault = ({
  status,
  body,
}: {
  status: number;
  body: Record<string, { pointer: string; code: string }[]>;
}) => [status, ...(body.errors ?? []).map(({ code, pointer }) => `${code} ${pointer}`)];

describe('what comes of each Alert Group', () => {
  test('is told in the order asked, and none stops the others', async () => {
    const firing = await fired('a');
    const owned = await fired('b');
    const resolved = await fired('c');
    const mine = await fired('d');
    const unknown = newPublicId('KR');
    await admin.post(`/alert-groups/${owned}/acknowledge`);
    await admin.post(`/alert-groups/${resolved}/resolve`);
    await responder.post(`/alert-groups/${mine}/acknowledge`);
    counted = [];
    const { status, body } = await bulk(responder, 'acknowledge', [
      unknown,
      resolved,
      mine,
      owned,
      firing.toLowerCase(),
    ]);
    expect(status).toBe(200);
    expect(body.results).toEqual([
      {
        alert_group_id: unknown,
        number: null,
        outcome: 'failed',
        code: 'not_found',
        message: expect.any(String),
      },
      {
        alert_group_id: resolved,
        number: 3,
        outcome: 'refused',
        code: 'already_resolved',
        message: 'The Alert Group is resolved.',
      },
      { alert_group_id: mine, number: 4, outcome: 'unchanged', code: null, message: null },
      {
        alert_group_id: owned,
        number: 2,
        outcome: 'skipped',
        code: 'owned_by_other',
        message: 'skipped: owned by admin',
      },
      { alert_group_id: firing, number: 1, outcome: 'done', code: null, message: null },
    ]);
    expect(counted.sort()).toEqual([
      'acknowledge ui done',
      'acknowledge ui refused',
      'acknowledge ui skipped',
      'acknowledge ui unchanged',
    ]);
    const after = await admin.get(`/alert-groups/${owned}`);
    expect(after.body.owner.id).toBe('SRADM0N0000000');
  });

  test('a group that somebody acknowledges in the meantime is not taken over', async () => {
    const id = await fired('a');
    const asked = engine;
    engine = {
      ...asked,
      deliver: async (key, message) => {
        const by = { kind: 'user', id: 'SRANN000000000' as PublicId, name: 'Ann', login: 'ann' } as const;
        const command = { name: 'acknowledge' } as const;
        await asked.deliver(key, {
          type: 'command',
          command,
          by: { ...by, tokenName: null, transport: 'ui' },
        });
        return asked.deliver(key, message);
      },
    };
    const { body } = await bulk(responder, 'acknowledge', [id]);
    expect(body.results[0]).toMatchObject({ outcome: 'skipped', message: 'skipped: owned by Ann' });
  });

  test.each([new BusyError('full'), new UnavailableError('gone'), new Error('a defect')])(
    'a group that %s keeps from answering has failed, and the log says so',
    async (error) => {
      const ids = [await fired('a'), await fired('b')];
      onTheWay = (id) => {
        if (id === ids[0]) throw error;
      };
      const { status, body } = await bulk(responder, 'resolve', ids);
      expect([status, ...brief(body)]).toEqual([200, '1 failed internal', '2 done null']);
      expect(logged.map(([event]) => event).sort()).toEqual(['command_executed', 'command_failed']);
      expect(logged.find(([event]) => event === 'command_failed')?.[1]).toMatchObject({
        command: 'resolve',
        group: ids[0],
        error: expect.stringContaining(error.message),
      });
      expect(counted.sort()).toEqual(['resolve ui done', 'resolve ui failed']);
    },
  );

  test('a hundred are taken, ten at a time at most', async () => {
    const ids = Array.from({ length: 100 }, () => newPublicId('AG'));
    const some: string[] = [];
    for (let index = 0; index < 15; index++) some.push(await fired(`n${index}`));
    const all = [...some, ...ids.slice(15)];
    const { body } = await bulk(responder, 'snooze', all, { snooze: { no_end: true } });
    expect(body.results.map((result: { alert_group_id: string }) => result.alert_group_id)).toEqual(all);
    expect(brief(body).slice(0, 15)).toEqual(some.map((_, index) => `${index + 1} done null`));
    expect(mostUnderWay).toBeGreaterThan(1);
    expect(mostUnderWay).toBeLessThanOrEqual(10);
  });

  test('each has its own Timeline entry and Note', async () => {
    const ids = [await fired('a'), await fired('b')];
    expect(brief((await bulk(responder, 'resolve', ids, { note: 'noise' })).body)).toEqual([
      '1 done null',
      '2 done null',
    ]);
    for (const id of ids) {
      const { body } = await admin.get(`/alert-groups/${id}/notes`);
      expect(body.items).toMatchObject([{ body: 'noise' }]);
      const timeline = await admin.get(`/alert-groups/${id}/timeline?kind=status`);
      expect(timeline.body.items[0]).toMatchObject({ event: 'resolved', actor: { name: 'responder' } });
    }
  });

  test('all Snoozes of a preset end at one instant; Unsnooze ends them', async () => {
    const ids = [await fired('a'), await fired('b')];
    const snooze = { preset: 'tomorrow', time_zone: 'Europe/Berlin' };
    await bulk(responder, 'snooze', ids, { snooze });
    for (const id of ids) {
      expect((await admin.get(`/alert-groups/${id}`)).body.snooze_until).toBe('2026-09-22T07:00:00Z');
    }
    expect(brief((await bulk(responder, 'snooze', ids, { snooze })).body)).toEqual([
      '1 unchanged null',
      '2 unchanged null',
    ]);
    expect(brief((await bulk(responder, 'unsnooze', ids)).body)).toEqual(['1 done null', '2 done null']);
    expect(brief((await bulk(responder, 'unsnooze', ids)).body)).toEqual([
      '1 refused not_snoozed',
      '2 refused not_snoozed',
    ]);
  });
});

describe('what is refused as a whole', () => {
  const A = 'AG000000000001';
  const B = 'AG000000000002';

  test.each<[string, object, number, string]>([
    ['no list', { command: 'resolve' }, 400, 'required /alert_group_ids'],
    ['an empty list', { command: 'resolve', alert_group_ids: [] }, 400, 'too_short /alert_group_ids'],
    [
      '101 ids',
      { command: 'resolve', alert_group_ids: Array.from({ length: 101 }, () => newPublicId('AG')) },
      400,
      'too_long /alert_group_ids',
    ],
    ['no id', { command: 'resolve', alert_group_ids: ['x'] }, 400, 'invalid_format /alert_group_ids/0'],
    ['no command', { alert_group_ids: [A] }, 400, 'required /command'],
    ['another Command', { command: 'unresolve', alert_group_ids: [A] }, 400, 'invalid_format /command'],
    [
      'a long Note',
      { command: 'resolve', alert_group_ids: [A], note: 'x'.repeat(4001) },
      400,
      'too_long /note',
    ],
    ['a blank Note', { command: 'resolve', alert_group_ids: [A], note: ' ' }, 422, 'required /note'],
    ['an id twice', { command: 'resolve', alert_group_ids: [A, B, A] }, 422, 'duplicate /alert_group_ids/2'],
    [
      'an id twice, spelled apart',
      { command: 'resolve', alert_group_ids: [A, 'agoooooooooool'] },
      422,
      'duplicate /alert_group_ids/1',
    ],
    ['Snooze without its end', { command: 'snooze', alert_group_ids: [A] }, 422, 'required /snooze'],
    [
      'an empty Snooze',
      { command: 'snooze', alert_group_ids: [A], snooze: {} },
      422,
      'one_of_required /snooze',
    ],
    [
      'a Snooze into the past',
      { command: 'snooze', alert_group_ids: [A], snooze: { until: '2026-09-21T14:13:20Z' } },
      422,
      'out_of_range /snooze/until',
    ],
    [
      'an unknown preset',
      { command: 'snooze', alert_group_ids: [A], snooze: { preset: 'never' } },
      400,
      'invalid_format /snooze/preset',
    ],
  ])('%s', async (_, body, status, error) => {
    expect(fault(await responder.post('/alert-groups/bulk-commands', body))).toEqual([status, error]);
  });

  test('what goes with another Command is ignored, and an empty Note is none', async () => {
    const id = await fired('a');
    withheld = ['alert-groups:note'];
    const more = { note: 'why', snooze: {} };
    expect(brief((await bulk(responder, 'acknowledge', [id], more)).body)).toEqual(['1 done null']);
    expect(brief((await bulk(responder, 'resolve', [id], { note: '' })).body)).toEqual(['1 done null']);
    expect((await admin.get(`/alert-groups/${id}/notes`)).body.items).toEqual([]);
  });

  test('a viewer may do none of it, and hears of the shape before that', async () => {
    const viewer = admin.as('viewer');
    for (const command of ['acknowledge', 'resolve', 'snooze', 'unsnooze']) {
      expect((await bulk(viewer, command, [A, A])).status).toBe(403);
    }
    expect((await bulk(viewer, 'resolve', [])).status).toBe(400);
  });

  test('a Note with a resolve needs its own Permission; a Command needs no other than its own', async () => {
    const id = await fired('a');
    withheld = ['alert-groups:note', 'alert-groups:read', 'alert-groups:acknowledge', 'alert-groups:snooze'];
    const answer = await bulk(responder, 'resolve', [id], { note: 'noise' });
    expect([answer.status, answer.body.detail]).toEqual([
      403,
      'This needs the Permission alert-groups:note.',
    ]);
    expect((await bulk(responder, 'unsnooze', [id])).status).toBe(403);
    expect(brief((await bulk(responder, 'resolve', [id])).body)).toEqual(['1 done null']);
  });
});
