/** Whatever the messenger answers and whenever the process dies: nothing is lost, nothing is said twice (delivery §3, §5). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOUR, MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { MessageSend, SendOutcome } from '../../channels/calls.ts';
import { accepted, createMessageWorld, ONE } from './world.fixture.ts';

const NAMES = ['A', 'B'] as const;
const STATUSES = ['firing', 'acknowledged', 'snoozed'] as const;

type Step =
  | {
      readonly do: 'change';
      readonly name: (typeof NAMES)[number];
      readonly status: (typeof STATUSES)[number];
    }
  | { readonly do: 'reply'; readonly name: (typeof NAMES)[number] }
  | { readonly do: 'answer'; readonly as: 'ok' | 'lost' | 'unheard' | 'busy' | 'wait' | 'back' }
  /** `heard`: the messenger had taken the calls that were under way. */
  | { readonly do: 'crash'; readonly heard: boolean }
  | { readonly do: 'pass'; readonly seconds: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      name: fc.constantFrom(...NAMES),
      status: fc.constantFrom(...STATUSES),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reply' as const), name: fc.constantFrom(...NAMES) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      as: fc.constantFrom('ok', 'lost', 'unheard', 'busy', 'wait', 'back'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), heard: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 90 }) }),
  },
);

/** A bridge that remembers keys, and what each of its messages shows. */
function createBridge(world: ReturnType<typeof createMessageWorld>) {
  const byKey = new Map<string, string>();
  const shows = new Map<string, string>();
  const said: string[] = [];

  function take(call: MessageSend): SendOutcome {
    const { operation, key, subject } = call;
    const name = subject.kind === 'group' ? subject.groupId : 'storm';
    const look = world.lookOf(name);
    if (operation.kind === 'edit') {
      shows.set(operation.messageId, look);
      return accepted();
    }
    if (key === null) throw new Error('a message without a key');
    const known = byKey.get(key);
    if (known !== undefined) return accepted({ messageId: known, replayed: true });
    const messageId = `${operation.kind}-${byKey.size + 1}`;
    byKey.set(key, messageId);
    if (operation.kind === 'publish') shows.set(messageId, look);
    else if (operation.kind === 'reply') said.push(`${name} ${operation.reply.sequence}`);
    return accepted({ messageId });
  }

  return { take, shows, said, posted: () => [...byKey.keys()] };
}

async function play(steps: readonly Step[]): Promise<void> {
  const world = createMessageWorld({ window: 0 });
  await world.begin();
  const bridge = createBridge(world);
  const wanted: string[] = [];
  world.pause();
  for (const name of NAMES) await world.create(name);

  const answer = async (as: Extract<Step, { do: 'answer' }>['as']) => {
    const [call] = world.waiting();
    if (call?.type === 'message.probe') return world.answer(accepted());
    if (!call) return;
    const until = world.now() + 7 * SECOND;
    const wait: SendOutcome = { class: 'retry_after', until, scope: 'destination', error: 'answered 429' };
    const unsure: SendOutcome = { class: 'transient', error: 'timed out', unsure: true };
    if (as === 'wait') return world.answer(wait);
    if (as === 'back') return world.answer({ class: 'not_sent', because: 'put_back' });
    if (as === 'busy') return world.answer({ class: 'transient', error: 'answered 503', unsure: false });
    if (as === 'unheard') return world.answer(unsure);
    const outcome = bridge.take(call);
    await world.answer(as === 'lost' ? unsure : outcome);
  };

  const reply = async (name: string) => {
    await world.event(name, 'alert_replaced', { facts: { event: 'alert_replaced', label: 'pod' } });
    wanted.push(`${name} ${world.group(name)?.sequence}`);
  };
  const crash = async (heard: boolean) => {
    for (const call of world.waiting()) if (heard && call.type === 'message.send') bridge.take(call);
    await world.crash();
  };
  const follow = async (one: Step) => {
    switch (one.do) {
      case 'change':
        return world.event(one.name, 'severity_raised', { status: one.status });
      case 'reply':
        return reply(one.name);
      case 'answer':
        return answer(one.as);
      case 'crash':
        return crash(one.heard);
      case 'pass':
        return world.advance(one.seconds * SECOND);
    }
  };
  for (const one of steps) await follow(one);

  // Fewer failures than make it Broken, and everything is answered from here on.
  for (let rounds = 0; rounds < 400; rounds++) {
    while (world.waiting().length > 0) await answer('ok');
    if (NAMES.every((name) => world.delivery(name)?.wanted === false)) break;
    await world.advance(MINUTE);
  }
  if (world.alerts().length > 0) return;
  for (const name of NAMES) {
    expect(world.state(name)).toBe('delivered');
    const message = world.delivery(name)?.delivery.message;
    expect(bridge.shows.get(message?.id ?? '')).toBe(world.lookOf(name));
  }
  expect(bridge.posted().filter((key) => key.startsWith('root-'))).toEqual(
    expect.arrayContaining(NAMES.map((name) => `root-${ONE}-${name}-1`)),
  );
  expect(bridge.shows.size).toBe(NAMES.length);
  for (const name of NAMES) {
    const mine = (keys: readonly string[]) => keys.filter((key) => key.startsWith(name));
    expect(mine(bridge.said)).toEqual(mine(wanted));
  }
}

test('each group has one message that shows its newest state, and every reply was said once, in order', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 50, size: 'max' }), play), { numRuns: 100 });
});

test('an hour without answers loses nothing', async () => {
  await play([
    { do: 'pass', seconds: HOUR / SECOND },
    { do: 'change', name: 'A', status: 'acknowledged' },
  ]);
});
