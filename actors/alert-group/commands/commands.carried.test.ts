/** Commands that come with an event of a messenger. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { ButtonCommand } from '../../../runtime/secrets/signed-tokens.ts';
import type { CommandCarrier } from '../messages.ts';
import { ACKNOWLEDGE, eventsAfterCreated, RESOLVE } from '../scenarios.fixture.ts';
import { ANN, BOB, createWorld } from '../world.fixture.ts';

const ZULIP = { id: 'CN5Q8V2K7WXM3D' as PublicId, name: 'Zulip' };

let world: ReturnType<typeof createWorld>;
beforeEach(async () => {
  world = createWorld();
  await world.tell({ fires: ['X1'] });
});

function press(eventId: string, button: ButtonCommand, language: 'en' | 'ru' = 'en'): CommandCarrier {
  const answer = { way: 'bridge_event', language, button, seconds: 0 } as const;
  return { connection: ZULIP, eventId, externalId: '18', answer };
}

test('the event and the Command are one: it comes again, and only its answer is repeated', async () => {
  const first = await world.carried(1, ACKNOWLEDGE, ANN, press('e1', 'acknowledge'));
  expect(first).toEqual({ outcome: { outcome: 'done' }, say: 'Done: Ack' });
  await world.command(1, { name: 'unacknowledge' }, BOB);
  expect(await world.carried(1, ACKNOWLEDGE, ANN, press('e1', 'acknowledge'))).toEqual({
    outcome: null,
    say: 'Done: Ack',
  });
  expect(eventsAfterCreated(world, 1)).toEqual(['acknowledged Q', 'unacknowledged Q']);
});

test('the Audit log tells the account and the Connection', async () => {
  await world.carried(1, RESOLVE, ANN, press('e1', 'resolve'));
  expect(world.lastAudit()).toMatchObject({
    action: 'alert_group.resolved',
    actor: { login: ANN.login },
    details: { external_id: '18', connection: ZULIP },
  });
});

describe('a person is told, in their language,', () => {
  test('that nothing had to change', async () => {
    await world.command(1, ACKNOWLEDGE, ANN);
    const { say } = await world.carried(1, ACKNOWLEDGE, ANN, press('e1', 'acknowledge', 'ru'));
    expect(say).toBe('Выполнено: Взять');
  });

  test.each([
    ['unacknowledge', 'It has no owner'],
    ['unsnooze', 'It is not snoozed'],
    ['still_on_it', 'Only the owner can answer this'],
  ] as const)('why %s was refused', async (name, sentence) => {
    const reply = await world.carried(1, { name }, BOB, press('e1', name));
    expect(reply).toMatchObject({ outcome: { outcome: 'refused' }, say: sentence });
    expect((await world.carried(1, { name }, BOB, press('e1', name))).outcome).toBeNull();
  });

  test('nothing about a Note: people talk in Threads', async () => {
    const carrier = { ...press('e1', 'acknowledge'), answer: null };
    const { outcome, say } = await world.carried(1, { name: 'add_note', body: 'rolling back' }, ANN, carrier);
    expect([outcome?.outcome, say]).toEqual(['done', null]);
    expect(
      (await world.carried(1, { name: 'add_note', body: 'rolling back' }, ANN, carrier)).outcome,
    ).toBeNull();
    expect(world.entries(1).filter(({ kind }) => kind === 'notes')).toHaveLength(1);
  });
});

test('a Snooze button says how long it is', async () => {
  const answer = { way: 'bridge_event', language: 'en', button: 'snooze', seconds: 3600 } as const;
  const command = { name: 'snooze', until: world.now() + 60 * MINUTE } as const;
  expect((await world.carried(1, command, ANN, { ...press('e1', 'snooze'), answer })).say).toBe(
    'Done: Snooze 1 h',
  );
});
