import { describe, expect, test } from 'vitest';
import type { Database } from '../../test/simulation/database.ts';
import {
  keepNote,
  note,
  type Scripted,
  scripted,
  startScriptedEngine,
  watch,
} from '../../test/simulation/scripted-engine.ts';
import { HOUR, MINUTE, SECOND } from '../clock.ts';
import { type ActorMessage, type Address, BusyError, SHARDS, shardOf, UnavailableError } from './index.ts';
import { StoreUnavailableError } from './store.ts';

const keeper: Address = { kind: 'keeper', key: 'k' };
const keepers = [scripted('keeper', keepNote)];

/** Forwards every note to the address it is made for. */
const forwarder = (kind: string, to: Address) =>
  scripted(kind, (state, message) => ({
    state: { notes: [...state.notes, message.note ?? '-'] },
    sends: [{ to, message: { ...message, note: `${message.note}>${to.kind}` } as ActorMessage }],
  }));

const chain = [
  forwarder('feed', { kind: 'group', key: 'g' }),
  forwarder('group', keeper),
  scripted('keeper', keepNote),
];
const feed: Address = { kind: 'feed', key: 'f' };

describe('batches', () => {
  test('messages between actors of this process commit together with the turn that sent them', async () => {
    const { deliver, pass, commits, stored } = await startScriptedEngine({ definitions: chain });
    deliver(feed, note('a'));
    await pass(1);
    expect(commits).toHaveLength(1);
    expect(commits[0]?.sends).toEqual([]);
    expect(commits[0]?.writes.map((write) => write.address.kind)).toEqual(['feed', 'group', 'keeper']);
    expect(stored(keeper)?.notes).toEqual(['a>group>keeper']);
  });

  describe('to an actor that its sender knows to be new', () => {
    const group: Address = { kind: 'group', key: 'g' };
    const maker = scripted('feed', (state, message) => ({
      state: { notes: [...state.notes, message.note ?? '-'] },
      sends: [{ to: group, message, isNew: true }],
    }));
    const definitions = [maker, scripted('group', keepNote)];
    const loadsOf = (database: Database) => {
      const load = database.load.bind(database);
      const loaded: string[] = [];
      database.load = (addresses) => {
        loaded.push(...addresses.map(({ kind }) => kind));
        return load(addresses);
      };
      return loaded;
    };

    test('a message needs no look-up of it', async () => {
      const { deliver, pass, commits, stored, database } = await startScriptedEngine({ definitions });
      const loaded = loadsOf(database);
      deliver(feed, note('a'));
      deliver(feed, note('b'));
      await pass(1);
      expect(stored(group)?.notes).toEqual(['a', 'b']);
      expect(commits.flatMap(({ sends }) => sends)).toEqual([]);
      expect(loaded).toEqual(['feed']);
    });

    test('a message is applied to what is stored, should its sender be wrong', async () => {
      const before = await startScriptedEngine({ definitions });
      before.deliver(feed, note('a'));
      await before.pass(1);
      const { database } = before;
      const { deliver, pass, stored } = await startScriptedEngine({ definitions, database });
      const loaded = loadsOf(database);
      deliver(feed, note('b'));
      await pass(5);
      expect(stored(group)?.notes).toEqual(['a', 'b']);
      expect(stored(feed)?.notes).toEqual(['a', 'b']);
      expect(loaded).toContain('group');
    });
  });

  test('messages to actors of other processes become inbox rows', async () => {
    const { deliver, pass, database, own, commits } = await startScriptedEngine({ definitions: chain });
    const group = { kind: 'group', key: 'g' };
    own(Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => shard !== shardOf(group)));
    deliver(feed, note('a'));
    await pass(1);
    expect(commits).toHaveLength(1);
    expect([...database.inboxRows.values()]).toMatchObject([
      { to: group, from: feed, shard: shardOf(group) },
    ]);
  });

  test('what is ready while a commit runs commits together after it', async () => {
    const { deliver, pass, commits, stored } = await startScriptedEngine({ definitions: keepers });
    deliver(keeper, note('1'));
    await pass(0.0001);
    for (let index = 2; index <= 50; index++) deliver(keeper, note(String(index)));
    await pass(1);
    expect(commits.length).toBeLessThanOrEqual(2);
    expect(stored(keeper)?.notes).toEqual(Array.from({ length: 50 }, (_, index) => String(index + 1)));
  });

  test('after a commit of many turns the next ones keep a distance; after one of few they do not', async () => {
    const limits = { busyTurns: 8, commitDistance: 0.02 * SECOND };
    const { deliver, pass, commits } = await startScriptedEngine({ definitions: keepers, limits });
    const arrive = async (together: number) => {
      for (let index = 0; index < together; index++) deliver(keeper, note(String(index)));
      await pass(0.001);
    };
    for (let millisecond = 0; millisecond < 40; millisecond++) await arrive(1);
    await pass(1);
    const quiet = commits.length;
    for (let millisecond = 0; millisecond < 40; millisecond++) await arrive(10);
    await pass(1);
    expect(quiet).toBeGreaterThanOrEqual(8);
    expect(commits.length - quiet).toBeLessThanOrEqual(4);
  });

  test('a turn that changes nothing needs no commit', async () => {
    const reader = scripted('reader', (state) => ({ reply: state.notes.length }));
    const { system, pass, commits } = await startScriptedEngine({ definitions: [reader] });
    const reply = watch(system.ask({ kind: 'reader', key: 'r' }, { type: 'read' }));
    await pass(1);
    expect(reply.value).toBe(0);
    expect(commits).toHaveLength(0);
  });

  test('a batch with effects writes a row to tell by, even if no state changed', async () => {
    const recorder = scripted('recorder', () => ({ records: [{ type: 'seen' }] }));
    const { deliver, pass, commits } = await startScriptedEngine({ definitions: [recorder] });
    deliver({ kind: 'recorder', key: 'r' }, note('x'));
    await pass(1);
    expect(commits[0]?.writes).toHaveLength(1);
  });

  test('replies and performed effects come after the commit, effects in the order of the turns', async () => {
    const caller = scripted('caller', (_state, message) => ({
      state: { notes: [message.note ?? '-'] },
      performs: [{ type: `call ${message.note}` }],
      reply: 'done',
    }));
    const { system, pass, performed, failCommits } = await startScriptedEngine({ definitions: [caller] });
    failCommits(new StoreUnavailableError());
    const replies = ['1', '2'].map((text) => watch(system.ask({ kind: 'caller', key: 'c' }, note(text))));
    await pass(0.5);
    expect(replies.map((reply) => reply.value)).toEqual(['pending', 'pending']);
    expect(performed).toEqual([]);
    await pass(2);
    expect(replies.map((reply) => reply.value)).toEqual(['done', 'done']);
    expect(performed).toEqual([{ type: 'call 1' }, { type: 'call 2' }]);
  });

  test('a turn is remembered with what it led to, and with its commit once that is stored', async () => {
    const definitions = [
      scripted('group', (state, message) => ({
        state: { notes: [...state.notes, message.note ?? '-'] },
        sends: [1, 2].map((key) => ({ to: { kind: 'keeper', key: String(key) }, message })),
        records: [{ type: 'seen' }],
        performs: [{ type: 'hint' }],
      })),
      ...keepers,
    ];
    const group: Address = { kind: 'group', key: 'g' };
    const { system, deliver, pass, failCommits, world } = await startScriptedEngine({ definitions });
    failCommits(new StoreUnavailableError());
    const begun = world.now;
    deliver(group, note('1'));
    await pass(0.5);
    deliver(group, note('2'));
    await pass(0.1);
    const [second, first] = (await system.recent(group)).messages;
    expect([second?.committedAt, first?.committedAt]).toEqual([null, null]);
    await pass(2);
    const { messages: stored } = await system.recent(group);
    for (const { at, committedAt } of stored) {
      expect(committedAt).toBeGreaterThanOrEqual(begun + SECOND);
      expect(committedAt).toBeGreaterThanOrEqual(at);
    }
    expect(stored[0]?.committedAt).toBeGreaterThan(stored[1]?.committedAt ?? 0);
    expect(stored[1]?.effects).toEqual([
      { kind: 'send', type: 'note', to: 'keeper', count: 2 },
      { kind: 'record', type: 'seen', to: null, count: 1 },
      { kind: 'perform', type: 'hint', to: null, count: 1 },
    ]);
  });

  test('a number drawn by a commit is in the state it was drawn for and in what followed', async () => {
    const claimer = scripted('claimer', (state, message) => ({
      state: { notes: [...state.notes, `${message.note} sees ${state.number}`] },
      ...(message.note === 'first' ? { claim: true as const } : {}),
    }));
    const address = { kind: 'claimer', key: 'c' };
    const { deliver, pass, stored, database } = await startScriptedEngine({ definitions: [claimer] });
    database.counter = 41;
    deliver(address, note('first'));
    await pass(0.003);
    deliver(address, note('second'));
    await pass(1);
    deliver(address, note('third'));
    await pass(1);
    expect(stored(address)).toMatchObject({ number: 42 });
    expect(stored(address)?.notes.at(-1)).toBe('third sees 42');
  });

  test('a number that is drawn while the next batch is built is passed to the commit of that one, too', async () => {
    const claimer = scripted('claimer', (state, message) => ({
      state: { notes: [...state.notes, message.note ?? ''] },
      records: [{ type: `seen ${state.number ?? 'nothing'}` }],
      ...(state.notes.length === 0 ? { claim: true as const } : {}),
    }));
    const { deliver, pass, commits, database } = await startScriptedEngine({ definitions: [claimer] });
    database.counter = 41;
    for (let n = 0; n < 30; n++) {
      deliver({ kind: 'claimer', key: 'c' }, note(String(n)));
      await pass(0.001);
    }
    await pass(1);
    const [first, second, ...others] = commits.map(({ claims, drawnBefore, records }) => ({
      claims: claims.length,
      drawnBefore: [...drawnBefore],
      seen: [...new Set(records.map(({ type }) => type))],
    }));
    expect(first).toEqual({ claims: 1, drawnBefore: [], seen: ['seen nothing'] });
    expect(second).toMatchObject({ claims: 0, drawnBefore: [['c', 42]] });
    expect(second?.seen).toContain('seen nothing');
    expect(new Set(others.flatMap(({ seen }) => seen))).toEqual(new Set(['seen 42']));
  });
});

