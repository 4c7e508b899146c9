/** The delivery's statechart and its table in the contract (delivery §11.1). */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type AnyStateNode, fromTransition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { GroupStatus } from '../../model.ts';
import { newLine } from '../rows.ts';
import {
  type Delivery,
  type Flight,
  fromStored,
  isHeld,
  isOver,
  NO_TRIES,
  newDelivery,
  type PostedMessage,
  stateOf,
  toStored,
} from './delivery.ts';
import { deliveryMachine, next } from './machine.ts';
import type { DeliveryEvent } from './machine-parts.ts';
import { nextWork } from './work.ts';

interface Row {
  readonly from: string;
  readonly event: string;
  readonly guard: string | null;
  readonly to: string;
}

const written = (row: Row): string => `${row.from}: ${row.event} [${row.guard ?? ''}] → ${row.to}`;

function contractCells(head: string): string[][] {
  const page = readFileSync(new URL('../../../docs/contract/delivery.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split(head);
  const lines = (table.split('\n\n')[0] ?? '').trim().split('\n');
  return lines.map((line) => line.split('|').map((cell) => cell.trim()));
}

/** The rows of the contract, one for each state that a row names. */
function contractRows(): { readonly rows: Row[]; readonly reasons: string[] } {
  const cells = contractCells('| From | Event | Guard | To | Why |\n|---|---|---|---|---|\n');
  const rows = cells.flatMap(([, from = '', event = '', guard = '', to = '']) =>
    from.split(', ').map((one) => ({ from: one, event, guard: guard === '–' ? null : guard, to })),
  );
  return { rows, reasons: cells.map(([, , , , , why = '']) => why) };
}

const named = (node: AnyStateNode): string => node.path.slice(1).join('.');

function declaredRows(): Row[] {
  const rows: Row[] = [];
  const visit = (node: AnyStateNode): void => {
    for (const transitions of node.transitions.values())
      for (const { eventType: event, guard, target } of transitions)
        rows.push({
          from: named(node),
          event,
          guard: (guard as string | undefined) ?? null,
          to: target?.[0] ? named(target[0]) : 'same',
        });
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(deliveryMachine.root.states.root as unknown as AnyStateNode);
  return rows;
}

/** Of the region `thread`, whose transitions follow every event. */
function threadRows(): { readonly rows: Row[]; readonly reasons: string[] } {
  const cells = contractCells('| From | Guard | To | Why |\n|---|---|---|---|\n');
  const rows = cells.flatMap(([, from = '', guard = '', to = '']) =>
    from.split(', ').map((one) => ({ from: one, event: '', guard, to })),
  );
  return { rows, reasons: cells.map(([, , , , why = '']) => why) };
}

function declaredThreadRows(): Row[] {
  const states = Object.values(deliveryMachine.root.states.thread?.states ?? {}) as unknown as AnyStateNode[];
  return states.flatMap((node) =>
    (node.always ?? []).map(({ guard, target }) => ({
      from: named(node),
      event: '',
      guard: (guard as string | undefined) ?? null,
      to: target?.[0] ? named(target[0]) : 'same',
    })),
  );
}

test('the machine and the table of the contract say the same, with a reason for each row', () => {
  const { rows, reasons } = contractRows();
  const thread = threadRows();
  expect(rows.map(written).sort()).toEqual(declaredRows().map(written).sort());
  expect(thread.rows.map(written).sort()).toEqual(declaredThreadRows().map(written).sort());
  expect([...reasons, ...thread.reasons].filter((why) => why.length < 5)).toEqual([]);
});

const NOW = 100 * MINUTE;
const FIRST: Delivery = newDelivery({
  subject: { kind: 'group', groupId: 'AG1' as PublicId },
  target: 1,
  connectionId: 'CN1' as PublicId,
  routeId: 'RT1' as PublicId,
  number: 1,
  urgent: false,
  status: 'firing',
  changedAt: NOW,
  renewedAt: NOW,
});

const MESSAGE: PostedMessage = {
  ...{ id: 'M1', threadRef: null, url: null, hash: 'a', postedAt: NOW, publication: 1 },
  ...{ status: 'firing', editableUntil: null, signedWith: null },
};

/** What happens to a delivery: an event, and what is known before it. */
type Happening =
  | { readonly type: 'told'; readonly status: GroupStatus }
  | { readonly type: 'window_passes' }
  | { readonly type: 'attempt_was_lost' }
  | { readonly type: 'reply_comes'; readonly due: number }
  | { readonly type: 'begins' }
  | { readonly type: 'reply_ends' }
  | { readonly type: 'event'; readonly event: DeliveryEvent; readonly of?: Flight['kind'] };

const sent = (event: DeliveryEvent, of?: Flight['kind']): Happening => ({
  type: 'event',
  event,
  ...(of ? { of } : {}),
});
const wish = { loudness: 'loud', mentions: [], isBroken: false, now: NOW } as const;

const HAPPENINGS: readonly Happening[] = [
  { type: 'told', status: 'acknowledged' },
  { type: 'told', status: 'resolved' },
  { type: 'window_passes' },
  { type: 'attempt_was_lost' },
  { type: 'reply_comes', due: NOW },
  { type: 'reply_comes', due: NOW + MINUTE },
  { type: 'begins' },
  { type: 'reply_ends' },
  ...(['judged_free', 'released', 'joined', 'reopened'] as const).map((type) => sent({ type, ...wish })),
  ...(['judged_held', 'changed', 'withhold', 'left', 'gone'] as const).map((type) =>
    sent({ type, now: NOW }),
  ),
  sent({ type: 'given_up', error: 'deleted', now: NOW }),
  sent({ type: 'window_closed', now: NOW }, 'edit'),
  sent({ type: 'not_delivered', error: 'refused', now: NOW }, 'publish'),
  sent({ type: 'not_delivered', error: 'refused', now: NOW }, 'edit'),
  sent({ type: 'published', message: MESSAGE, isReplayed: false, now: NOW }, 'publish'),
];

const flight = (kind: Flight['kind'], { leaving, status, message }: Delivery): Flight => ({
  ...{ call: 1, kind, messageId: message?.id ?? null, sequence: kind === 'reply' ? 1 : null, status },
  ...{ isFinal: kind === 'edit' && leaving, isProbe: false, tookToken: false, loudness: 'quiet' },
  ...{ startedAt: NOW, lostAt: NOW + MINUTE },
});

/** The event of the chart that a happening is, and the delivery as it is known by then; null where it cannot happen. */
function eventOf(delivery: Delivery, happening: Happening): { known: Delivery; event: DeliveryEvent } | null {
  const { call, message, replies, root } = delivery;
  switch (happening.type) {
    case 'told':
    case 'window_passes':
    case 'attempt_was_lost':
      return null;
    case 'reply_comes': {
      if (replies.length > 0 || isHeld(delivery) || isOver(delivery) || delivery.leaving) return null;
      const facts = { event: 'alerts_added', fingerprints: ['f'] } as const;
      const reply = {
        sequence: replies.length + 1,
        facts,
        loudness: 'quiet',
        mentions: [],
        owner: null,
      } as const;
      const queue = [{ ...reply, due: happening.due, tries: NO_TRIES }];
      return { known: { ...delivery, replies: queue }, event: { type: 'reply_queued', now: NOW } };
    }
    case 'begins': {
      const work = nextWork(delivery);
      if (!work) return null;
      const call = flight(work.kind, delivery);
      const event = { type: `${work.kind}_began`, call, notes: delivery.notes, now: NOW } as const;
      return { known: delivery, event };
    }
    case 'reply_ends':
      if (call?.kind !== 'reply') return null;
      return { known: { ...delivery, call: null, replies: [] }, event: { type: 'reply_over', now: NOW } };
    case 'event': {
      const { event, of } = happening;
      if (of && call?.kind !== of && !(of === 'edit' && root === 'stale')) return null;
      if (event.type === 'gone' && !message) return null;
      if (event.type === 'given_up' && (call || isHeld(delivery))) return null;
      return { known: of ? { ...delivery, call: null } : delivery, event };
    }
  }
}

/** What is known changes without an event of the chart. */
function learned(delivery: Delivery, happening: Happening): Delivery {
  const { message, tries, root } = delivery;
  if (happening.type === 'told') return { ...delivery, status: happening.status };
  if (happening.type === 'window_passes' && message)
    return { ...delivery, message: { ...message, editableUntil: NOW - 1 } };
  if (happening.type === 'attempt_was_lost' && root === 'wanted')
    return { ...delivery, tries: { ...tries, unsureSince: NOW } };
  return delivery;
}

/** The outcomes of a call depend on the call. */
function outcomes({ call }: Delivery): readonly Happening[] {
  if (!call || call.kind === 'reply') return [];
  return [
    sent({ type: 'put_back', flight: call, now: NOW }, call.kind),
    ...(call.kind === 'edit' ? [sent({ type: 'edited', flight: call, shown: null, now: NOW }, 'edit')] : []),
  ];
}

const story = fromTransition((delivery: Delivery, happening: Happening) => {
  const taken = eventOf(delivery, happening);
  return taken ? next(taken.known, taken.event) : learned(delivery, happening);
}, FIRST);

/** What guards and invariants tell apart. */
function essence(delivery: Delivery): string {
  const { root, thread, status, message, post, call, tries, replies, republished, leaving } = delivery;
  const cause = post?.cause === 'joined' || post?.cause === 'continued' ? post.cause : post && 'other';
  return JSON.stringify([
    ...[root, thread, status, message && [message.status, message.editableUntil !== null], cause],
    ...[
      call && [call.kind, call.isFinal],
      tries.unsureSince,
      replies.map(({ due }) => due),
      republished,
      leaving,
    ],
    ...[delivery.editSince !== null, delivery.failed],
  ]);
}

const paths = getShortestPaths(story, {
  events: ({ context }) => [...HAPPENINGS, ...outcomes(context)],
  serializeState: ({ context }) => essence(context),
  limit: 200_000,
});
const reached: readonly Delivery[] = paths.map(({ state }) => state.context);

/** Events mode: what can happen to the events of an Alert Group, with what is known by then. */
function lineSteps(line: Delivery): readonly Met[] {
  const { call, root, events } = line;
  const waiting = events ?? [];
  const known = { ...line, call: null };
  const event = {
    id: `e${waiting.length}`,
    sequence: 1,
    event: 'created',
    urgent: false,
    occurredAt: NOW,
    calls: 0,
  } as const;
  const began = {
    type: 'publish_began',
    call: flight('publish', line),
    notes: line.notes,
    now: NOW,
  } as const;
  return [
    ...(waiting.length < 3 ? [{ known: line, event: { type: 'recorded', event, now: NOW } } as const] : []),
    ...(root === 'wanted' ? [{ known: line, event: began }] : []),
    ...(waiting.length > 0
      ? ([
          { known, event: { type: 'event_taken', now: NOW } },
          { known, event: { type: 'given_up', error: 'deleted', now: NOW } },
        ] as const)
      : []),
    ...(call
      ? ([
          { known, event: { type: 'put_back', flight: call, now: NOW } },
          { known, event: { type: 'not_delivered', error: 'refused', now: NOW } },
        ] as const)
      : []),
  ];
}

interface Met {
  readonly known: Delivery;
  readonly event: DeliveryEvent;
}

/** What can happen to the replies under a message that needs nothing else. */
function threadSteps(delivery: Delivery): readonly Met[] {
  const { replies, call, notes } = delivery;
  const of = (known: Delivery, type: 'reply_queued' | 'reply_over' | 'replies_dropped', now = NOW): Met => ({
    known,
    event: { type, now },
  });
  const withReply = (due: number): Delivery => {
    const facts = { event: 'alerts_added', fingerprints: ['f'] } as const;
    const told = {
      sequence: replies.length + 1,
      facts,
      loudness: 'quiet',
      mentions: [],
      owner: null,
    } as const;
    return { ...delivery, replies: [...replies, { ...told, due, tries: NO_TRIES }] };
  };
  const later = replies.filter(({ due }) => due > NOW);
  const over = { ...delivery, call: null };
  return [
    ...(replies.length < 2 ? [NOW, NOW + MINUTE].map((due) => of(withReply(due), 'reply_queued')) : []),
    of(delivery, 'reply_queued', NOW + MINUTE),
    ...(call ? [of(over, 'reply_over'), of({ ...over, replies: replies.slice(1) }, 'reply_over')] : []),
    ...(call || replies.length === 0
      ? []
      : [
          of({ ...delivery, replies: later }, 'replies_dropped'),
          of({ ...delivery, replies: [] }, 'replies_dropped'),
          {
            known: delivery,
            event: { type: 'reply_began', call: flight('reply', delivery), notes, now: NOW },
          } as const,
        ]),
  ];
}

/** Everything that steps lead to. */
function walk(from: Delivery, steps: (delivery: Delivery) => readonly Met[]): readonly Delivery[] {
  const found = new Map<string, Delivery>();
  const todo = [from];
  for (let one = todo.pop(); one; one = todo.pop()) {
    const { root, thread, events, replies, call } = one;
    const name = JSON.stringify([root, thread, events?.length, replies.map(({ due }) => due), call !== null]);
    if (found.has(name)) continue;
    found.set(name, one);
    todo.push(...steps(one).map(({ known, event }) => next(known, event)));
  }
  return [...found.values()];
}

const lines = walk(newLine('AG1' as PublicId), lineSteps);
const talking = walk({ ...FIRST, root: 'current', message: MESSAGE }, threadSteps);

/** Rows of `root` that an event takes. */
function rowsTaken({ known, event }: Met): string[] {
  const [outer = '', inner] = known.root.split('.');
  const value = { root: inner ? { [outer]: inner } : outer, thread: known.thread };
  const snapshot = deliveryMachine.resolveState({ value, context: known } as never);
  const data = deliveryMachine.getTransitionData(snapshot, event as never);
  return data.flatMap(({ source, eventType, guard, target }) => {
    if (source.path[0] !== 'root') return [];
    const to = target?.[0] ? named(target[0]) : 'same';
    return [written({ from: named(source), event: eventType, guard: (guard as string) ?? null, to })];
  });
}

describe('walking every delivery that a story can lead to', () => {
  test('takes every row of the table', () => {
    const taken = new Set<string>();
    const changes = new Set<string>();
    const meet = (met: Met): void => {
      for (const row of rowsTaken(met)) taken.add(row);
      changes.add(`${met.known.thread} → ${next(met.known, met.event).thread}`);
    };
    for (const delivery of reached)
      for (const happening of [...HAPPENINGS, ...outcomes(delivery)]) {
        const met = eventOf(delivery, happening);
        if (met) meet(met);
      }
    for (const line of lines) lineSteps(line).forEach(meet);
    for (const delivery of talking) threadSteps(delivery).forEach(meet);
    expect(
      contractRows()
        .rows.map(written)
        .filter((row) => !taken.has(row)),
    ).toEqual([]);
    expect(
      threadRows()
        .rows.map(({ from, to }) => `${from} → ${to}`)
        .filter((change) => !changes.has(change)),
    ).toEqual([]);
  });

  test('events wait in order, and end one by one', () => {
    expect(lines.length).toBeGreaterThan(5);
    for (const { root, thread, events, call, failed } of lines) {
      const waits = (events?.length ?? 0) > 0;
      expect(waits).toBe(root === 'wanted' || root === 'publishing');
      expect([call !== null, failed !== null, thread]).toEqual([
        root === 'publishing',
        root === 'not_delivered',
        'silent',
      ]);
    }
  });

  test('what is known fits the state', () => {
    expect(reached.length).toBeGreaterThan(500);
    for (const delivery of reached) {
      const { root, thread, post, message, editSince, failed, leaving, call, replies } = delivery;
      const about = JSON.stringify(delivery);
      expect(failed !== null, about).toBe(root === 'not_delivered');
      if (root === 'wanted' || root === 'publishing') expect(post, about).not.toBeNull();
      if (root === 'publishing') expect(call?.kind, about).toBe('publish');
      if (root === 'editing') expect(call?.kind, about).toBe('edit');
      if (root === 'stale') expect([editSince !== null, message !== null], about).toEqual([true, true]);
      if (root === 'current' || root === 'frozen')
        expect([editSince, post, leaving, message !== null], about).toEqual([null, null, false, true]);
      if (isHeld(delivery)) expect([message, call], about).toEqual([null, null]);
      if (isOver(delivery))
        expect([post, editSince, leaving, replies], about).toEqual([null, null, false, []]);
      expect(thread === 'replying', about).toBe(call?.kind === 'reply');
      if (thread === 'silent') expect(replies, about).toEqual([]);
    }
  });

  test('every delivery survives its way to storage and back', () => {
    for (const delivery of reached) {
      const { thread, ...back } = fromStored(JSON.parse(JSON.stringify(toStored(delivery))));
      const { thread: before, ...known } = delivery;
      // A Publication whose message was deleted while it was sent is under way again until its call is over.
      const isOrphan = delivery.root === 'wanted' && delivery.call?.kind === 'publish';
      expect(back).toEqual(isOrphan ? { ...known, root: 'publishing' } : known);
      expect(thread).toBe(before === 'collecting' ? 'due' : before);
    }
  });
});

describe('a delivery as the version before stored it', () => {
  const call = flight('publish', FIRST);
  const bare = (() => {
    const { root: _, thread: __, ...rest } = FIRST;
    return { ...rest, hold: null, frozen: false, ended: null };
  })();
  const post = {
    ...{ loudness: 'loud', mentions: [], cause: 'created', again: false, since: NOW },
  } as const;
  const there = { ...bare, message: MESSAGE };

  test.each([
    ['held.unjudged', 'pending', { ...bare, hold: 'unjudged' }],
    ['held.storm', 'pending', { ...bare, hold: 'storm' }],
    ['wanted', 'pending', { ...bare, post }],
    ['wanted', 'pending', { ...there, frozen: true, post: { ...post, cause: 'continued' } }],
    ['publishing', 'pending', { ...bare, post, call }],
    ['current', 'delivered', there],
    ['stale', 'pending', { ...there, editSince: NOW }],
    ['stale', 'pending', { ...there, editSince: NOW, leaving: true }],
    ['editing', 'pending', { ...there, call: { ...call, kind: 'edit' } }],
    ['frozen', 'delivered', { ...there, frozen: true }],
    ['not_delivered', 'not_delivered', { ...bare, post, failed: 'refused' }],
    ['not_delivered', 'not_delivered', { ...there, failed: 'refused' }],
    ['withheld.storm', 'withheld', { ...bare, ended: { as: 'withheld', because: 'storm' } }],
    ['withheld.broken', 'withheld', { ...bare, ended: { as: 'withheld', because: 'broken' } }],
    ['withheld.left', 'withheld', { ...bare, ended: { as: 'withheld', because: 'left' } }],
    ['retired', 'retired', { ...there, ended: { as: 'retired' } }],
    ['deleted_there', 'deleted_in_messenger', { ...there, ended: { as: 'deleted_in_messenger' } }],
  ] as const)('is %s and shown as %s', (root, state, stored) => {
    const delivery = fromStored(stored as never);
    expect([delivery.root, stateOf(delivery)]).toEqual([root, state]);
  });
});
