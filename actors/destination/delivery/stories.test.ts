/** Whole stories on virtual time: two Destinations, Storms, every outcome, and crashes (delivery §5, §7, §8, §12). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { MessageSend, SendOutcome } from '../../channels/calls.ts';
import { accepted, createMessageWorld, ONE, ROUTE, TWO } from './world.fixture.ts';

const PLACES = [ONE, TWO] as const;
const MOST_GROUPS = 4;

const ANSWERS = {
  lost: { class: 'transient', error: 'timed out', unsure: true },
  unheard: { class: 'transient', error: 'timed out', unsure: true },
  busy: { class: 'transient', error: 'answered 503', unsure: false },
  refused: { class: 'fatal', error: 'answered 403' },
  invalid: { class: 'unknown', error: 'answered 400' },
  garbled: { class: 'unknown', error: 'the answer is not JSON', unsure: true },
} as const satisfies Readonly<Record<string, SendOutcome>>;
/** Of these the bridge did what it was asked for. */
const DONE = ['lost', 'garbled'];

const CHANGES = [
  ['acknowledged', 'acknowledged'],
  ['unacknowledged', 'firing'],
  ['snoozed', 'snoozed'],
  ['resolved', 'resolved'],
  ['unresolved', 'firing'],
] as const;

const group = fc.nat(MOST_GROUPS - 1);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('change' as const), group, to: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reply' as const), group }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), group, at: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('storm' as const) }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      as: fc.constantFrom('ok', 'ok', 'ok', 'wait', ...(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('crash' as const), at: fc.nat(1), heard: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), time: fc.constantFrom(5, 60, 400) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

type World = ReturnType<typeof createMessageWorld>;

interface Message {
  readonly id: string;
  readonly at: PublicId;
  readonly about: string;
  /** The message it stands under. */
  readonly under: string | null;
  /** Of a reply. */
  readonly sequence: number | null;
  shows: string;
  deleted: boolean;
}

function createBridge(world: World) {
  const keys = new Map<string, string>();
  const messages: Message[] = [];

  function take(call: MessageSend): SendOutcome {
    const { operation, key, subject, destinationId: at } = call;
    const about = subject.kind === 'group' ? subject.groupId : `${subject.routeId}-${subject.since / SECOND}`;
    const shows = world.lookOf(about);
    if (operation.kind === 'edit' && operation.hash === shows && !operation.isFinal)
      return { class: 'unchanged' };
    const named = 'messageId' in operation ? messages.find(({ id }) => id === operation.messageId) : null;
    if (named === undefined || named?.deleted) return { class: 'gone', error: 'answered 410' };
    if (operation.kind === 'edit' && named) {
      named.shows = shows;
      return accepted();
    }
    if (key === null) throw new Error('a message without a key');
    const known = keys.get(key);
    if (known !== undefined) return accepted({ messageId: known, replayed: true });
    const sequence = operation.kind === 'reply' ? operation.reply.sequence : null;
    const message = { at, about, under: named?.id ?? null, sequence, shows, deleted: false };
    const posted = { ...message, id: `M${messages.length}` };
    messages.push(posted);
    keys.set(key, posted.id);
    return accepted({ messageId: posted.id });
  }

  const roots = (at: PublicId, about: string) =>
    messages.filter((one) => one.at === at && one.about === about && one.under === null && !one.deleted);
  return { take, messages, roots };
}

