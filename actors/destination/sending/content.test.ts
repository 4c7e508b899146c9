import { expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { MessageSend } from '../../channels/calls.ts';
import { EMPTY_DIRECTORY, NO_MENTIONS } from '../../directory.fixture.ts';
import type { DestinationConfig } from '../../directory.ts';
import { group412, STARTED, settings } from '../../messages/messages.fixture.ts';
import { createContentReader } from './content.ts';
import { peopleOf } from './people.ts';
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

test('a Publication mentions the Owner whom its event recorded', async () => {
  const ann = { id: 'SR000000000001' as PublicId, name: 'Ann', login: 'ann' };
  const user = { ...ann, status: 'active', timeZone: null } as const;
  const people = peopleOf(new Map(), new Map());
  const scene: Partial<GroupScene> = { group: group412(), settings: settings(), resolvedAt: null, people };
  const reader = createContentReader({
    scenes: { read: async () => scene } as unknown as SceneReader,
    storms: { read: async () => null },
    accountsOf: async () => new Map(),
    eventBody: async () => null,
    directory: { current: () => ({ ...EMPTY_DIRECTORY, usersById: new Map([[ann.id, user]]) }) },
  });
  const operation = { kind: 'publish', publication: 1, loudness: 'loud', mentions: ['owner'], owner: ann };
  const destination = { mentions: NO_MENTIONS } as DestinationConfig;
  const content = await reader.read({ ...SEND, operation } as unknown as MessageSend, destination);
  expect(content).toMatchObject({ content: { isLoud: true, targets: [{ type: 'user', id: ann.id }] } });
});