describe('bounds', () => {
  test('an actor takes 100 asks at a time, the process 1,000', async () => {
    const { system, pass } = await startScriptedEngine({ definitions: keepers });
    const atOne = Array.from({ length: 101 }, (_, index) => watch(system.ask(keeper, note(String(index)))));
    const elsewhere = Array.from({ length: 901 }, (_, index) =>
      watch(system.ask({ kind: 'keeper', key: String(index % 20) }, note('x'))),
    );
    await pass(0);
    expect(atOne.at(-1)?.value).toBeInstanceOf(BusyError);
    expect(elsewhere.at(-1)?.value).toBeInstanceOf(BusyError);
    await pass(1);
    expect([...atOne, ...elsewhere].filter((it) => it.value instanceof BusyError)).toHaveLength(2);
  });

  test('idle actors leave memory, longest unused first, and come back as they were', async () => {
    const limits = { memory: { actors: 3, weight: 100 } };
    const { deliver, pass, metrics, stored } = await startScriptedEngine({ definitions: keepers, limits });
    for (let index = 0; index < 10; index++) deliver({ kind: 'keeper', key: String(index) }, note('a'));
    await pass(1);
    expect(await metrics.getSingleMetricAsString('svc_actors')).toContain('svc_actors{kind="keeper"} 3');
    deliver({ kind: 'keeper', key: '0' }, note('b'));
    await pass(1);
    expect(stored({ kind: 'keeper', key: '0' })?.notes).toEqual(['a', 'b']);
  });

  test('backlog counts what waits for a turn', async () => {
    const { deliver, pass, system } = await startScriptedEngine({ definitions: keepers });
    for (const text of ['a', 'b', 'c']) deliver(keeper, note(text));
    expect(system.backlog()).toBe(3);
    await pass(1);
    expect(system.backlog()).toBe(0);
  });

  test('an engine with nothing to do does nothing', async () => {
    const { deliver, pass, world } = await startScriptedEngine({ definitions: keepers });
    deliver(keeper, note('a'));
    await pass(1);
    const { events } = world;
    await pass(86_400);
    expect(world.events).toBe(events);
  });
});

