/** What events of bridges lead to, one row after the other of the chapter's table (account-links §6, bridge §7.1). */
import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../runtime/actor/index.ts';
import { HOUR, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { type ButtonData, buttonData } from '../../../runtime/secrets/signed-tokens.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { until } from '../../../test/harness/until.ts';
import type { TokenOutcome } from '../../account-links/link.ts';
import type { CarriedReply, GroupCommand } from '../../alert-group/messages.ts';
import type { LinkedPerson, PostedMessage } from '../../connection/ports.ts';
import { EMPTY_DIRECTORY } from '../../directory.fixture.ts';
import type { Directory, RouteConfig } from '../../directory.ts';
import { ON_CALL_POLICY } from '../../route/policy.ts';
import type { BridgeEvent } from './events.ts';
import { createReactions } from './reactions.ts';

const CONNECTION = 'CN5Q8V2K7WXM3D' as PublicId;
const GROUP = 'AGK7M3QX9P2RTA' as PublicId;
const OTHER_GROUP = 'AGK7M3QX9P2RTB' as PublicId;
const DESTINATION = 'DSK7M3QX9P2RTA' as PublicId;
const ROUTE = 'RTK7M3QX9P2RTA' as PublicId;
const key = masterKey(Buffer.alloc(32, 1));
const keyring = createKeyring([key], key.id);
const otherKey = masterKey(Buffer.alloc(32, 2));
const BOB = { external_id: '18', username: 'bob', display_name: 'Bob', bot: false };
const ALICE: LinkedPerson = {
  ...{ linkId: 'AKK7M3QX9P2RTA' as PublicId, id: 'SRK7M3QX9P2RTA' as PublicId },
  ...{ name: 'Alice', login: 'alice', language: null, role: 'responder', status: 'active' },
};
const ROOT: PostedMessage = {
  ...{ destinationId: DESTINATION, kind: 'root', groupId: GROUP, routeId: ROUTE, isPresent: true },
};
const ACK: ButtonData = { subject: 'root_message', id: GROUP, command: 'acknowledge', seconds: 0 };
const DONE: CarriedReply = { outcome: { outcome: 'done' }, say: 'Done: Ack' };

interface World {
  readonly posted?: PostedMessage | null;
  /** Found when it is looked for again. */
  readonly postedMeanwhile?: PostedMessage;
  readonly isPosting?: boolean;
  readonly person?: LinkedPerson | null;
  readonly handled?: { readonly say: string | null };
  readonly routeLanguage?: 'en' | 'ru';
  readonly reply?: () => Promise<CarriedReply>;
  readonly token?: TokenOutcome;
}

function world(given: World = {}) {
  const clock = createManualClock();
  const told: string[] = [];
  const asked: GroupCommand[] = [];
  const logged: object[] = [];
  const digests: unknown[] = [];
  const hints: unknown[] = [];
  const used: unknown[] = [];
  let lookups = 0;
  const log: Log = (event, fields) => void logged.push({ event, ...fields });
  const route: RouteConfig = {
    ...{ id: ROUTE, name: 'Default', isDefault: true, deleted: false, matchers: [], urgent: false },
    ...{ groupKey: [], destinationIds: [] },
    policy: { ...ON_CALL_POLICY, language: given.routeLanguage ?? 'en' },
  };
  const directory: Directory = {
    ...EMPTY_DIRECTORY,
    connectionsById: new Map([[CONNECTION, { id: CONNECTION, name: 'Zulip', type: 'bridge' }]]),
    routesById: new Map([[ROUTE, route]]),
  };
  const react = createReactions({
    ...{ clock, log, keyring, publicUrl: 'https://oncall.example.org' },
    system: {
      tell: (_, { type }) => void told.push(type),
      ask: (_, message) => {
        asked.push(message as GroupCommand);
        return given.reply ? given.reply() : Promise.resolve(DONE);
      },
    },
    facts: {
      handled: async () => given.handled ?? null,
      message: async () => {
        const first = given.posted === undefined ? ROOT : given.posted;
        return lookups++ === 0 ? first : (given.postedMeanwhile ?? first);
      },
      isPosting: async () => given.isPosting ?? false,
      person: async () => (given.person === undefined ? ALICE : given.person),
      used: async (...use) => void used.push(use),
    },
    links: {
      useToken: async (use, say) => {
        digests.push(use.digest);
        return given.token ? { say: say(given.token), outcome: given.token } : { say: null, outcome: null };
      },
    },
    directory: { current: () => directory, reload: async () => undefined },
    may: (role, command) => role !== 'viewer' && command !== 'unresolve',
    hints: { send: (hint) => void hints.push(hint) },
  });
  return {
    ...{ clock, told, asked, logged, hints, used, digests },
    react: (event: BridgeEvent) => react(CONNECTION, event),
    press: (button: ButtonData | string = ACK, more: { readonly occurredAt?: number } = {}) =>
      react(CONNECTION, {
        ...{ id: 'e1', type: 'press', occurredAt: clock.now(), message_id: '9001', user: BOB },
        data: typeof button === 'string' ? button : buttonData(keyring, button),
        ...more,
      }),
    outcomes: () =>
      logged.flatMap((line) => ('outcome' in line && 'connection' in line ? [line.outcome] : [])),
  };
}

describe('a press', () => {
  test('runs its Command as the linked User, with the event that carries it', async () => {
    const it = world();
    const reaction = await it.press();
    expect(reaction).toMatchObject({ is: 'stored', say: 'Done: Ack' });
    expect(it.asked).toEqual([
      {
        type: 'command',
        command: { name: 'acknowledge' },
        by: {
          ...{ kind: 'user', id: ALICE.id, name: 'Alice', login: 'alice' },
          ...{ tokenName: null, transport: 'bridge' },
        },
        carrier: {
          connection: { id: CONNECTION, name: 'Zulip' },
          eventId: 'e1',
          externalId: '18',
          answer: { way: 'bridge_event', language: 'en', button: 'acknowledge', seconds: 0 },
        },
      },
    ]);
    expect(it.used).toEqual([
      [ALICE.linkId, { externalId: '18', username: 'bob', displayName: 'Bob' }, it.clock.now()],
    ]);
    expect(it.outcomes()).toEqual(['done']);
  });

  test('holds back edits of its message until the person is answered', async () => {
    const it = world();
    const reaction = await it.press();
    expect(it.told).toEqual(['press_began']);
    if (reaction?.is === 'stored') reaction.answered?.();
    expect(it.told).toEqual(['press_began', 'press_ended']);
  });

  test('of a Snooze counts from now', async () => {
    const it = world();
    await it.press({ ...ACK, command: 'snooze', seconds: 3600 });
    expect(it.asked[0]?.command).toEqual({ name: 'snooze', until: it.clock.now() + 3600 * SECOND });
  });

  test.each<[string, World, ButtonData | string, string, string]>([
    [
      'of nobody',
      { person: null },
      ACK,
      'not_linked',
      'Connect this account: https://oncall.example.org/profile',
    ],
    ['of a disabled User', { person: { ...ALICE, status: 'disabled' } }, ACK, 'disabled', 'is disabled'],
    ['of a Viewer', { person: { ...ALICE, role: 'viewer' } }, ACK, 'not_permitted', 'Role does not allow'],
    ['of a button that nobody signed', {}, 'A'.repeat(55), 'invalid', 'not valid here'],
    ['of another group’s button', {}, { ...ACK, id: OTHER_GROUP }, 'invalid', 'not valid here'],
    [
      'of a reply’s button on the Root message',
      {},
      { ...ACK, subject: 'thread_reply' },
      'invalid',
      'not valid here',
    ],
    [
      'of a test message',
      { posted: { ...ROOT, kind: 'test' } },
      { ...ACK, subject: 'test_message', id: DESTINATION },
      'test',
      'Just a test',
    ],
    [
      'of a key that is no longer held',
      {},
      buttonData(createKeyring([otherKey], otherKey.id), ACK),
      'invalid',
      'too old, use those of the main message',
    ],
  ])('%s is told so, and changes nothing', async (_, given, button, outcome, text) => {
    const it = world(given);
    const reaction = await it.press(button);
    expect(reaction).toEqual({ is: 'noted', say: expect.stringContaining(text) });
    expect(it.asked).toEqual([]);
    expect(it.outcomes()).toEqual([outcome]);
  });

  test('of a Viewer and of a disabled User counts as a use of the link, that of nobody does not', async () => {
    for (const [person, uses] of [
      [{ ...ALICE, role: 'viewer' }, 1],
      [{ ...ALICE, status: 'disabled' }, 1],
      [null, 0],
    ] as const) {
      const it = world({ person });
      await it.press();
      expect(it.used).toHaveLength(uses);
    }
  });

  test('that is more than an hour old is told so, before anything else is looked at', async () => {
    const it = world({ person: null });
    const reaction = await it.press('nonsense', { occurredAt: it.clock.now() - HOUR - 1 });
    expect(reaction).toMatchObject({ say: 'This press came in too late, nothing happened' });
  });

  test.each([
    [{ ...ROOT, kind: 'storm_summary' } as const, ACK],
    [null, 'A'.repeat(55)],
  ])('about a message that is not ours is ignored without an answer', async (posted, button) => {
    const it = world({ posted });
    expect(await it.press(button)).toEqual({ is: 'noted', say: null });
    expect(it.logged).toEqual([]);
  });

  test('of a button of ours about a message that was not posted through this Connection is ignored at once', async () => {
    const it = world({ posted: null });
    expect(await it.press()).toEqual({ is: 'noted', say: null });
    expect(it.asked).toEqual([]);
  });

  test('of a button of ours comes again while the call that may have made its message has no outcome', async () => {
    const it = world({ posted: null, isPosting: true });
    await expect(it.press()).rejects.toThrow('not recorded yet');
  });

  test('counts for a message that is recorded while it is looked for', async () => {
    const it = world({ posted: null, postedMeanwhile: ROOT });
    expect(await it.press()).toMatchObject({ is: 'stored', say: 'Done: Ack' });
  });

  test.each([
    ['ru', 'en', 'Ваша роль этого не позволяет'],
    [null, 'ru', 'Ваша роль этого не позволяет'],
    ['en', 'ru', 'Your Role does not allow this'],
  ] as const)(
    'of a User with the language %s on a Route with %s is answered in it',
    async (language, route, say) => {
      const it = world({ person: { ...ALICE, role: 'viewer', language }, routeLanguage: route });
      expect(await it.press()).toMatchObject({ say });
    },
  );

  test('of which no result comes within 5 s is told that nobody knows, and stays open', async () => {
    const it = world({ reply: () => new Promise(() => undefined) });
    const pressed = it.press();
    await until('the group is asked', async () => it.asked.length === 1);
    it.clock.advance(5 * SECOND);
    expect(await pressed).toEqual({ is: 'unsure', say: 'No answer yet, look at the Alert Group' });
  });

  test('while the group cannot be reached comes again', async () => {
    const it = world({ reply: () => Promise.reject(new UnavailableError('no owner')) });
    await expect(it.press()).rejects.toThrow('no owner');
    expect(it.told).toEqual(['press_began', 'press_ended']);
  });

  test('that meets a defect is told that it failed', async () => {
    const it = world({ reply: () => Promise.reject(new TypeError('undefined is not a group')) });
    expect(await it.press()).toEqual({ is: 'noted', say: 'That did not work, nothing happened' });
    expect(it.logged).toContainEqual(expect.objectContaining({ event: 'command_failed' }));
  });

  test('whose event was handled before only repeats its answer', async () => {
    const it = world({ handled: { say: 'Done: Ack' } });
    expect(await it.press()).toEqual({ is: 'stored', say: 'Done: Ack' });
    expect(it.asked).toEqual([]);
  });
});

describe('a message in a Thread', () => {
  const write = (it: ReturnType<typeof world>, text = ' rolling back\n', user = BOB) =>
    it.react({
      ...{ id: 'e1', type: 'thread_message', occurredAt: 0, message_id: '9001', thread_ref: null },
      ...{ reply_id: '9003', user, text },
    });

  test('of a linked responder becomes a Note, and nobody is answered', async () => {
    const it = world();
    expect(await write(it)).toEqual({ is: 'stored', say: null });
    expect(it.asked[0]).toMatchObject({
      command: { name: 'add_note', body: 'rolling back' },
      by: { transport: 'bridge' },
      carrier: { answer: null },
    });
  });

  test.each<[string, World, string?, typeof BOB?]>([
    ['a stranger', { person: null }],
    ['a Viewer', { person: { ...ALICE, role: 'viewer' } }],
    ['a disabled User', { person: { ...ALICE, status: 'disabled' } }],
    ['somebody who wrote nothing', {}, ' \n '],
    ['a bot', {}, 'hello', { ...BOB, bot: true }],
    ['somebody under a message that is no Root message', { posted: { ...ROOT, kind: 'reply' } }],
    ['somebody elsewhere', { posted: null }],
  ])('of %s is ignored', async (_, given, text, user) => {
    const it = world(given);
    expect(await write(it, text, user)).toEqual({ is: 'noted', say: null });
    expect(it.asked).toEqual([]);
  });

  test('is stored as far as a database can hold it', async () => {
    const it = world();
    await write(it, 'half \0 of it');
    expect(it.asked[0]?.command).toEqual({ name: 'add_note', body: 'half \ufffd of it' });
  });

  test('is cut to the length of a Note', async () => {
    const it = world();
    await write(it, '💥'.repeat(4_001));
    expect(it.asked[0]?.command).toEqual({ name: 'add_note', body: `${'💥'.repeat(3_999)}…` });
  });
});

describe('a token', () => {
  const send = (it: ReturnType<typeof world>, user = BOB) =>
    it.react({ id: 'e1', type: 'account_link', occurredAt: 0, user, token: 'T'.repeat(43) });
  const rejected = (reason: 'token_used' | 'conflict', isAnswered = true): TokenOutcome => ({
    ...{ is: 'rejected', reason, user: null, isAnswered },
  });

  test('that links the account is answered with whom the person acts for, in their language', async () => {
    const it = world({ token: { is: 'linked', user: { ...ALICE, language: 'ru' } } });
    expect(await send(it)).toEqual({ is: 'stored', say: 'Готово, в Tocsin вы Alice (alice)' });
    expect(it.hints).toEqual([{ type: 'account-links', id: ALICE.id }]);
  });

  test.each([
    [rejected('token_used'), expect.stringMatching(/^Nothing waits for this token/)],
    [rejected('conflict'), 'This account belongs to another Tocsin user'],
    [rejected('token_used', false), null],
  ])('that leads nowhere is told so, but not without end', async (token, say) => {
    const it = world({ token });
    expect(await send(it)).toEqual({ is: 'stored', say });
    expect(it.logged).toMatchObject([{ event: 'account_link_rejected' }]);
  });

  test('that is “unlink” ends the link, and is answered with whose it was', async () => {
    const it = world({ token: { is: 'unlinked', user: ALICE } });
    const event = { id: 'e1', type: 'account_link', occurredAt: 0, user: BOB, token: 'unlink' } as const;
    expect(await it.react(event)).toMatchObject({ say: 'This account is no longer Alice (alice) in Tocsin' });
    expect(it.digests).toEqual([null]);
    expect(it.hints).toEqual([{ type: 'account-links', id: ALICE.id }]);
    expect(it.logged).toMatchObject([{ event: 'account_link_unlinked' }]);
  });

  test.each([
    [true, 'This account belongs to no Tocsin user'],
    [false, null],
  ])('that would end no link is told so, but not without end', async (isAnswered, say) => {
    const it = world({ token: { is: 'not_linked', hasOther: false, isAnswered } });
    expect(await send(it)).toEqual({ is: 'stored', say });
    expect([it.hints, it.logged]).toEqual([[], []]);
  });

  test('of a bot links nothing', async () => {
    const it = world({ token: { is: 'linked', user: ALICE } });
    expect(await send(it, { ...BOB, bot: true })).toMatchObject({ is: 'noted' });
    expect(it.hints).toEqual([]);
  });
});

describe('a deleted message', () => {
  const deleted: BridgeEvent = {
    id: 'e1',
    type: 'message_deleted',
    occurredAt: 0,
    message_id: '9001',
    user: null,
  };

  test('of ours is told to the Connection, with what it was', async () => {
    expect(await world().react(deleted)).toEqual({
      is: 'noted',
      say: null,
      deleted: { ...ROOT, messageId: '9001' },
    });
  });

  test('of others is ignored', async () => {
    expect(await world({ posted: null }).react(deleted)).toEqual({ is: 'noted', say: null });
  });
});
