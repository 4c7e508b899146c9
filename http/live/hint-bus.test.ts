import { describe, expect, test } from 'vitest';
import type { Hint } from '../../actors/effects.ts';
import type { Broadcast } from '../../runtime/broadcast.ts';
import { SECOND } from '../../runtime/clock.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { createSharedHintBus } from './hint-bus.ts';

const GROUP: Hint = { type: 'alert-group', id: 'AGK7M3QX9P2RTA' };
const ROUTE: Hint = { type: 'route', id: null };

function shared() {
  const clock = createManualClock();
  const sent: unknown[] = [];
  const hearing = new Set<(body: unknown) => void>();
  const broadcast: Broadcast = {
    async send(topic, body) {
      sent.push([topic, body]);
    },
    on(_topic, listener) {
      hearing.add(listener);
      return () => void hearing.delete(listener);
    },
    doubt: () => undefined,
    start: () => undefined,
    stop: async () => undefined,
  };
  const bus = createSharedHintBus({ broadcast, clock });
  const heard: (Hint | null)[] = [];
  const hear = (body: unknown) => {
    for (const listener of hearing) listener(body);
  };
  return { clock, sent, bus, heard, hear, hearing, listen: () => bus.listen((hint) => heard.push(hint)) };
}

describe('hints of several replicas', () => {
  test('are heard here at once, and told to the others after 50 ms, equal ones once', () => {
    const { bus, clock, sent, heard, listen } = shared();
    listen();
    for (const hint of [GROUP, ROUTE, GROUP]) bus.send(hint);
    expect(heard).toEqual([GROUP, ROUTE, GROUP]);
    expect(sent).toEqual([]);
    clock.advance(SECOND / 20);
    expect(sent).toEqual([['hints', [GROUP, ROUTE]]]);
    clock.advance(SECOND);
    expect(sent).toHaveLength(1);
  });

  test('that every replica finds out by itself are told here alone', () => {
    const { bus, clock, sent, heard, listen } = shared();
    listen();
    bus.sendHere({ type: 'system-status', id: null });
    clock.advance(SECOND);
    expect(heard).toEqual([{ type: 'system-status', id: null }]);
    expect(sent).toEqual([]);
  });

  test('wait for nobody when the process stops', () => {
    const { bus, clock, sent } = shared();
    bus.flush();
    bus.send(GROUP);
    bus.flush();
    expect(sent).toEqual([['hints', [GROUP]]]);
    clock.advance(SECOND);
    expect(sent).toHaveLength(1);
  });

  test('become one word for everything when there are too many', () => {
    const { bus, clock, sent } = shared();
    for (let number = 0; number <= 2_000; number++) bus.send({ type: 'alert-group', id: `AG${number}` });
    clock.advance(SECOND);
    expect(sent).toEqual([['hints', null]]);
  });

  test('of others are heard; null says that some may have been lost', () => {
    const { heard, hear, listen } = shared();
    listen();
    hear([GROUP, ROUTE]);
    hear(null);
    expect(heard).toEqual([GROUP, ROUTE, null]);
  });

  test('that are none are not passed on', () => {
    const { heard, hear, listen } = shared();
    listen();
    hear([{ type: 'of tomorrow', id: null }, 7, { type: 'route', id: { toString: 'x' } }, GROUP]);
    hear('everything');
    expect(heard).toEqual([GROUP, null]);
  });

  test('are followed only while somebody listens', () => {
    const { hearing, listen } = shared();
    expect(hearing.size).toBe(0);
    const [first, second] = [listen(), listen()];
    expect(hearing.size).toBe(1);
    first();
    expect(hearing.size).toBe(1);
    second();
    expect(hearing.size).toBe(0);
  });
});