describe('preparation', () => {
  test('a message waits for what it needs to know while other actors go on', async () => {
    const curious = scripted(
      'curious',
      (state, message, env) => ({ state: { notes: [...state.notes, `${message.note} ${env.prepared}`] } }),
      { prepare: (_actor, message) => stage.world.pause(2e6, 2e6).then(() => `knows ${message.type}`) },
    );
    const stage = await startScriptedEngine({ definitions: [curious, ...keepers] });
    const address = { kind: 'curious', key: 'c' };
    stage.deliver(address, note('a'));
    stage.deliver(address, note('b'));
    stage.deliver(keeper, note('c'));
    await stage.pass(1);
    expect(stage.stored(keeper)?.notes).toEqual(['c']);
    expect(stage.stored(address)).toBeUndefined();
    await stage.pass(4);
    expect(stage.stored(address)?.notes).toEqual(['a knows note', 'b knows note']);
  });

  test('what waits behind a message can be looked up along with it', async () => {
    const looked: string[][] = [];
    const thrifty = scripted('thrifty', keepNote, {
      prepare(_actor, _message, following = []) {
        if (looked.length > 0) return null;
        looked.push([...following].map((message) => ('note' in message ? String(message.note) : '')));
        return stage.world.pause(1e6, 1e6);
      },
    });
    const stage = await startScriptedEngine({
      definitions: [forwarder('group', { kind: 'thrifty', key: 't' }), thrifty],
    });
    for (const text of ['a', 'b', 'c']) stage.deliver({ kind: 'group', key: 'g' }, note(text));
    await stage.pass(3);
    expect(looked).toEqual([['b>thrifty', 'c>thrifty']]);
    expect(stage.stored({ kind: 'thrifty', key: 't' })?.notes).toEqual([
      'a>thrifty',
      'b>thrifty',
      'c>thrifty',
    ]);
  });
});

