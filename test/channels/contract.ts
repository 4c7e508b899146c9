/**
 * What every channel must do (actors/channels/channel.ts), proven with a strict fake of its other side. A channel of events
 * gets an event where one of messages gets a publish. What a channel has no capability for it must refuse without a call.
 */
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type {
  MessageContent,
  MessageOperation,
  MessageSend,
  SendOutcome,
} from '../../actors/channels/calls.ts';
import type { Channel, ChannelType, EventContent } from '../../actors/channels/channel.ts';
import { createTrialViews } from '../../actors/channels/interactive.ts';
import {
  DESTINATION,
  NOW,
  scene as plainScene,
} from '../../actors/channels/webhook-template/receiver.fixture.ts';
import type { GroupScene } from '../../actors/destination/sending/scene.ts';
import { EMPTY_DIRECTORY } from '../../actors/directory.fixture.ts';
import { NO_NOTES } from '../../actors/messages/index.ts';
import { alerts, group412, groupOf } from '../../actors/messages/messages.fixture.ts';
import type { LifecycleEvent } from '../../actors/model.ts';
import type { Clock } from '../../runtime/clock.ts';
import { SECOND } from '../../runtime/clock.ts';
import { createOutboundCaller, type OutboundCaller } from '../../runtime/outbound/caller.ts';
import { createOutboundMetrics } from '../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../runtime/public-id.ts';

export const CONNECTION = 'CN5Q8V2K7WXM3D' as PublicId;
export const SECRET = 'hunter2-very-secret';
const TITLE = 'Disk *full* <b>&amp;</b> [a](http://evil.example) @everyone';

export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface MessageThere {
  readonly id: string;
  /** Of the message that it replies to. */
  readonly parent: string | null;
  /** As it was sent, for its length. */
  readonly text: string;
  /** As a person reads it. */
  readonly shown: string;
  readonly buttons: readonly string[];
}

/** A strict fake: it throws for a request that its wire format does not have. */
export interface OtherSide {
  take(request: WireRequest): Promise<WireAnswer>;
  messages(): readonly MessageThere[];
  /** A person deletes a message there. */
  remove(id: string): void;
}

export interface Subject {
  readonly type: Pick<ChannelType, 'unknownOutcome' | 'renderEvent'>;
  /** In small letters: where the key of a call is, by which a repeat is known. */
  readonly keyHeader?: string;
  /** What an edit of a deleted message comes to; null for a channel without edits. */
  readonly deletedThere: SendOutcome['class'] | null;
  /** What a redirect comes to: it concerns one message, or the address of everything. */
  readonly redirected: 'unknown' | 'fatal';
  start(): OtherSide;
  /** Opens the channel; its settings hold {@link SECRET} as the credential. */
  open(outside: { readonly caller: OutboundCaller; readonly clock: Clock }): Channel;
}

type Scripted = WireAnswer | 'lost_before' | 'lost_after' | Promise<WireAnswer>;

