import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inRounds } from './rounds.ts';

interface Statement {
  readonly asked: readonly string[];
  answer(answers: readonly string[]): void;
  fail(error: Error): void;
}

function rounds(most = 10) {
  const statements: Statement[] = [];
  const ask = inRounds<string, string>({
    most,
    sizeOf: (asked) => asked.length,
    ask: (asked) =>
      new Promise((answer, fail) => {
        statements.push({ asked, answer, fail });
      }),
  });
  return { ask, statements, asked: () => statements.map((statement) => statement.asked) };
}

test('what is asked in one round is one statement, and everybody gets the answer to what they asked', async () => {
  const { ask, statements, asked } = rounds();
  const all = Promise.all(['a', 'b', 'a'].map(ask));
  await setImmediate();
  expect(asked()).toEqual([['a', 'b', 'a']]);
  statements[0]!.answer(['1', '2', '3']);
  expect(await all).toEqual(['1', '2', '3']);
});

test('two statements are under way at most; what is asked meanwhile goes together with the next', async () => {
  const { ask, statements, asked } = rounds();
  for (const one of ['a', 'b', 'c', 'd']) {
    void ask(one);
    await setImmediate();
  }
  expect(asked()).toEqual([['a'], ['b']]);
  statements[1]!.answer(['2']);
  await setImmediate();
  await setImmediate();
  expect(asked()).toEqual([['a'], ['b'], ['c', 'd']]);
});

test('a statement asks for no more than it may, but a single asking goes whatever its size', async () => {
  const { ask, asked } = rounds(4);
  for (const one of ['aaaaaaaa', 'bb', 'cc', 'd']) void ask(one);
  await setImmediate();
  expect(asked()).toEqual([['aaaaaaaa'], ['bb', 'cc']]);
});

test('when a statement fails, each asking is tried alone, so that an error is only for the one that has it', async () => {
  const { ask, statements, asked } = rounds();
  const [bad, good] = [ask('a'), ask('b')];
  await setImmediate();
  statements[0]!.fail(new Error('a is wrong'));
  await setImmediate();
  statements[1]!.fail(new Error('a is wrong'));
  await expect(bad).rejects.toThrow('a is wrong');
  await setImmediate();
  statements[2]!.answer(['2']);
  expect(await good).toBe('2');
  expect(asked()).toEqual([['a', 'b'], ['a'], ['b']]);
});

test('a database that is away is away for all of them, and the next are asked all the same', async () => {
  const { ask, statements, asked } = rounds();
  const failing = [ask('a'), ask('b')];
  await setImmediate();
  const fine = ask('c');
  statements[0]!.fail(Object.assign(new Error('away'), { code: 'CONNECTION_CLOSED' }));
  for (const one of failing) await expect(one).rejects.toThrow('away');
  await setImmediate();
  expect(asked()).toEqual([['a', 'b'], ['c']]);
  statements[1]!.answer(['3']);
  expect(await fine).toBe('3');
});

test('a statement that cannot even be begun is an error, too', async () => {
  const ask = inRounds<string, string>({
    most: 1,
    sizeOf: () => 1,
    ask: () => {
      throw new Error('closed');
    },
  });
  await expect(ask('a')).rejects.toThrow('closed');
  await expect(ask('b')).rejects.toThrow('closed');
});
