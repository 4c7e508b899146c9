import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../test/simulation/database.ts';
import { Faults } from '../../test/simulation/faults.ts';
import { Link } from '../../test/simulation/link.ts';
import { keepNote, note, type Script, scripted, watch } from '../../test/simulation/scripted-engine.ts';
import { World } from '../../test/simulation/world.ts';
import { SECOND } from '../clock.ts';
import {
  type ActorSystem,
  type Address,
  createActorMetrics,
  createActorSystem,
  type ShardEpoch,
  shardOf,
  type Told,
} from './index.ts';

const TARGET: Address = { kind: 'keeper', key: 'k' };

const NO_FAULTS = {
  ...{ unavailable: 0, answer_lost: 0, late: 0, conflict: 0, lasting_conflict: 0 },
  ...{ fenced: 0, crash_before: 0, crash_after: 0 },
};

/** Keeps a note and answers with how many it has. */
const counting: Script = (state, message, env) => ({
  ...keepNote(state, message, env),
  reply: { kept: state.notes.length + 1 },
});

interface Process {
  readonly system: ActorSystem;
  own(shards: readonly number[]): void;
  lose(): void;
  readonly fenced: ShardEpoch[];
  follows: number;
}

/** Two processes on one database; calls between them arrive unless they are lost. */
describe('two processes', () => {
  let world: World;
  let database: Database;
  let a: Process;
  let b: Process;
  let isLost: boolean;
  /** How far the clock of b is ahead, µs. */
  let ahead: number;
  const pass = (seconds: number) => {
    // Time goes on even when nothing happens.
    world.after(seconds * SECOND, () => undefined);
    return world.runUntil(() => false, world.now + seconds * SECOND);
  };
  const notes = () => {
    const row = database.actors.get('keeper/k');
    return row ? (JSON.parse(row.persisted) as { notes: string[] }).notes : [];
  };

  /** What a message needs to know is there after a second. */
  const slowly = () =>
    new Promise<void>((resolve) => {
      world.after(SECOND, resolve);
    });

  const launch = (name: string, others: () => Process[]): Process => {
    const listeners = new Set<() => void>();
    let held = new Map<number, number>();
    const change = (next: Map<number, number>) => {
      held = next;
      for (const listener of listeners) listener();
    };
    const faults = new Faults({ commit: NO_FAULTS, read: 0, slow: 0 }, world.random.fork());
    const process: Process = {
      own: (shards) => change(new Map(database.raise(shards).map(({ shard, epoch }) => [shard, epoch]))),
      lose: () => change(new Map()),
      fenced: [],
      follows: 0,
      system: createActorSystem({
        definitions: [scripted('keeper', counting), scripted('slow', keepNote, { prepare: slowly })],
        store: new Link(world, database, faults, { name, isAlive: true, crash: () => undefined }),
        placement: {
          isAlone: false,
          epochOf: (shard) => held.get(shard) ?? null,
          owned: () => [...held].map(([shard, epoch]) => ({ shard, epoch })),
          onChange(listener) {
            listeners.add(listener);
            return () => listeners.delete(listener);
          },
          followed: () => {
            process.follows++;
          },
          fenced: (lost) => process.fenced.push(...lost),
        },
        peers: {
          me: name,
          call: () => {
            if (!isLost) for (const other of others()) world.after(1000, () => other.system.called());
          },
          answered: () => {
            if (!isLost) for (const other of others()) world.after(1000, () => other.system.answered());
          },
        },
        clock: { ...world.clock, now: () => world.now + (name === 'b/1' ? ahead : 0) },
        monotonic: () => world.now,
        performer: () => undefined,
        random: (size) => world.random.bytes(size),
        log: () => undefined,
        metrics: createActorMetrics(new Registry()),
        setAside: () => [],
      }),
    };
    void process.system.start();
    return process;
  };

  beforeEach(async () => {
    world = new World(3, false);
    database = new Database();
    isLost = false;
    ahead = 0;
    a = launch('a/1', () => [b]);
    b = launch('b/1', () => [a]);
    b.own([shardOf(TARGET)]);
    await pass(1);
  });

  test('an ask reaches the owner in another process, once, and its answer comes back', async () => {
    const answer = watch(a.system.ask(TARGET, note('x')));
    await pass(0.1);
    expect(answer.value).toEqual({ kept: 1 });
    expect(notes()).toEqual(['x']);
    expect(database.inboxRows.size + database.replies.length).toBe(0);
  });

  test('without calls the answer comes as soon as both look by themselves', async () => {
    isLost = true;
    const answer = watch(a.system.ask(TARGET, note('x')));
    await pass(0.5);
    expect(answer.value).toBe('pending');
    b.system.called();
    await pass(0.2);
    a.system.answered();
    await pass(0.2);
    expect(answer.value).toEqual({ kept: 1 });
  });

  test('an ask that nobody answers fails after 5 s and has no effect afterwards', async () => {
    b.lose();
    const answer = watch(a.system.ask(TARGET, note('late')));
    await pass(5.1);
    expect(String(answer.value)).toContain('no answer from keeper/k in time');
    b.own([shardOf(TARGET)]);
    await pass(1);
    expect(notes()).toEqual([]);
    expect(database.inboxRows.size).toBe(0);
  });

  test('an ask that waits here when its actor moves away is answered from there', async () => {
    a.own([shardOf(TARGET)]);
    b.lose();
    await pass(1);
    const answer = watch(a.system.ask(TARGET, note('x')));
    a.lose();
    b.own([shardOf(TARGET)]);
    await pass(0.5);
    expect(answer.value).toEqual({ kept: 1 });
    expect(notes()).toEqual(['x']);
  });

  test('a tell to an actor that moved away reaches it there', async () => {
    a.system.tell(TARGET, note('outcome'));
    await pass(0.1);
    expect(notes()).toEqual(['outcome']);
  });

  test('more asks than may wait for one actor are refused at once, wherever it lives', async () => {
    const answers = Array.from({ length: 101 }, (_, n) => watch(a.system.ask(TARGET, note(String(n)))));
    await pass(0);
    expect(String(answers.at(-1)?.value)).toContain('too many requests wait at keeper/k');
    await pass(4);
    expect(notes()).toHaveLength(100);
  });

  test('one whose clock is ahead says so to who asked, instead of leaving it waiting', async () => {
    ahead = 10 * SECOND;
    const answer = watch(a.system.ask(TARGET, note('x')));
    await pass(0.2);
    expect(String(answer.value)).toContain('too late, by its clock');
    expect(notes()).toEqual([]);
  });

  test('an ask that moves with its actor has no more time than it began with', async () => {
    b.lose();
    a.own([shardOf(TARGET)]);
    await pass(1);
    database.post([{ to: TARGET, shard: shardOf(TARGET), message: note('first'), asker: null }]);
    const answer = watch(a.system.ask(TARGET, note('x')));
    a.lose();
    await pass(4.9);
    expect(answer.value).toBe('pending');
    await pass(0.2);
    expect(String(answer.value)).toContain('in time');
  });

  test('what an actor was given lately is told by its owner, here and from elsewhere, and is no turn of it', async () => {
    void a.system.ask(TARGET, note('x'));
    await pass(0.1);
    const stored = database.actors.get('keeper/k');
    const [here, there] = [watch(b.system.recent(TARGET)), watch(a.system.recent(TARGET))];
    await pass(0.1);
    expect(here.value).toMatchObject({
      messages: [{ type: 'note', from: null, committedAt: expect.any(Number) }],
      waiting: 0,
    });
    expect(there.value).toEqual(here.value);
    expect(notes()).toEqual(['x']);
    expect(database.actors.get('keeper/k')).toEqual(stored);
    expect((await b.system.recent(TARGET)).messages).toHaveLength(1);
    expect(database.inboxRows.size + database.replies.length).toBe(0);
  });

  test('how many messages wait is told, here and from elsewhere, as it was when that was asked', async () => {
    const slow: Address = { kind: 'slow', key: TARGET.key };
    b.own([shardOf(slow)]);
    await pass(0.1);
    for (const text of ['x', 'y', 'z']) b.system.tell(slow, note(text));
    expect(await b.system.recent(slow)).toEqual({ messages: [], waiting: 3 });
    void a.system.ask(slow, note('stored'));
    await pass(0.1);
    const there = watch(a.system.recent(slow));
    await pass(0.1);
    expect(there.value).toBe('pending');
    // What came through the inbox is counted there.
    expect((await b.system.recent(slow)).waiting).toBe(3);
    await pass(4.5);
    const told = there.value as Told;
    expect([told.messages.length, told.waiting]).toEqual([4, 3]);
    expect((await b.system.recent(slow)).waiting).toBe(0);
  });

  test('after a handover only what the new owner did is told', async () => {
    void a.system.ask(TARGET, note('x'));
    await pass(0.1);
    expect((await b.system.recent(TARGET)).messages).toHaveLength(1);
    b.lose();
    a.own([shardOf(TARGET)]);
    await pass(0.1);
    expect((await a.system.recent(TARGET)).messages).toEqual([]);
    void b.system.ask(TARGET, note('y'));
    await pass(0.1);
    const [here, there] = [watch(a.system.recent(TARGET)), watch(b.system.recent(TARGET))];
    await pass(0.1);
    expect((here.value as Told).messages).toHaveLength(1);
    expect(there.value).toEqual(here.value);
    expect(notes()).toEqual(['x', 'y']);
  });

  test('an actor that is not in memory has no recent messages; one that nobody owns cannot tell', async () => {
    expect(await b.system.recent({ kind: 'keeper', key: 'k' })).toEqual({ messages: [], waiting: 0 });
    b.lose();
    const answer = watch(a.system.recent(TARGET));
    await pass(5.1);
    expect(String(answer.value)).toContain('no answer from keeper/k in time');
  });

  test('messages on their way to the inbox count as waiting', async () => {
    a.system.tell(TARGET, note('x'));
    expect(a.system.backlog()).toBe(1);
    await pass(0.1);
    expect(a.system.backlog()).toBe(0);
  });

  test('a stop refuses the asks that wait elsewhere', async () => {
    b.lose();
    const answer = watch(a.system.ask(TARGET, note('x')));
    await pass(0.1);
    void a.system.stop();
    await pass(0.1);
    expect(String(answer.value)).toContain('this process stops');
  });

  test('ownership is proven by a commit for two seconds; later the database is asked', async () => {
    void b.system.ask(TARGET, note('x'));
    await pass(0.2);
    database.raise([shardOf(TARGET)]);
    const early = watch(b.system.stillOwns(TARGET));
    await pass(0.1);
    expect(early.value).toBe(true);
    await pass(2);
    const late = watch(b.system.stillOwns(TARGET));
    await pass(0.1);
    expect(late.value).toBe(false);
    expect(b.fenced.map(({ shard }) => shard)).toEqual([shardOf(TARGET)]);
    expect(await a.system.stillOwns(TARGET)).toBe(false);
  });

  test('placement learns when the engine has followed a change', async () => {
    const before = b.follows;
    b.lose();
    await pass(0.1);
    expect(b.follows).toBeGreaterThan(before);
  });
});