function set(subject: Subject) {
  const there = subject.start();
  const records: RequestRecord[] = [];
  const requests: WireRequest[] = [];
  const script: Scripted[] = [];
  const clock = { now: () => NOW } as unknown as Clock;
  const lost = { kind: 'failed', code: 'timeout', error: 'no answer within 10 s' } as const;
  const caller = createOutboundCaller({
    client: {
      async request({ method, url, headers, body, mayBegin }) {
        if (mayBegin && !mayBegin()) return { kind: 'failed', code: 'withheld', error: 'withheld' };
        const names = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
        const request = {
          method,
          url,
          headers: Object.fromEntries(names),
          body: body?.toString('utf8') ?? '',
        };
        requests.push(request);
        const scripted = script.shift();
        if (scripted === 'lost_before') return lost;
        const answer =
          scripted === undefined || scripted === 'lost_after' ? await there.take(request) : await scripted;
        if (scripted === 'lost_after') return lost;
        const { status, headers: sent = {}, body: text = '' } = answer;
        return { kind: 'answer', status, headers: sent, body: Buffer.from(text), tooLarge: false };
      },
    },
    recorder: { record: (make) => void records.push(make()) },
    metrics: createOutboundMetrics(new Registry()),
    ...{ clock, log: () => undefined, userAgent: 'Tocsin/test' },
  });
  const channel = subject.open({ caller, clock });
  let known = { messageId: '', threadRef: null as string | null, hash: null as string | null, values: {} };

  const send = async (
    operation: MessageOperation,
    content: MessageContent | EventContent,
    key: string | null,
    may = true,
  ) => {
    const asked: MessageSend = {
      ...{ type: 'message.send', destinationId: DESTINATION, call: 1, target: 1, connectionId: CONNECTION },
      ...{ subject: { kind: 'group', groupId: group412().id }, operation, key },
      notes: { late: false, deletedAt: null, continued: false },
      ...{ attempt: 1, unsureSince: null, urgent: true, values: known.values, dueAt: NOW, isProbe: false },
    };
    const { outcome } = await channel.send({ asked, destination: null, mayBegin: () => may }, content);
    if (outcome.class === 'ok') {
      known = {
        messageId: operation.kind === 'publish' ? (outcome.messageId ?? '') : known.messageId,
        threadRef: outcome.threadRef ?? known.threadRef,
        hash: outcome.hash ?? known.hash,
        values: { ...known.values, ...outcome.values },
      };
    }
    return outcome;
  };

  return {
    ...{ channel, there, records, requests, script },
    async publish(scene = titled(), may = true) {
      const { renderEvent } = subject.type;
      if (renderEvent) {
        const recorded = { event: CREATED, group: await viewOf(scene), mentions: [] };
        const body = renderEvent(recorded, 412, 'https://tocsin.example.org');
        const operation = { kind: 'event', event: 'created', call: 1 } as const;
        return send(operation, { kind: 'event', body }, 'root-a-b-1', may);
      }
      return send(
        { kind: 'publish', publication: 1, loudness: 'loud', mentions: [], owner: null },
        { kind: 'publish', shown: { kind: 'group', scene }, notes: NO_NOTES, isLoud: true, targets: [] },
        'root-a-b-1',
        may,
      );
    },
    edit: (scene = titled('resolved'), isFinal = false) =>
      send(
        { kind: 'edit', messageId: known.messageId, threadRef: known.threadRef, hash: known.hash, isFinal },
        { kind: 'edit', shown: { kind: 'group', scene }, notes: { ...NO_NOTES, final: isFinal } },
        null,
      ),
    reply: () => {
      const event = { event: 'resolved', reason: 'gone' } as const;
      const reply = {
        sequence: 3,
        at: 0,
        facts: event,
        loudness: 'quiet',
        mentions: [],
        owner: null,
      } as const;
      return send(
        { kind: 'reply', messageId: known.messageId, threadRef: known.threadRef, reply },
        { kind: 'reply', scene: titled(), event, isLoud: false, targets: [] },
        'reply-a-b-3',
      );
    },
  };
}

const CREATED: LifecycleEvent = {
  ...{ name: 'created', loudness: 'loud', mentions: [], sequence: 1, at: NOW, ownerBefore: null },
  actor: { kind: 'system', reason: 'alert' },
};
const viewOf = createTrialViews({
  groups: { read: async () => null, alerts: () => expect.unreachable('the scene has its alerts') },
  directory: { current: () => EMPTY_DIRECTORY },
});

/** @returns whether the channel edits and replies; where it does not, it has just refused to, without a request */
async function changes(on: ReturnType<typeof set>): Promise<{ edits: boolean; replies: boolean }> {
  const capabilities = await on.channel.capabilities(DESTINATION);
  const can = { edits: capabilities?.edits !== 'never', replies: capabilities?.replies !== false };
  const before = on.requests.length;
  if (!can.edits) await expect(on.edit()).rejects.toThrow('gets no edit');
  if (!can.replies) await expect(on.reply()).rejects.toThrow('gets no reply');
  expect(on.requests).toHaveLength(before);
  return can;
}

function titled(status: 'firing' | 'resolved' = 'firing', title = TITLE): GroupScene {
  const data = { ...plainScene.data, title, status };
  const group = group412({ title, summary: title, status, alerts: alerts([{ labels: { pod: title } }]) });
  return { ...plainScene, group, data };
}

