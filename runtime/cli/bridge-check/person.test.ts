/** A person at the terminal is asked for everything that only a person can do. */
import { expect, test } from 'vitest';
import { Unmet } from './client.ts';
import { playChecks } from './in-memory.fixture.ts';
import { createAskedPerson, type Person } from './person.ts';

const button = { messageId: 'm', text: 'Ack', where: '"A message"', data: 'd' };

const ACTS: readonly (readonly [string, (person: Person) => Promise<void>, string])[] = [
  ['press', (person) => person.press(button), 'Press the button "Ack" of "A message".'],
  [
    'write in a Thread',
    (person) => person.writeInThread('m', 'A message', 'words'),
    'Write "words" in the Thread',
  ],
  ['write to the bot', (person) => person.writeToBot('words'), 'direct chat: words'],
  [
    'write in the channel',
    (person) => person.writeInChannel('m', 'alerts', 'words'),
    'channel alerts, not to the bot: words',
  ],
  ['delete', (person) => person.delete('m', 'A message'), 'Delete the message "A message".'],
];

test.each(ACTS)('a person is asked to %s, and has 60 s', async (_name, act, words) => {
  const asked: unknown[] = [];
  const person = createAskedPerson(async (line, seconds) => {
    asked.push([line, seconds]);
    return '';
  });
  await act(person);
  expect(asked).toEqual([[expect.stringContaining(words), 60]]);
  const nobody = createAskedPerson(async () => null);
  await expect(act(nobody)).rejects.toThrow(Unmet);
});

test.each([
  ['y', true],
  [' Yes ', true],
  ['n', false],
  ['', false],
])('a question answered with "%s" is %s', async (typed, is) => {
  const person = createAskedPerson(async () => typed);
  expect(await person.confirms('Is it so?', () => !is)).toBe(is);
});

test('a check whose person does nothing fails and says so', async () => {
  const [result] = await playChecks({ session: { person: async () => null, only: ['N1'] } });
  expect(result).toMatchObject({ verdict: 'FAIL', reason: 'nobody did it within 60 s' });
});
