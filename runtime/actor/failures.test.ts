import { describe, expect, test } from 'vitest';
import {
  keepNote,
  note,
  scripted,
  startScriptedEngine,
  watch,
} from '../../test/simulation/scripted-engine.ts';
import { SECOND } from '../clock.ts';
import {
  type Address,
  ConflictError,
  FencedError,
  OutdatedError,
  SHARDS,
  StoreUnavailableError,
  shardOf,
  UnavailableError,
} from './index.ts';

const feed: Address = { kind: 'feed', key: 'f' };
const keeper: Address = { kind: 'keeper', key: 'k' };
const keepers = [scripted('keeper', keepNote)];

describe('when the store fails', () => {
  test('the same batch is offered again after 1 s, 2 s and 4 s', async () => {
    const { deliver, pass, commits, failCommits, stored } = await startScriptedEngine({
      definitions: keepers,
    });
    failCommits(...[1, 2, 3].map(() => new StoreUnavailableError()));
    const delivered = watch(deliver(keeper, note('a')));
    await pass(6.9);
    expect(commits).toHaveLength(0);
    await pass(0.3);
    expect(commits).toHaveLength(1);
    expect(delivered.value).toBeUndefined();
    expect(stored(keeper)?.notes).toEqual(['a']);
  });

  test('an ask fails after 5 s, as its effect is in doubt', async () => {
    const { system, pass, failCommits } = await startScriptedEngine({ definitions: keepers });
    failCommits(...Array.from({ length: 20 }, () => new StoreUnavailableError()));
    const reply = watch(system.ask(keeper, note('a')));
    await pass(4.9);
    expect(reply.value).toBe('pending');
    await pass(0.2);
    expect(reply.value).toBeInstanceOf(UnavailableError);
  });

  test('a conflict costs no message: the halves of the batch are tried again apart', async () => {
    const { deliver, pass, commits, failCommits, stored } = await startScriptedEngine({
      definitions: keepers,
    });
    failCommits(new ConflictError());
    for (const text of ['a', 'b', 'c']) deliver(keeper, note(text));
    await pass(1);
    expect(commits.map((commit) => commit.consumed.length)).toEqual([2, 1]);
    expect(stored(keeper)?.notes).toEqual(['a', 'b', 'c']);
  });

  test('a commit says with which version its earliest turn was decided', async () => {
    let version = 7;
    const decider = scripted('keeper', (...turn) => {
      version++;
      return keepNote(...turn);
    });
    const { deliver, pass, commits } = await startScriptedEngine({
      definitions: [decider],
      decidedWith: () => version,
    });
    for (const text of ['a', 'b']) deliver(keeper, note(text));
    await pass(0.1);
    deliver(keeper, note('c'));
    await pass(0.1);
    expect(commits.map(({ decidedWith }) => decidedWith)).toEqual([7, 9]);
  });

  test('turns that were decided too early are decided again at once, and together', async () => {
    let version = 0;
    const { deliver, pass, commits, failCommits, stored } = await startScriptedEngine({
      definitions: keepers,
      decidedWith: () => version++,
    });
    failCommits(new OutdatedError(), new OutdatedError());
    for (const text of ['a', 'b', 'c']) deliver(keeper, note(text));
    await pass(0.1);
    expect(commits.map((commit) => commit.consumed.length)).toEqual([3]);
    expect(stored(keeper)?.notes).toEqual(['a', 'b', 'c']);
  });

  test('while the newer configuration cannot be read, outdated turns are decided again once a second', async () => {
    let version = 7;
    const { deliver, pass, failCommits, logged, stored } = await startScriptedEngine({
      definitions: keepers,
      decidedWith: () => version,
    });
    failCommits(...Array.from({ length: 100 }, () => new OutdatedError()));
    deliver(keeper, note('a'));
    await pass(3.5);
    expect(logged.map(({ event }) => event)).toEqual(Array.from({ length: 5 }, () => 'commit_failed'));
    version = 8;
    failCommits();
    await pass(1);
    expect(stored(keeper)?.notes).toEqual(['a']);
  });

  test('a message that keeps conflicting is tried after 1 s, 2 s, 4 s, up to 60 s, and never set aside', async () => {
    const { deliver, pass, world, commits, failCommits, stored, logged } = await startScriptedEngine({
      definitions: keepers,
    });
    const start = world.now;
    failCommits(...Array.from({ length: 10 }, () => new ConflictError()));
    const delivered = watch(deliver(keeper, note('a')));
    await pass(240);
    const failed = logged.flatMap(({ event, at }) => (event === 'commit_failed' ? [at] : []));
    expect(failed.map((at) => Math.floor((at - start) / SECOND))).toEqual([
      0, 0, 1, 3, 7, 15, 31, 63, 123, 183,
    ]);
    expect(delivered.value).toBe('pending');
    await pass(60);
    expect(commits).toHaveLength(1);
    expect(delivered.value).toBeUndefined();
    expect(stored(keeper)?.notes).toEqual(['a']);
    expect(logged.map(({ event }) => event)).not.toContain('message_set_aside');
  });

  test('while a message waits for a conflict to pass, its actor keeps its order and the others go on', async () => {
    const sender = scripted('feed', (state, message) => ({
      state: { notes: [...state.notes, message.note ?? '-'] },
      sends: [{ to: keeper, message }],
    }));
    const { deliver, system, pass, stored, failCommits } = await startScriptedEngine({
      definitions: [...keepers, sender],
    });
    failCommits(...Array.from({ length: 3 }, () => new ConflictError()));
    deliver(keeper, note('first'));
    await pass(0.5);
    const behind = watch(deliver(keeper, note('second')));
    const fed = watch(deliver(feed, note('third')));
    const other: Address = { kind: 'keeper', key: 'other' };
    const reply = watch(system.ask(other, note('x')));
    await pass(0.1);
    expect(reply.value).toBeUndefined();
    expect(fed.value).toBeUndefined();
    expect(behind.value).toBe('pending');
    expect(stored(other)?.notes).toEqual(['x']);
    expect(stored(keeper)).toBeUndefined();
    await pass(5);
    expect(stored(keeper)?.notes).toEqual(['first', 'second', 'third']);
  });

  test('an ask that keeps conflicting fails after its 5 s, and makes way for the next message', async () => {
    const { system, deliver, pass, stored, failCommits } = await startScriptedEngine({
      definitions: keepers,
    });
    failCommits(...Array.from({ length: 4 }, () => new ConflictError()));
    const reply = watch(system.ask(keeper, note('asked')));
    await pass(1);
    deliver(keeper, note('behind'));
    await pass(3.9);
    expect(reply.value).toBe('pending');
    await pass(0.2);
    expect(reply.value).toBeInstanceOf(UnavailableError);
    await pass(5);
    expect(stored(keeper)?.notes).toEqual(['behind']);
  });

  test('an actor that rests for a conflict leaves with its shard', async () => {
    const { deliver, pass, own, failCommits, stored } = await startScriptedEngine({ definitions: keepers });
    failCommits(...Array.from({ length: 3 }, () => new ConflictError()));
    const delivered = watch(deliver(keeper, note('a')));
    await pass(0.5);
    own([]);
    await pass(10);
    expect(delivered.value).toBeInstanceOf(UnavailableError);
    expect(stored(keeper)).toBeUndefined();
  });

  test('a message that is refused three times alone is set aside, with its receipt used up', async () => {
    const refused = scripted('keeper', (state, message) => ({
      state: { notes: [...state.notes, message.note ?? '-'] },
      records: message.note === 'bad' ? [{ type: 'refused' }] : [],
    }));
    const { deliver, pass, database, logged, stored } = await startScriptedEngine({ definitions: [refused] });
    for (const text of ['a', 'bad', 'b']) deliver(keeper, note(text));
    await pass(1);
    expect(stored(keeper)?.notes).toEqual(['a', 'b']);
    expect(database.snapshots.size).toBe(0);
    expect(database.journal.map(({ record }) => record)).toMatchObject([
      { type: 'snapshot.failed', to: keeper, message: { note: 'bad' } },
    ]);
    expect(logged.filter(({ event }) => event === 'message_set_aside')).toHaveLength(1);
  });

  describe('for some of many messages', () => {
    const refusing = scripted('keeper', (state, message) => ({
      state: { notes: [...state.notes, message.note ?? '-'] },
      records: message.note === 'bad' ? [{ type: 'refused' }] : [],
    }));
    const at = (key: number): Address => ({ kind: 'keeper', key: `k${key}` });
    const failures = (logged: readonly { event: string }[]) =>
      logged.filter(({ event }) => event === 'commit_failed').length;

    test('one that is refused costs the others of its batch a few commits', async () => {
      const { deliver, pass, commits, stored, logged } = await startScriptedEngine({
        definitions: [refusing],
      });
      for (let key = 0; key < 128; key++) deliver(at(key), note(key === 77 ? 'bad' : 'good'));
      await pass(1);
      expect(stored(at(127))?.notes).toEqual(['good']);
      expect(stored(at(77))).toBeUndefined();
      expect(logged.filter(({ event }) => event === 'message_set_aside')).toHaveLength(1);
      expect(commits.length).toBeLessThan(25);
    });

    test('however many are refused, what comes later waits for one or two of them', async () => {
      const { deliver, pass, stored, logged } = await startScriptedEngine({ definitions: [refusing] });
      for (let key = 0; key < 80; key++) deliver(at(key), note('bad'));
      while (failures(logged) < 30) await pass(0.00005);
      const before = failures(logged);
      const later = watch(deliver(at(1_000), note('good')));
      while (later.value === 'pending') await pass(0.00005);
      expect(stored(at(1_000))?.notes).toEqual(['good']);
      expect(failures(logged) - before).toBeLessThan(5);
    });

    test('those that are set aside share commits', async () => {
      const { deliver, pass, commits, database, logged } = await startScriptedEngine({
        definitions: [refusing],
      });
      for (let key = 0; key < 80; key++) deliver(at(key), note('bad'));
      await pass(20);
      expect(database.snapshots.size).toBe(0);
      expect(database.journal).toHaveLength(80);
      expect(commits.length - failures(logged)).toBeLessThan(30);
    });
  });

  test('a newer owner ends everything here: actors leave, asks fail, the loss is logged', async () => {
    const { system, pass, database, logged, metrics } = await startScriptedEngine({ definitions: keepers });
    const first = watch(system.ask(keeper, note('a')));
    await pass(1);
    database.raise([shardOf(keeper)]);
    const second = watch(system.ask(keeper, note('b')));
    await pass(1);
    const third = watch(system.ask(keeper, note('c')));
    await pass(1);
    expect(first.value).toBeUndefined();
    expect(second.value).toBeInstanceOf(UnavailableError);
    expect(third.value).toBeInstanceOf(UnavailableError);
    expect(logged.map(({ event }) => event)).toEqual(['commit_failed', 'lease_fenced']);
    expect(await metrics.getSingleMetricAsString('svc_actors')).toContain('svc_actors{kind="keeper"} 0');
    expect(await metrics.getSingleMetricAsString('svc_lease_fenced_total')).toContain(
      'svc_lease_fenced_total 1',
    );
  });

  test('a store that cannot say which shards were lost loses all of the batch', async () => {
    const { deliver, pass, failCommits } = await startScriptedEngine({ definitions: keepers });
    failCommits(new FencedError());
    const delivered = watch(deliver(keeper, note('a')));
    await pass(1);
    expect(delivered.value).toBeInstanceOf(UnavailableError);
  });
});

