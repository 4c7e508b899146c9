import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Answer } from '../../api/client.ts';
import type { AlertGroup, CommandAnswer, SnoozeRequest } from '../../api/shapes.ts';
import { createGroupCommands } from './group-commands.svelte.ts';

const ME = { id: 'U1', name: 'Ann', login: 'ann', deactivated: false };

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
});

afterEach(() => void vi.unstubAllGlobals());

const group = (number: number) =>
  ({
    id: `AG${number}`,
    number,
    status: 'firing',
    owner: null,
    allowed_commands: [],
  }) as unknown as AlertGroup;

/** Commands on a service that answers when the test says so. */
function setUp() {
  const sent: string[] = [];
  const waiting: ((answer: Answer<CommandAnswer>) => void)[] = [];
  const said: (string | null)[] = [];
  const send = (id: string, command: string) => {
    sent.push(`${command} ${id}`);
    return new Promise<Answer<CommandAnswer>>((resolve) => waiting.push(resolve));
  };
  const commands = createGroupCommands(
    {
      alertGroups: {
        command: send,
        resolve: (id: string, note: string | null) =>
          send(id, note === null ? 'resolve' : `resolve "${note}"`),
        snooze: (id: string, { until }: SnoozeRequest) => send(id, `snooze until ${until}`),
      },
      session: { active: { user: ME } },
      toasts: {
        command: (text: string, _: string, undo: unknown) =>
          said.push(undo === null ? text : `${text}, Undo`),
        refused: (text: string) => said.push(text),
      },
      failures: { sentence: () => 'refused' },
      i18n: { t: (key: string) => key },
    } as never,
    () => {},
    () => {},
  );
  const settle = async () => {
    for (let turns = 0; turns < 20; turns++) await Promise.resolve();
  };
  async function answer(after: AlertGroup | null) {
    await settle();
    const value = { outcome: 'done', alert_group: after } as CommandAnswer;
    waiting.shift()?.(
      after === null ? ({ ok: false, problem: {} } as never) : { ok: true, value, etag: null },
    );
    await settle();
  }
  return { commands, sent, said, answer, settle };
}

it('Commands on two groups are both sent, also while the first is on its way', async () => {
  const { commands, sent, answer, settle } = setUp();
  const first = commands.plain(group(1), 'acknowledge');
  const second = commands.plain(group(2), 'acknowledge');
  await settle();
  expect(sent).toEqual(['acknowledge AG1', 'acknowledge AG2']);
  expect(commands.runningFor('AG2')).toBe('acknowledge');
  await answer(group(1));
  expect(commands.runningFor('AG1')).toBeNull();
  await answer(group(2));
  await Promise.all([first, second]);
  expect(commands.runningFor('AG2')).toBeNull();
});

it.each([
  ['done', { ...group(1), owner: ME } as AlertGroup],
  ['refused', null],
])('another Command on a group waits for the one on its way, which is %s', async (_, after) => {
  const { commands, sent, answer } = setUp();
  const first = commands.plain(group(1), 'acknowledge');
  const second = commands.resolve(group(1), null);
  await answer(after);
  expect(sent).toEqual(['acknowledge AG1', 'resolve AG1']);
  expect(commands.runningFor('AG1')).toBe('resolve');
  await answer(group(1));
  expect(await second).toBeNull();
  await first;
});

it('a key that repeats sends one Command', async () => {
  const { commands, sent, answer } = setUp();
  const both = [commands.plain(group(1), 'acknowledge'), commands.plain(group(1), 'acknowledge')];
  await answer(group(1));
  await Promise.all(both);
  expect(sent).toEqual(['acknowledge AG1']);
});

it('another Note or another end is no repetition: it is sent after the one on its way', async () => {
  const { commands, sent, answer } = setUp();
  const all = [
    commands.snooze(group(1), { until: '03:00' }),
    commands.snooze(group(1), { until: '03:00' }),
    commands.snooze(group(1), { until: '05:00' }),
    commands.resolve(group(2), null),
    commands.resolve(group(2), null),
    commands.resolve(group(2), 'The disk was full'),
  ];
  for (const number of [1, 2, 1, 2]) await answer(group(number));
  expect(await Promise.all(all)).toEqual([null, null, null, null, null, null]);
  expect(sent).toEqual([
    'snooze until 03:00 AG1',
    'resolve AG2',
    'snooze until 05:00 AG1',
    'resolve "The disk was full" AG2',
  ]);
});

it('the way back is that of the group as the Command before it left it', async () => {
  const { commands, said, answer } = setUp();
  const mine = { ...group(1), status: 'acknowledged', owner: ME } as AlertGroup;
  const all = [commands.plain(group(1), 'acknowledge'), commands.plain(group(1), 'unacknowledge')];
  await answer({ ...mine, allowed_commands: ['unacknowledge'] });
  await answer({ ...group(1), allowed_commands: ['acknowledge'] });
  await Promise.all(all);
  expect(said).toEqual(['commandDone.acknowledge, Undo', 'commandDone.unacknowledge, Undo']);
});
