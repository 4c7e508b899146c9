import { expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { ACCEPTED, type MessageContent, type MessageSend, type ReplyFacts } from '../../channels/calls.ts';
import { EMPTY_DIRECTORY, NO_MENTIONS } from '../../directory.fixture.ts';
import type { DestinationConfig } from '../../directory.ts';
import type { GroupMessage } from '../../messages/input.ts';
import { group412, STARTED, settings } from '../../messages/messages.fixture.ts';
import type { TemplateRendered } from '../../route/messages.ts';
import { parseTemplate } from '../../templates/index.ts';
import { createContentReader } from './content.ts';
import { peopleOf } from './people.ts';
import { createRenderReports } from './reports.ts';
import type { GroupScene, SceneReader } from './scene.ts';

const SEND = {
  ...{ type: 'message.send', destinationId: 'DS1' as PublicId, connectionId: null },
  subject: { kind: 'group', groupId: group412().id },
  operation: { kind: 'publish', publication: 1, loudness: 'quiet', mentions: [], owner: null },
  notes: { late: true, deletedAt: null, continued: false },
} as unknown as MessageSend;

test.each([
  ['when its Alerts began', STARTED - 40 * MINUTE, STARTED - 40 * MINUTE],
  ['its receipt, where that is not known', null, STARTED],
])('a late message names %s', async (_, alertsStartedAt, began) => {
  const scene: Partial<GroupScene> = {
    group: group412({ alertsStartedAt }),
    settings: settings(),
    resolvedAt: STARTED + MINUTE,
    people: peopleOf(new Map(), new Map()),
  };
  const reader = createContentReader({
    scenes: { read: async () => scene } as unknown as SceneReader,
    storms: { read: async () => null },
    accountsOf: async () => new Map(),
    eventBody: async () => null,
    directory: { current: () => EMPTY_DIRECTORY },
  });
  expect(await reader.read(SEND, null)).toMatchObject({
    content: { notes: { late: { began, ended: STARTED + MINUTE } } },
  });
});

const ANN = { id: 'SR000000000001' as PublicId, name: 'Ann', login: 'ann' };
const DESTINATION = { mentions: NO_MENTIONS } as DestinationConfig;

/** Reads what is sent of a group with Ann among the Users. */
function readerOf(group: Partial<GroupMessage>, ownerId: PublicId | null = null) {
  const people = peopleOf(new Map(), new Map());
  const shown = { group: group412(group), settings: settings(), resolvedAt: null, ownerId, people };
  const usersById = new Map([[ANN.id, { ...ANN, status: 'active', timeZone: null } as const]]);
  return createContentReader({
    scenes: { read: async () => shown } as unknown as SceneReader,
    storms: { read: async () => null },
    accountsOf: async () => new Map(),
    eventBody: async () => null,
    directory: { current: () => ({ ...EMPTY_DIRECTORY, usersById }) },
  });
}

test('a Publication mentions the Owner whom its event recorded', async () => {
  const operation = { kind: 'publish', publication: 1, loudness: 'loud', mentions: ['owner'], owner: ANN };
  const content = await readerOf({}).read({ ...SEND, operation } as unknown as MessageSend, DESTINATION);
  expect(content).toMatchObject({ content: { isLoud: true, targets: [{ type: 'user', id: ANN.id }] } });
});

const ACK = { event: 'ack_timeout', last: true } as const;
const REMINDER = { event: 'reminder', owner: ANN } as const;
const MISSED = { event: 'notices_missed', kind: 'reminder', count: 2, owner: ANN } as const;
const BOB = 'SR000000000002' as PublicId;

test.each<[string, ReplyFacts, Partial<GroupMessage>, PublicId | null, boolean]>([
  ['that nobody has it, while nobody has it', ACK, { status: 'firing' }, null, false],
  ['that nobody has it, once somebody has it', ACK, { status: 'acknowledged' }, BOB, true],
  ['that nobody has it, once it is snoozed', ACK, { status: 'snoozed' }, null, true],
  ['that nobody has it, once it is resolved', ACK, { status: 'resolved' }, null, true],
  ['to the Owner', REMINDER, { status: 'acknowledged' }, ANN.id, false],
  ['to an Owner from whom it was taken over', REMINDER, { status: 'acknowledged' }, BOB, true],
  ['to an Owner who gave it back', REMINDER, { status: 'firing' }, null, true],
  ['of what was missed, to the Owner', MISSED, { status: 'acknowledged' }, ANN.id, false],
  ['of what was missed, once it is resolved', MISSED, { status: 'resolved' }, null, true],
  [
    'of what was missed, once somebody has it',
    { event: 'notices_missed', kind: 'ack_timeout', count: 2 },
    { status: 'acknowledged' },
    BOB,
    true,
  ],
])('a notice %s', async (_, facts, group, ownerId, isLate) => {
  const said = {
    sequence: 4,
    at: STARTED,
    facts,
    loudness: 'loud',
    mentions: ['owner'],
    owner: ANN,
  } as const;
  const operation = { kind: 'reply', messageId: 'm', threadRef: null, reply: said } as const;
  const read = await readerOf(group, ownerId).read({ ...SEND, operation }, DESTINATION);
  const content = read.is === 'content' && read.content.kind === 'reply' ? read.content : null;
  expect(content).toMatchObject({ isLoud: !isLate, targets: isLate ? [] : [{ id: ANN.id }] });
  expect(content?.event).toHaveProperty('event', facts.event);
  expect('overtaken' in (content?.event ?? {})).toBe(isLate);
  if (isLate) expect(content?.event).toHaveProperty('overtaken', STARTED);
});

test.each([true, false])(
  'a third notice is the last one while the group is unclaimed: %s',
  async (unclaimed) => {
    const said = {
      sequence: 4,
      at: STARTED,
      facts: ACK,
      loudness: 'loud',
      mentions: [],
      owner: null,
    } as const;
    const operation = { kind: 'reply', messageId: 'm', threadRef: null, reply: said } as const;
    const read = await readerOf({ status: 'firing', unclaimed }).read({ ...SEND, operation }, DESTINATION);
    expect(read).toMatchObject({ content: { event: { event: 'ack_timeout', last: unclaimed } } });
  },
);

test.each([
  ['is reported when a notice uses it', {}, ['ack_timeout_notice']],
  ['is not, when the notice is overtaken', { overtaken: STARTED }, []],
])('a template for notices %s', (_, overtaken, expected) => {
  const parsed = parseTemplate('ack_timeout_notice', 'x');
  const templates = { ...settings().templates, ackTimeoutNotice: parsed.ok ? parsed.template : null };
  const told: string[] = [];
  const reports = createRenderReports({
    system: { tell: (_to, message) => void told.push((message as TemplateRendered).template) },
    metrics: { failed: () => undefined },
    clock: { now: () => STARTED },
    log: () => undefined,
  });
  const scene = { settings: settings({ templates }), routeId: 'RT1' as PublicId } as GroupScene;
  const event = { event: 'ack_timeout', last: false, ...overtaken } as const;
  const content: MessageContent = { kind: 'reply', scene, event, isLoud: false, targets: [] };
  reports.rendered(SEND, content, { outcome: ACCEPTED, failure: null });
  expect(told).toEqual(expected);
});