describe('messages that break their actor', () => {
  const breakable = scripted('keeper', (state, message) => {
    if (message.note === 'bad') throw new Error('defect');
    return keepNote(state, message, null as never);
  });

  test('the message is set aside and the others are applied in order', async () => {
    const { deliver, pass, stored, logged } = await startScriptedEngine({ definitions: [breakable] });
    const all = ['a', 'bad', 'b'].map((text) => watch(deliver(keeper, note(text))));
    await pass(1);
    expect(stored(keeper)?.notes).toEqual(['a', 'b']);
    expect(all.map((it) => it.value)).toEqual([undefined, undefined, undefined]);
    expect(logged).toMatchObject([
      {
        event: 'message_set_aside',
        fields: { kind: 'keeper', actor: 'k', message: 'note', error: 'Error: defect' },
      },
    ]);
  });

  test('a message is set aside under the newest epoch, even when its actor could leave memory meanwhile', async () => {
    const { deliver, pass, commits, failCommits, own, database } = await startScriptedEngine({
      definitions: [breakable],
      limits: { memory: { actors: 1, weight: 10 } },
    });
    // Its set-aside is part of a batch built while the commit before it is under way, after which idle actors leave.
    failCommits(new StoreUnavailableError());
    deliver(keeper, note('a'));
    await pass(0.1);
    deliver({ kind: 'keeper', key: 'broken' }, note('bad'));
    while (commits.length < 2) await pass(0.00005);
    own(Array.from({ length: SHARDS }, (_, shard) => shard));
    await pass(1);
    expect(database.snapshots.size).toBe(0);
    expect(commits.length).toBeLessThan(10);
  });

  test('a message between actors that breaks its receiver leaves its sender whole, and a dead letter', async () => {
    const sender = scripted('feed', (_state, message) => ({
      state: { notes: ['sent'] },
      sends: [{ to: keeper, message }],
    }));
    const { deliver, pass, stored, database } = await startScriptedEngine({
      definitions: [sender, breakable],
    });
    deliver(feed, note('bad'));
    await pass(1);
    expect(stored(feed)?.notes).toEqual(['sent']);
    expect(stored(keeper)).toBeUndefined();
    expect(database.journal.map(({ record }) => record)).toMatchObject([
      { type: 'dead_letter.recorded', to: keeper, from: feed, error: 'Error: defect' },
    ]);
    expect(database.inboxRows.size).toBe(0);
  });

  test('an ask that breaks its actor fails with the defect', async () => {
    const { system, pass } = await startScriptedEngine({ definitions: [breakable] });
    const reply = watch(system.ask(keeper, note('bad')));
    await pass(1);
    expect(reply.value).toMatchObject({ message: 'defect' });
  });
});