export function channelContract(name: string, subject: Subject): void {
  describe(`${name} keeps the contract of channels`, () => {
    test('a publish posts one message, an edit changes it, a reply goes below it, in this order', async () => {
      const on = set(subject);
      expect(await on.publish()).toMatchObject({ class: 'ok' });
      const [first] = on.there.messages();
      const can = await changes(on);
      if (can.edits) expect(await on.edit()).toMatchObject({ class: 'ok' });
      if (can.replies) expect(await on.reply()).toMatchObject({ class: 'ok' });
      const [root, reply, ...others] = on.there.messages();
      expect(others).toEqual([]);
      expect(root?.id).toBe(first?.id);
      const isSame = root?.text === first?.text && root?.buttons.join() === first?.buttons.join();
      expect(isSame).toBe(!can.edits);
      expect(reply?.parent).toBe(can.replies ? root?.id : undefined);
    });

    test('an edit to the state that is shown there makes no request; the final one is made all the same', async () => {
      const on = set(subject);
      await on.publish();
      if (!(await changes(on)).edits) return;
      const before = on.requests.length;
      expect(await on.edit(titled())).toEqual({ class: 'unchanged' });
      expect(on.requests).toHaveLength(before);
      expect(await on.edit(titled(), true)).toMatchObject({ class: 'ok' });
      expect(on.requests).toHaveLength(before + 1);
    });

    test('a call ends when it is answered, not before', async () => {
      const on = set(subject);
      let answer: (answer: WireAnswer) => void = () => undefined;
      on.script.push(new Promise((resolve) => (answer = resolve)));
      let isOver = false;
      const call = on.publish().then(() => (isOver = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect([isOver, on.requests.length]).toEqual([false, 1]);
      answer({ status: 500 });
      await call;
    });

    test('without ownership nothing is sent and nothing recorded', async () => {
      const on = set(subject);
      expect(await on.publish(titled(), false)).toMatchObject({ class: 'not_sent' });
      expect([on.requests, on.records]).toEqual([[], []]);
    });

    test.each(['lost_before', 'lost_after'] as const)('an outcome that is %s is unsure', async (lost) => {
      const on = set(subject);
      on.script.push(lost);
      expect(await on.publish()).toMatchObject({ class: 'transient', unsure: true });
      expect(await on.publish()).toMatchObject({ class: 'ok' });
      const keys = on.requests.map(({ headers }) => headers[subject.keyHeader ?? 'idempotency-key']);
      const isTwice = lost === 'lost_after' && subject.type.unknownOutcome === 'cannot_be_known';
      expect(on.there.messages()).toHaveLength(isTwice ? 2 : 1);
      if (subject.type.unknownOutcome === 'repeats_safely')
        expect(keys).toEqual(['root-a-b-1', 'root-a-b-1']);
    });

    test('a message that was deleted there is noticed at the next edit', async () => {
      const on = set(subject);
      await on.publish();
      if (!(await changes(on)).edits) return;
      on.there.remove(on.there.messages()[0]?.id ?? '');
      expect(await on.edit()).toMatchObject({ class: subject.deletedThere });
    });

    test.each<readonly [string, WireAnswer, object]>([
      [
        '429 with Retry-After waits as long',
        { status: 429, headers: { 'retry-after': '7' } },
        { class: 'retry_after', until: NOW + 7 * SECOND },
      ],
      ['429 without Retry-After is transient', { status: 429 }, { class: 'transient', unsure: false }],
      ['500 is transient', { status: 500 }, { class: 'transient', unsure: false }],
      ['401 is fatal', { status: 401 }, { class: 'fatal' }],
      ['400 is unknown', { status: 400 }, { class: 'unknown' }],
      [
        'a redirect is named and not followed',
        { status: 302, headers: { location: 'https://elsewhere.example/x' } },
        {
          class: subject.redirected,
          error: expect.stringContaining('redirect to https://elsewhere.example/x not followed'),
        },
      ],
    ])('%s', async (_rule, answer, expected) => {
      const on = set(subject);
      on.script.push(answer);
      expect(await on.publish()).toMatchObject(expected);
      expect(on.requests).toHaveLength(1);
    });

    test('a group with very many alerts stays within the limits', async () => {
      const on = set(subject);
      const group = groupOf(500, (index) => ({ pod: `🔥${'p'.repeat(300)}${index}` }), {
        title: 'x'.repeat(5000),
      });
      expect(await on.publish({ ...titled(), group })).toMatchObject({ class: 'ok' });
      const capabilities = await on.channel.capabilities(DESTINATION);
      const [{ text, buttons } = { text: '', buttons: [] }] = on.there.messages();
      if (capabilities?.text)
        expect(lengthIn(capabilities.text.unit, text)).toBeLessThanOrEqual(capabilities.text.most);
      expect(buttons.length).toBeLessThanOrEqual(capabilities?.buttons?.most ?? 0);
      for (const label of buttons)
        expect([...label].length).toBeLessThanOrEqual(capabilities?.buttons?.text ?? 0);
    });

    test('what a sender wrote is shown as it was written', async () => {
      const on = set(subject);
      await on.publish(titled('firing', `${TITLE}\nfired`));
      // U+200B behind an @ keeps it from naming anybody.
      const shown = on.there.messages()[0]?.shown.replaceAll('\u200B', '');
      expect(shown).toContain(TITLE);
      expect(shown?.split('\n')).not.toContain('fired');
    });

    test('no secret is in the Request log or in an error, whatever the other side says', async () => {
      const on = set(subject);
      on.script.push({ status: 400, body: `{"detail":"no ${SECRET} here"}` });
      const outcome = await on.publish();
      expect(on.requests.some((request) => JSON.stringify(request).includes(SECRET))).toBe(true);
      expect(on.records).toHaveLength(1);
      expect(JSON.stringify([on.records, outcome])).not.toContain(SECRET);
    });
  });
}

function lengthIn(unit: 'code_points' | 'utf16' | 'bytes', text: string): number {
  if (unit === 'bytes') return Buffer.byteLength(text);
  return unit === 'utf16' ? text.length : [...text].length;
}