async function play(steps: readonly Step[]): Promise<void> {
  const world = createMessageWorld({ window: 0 });
  await world.begin();
  world.setRoute(ROUTE, [...PLACES]);
  const bridge = createBridge(world);
  const names: string[] = [];
  const storms: string[] = [];
  let since: Micros | null = null;
  const held: string[] = [];
  world.pause();

  const answer = async (as: Extract<Step, { do: 'answer' }>['as']) => {
    const [call] = world.waiting();
    if (!call) return;
    if (as === 'wait') {
      const until = world.now() + 7 * SECOND;
      return world.answer({ class: 'retry_after', until, scope: 'destination', error: 'answered 429' });
    }
    if (call.type === 'message.probe') return world.answer(as === 'ok' ? accepted() : ANSWERS[as]);
    const isDone = as === 'ok' || DONE.includes(as);
    const outcome = isDone ? bridge.take(call) : null;
    // Nothing was sent, or it was refused: there is no answer to lose.
    const isPlain = as === 'ok' || outcome?.class === 'unchanged' || outcome?.class === 'gone';
    await world.answer(isPlain && outcome ? outcome : as === 'ok' ? accepted() : ANSWERS[as]);
  };

  const storm = async (change: 'started' | 'ended', from: Micros) => {
    world.look(`${ROUTE}-${from / SECOND}`);
    const at = world.now();
    await world.tellRoute(ROUTE, { type: 'storm', routeId: ROUTE, since: from, change, at });
  };
  const toggleStorm = async () => {
    if (since === null) {
      since = Math.ceil(world.now() / SECOND) * SECOND;
      await world.advance(since - world.now() + SECOND);
      storms.push(`${ROUTE}-${since / SECOND}`);
      world.setStorm(since);
      return storm('started', since);
    }
    await storm('ended', since);
    since = null;
    world.setStorm(null);
    for (const name of held.splice(0)) {
      const facts = world.group(name);
      if (!facts) throw new Error(`no group ${name}`);
      const { id: groupId, number, routeId, status, urgent } = facts;
      const told = { groupId, number, routeId, status, urgent, loudness: 'quiet', at: world.now() } as const;
      await world.tellRoute(ROUTE, { type: 'group_released', ...told });
    }
  };

  const create = async () => {
    if (names.length === MOST_GROUPS) return;
    const name = `G${names.length}`;
    names.push(name);
    if (since !== null) held.push(name);
    await world.create(name, { held: since !== null });
  };
  const change = async (name: string, to: number) => {
    const [event, status] = CHANGES[to] ?? CHANGES[0];
    const isOver = world.group(name)?.status === 'resolved';
    if (isOver === (event === 'unresolved')) await world.event(name, event, { status, by: 'person' });
  };

  const follow = async (one: Step): Promise<void> => {
    const name = 'group' in one ? names[one.group] : undefined;
    switch (one.do) {
      case 'create':
        return create();
      case 'change':
        return name === undefined ? undefined : change(name, one.to);
      case 'reply':
        if (name === undefined || world.group(name)?.status === 'resolved') return;
        return world.event(name, 'alert_replaced', { facts: { event: 'alert_replaced', label: 'pod' } });
      case 'delete':
        for (const root of bridge.roots(PLACES[one.at] ?? ONE, name ?? '')) root.deleted = true;
        return;
      case 'storm':
        return toggleStorm();
      case 'answer':
        return answer(one.as);
      case 'crash': {
        const at = PLACES[one.at] ?? ONE;
        const underWay = world.waiting().filter((call) => call.destinationId === at);
        for (const call of underWay) if (one.heard && call.type === 'message.send') bridge.take(call);
        return world.crash(at);
      }
      case 'pass':
        return world.advance(one.time * SECOND);
    }
  };
  for (const one of steps) await follow(one);

  // From here on everything is answered, whoever is Broken is tried, and each group changes once more.
  if (since !== null) await toggleStorm();
  const settle = async () => {
    for (let rounds = 0; rounds < 400; rounds++) {
      while (world.waiting().length > 0) await answer('ok');
      for (const at of PLACES)
        if (world.health(at).state === 'broken') await world.give(at, { type: 'worked', at: world.now() });
      const all = PLACES.flatMap((at) => world.deliveries(at));
      if (world.waiting().length === 0 && all.every(({ wanted }) => !wanted)) return;
      await world.advance(MINUTE);
    }
    throw new Error('it does not come to rest');
  };
  await settle();
  for (const name of names) await world.event(name, 'severity_raised');
  await settle();

  for (const at of PLACES) {
    for (const name of names) judge(world, bridge, at, name);
    for (const name of storms) judgeStorm(world, bridge, at, name);
  }
}

/** One message that shows the newest state, and each reply once. */
function judge(world: World, bridge: ReturnType<typeof createBridge>, at: PublicId, name: string): void {
  const saved = world.delivery(name, at);
  const roots = bridge.roots(at, name);
  expect(saved?.delivery.possibleDuplicate ?? false).toBe(false);
  expect(roots.length, `${name} at ${at}`).toBeLessThanOrEqual(1);
  for (const root of roots) {
    const told = bridge.messages
      .filter(({ under }) => under === root.id)
      .map(({ sequence }) => sequence ?? 0);
    expect(told).toEqual([...new Set(told)].sort((one, other) => one - other));
  }
  if (saved?.state === 'withheld' || saved?.state === 'deleted_in_messenger') {
    expect(roots).toEqual([]);
    return;
  }
  expect(saved?.state).toBe('delivered');
  const known = roots.find(({ id }) => id === saved?.delivery.message?.id);
  expect(known?.shows).toBe(world.lookOf(name));
}

function judgeStorm(world: World, bridge: ReturnType<typeof createBridge>, at: PublicId, name: string): void {
  const saved = world.delivery(name, at);
  const roots = bridge.roots(at, name);
  expect(roots.length).toBeLessThanOrEqual(1);
  if (saved?.state !== 'delivered') return;
  const known = roots.find(({ id }) => id === saved.delivery.message?.id);
  expect(known?.shows).toBe(world.lookOf(name));
}

test('each group has one message that shows its newest state at each Destination, whatever happened', async () => {
  const numRuns = Number(process.env.STORIES ?? 40);
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), play), { numRuns });
});