describe('wake-ups', () => {
  const alarm = (next: (state: Scripted) => number | null) =>
    scripted('alarm', (state, message, env) => {
      if (message.type !== 'wake') return { state: { wakeAt: env.now + 10e6 } };
      return { state: { notes: [...state.notes, 'woken'], wakeAt: next(state) } };
    });
  const address = { kind: 'alarm', key: 'a' };

  test('an actor is woken once when its time has come', async () => {
    const { deliver, pass, stored } = await startScriptedEngine({ definitions: [alarm(() => null)] });
    deliver(address, note('set'));
    await pass(9.9);
    expect(stored(address)?.notes).toEqual([]);
    await pass(100);
    expect(stored(address)?.notes).toEqual(['woken']);
  });

  test('an actor is woken within half a minute when the clock is set beyond its time', async () => {
    const { deliver, pass, stored, setForward } = await startScriptedEngine({
      definitions: [
        scripted('alarm', (_state, message, env) => {
          if (message.type === 'wake') return { state: { notes: ['woken'], wakeAt: null } };
          return { state: { wakeAt: env.now + 40 * MINUTE } };
        }),
      ],
    });
    deliver(address, note('set'));
    await pass(1);
    setForward(HOUR);
    await pass(30);
    expect(stored(address)?.notes).toEqual(['woken']);
  });

  test('a wake-up of before the start is fired after it', async () => {
    const { deliver, pass, database, system } = await startScriptedEngine({
      definitions: [alarm(() => null)],
    });
    deliver(address, note('set'));
    await pass(1);
    await system.stop();
    const later = await startScriptedEngine({ definitions: [alarm(() => null)], database });
    await later.pass(20);
    expect(later.stored(address)?.notes).toEqual(['woken']);
  });

  test('those that came due meanwhile are fired in the order of their times', async () => {
    const alarms = scripted('alarm', (_state, message, env) => {
      if (message.type === 'wake') return { state: { wakeAt: null }, performs: [{ type: 'woken' }] };
      return { state: { notes: [message.note ?? ''], wakeAt: env.now + Number(message.note) * 1e6 } };
    });
    const first = await startScriptedEngine({ definitions: [alarms] });
    const times = [70, 20, 50, 10, 60, 30, 40];
    for (const time of times) first.deliver({ kind: 'alarm', key: `k${time}` }, note(String(time)));
    await first.pass(1);
    await first.system.stop();
    const { database } = first;
    const fired: string[] = [];
    const later = scripted('alarm', (state) => {
      fired.push(state.notes.join());
      return { state: { wakeAt: null } };
    });
    await (await startScriptedEngine({ definitions: [later], database })).pass(100);
    expect(fired).toEqual(['10', '20', '30', '40', '50', '60', '70']);
  });

  test('one that is held back is fired once it is not, others meanwhile', async () => {
    let isHeld = true;
    const definitions = [alarm(() => null)];
    const holdsBack = ({ key }: Address) => isHeld && key === 'a';
    const { deliver, pass, stored, system } = await startScriptedEngine({ definitions, holdsBack });
    const other = { kind: 'alarm', key: 'b' };
    deliver(address, note('set'));
    deliver(other, note('set'));
    await pass(20);
    expect([stored(address)?.notes, stored(other)?.notes]).toEqual([[], ['woken']]);
    isHeld = false;
    system.poke();
    await pass(0.5);
    expect(stored(address)?.notes).toEqual(['woken']);
  });

  test('more than a page of those that are held back keep no other waiting', async () => {
    const definitions = [alarm(() => null)];
    const holdsBack = ({ key }: Address) => key.startsWith('held');
    const { deliver, pass, stored } = await startScriptedEngine({
      ...{ definitions, holdsBack },
      limits: { wakePage: 2 },
    });
    for (let number = 1; number <= 9; number++) deliver({ kind: 'alarm', key: `held${number}` }, note('set'));
    await pass(1);
    deliver(address, note('set'));
    await pass(20);
    expect(stored(address)?.notes).toEqual(['woken']);
    expect(stored({ kind: 'alarm', key: 'held1' })?.notes).toEqual([]);
  });

  test('a wake-up that a stuck batch moves is read once a second, and fired at its new time', async () => {
    const { deliver, pass, stored, database, failCommits } = await startScriptedEngine({
      definitions: [alarm(() => null)],
    });
    deliver(address, note('set'));
    await pass(9);
    failCommits(...Array.from({ length: 3 }, () => new StoreUnavailableError()));
    deliver(address, note('move'));
    const due = database.due.bind(database);
    let queries = 0;
    database.due = (...query) => {
      queries++;
      return due(...query);
    };
    await pass(6);
    expect(queries).toBeGreaterThan(0);
    expect(queries).toBeLessThanOrEqual(6);
    await pass(3);
    expect(stored(address)?.notes).toEqual([]);
    await pass(2);
    expect(stored(address)?.notes).toEqual(['woken']);
  });

  test('a wake-up that a stuck batch would end is fired when its message is set aside in the end', async () => {
    const ended = scripted('alarm', (state, message, env) => {
      if (message.type === 'wake') return { state: { notes: [...state.notes, 'woken'], wakeAt: null } };
      return { state: { wakeAt: message.note === 'set' ? env.now + 10e6 : null } };
    });
    const { deliver, pass, stored, failCommits, logged } = await startScriptedEngine({
      definitions: [ended],
    });
    deliver(address, note('set'));
    await pass(9);
    const refused = Array.from({ length: 4 }, () => new Error('refused'));
    failCommits(...Array.from({ length: 3 }, () => new StoreUnavailableError()), ...refused);
    deliver(address, note('end'));
    await pass(60);
    expect(logged.at(-1)).toMatchObject({ event: 'message_set_aside' });
    expect(stored(address)?.notes).toEqual(['woken']);
  });

  test('an actor that leaves its due wake-up as it was is woken again after a minute, not before', async () => {
    const { deliver, pass, stored, logged } = await startScriptedEngine({
      definitions: [alarm((state) => state.wakeAt)],
    });
    deliver(address, note('set'));
    await pass(40);
    expect(stored(address)?.notes).toEqual(['woken']);
    expect(logged.map(({ event }) => event)).toEqual(['message_set_aside']);
    await pass(40);
    expect(stored(address)?.notes).toEqual(['woken', 'woken']);
  });
});

