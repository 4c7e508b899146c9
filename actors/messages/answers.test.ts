import { describe, expect, test } from 'vitest';
import { type PrivateAnswer, privateAnswer, REFUSALS, WAYS, type Way } from './answers.ts';

const URL_BASE = 'https://oncall.example.org';
const say = (answer: PrivateAnswer, way: Way = 'channel_bot_press', language: 'en' | 'ru' = 'en') =>
  privateAnswer(answer, way, language, URL_BASE);

test.each<[PrivateAnswer, string]>([
  [{ say: 'disabled' }, 'Your Tocsin user is disabled'],
  [{ say: 'refused', code: 'already_resolved' }, 'It is resolved already'],
  [{ say: 'done', command: 'acknowledge', seconds: 0 }, 'Done: Ack'],
  [{ say: 'done', command: 'snooze', seconds: 5_400 }, 'Done: Snooze 90 min'],
  [{ say: 'invalid' }, 'This button is not valid here, nothing happened'],
  [
    { say: 'link.code', code: '7QF4H9XJ', minutes: 10 },
    'Tocsin code: 7QF4H9XJ. Enter it in your profile within 10 min. Not yours? Ignore it.',
  ],
  [{ say: 'link.done', name: 'Ann', login: 'ann' }, 'Done, you are Ann (ann) in Tocsin'],
  [
    { say: 'link.help' },
    'Send /unlink to end the link of this account. Start linking in your profile: https://oncall.example.org/profile',
  ],
  [{ say: 'link.removed', name: 'Ann', login: 'ann' }, 'This account is no longer Ann (ann) in Tocsin'],
])('%o', (answer, expected) => {
  expect(say(answer)).toBe(expected);
});

test.each<[Way, 'en' | 'ru', RegExp]>([
  ['bridge_event', 'en', /Connect this account: https/],
  ['chat_server_press', 'en', /enter the code that the bot sends you: https/],
  ['channel_bot_press', 'en', /open it and press Start: https/],
  ['channel_bot_press', 'ru', /нажмите «Начать»: https/],
])('who is not linked learns how accounts of that messenger are linked: %s, %s', (way, language, how) => {
  const text = say({ say: 'not_linked' }, way, language);
  expect(text).toMatch(how);
  expect(text.endsWith(`: ${URL_BASE}/profile`)).toBe(true);
});

test('in Russian', () => {
  expect(say({ say: 'done', command: 'snooze', seconds: 3_600 }, 'bridge_event', 'ru')).toBe(
    'Выполнено: Пауза 1 ч',
  );
});

test.each(REFUSALS)('every refusal has its sentence: %s', (code) => {
  expect(say({ say: 'refused', code })).toMatch(/^[A-Z][a-z ]+$/);
});

test('names are escaped where the way has markup', () => {
  const answer: PrivateAnswer = { say: 'link.done', name: '*Ann* @all', login: 'a_b' };
  expect(say(answer, 'chat_server_direct')).toBe('Done, you are \\*Ann\\* @\u200Ball (a\\_b) in Tocsin');
  expect(say(answer, 'bridge_event')).toBe('Done, you are *Ann* @\u200Ball (a_b) in Tocsin');
});

describe.each(Object.keys(WAYS) as Way[])('%s', (way) => {
  test('an answer is as long as may be there, and cut before its address', () => {
    const { most } = WAYS[way];
    const base = `https://${'x'.repeat(150)}.example`;
    const text = privateAnswer({ say: 'not_linked' }, way, 'en', base);
    expect(text.length).toBeLessThanOrEqual(most);
    expect(text.endsWith(`${base}/profile`)).toBe(true);
  });
});
