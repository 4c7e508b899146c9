import { beforeEach, describe, expect, test } from 'vitest';
import type { AlertGroupMessage } from '../../../actors/alert-group/messages.ts';
import type { Principal } from '../../../actors/model.ts';
import { HOUR, MINUTE, type Micros } from '../../../runtime/clock.ts';
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
import { alertGroupOperations } from './alert-groups.ts';

const database = useDatabase();
const SENDER = 'NT000000000001' as PublicId;

let api: OperationClient;
let engine: ReturnType<typeof createGroupEngine>;
let now: Micros;
let group: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'notes', 'slots', 'feeds');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  const directory = await readDirectory(sql);
  now = NOW;
  engine = createGroupEngine({ sql, directory, now: () => now });
  const operations = alertGroupOperations({
    reader: createGroupReader(sql),
    links: linksWithoutRules,
    system: { ask: (to, message) => engine.deliver(to.key as PublicId, message as AlertGroupMessage) },
    log: () => undefined,
  });
  api = operationClient({ operations, directory, clock: stoppedClock });
  const route = directory.current().routes.at(-1)?.id as PublicId;
  group = newPublicId('AG');
  await engine.deliver(group, firingPart(NOW, slotOf(route, { name: 'X' }), SENDER, [['x', { name: 'X' }]]));
  await engine.deliver(group, { type: 'published', at: NOW });
});

/** Lets the group's deadlines up to some time after the beginning pass, one wake-up each. */
async function wakeAt(...times: readonly Micros[]): Promise<void> {
  for (const time of times) {
    now = NOW + time;
    await engine.deliver(group, { type: 'wake' });
  }
}

const read = async () => (await api.get(`/alert-groups/${group}`)).body;
const act = (command: string, client = api) => client.post(`/alert-groups/${group}/${command}`);
const timers = async () => (await api.get(`/alert-groups/${group}/timeline?kind=timers`)).body.items;

describe('the ack timeout', () => {
  test('next_notice says when, and unclaimed that nobody came', async () => {
    expect((await read()).next_notice).toEqual({ kind: 'ack_timeout', at: '2026-09-21T14:28:20Z' });
    await wakeAt(15 * MINUTE, 45 * MINUTE, 105 * MINUTE);
    expect(await read()).toMatchObject({ unclaimed: true, next_notice: null, status: 'firing' });
    expect((await api.get('/alert-groups?unclaimed=true')).body.items).toHaveLength(1);
    expect((await api.get('/alert-groups?unclaimed=false')).body.items).toHaveLength(0);
    await act('acknowledge');
    expect((await read()).unclaimed).toBe(false);
  });

  test('its entries are of the kind timers, with every key', async () => {
    await wakeAt(15 * MINUTE, 200 * MINUTE);
    const common = { kind: 'timers', actor: { kind: 'system', reason: 'timer' } };
    const unsorted = await timers();
    expect(unsorted).toHaveLength(3);
    expect(unsorted.sort(bySequence)).toEqual([
      {
        ...common,
        id: expect.stringMatching(/^TE/),
        at: '2026-09-21T14:28:20Z',
        event: 'ack_timeout',
        loudness: 'loud',
        mentions: ['ack_timeout'],
        sequence: 2,
        notice_number: 1,
        missed_count: null,
      },
      expect.objectContaining({ ...common, event: 'notices_missed', notice_number: null, missed_count: 2 }),
      expect.objectContaining({
        ...common,
        event: 'unclaimed',
        loudness: 'quiet',
        mentions: [],
        notice_number: null,
        missed_count: null,
      }),
    ]);
  });
});

const bySequence = (left: { sequence: number }, right: { sequence: number }) =>
  left.sequence - right.sequence;

describe('Still on it', () => {
  beforeEach(async () => {
    await act('acknowledge');
  });

  test('is offered to the Owner while a Reminder waits, and answers it once', async () => {
    expect((await read()).next_notice).toEqual({ kind: 'reminder', at: '2026-09-21T18:13:20Z' });
    expect((await read()).allowed_commands).not.toContain('still_on_it');
    await wakeAt(4 * HOUR);
    expect((await read()).allowed_commands).toEqual([
      'unacknowledge',
      'resolve',
      'snooze',
      'still_on_it',
      'add_note',
    ]);
    const { status, body } = await act('still-on-it');
    expect([status, body.outcome]).toEqual([200, 'done']);
    expect(body.alert_group.allowed_commands).not.toContain('still_on_it');
    expect(body.alert_group.next_notice).toEqual({ kind: 'reminder', at: '2026-09-22T02:13:20Z' });
    expect((await timers()).at(0)).toMatchObject({ event: 'reminder_answered', loudness: 'quiet' });
    expect(await refusalOf(api)).toEqual([409, 'no_reminder_pending']);
  });

  test('is refused to others, to Service accounts before anything else, and to viewers', async () => {
    await wakeAt(4 * HOUR);
    const responder = api.as('responder');
    expect((await responder.get(`/alert-groups/${group}`)).body.allowed_commands).not.toContain(
      'still_on_it',
    );
    expect(await refusalOf(responder)).toEqual([409, 'not_owner']);
    expect((await act('still-on-it', api.as('viewer'))).status).toBe(403);
    const robot: Principal = {
      kind: 'service_account',
      id: 'SA0000000000R0' as PublicId,
      name: 'rob',
      tokenName: 'ci',
      transport: 'api',
    };
    const command = { type: 'command', command: { name: 'still_on_it' }, by: robot } as const;
    expect(await engine.deliver(group, command)).toMatchObject({ code: 'owner_must_be_user' });
  });

  test('of an Alert Group that is not there is 404', async () => {
    expect((await api.post(`/alert-groups/${newPublicId('AG')}/still-on-it`)).status).toBe(404);
  });

  async function refusalOf(client: OperationClient) {
    const { status, body } = await act('still-on-it', client);
    return [status, body.code];
  }
});

test('a downtime of the service is an entry of the kind system', async () => {
  await engine.deliver(group, { type: 'downtime', from: NOW, to: NOW + 10 * MINUTE });
  const { items } = (await api.get(`/alert-groups/${group}/timeline?kind=system`)).body;
  expect(items).toEqual([
    {
      id: expect.stringMatching(/^TE/),
      at: '2026-09-21T14:13:20Z',
      kind: 'system',
      actor: { kind: 'system', reason: 'downtime' },
      system_event: 'service_unavailable',
      period_from: '2026-09-21T14:13:20Z',
      period_to: '2026-09-21T14:23:20Z',
      detail: null,
    },
  ]);
});