describe('life of the engine', () => {
  test('stopping finishes what is under way and refuses what comes later', async () => {
    const { system, deliver, pass, stored } = await startScriptedEngine({ definitions: keepers });
    deliver(keeper, note('a'));
    await pass(1);
    const underWay = watch(deliver(keeper, note('b')));
    await pass(0.00001);
    const stopped = watch(system.stop());
    const late = watch(system.ask(keeper, note('c')));
    await pass(1);
    expect([stopped.value, underWay.value]).toEqual([undefined, undefined]);
    expect(late.value).toBeInstanceOf(UnavailableError);
    expect(stored(keeper)?.notes).toEqual(['a', 'b']);
  });

  test('stopping does not wait for a database that is away', async () => {
    const { system, deliver, pass, failCommits } = await startScriptedEngine({ definitions: keepers });
    failCommits(...Array.from({ length: 20 }, () => new StoreUnavailableError()));
    const delivered = watch(deliver(keeper, note('a')));
    await pass(2);
    const stopped = watch(system.stop());
    await pass(0.1);
    expect(stopped.value).toBeUndefined();
    expect(delivered.value).toBeInstanceOf(UnavailableError);
  });

  test('a second delivery under the same receipt joins the first', async () => {
    const { system, pass, database, stored } = await startScriptedEngine({ definitions: keepers });
    const receipt = { kind: 'snapshot', seq: database.accept(keeper, note('a')), receivedAt: 0 } as const;
    const twice = [1, 2].map(() => watch(system.deliver(keeper, note('a'), receipt)));
    await pass(1);
    expect(twice.map((it) => it.value)).toEqual([undefined, undefined]);
    expect(stored(keeper)?.notes).toEqual(['a']);
  });

  test('a state of an older schema is migrated when it is loaded', async () => {
    const { deliver, pass, database, system } = await startScriptedEngine({ definitions: keepers });
    deliver(keeper, note('old'));
    await pass(1);
    await system.stop();
    const newer = scripted('keeper', keepNote, {
      schema: 2,
      migrate: (persisted, from) => ({ ...(persisted as Scripted), notes: [`migrated from ${from}`] }),
    });
    const later = await startScriptedEngine({ definitions: [newer], database });
    later.deliver(keeper, note('new'));
    await later.pass(1);
    expect(later.stored(keeper)?.notes).toEqual(['migrated from 1', 'new']);
    expect(later.commits.at(-1)?.writes[0]?.schema).toBe(2);
  });

  test('an inbox row for a kind of actor that this version does not know stays stored', async () => {
    const { database, pass, system, logged } = await startScriptedEngine({ definitions: keepers });
    const row = {
      to: feed,
      from: null,
      shard: shardOf(feed),
      message: JSON.stringify(note('a')),
      asker: null,
    };
    database.inboxRows.set(1, row);
    system.poke();
    await pass(1);
    system.poke();
    await pass(1);
    expect([...database.inboxRows.values()]).toEqual([row]);
    expect(logged.map(({ event }) => event)).toEqual(['message_set_aside']);
  });
});
