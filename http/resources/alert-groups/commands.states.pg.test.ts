/** Every Command in every state of an Alert Group, through the API (alert-groups §6.2). */
import { beforeEach, describe, expect, test } from 'vitest';
import { COMMAND_NAMES } from '../../../actors/alert-group/commands/allowed-commands.ts';
import type { AlertGroupMessage, CommandName } from '../../../actors/alert-group/messages.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createGroupReader } from '../../../storage/alert-groups/alert-groups.ts';
import {
  createGroupEngine,
  firingPart,
  resolvingPart,
  slotOf,
} from '../../../storage/alert-groups/engine.fixture.ts';
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

let admin: OperationClient;
let responder: OperationClient;
let engine: ReturnType<typeof createGroupEngine>;
let routeId: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'notes', 'slots', 'feeds');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  const directory = await readDirectory(sql);
  routeId = directory.current().routes.at(-1)?.id as PublicId;
  engine = createGroupEngine({ sql, directory, now: () => NOW });
  const operations = alertGroupOperations({
    reader: createGroupReader(sql),
    links: linksWithoutRules,
    system: { ask: (to, message) => engine.deliver(to.key as PublicId, message as AlertGroupMessage) },
    log: () => undefined,
  });
  admin = operationClient({ operations, directory, clock: stoppedClock });
  responder = admin.as('responder');
});

const PATHS = {
  acknowledge: 'acknowledge',
  unacknowledge: 'unacknowledge',
  resolve: 'resolve',
  unresolve: 'unresolve',
  snooze: 'snooze',
  unsnooze: 'unsnooze',
  still_on_it: 'still-on-it',
  add_note: 'notes',
} as const satisfies Record<CommandName, string>;

const BODIES: Partial<Record<CommandName, object>> = { snooze: { no_end: true }, add_note: { body: 'seen' } };

/** How a group gets into the state, from firing. */
const STATES = {
  firing: async () => undefined,
  acknowledged: (id: PublicId) => admin.post(`/alert-groups/${id}/acknowledge`),
  'acknowledged by somebody else': (id: PublicId) => responder.post(`/alert-groups/${id}/acknowledge`),
  snoozed: (id: PublicId) => admin.post(`/alert-groups/${id}/snooze`, { until: '2026-09-22T00:00:00Z' }),
  'resolved by a person': (id: PublicId) => admin.post(`/alert-groups/${id}/resolve`),
  'resolved by the system': (id: PublicId, name: string) =>
    engine.deliver(id, resolvingPart(NOW, partOf(name), [name])),
} as const;

type State = keyof typeof STATES;

const done = [200, 'done'] as const;
const refused = (code: string) => [409, code] as const;
const note = [201, undefined] as const;
const RESOLVED = refused('already_resolved');

/** In the order of {@link COMMAND_NAMES}. */
const EXPECTED: Record<State, readonly (readonly [number, string | undefined])[]> = {
  firing: [
    done,
    refused('not_acknowledged'),
    done,
    refused('not_resolved'),
    done,
    refused('not_snoozed'),
    refused('not_owner'),
    note,
  ],
  acknowledged: [
    [200, 'unchanged'],
    done,
    done,
    refused('not_resolved'),
    done,
    refused('not_snoozed'),
    refused('no_reminder_pending'),
    note,
  ],
  'acknowledged by somebody else': [
    done,
    done,
    done,
    refused('not_resolved'),
    done,
    refused('not_snoozed'),
    refused('not_owner'),
    note,
  ],
  snoozed: [
    done,
    refused('not_acknowledged'),
    done,
    refused('not_resolved'),
    done,
    done,
    refused('not_owner'),
    note,
  ],
  'resolved by a person': [
    RESOLVED,
    refused('not_acknowledged'),
    RESOLVED,
    done,
    RESOLVED,
    refused('not_snoozed'),
    refused('not_owner'),
    note,
  ],
  'resolved by the system': [
    RESOLVED,
    refused('not_acknowledged'),
    RESOLVED,
    refused('resolved_automatically'),
    RESOLVED,
    refused('not_snoozed'),
    refused('not_owner'),
    note,
  ],
};

/** A group of its own by `name`, brought into the state. */
async function inState(state: State, name: string): Promise<PublicId> {
  const id = newPublicId('AG');
  await engine.deliver(id, partOf(name));
  await STATES[state](id, name);
  return id;
}

function partOf(name: string) {
  return firingPart(NOW, slotOf(routeId, { name }), SENDER, [[name, { alertname: 'X', name }]]);
}

describe.each(Object.keys(STATES) as State[])('on an Alert Group that is %s', (state) => {
  test('each Command is done or refused as the table says, and the offered ones are done', async () => {
    const answers: Record<string, unknown> = {};
    for (const command of COMMAND_NAMES) {
      const id = await inState(state, command);
      const { allowed_commands: offered } = (await admin.get(`/alert-groups/${id}`)).body;
      const { status, body } = await admin.post(`/alert-groups/${id}/${PATHS[command]}`, BODIES[command]);
      answers[command] = [status, body.outcome ?? body.code];
      expect([command, status < 300 && body.outcome !== 'unchanged']).toEqual([
        command,
        offered.includes(command),
      ]);
    }
    expect(answers).toEqual(Object.fromEntries(COMMAND_NAMES.map((name, at) => [name, EXPECTED[state][at]])));
  });

  test('a Command whose body means nothing is 422 before its status is looked at', async () => {
    const id = await inState(state, 'X1');
    const snooze = await admin.post(`/alert-groups/${id}/snooze`, {});
    const blank = await admin.post(`/alert-groups/${id}/resolve`, { note: ' ' });
    expect([snooze.status, blank.status]).toEqual([422, 422]);
  });
});
