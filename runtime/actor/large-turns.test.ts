import { describe, expect, test } from 'vitest';
import { keepNote, note, scripted, startScriptedEngine } from '../../test/simulation/scripted-engine.ts';
import type { ActorMessage, Address } from './index.ts';
import { ConflictError, StoreUnavailableError } from './store.ts';

const isLarge = ({ type }: ActorMessage) => type === 'large';
const large = (text: string): ActorMessage & { readonly note: string } => ({ type: 'large', note: text });

const keeper: Address = { kind: 'keeper', key: 'k' };
const group: Address = { kind: 'group', key: 'g' };
const feed: Address = { kind: 'feed', key: 'f' };
const groups: readonly Address[] = Array.from({ length: 9 }, (_, n) => ({ kind: 'group', key: `g${n}` }));

/** A feed passes what it gets on to its group, a large message as a large one, and tells the keeper. */
const definitions = [
  scripted(
    'feed',
    (state, message) => ({
      state: { notes: [...state.notes, message.note ?? '-'] },
      sends: [
        { to: group, message },
        { to: keeper, message: note(`of ${message.note}`) },
      ],
    }),
    { isLarge },
  ),
  scripted('group', keepNote, { isLarge }),
  scripted('keeper', keepNote),
  scripted('spreader', () => ({ sends: groups.map((to) => ({ to, message: note('of many') })) }), {
    isLarge,
  }),
];

describe('a large turn', () => {
  test('keeps no others waiting while it is stored, and its own actors in order', async () => {
    const { deliver, pass, stored, failCommits } = await startScriptedEngine({ definitions });
    failCommits(new StoreUnavailableError());
    deliver(feed, large('1'));
    await pass(0.01);
    deliver(keeper, note('meanwhile'));
    deliver(feed, note('2'));
    await pass(0.1);
    expect(stored(keeper)?.notes).toEqual(['meanwhile']);
    expect(stored(feed)).toBeUndefined();
    await pass(5);
    expect(stored(feed)?.notes).toEqual(['1', '2']);
    expect(stored(group)?.notes).toEqual(['1', '2']);
    expect(stored(keeper)?.notes).toEqual(['meanwhile', 'of 1', 'of 2']);
  });

  test('is one commit with the large message it sends, and others go through the inbox', async () => {
    const { system, deliver, pass, commits } = await startScriptedEngine({ definitions });
    deliver(feed, large('1'));
    await pass(1);
    const [first] = commits;
    expect(first).toMatchObject({ isLarge: true, sends: [{ to: keeper }] });
    expect(first?.writes.map((write) => write.address.kind)).toEqual(['feed', 'group']);
    expect(commits.slice(1).map((commit) => commit.isLarge)).toEqual([false]);
    for (const actor of [feed, group])
      expect(await system.recent(actor)).toMatchObject({
        messages: [{ type: 'large', committedAt: expect.any(Number) }],
      });
  });

  test('is committed like any other where other processes may take its shard', async () => {
    const { deliver, pass, commits, stored } = await startScriptedEngine({
      definitions,
      isOneOfSeveral: true,
    });
    deliver(feed, large('1'));
    await pass(1);
    expect(commits.map((commit) => commit.isLarge)).not.toContain(true);
    expect([stored(feed)?.notes, stored(group)?.notes]).toEqual([['1'], ['1']]);
  });

  test('makes the next message look up again what it needs to know', async () => {
    const seen: unknown[] = [];
    const stage = await startScriptedEngine({
      definitions: [
        scripted('feed', (state, message) => ({ state, sends: [{ to: group, message }] }), { isLarge }),
        scripted(
          'group',
          (state, message, env) => {
            if (message.type !== 'large') seen.push({ known: env.prepared, isSo: state.notes.length });
            return { state: { notes: [...state.notes, message.note ?? '-'] } };
          },
          {
            isLarge,
            async prepare(actor) {
              const { length } = actor.state.notes;
              await stage.world.pause(900_000, 900_001);
              return length;
            },
          },
        ),
      ],
    });
    stage.deliver(feed, large('1'));
    stage.deliver(group, note('x'));
    await stage.pass(10);
    expect(stage.stored(group)?.notes).toEqual(['1', 'x']);
    expect(seen).toEqual([{ known: 1, isSo: 1 }]);
  });

  test('that sends to very many is handed on a few at a time, between which others have theirs', async () => {
    const { deliver, pass, commits, stored } = await startScriptedEngine({
      definitions,
      limits: { inboxReceivers: 2 },
    });
    deliver({ kind: 'spreader', key: 's' }, large('1'));
    await pass(0.005);
    expect(commits).toMatchObject([{ isLarge: true, sends: groups.map((to) => ({ to })) }]);
    deliver(keeper, note('meanwhile'));
    await pass(5);
    const [, ...later] = commits.map(({ writes }) => writes.map(({ address }) => address.key));
    expect(later.findIndex((keys) => keys.includes('k'))).toBeLessThan(2);
    expect(later.filter((keys) => keys.filter((key) => key !== 'k').length > 2)).toEqual([]);
    expect(groups.map((to) => stored(to)?.notes)).toEqual(groups.map(() => ['of many']));
  });

  test('that is refused is tried again like any other, once', async () => {
    const { deliver, pass, commits, stored, failCommits } = await startScriptedEngine({ definitions });
    failCommits(new ConflictError('changed meanwhile'));
    deliver(feed, large('1'));
    await pass(5);
    expect(commits[0]).toMatchObject({ isLarge: false, writes: [{ address: feed }] });
    expect([stored(feed)?.notes, stored(group)?.notes]).toEqual([['1'], ['1']]);
  });
});
