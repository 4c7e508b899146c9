/** Presses through the strict fake, one row after the other of chat-server §8.1 and account-links §6. */
import { describe, expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { buttonData, type MessageButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import type { FakeUser } from '../../../test/fakes/chat-server/server.ts';
import type { TokenOutcome, TokenUse } from '../../account-links/link.ts';
import type { CarriedReply, GroupCommand } from '../../alert-group/messages.ts';
import type { EventArrived } from '../../connection/messages.ts';
import type { ChatServerSettings, LinkedPerson, PostedMessage } from '../../connection/ports.ts';

import { INTERACTIVE_BUDGET } from '../../connection/tokens.ts';
import { EMPTY_DIRECTORY } from '../../directory.fixture.ts';
import type { Hint } from '../../effects.ts';
import { buttonsBack } from './posts.ts';
import { createActionReceiver, testPressId } from './receiver.ts';
import { CONNECTION, DESTINATION, GROUP, keyring, world } from './world.fixture.ts';

const ALICE: LinkedPerson = {
  ...{ linkId: 'AKK7M3QX9P2RTA' as PublicId, id: 'SRK7M3QX9P2RTA' as PublicId },
  ...{ name: 'Alice', login: 'alice', language: null, role: 'responder', status: 'active' },
};
const POSTED: PostedMessage = {
  ...{ destinationId: DESTINATION, kind: 'root', groupId: GROUP, routeId: null, isPresent: true },
};
const DONE: CarriedReply = { outcome: { outcome: 'done' }, say: null };

interface Given {
  readonly person?: LinkedPerson | null;
  readonly posted?: PostedMessage | null;
  readonly settings?: Partial<ChatServerSettings> | null;
  readonly reply?: CarriedReply;
  readonly breaks?: boolean;
  readonly noToken?: boolean;
  /** What a wish to unlink comes to. */
  readonly unlinked?: TokenOutcome;
  /** Looks for the message before it is recorded. */
  readonly recordedAfter?: number;
}

async function pressing(given: Given = {}) {
  const on = world();
  const posted = given.posted === undefined ? POSTED : given.posted;
  let looks = 0;
  const commands: GroupCommand[] = [];
  const events: EventArrived[] = [];
  const handled = new Set<string>();
  const logged: string[] = [];
  const uses: TokenUse[] = [];
  const hints: Hint[] = [];
  const receiver = createActionReceiver({
    links: {
      async useToken(use, textOf) {
        const isRepeat = uses.some(({ eventId }) => eventId === use.eventId);
        uses.push(use);
        const outcome: TokenOutcome = given.unlinked ?? { is: 'unlinked', user: ALICE };
        return { say: textOf(outcome), outcome: isRepeat ? null : outcome };
      },
    },
    hints: { send: (hint) => void hints.push(hint) },
    ...{ chat: on.chat, opener: on.opener, keyring, ingestUrl: 'https://ingest.example' },
    clock: {
      now: on.clock.now,
      after: (delay, run) => {
        // Looks for the message take their time; nothing else is late.
        if (delay < SECOND) {
          on.time.now += delay;
          queueMicrotask(run);
        }
        return { cancel: () => undefined };
      },
    },
    publicUrl: 'https://oncall.example.org',
    recorder: { record: (make) => void on.records.push(make()) },
    log: (event) => void logged.push(event),
    tokens: {
      async take(_owners, within = INTERACTIVE_BUDGET) {
        if (!given.noToken) return 'granted';
        on.time.now += within;
        return { retryAfterSeconds: 3 };
      },
      spent: () => undefined,
      ended: () => undefined,
    },
    settings: async () => (given.settings === null ? null : on.connection(given.settings)),
    directory: { current: () => EMPTY_DIRECTORY, reload: async () => undefined },
    may: (role) => role !== 'viewer',
    system: {
      tell: () => undefined,
      async ask(_to, message) {
        if (given.breaks) throw new Error('broken');
        if ((message as { type: string }).type === 'event') {
          const event = message as EventArrived;
          events.push(event);
          const say = handled.has(event.eventId) ? null : event.say;
          handled.add(event.eventId);
          return { say };
        }
        const command = message as GroupCommand;
        commands.push(command);
        handled.add(command.carrier?.eventId ?? '');
        return given.reply ?? DONE;
      },
    },
    facts: {
      handled: async (_id, eventId) => (handled.has(eventId) ? { say: null } : null),
      message: async () => (looks++ < (given.recordedAfter ?? 0) ? null : posted),
      isPosting: async () => looks <= (given.recordedAfter ?? 0),
      person: async () => (given.person === undefined ? ALICE : given.person),
      used: async () => undefined,
    },
  });
  on.callBack.to = async (url, body) => {
    expect(url).toBe(`https://ingest.example/api/v1/callbacks/chat-server/${CONNECTION}`);
    return (await receiver.push({ id: CONNECTION, headers: [], body: Buffer.from(body) })) as {
      readonly status: number;
      readonly body: string;
    };
  };
  await on.publish();
  const [post] = on.server.posts;
  if (!post) throw new Error('nothing was posted');
  const alice = on.server.addUser('alice');
  on.records.length = 0;
  const before = on.server.calls.length;
  return {
    ...{ on, post, alice, commands, events, logged, uses, hints },
    calls: () => on.server.calls.slice(before),
    press: (by: FakeUser = alice, times = 1) => on.server.press(post.id, 'ack', by, times),
    push: async (body: unknown) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await receiver.push({ id: CONNECTION, headers: [], body: Buffer.from(text) });
      return 'body' in answer ? (JSON.parse(answer.body) as Record<string, unknown>) : {};
    },
    body: (changes: object = {}, button: Partial<MessageButtonData> = {}) => ({
      ...{ user_id: alice.id, user_name: 'alice', channel_id: post.channelId, post_id: post.id },
      context: contextOf(signed(button)),
      ...changes,
    }),
  };
}

function contextOf(action: string, connectionId = CONNECTION) {
  return buttonsBack(keyring, 'https://ingest.example', connectionId).contextOf(action);
}

function signed(button: Partial<MessageButtonData> = {}): string {
  const fields = { subject: 'root_message', id: GROUP, command: 'acknowledge', seconds: 0 } as const;
  return buttonData(keyring, { ...fields, ...button });
}

describe('a press that ends the link of its account', () => {
  const unlink = () =>
    buttonData(keyring, { subject: 'account_link', id: ALICE.linkId, command: 'unlink', seconds: 0 });
  const said = (message: string) => ({ update: { message, props: {} }, skip_slack_parsing: true });

  test('says whose it was, once, and tells the open pages of the User', async () => {
    const it = await pressing();
    const press = it.body({ trigger_id: 't1', post_id: 'd'.repeat(26), context: contextOf(unlink()) });
    const whose = said('This account is no longer Alice (alice) in Tocsin');
    expect([await it.push(press), await it.push(press)]).toEqual([whose, whose]);
    expect(it.uses[0]).toMatchObject({
      ...{ digest: null, linkId: ALICE.linkId, account: { externalId: it.alice.id } },
    });
    expect(it.hints).toEqual([{ type: 'account-links', id: ALICE.id }]);
  });

  test('by somebody who is not linked says so', async () => {
    const it = await pressing({ unlinked: { is: 'not_linked', hasOther: false, isAnswered: true } });
    const answer = await it.push(it.body({ context: contextOf(unlink()) }));
    expect(answer).toEqual(said('This account belongs to no Tocsin user'));
  });

  test('signed for another Connection, or by nobody, changes nothing', async () => {
    const it = await pressing();
    const elsewhere = contextOf(unlink(), 'CN0000000000AA' as PublicId);
    await it.push(it.body({ context: elsewhere }));
    // The last character may hold bits that are not read.
    const forged = unlink().replace(/.(?=..$)/, (one) => (one === 'A' ? 'B' : 'A'));
    await it.push(it.body({ context: { ...contextOf(unlink()), action: forged } }));
    expect(it.uses).toEqual([]);
  });
});

const OLD_BUTTON = 'This button is not valid here, nothing happened';

describe('a press', () => {
  test.each<[string, Given, readonly 'hangs'[]]>([
    ['hangs on showing it in the channel', {}, ['hangs']],
    ['gets no token of a limiter', { noToken: true }, []],
  ])('is answered within 2 s where the server %s', async (_what, given, script) => {
    const it = await pressing({ ...given, person: null });
    it.on.server.settings.permissions.add('create_post_ephemeral');
    it.on.script.push(...script);
    const before = it.on.time.now;
    await it.press();
    expect(it.on.time.now - before).toBeLessThanOrEqual(2 * SECOND);
    expect(it.on.server.ephemeral).toMatchObject([{ rootId: it.post.id }]);
  });

  test('of an id that cannot be stored is carried out under one that can', async () => {
    const it = await pressing();
    await it.push(it.body({ trigger_id: 't\0' }));
    expect(it.commands).toMatchObject([{ carrier: { eventId: 't\ufffd' } }]);
  });

  test('by a linked responder runs the Command as that User, and says nothing', async () => {
    const it = await pressing();
    expect(await it.press()).toMatchObject([{ status: 200 }]);
    expect(it.commands).toMatchObject([
      {
        command: { name: 'acknowledge' },
        by: { kind: 'user', id: ALICE.id, transport: 'chat_server' },
        carrier: { externalId: it.alice.id, answer: { way: 'chat_server_press', button: 'acknowledge' } },
      },
    ]);
    expect(it.on.server.ephemeral).toEqual([]);
    expect(it.calls()).toEqual([]);
    expect(it.logged).not.toContain('command_failed');
    expect(it.on.records).toMatchObject([{ operation: 'interactiveAction', status: 200, errorClass: null }]);
  });

  test('that comes twice runs its Command once', async () => {
    const it = await pressing();
    await it.press(it.alice, 2);
    expect(it.commands).toHaveLength(1);
  });

  test('on a post that is recorded a moment later waits for it', async () => {
    const it = await pressing({ recordedAfter: 20 });
    await it.press();
    expect(it.commands).toHaveLength(1);
  });

  test('on a post that is not recorded within 3 s says that nothing happened', async () => {
    const it = await pressing({ recordedAfter: 1_000 });
    const began = it.on.time.now;
    await it.press();
    expect(it.on.time.now - began).toBe(3 * SECOND);
    expect(it.commands).toEqual([]);
    expect(it.on.server.ephemeral).toMatchObject([{ message: expect.stringContaining('nothing happened') }]);
  });

  test('by somebody unlinked is answered in the channel, to that person alone', async () => {
    const it = await pressing({ person: null });
    it.on.server.settings.permissions.add('create_post_ephemeral');
    await it.press();
    expect(it.commands).toEqual([]);
    expect(it.on.server.ephemeral).toEqual([
      {
        ...{ userId: it.alice.id, channelId: it.post.channelId, rootId: '' },
        message: expect.stringContaining('https://oncall.example.org/profile'),
      },
    ]);
  });

  test('is answered in the thread by a bot without the permission, which is tried once a day', async () => {
    const it = await pressing({ person: null });
    await it.press();
    await it.press();
    expect(it.calls()).toEqual(['POST /api/v4/posts/ephemeral']);
    expect(it.on.server.ephemeral).toHaveLength(2);
    expect(it.on.server.ephemeral[0]).toMatchObject({ rootId: it.post.id });
    expect(it.logged).not.toContain('event_not_answered');
    it.on.time.now += 25 * 3_600_000_000;
    await it.press();
    expect(it.calls()).toHaveLength(2);
  });

  test('is answered in the channel again once a check found the permission', async () => {
    const info = { bot_id: 'b', bot_username: 'tocsin', max_post_size: 16_383, answers_privately: true };
    const settings = { info, infoReadAt: 0 };
    const it = await pressing({ person: null, settings });
    await it.press();
    await it.press();
    expect(it.calls()).toHaveLength(1);
    it.on.server.settings.permissions.add('create_post_ephemeral');
    settings.infoReadAt = it.on.time.now + 1;
    await it.press();
    expect(it.calls()).toHaveLength(2);
    expect(it.on.server.ephemeral.at(-1)).toMatchObject({ rootId: '' });
  });

  test.each<readonly [string, Given]>([
    ['the server fails', { person: null }],
    ['no limiter token is free', { person: null, noToken: true }],
  ])('is answered in the thread when %s', async (_why, given) => {
    const it = await pressing(given);
    if (!given.noToken) it.on.script.push({ status: 500, headers: {}, body: '' });
    await it.press();
    expect(it.on.server.ephemeral).toMatchObject([{ rootId: it.post.id }]);
  });

  test.each<readonly [string, LinkedPerson, string]>([
    ['a Viewer', { ...ALICE, role: 'viewer' }, 'permitted'],
    ['a disabled User', { ...ALICE, status: 'disabled' }, 'disabled'],
  ])('by %s changes nothing', async (_who, person, outcome) => {
    const it = await pressing({ person, settings: { info: { ...INFO, answers_privately: false } } });
    await it.press();
    expect(it.commands).toEqual([]);
    expect(it.on.server.ephemeral).toHaveLength(1);
    expect(it.calls()).toEqual([]);
    expect(outcome).not.toBe('');
  });

  test('that the Alert Group refuses is answered with its sentence', async () => {
    const say = 'Somebody was faster';
    const it = await pressing({
      reply: { outcome: { outcome: 'refused', code: 'already_resolved', related: null }, say },
    });
    await it.press();
    expect(it.on.server.ephemeral).toMatchObject([{ message: say }]);
  });

  test('whose handling breaks says that nothing happened', async () => {
    const it = await pressing({ breaks: true });
    await it.press();
    expect(it.on.server.ephemeral).toMatchObject([{ message: expect.stringContaining('nothing happened') }]);
  });
});

const INFO = { bot_id: 'b', bot_username: 'tocsin', max_post_size: 16_383, answers_privately: true };

describe('whoever cannot prove a press', () => {
  const changed = `${signed().slice(0, -1)}${signed().endsWith('A') ? 'B' : 'A'}`;
  test.each<readonly [string, Given, (body: object) => unknown]>([
    ['with a post id of 65 characters', {}, (body) => ({ ...body, post_id: 'p'.repeat(65) })],
    ['by a user id of 65 characters', {}, (body) => ({ ...body, user_id: 'u'.repeat(65) })],
    ['no JSON', {}, () => 'x'],
    ['a field missing', {}, (body) => ({ ...body, post_id: undefined })],
    ['an unknown Connection', { settings: null }, (body) => body],
    ['one changed character', {}, (body) => ({ ...body, context: contextOf(changed) })],
    ['another key id', {}, (body) => ({ ...body, context: { ...contextOf(signed()), key_id: 'k-0' } })],
    [
      'the button of another messenger, shown to people there',
      {},
      (body) => ({ ...body, context: { action: signed(), key_id: keyring.activeKeyId } }),
    ],
    [
      'the button of another Connection',
      {},
      (body) => ({ ...body, context: contextOf(signed(), 'CN000000000002' as PublicId) }),
    ],
    ['an unknown post', { posted: null }, (body) => body],
    [
      'the post of another group',
      { posted: { ...POSTED, groupId: 'AGK7M3QX9P2RTB' as PublicId } },
      (body) => body,
    ],
    ['a post of another kind', { posted: { ...POSTED, kind: 'reply' } }, (body) => body],
  ])('reads the same, causes no request and changes nothing: %s', async (_what, given, of) => {
    const it = await pressing(given);
    const answer = await it.push(of(it.body()));
    expect(answer).toEqual({ ephemeral_text: OLD_BUTTON, skip_slack_parsing: true });
    expect([it.commands, it.events, it.calls()]).toEqual([[], [], []]);
    const refused = { errorClass: 'refused', errorCode: 'action_invalid', status: 200 };
    expect(it.on.records).toMatchObject(given.settings === null ? [] : [refused]);
    // Whoever knows no Connection writes no log.
    expect(it.logged).toEqual(given.settings === null ? [] : ['press_handled']);
  });
});

describe('the button of a test message', () => {
  const posted: PostedMessage = { ...POSTED, kind: 'test', groupId: null };
  const button = { subject: 'test_message', id: DESTINATION } as const;

  test('pressed by the bot itself tells the waiting test', async () => {
    const it = await pressing({ posted, settings: { info: INFO } });
    expect(await it.push(it.body({ user_id: INFO.bot_id }, button))).toEqual({});
    expect(it.events).toMatchObject([{ eventId: testPressId(it.post.id), say: null }]);
  });

  test('pressed by anybody else says that it is a test', async () => {
    const it = await pressing({ posted, settings: { info: { ...INFO, answers_privately: false } } });
    const answer = await it.push(it.body({}, button));
    expect(answer.ephemeral_text).toMatch(/test/i);
    expect(it.commands).toEqual([]);
  });
});
