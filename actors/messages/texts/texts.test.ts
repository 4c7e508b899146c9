import { describe, expect, test } from 'vitest';
import { en } from './en.ts';
import { ru } from './ru.ts';
import { CATALOGUES, counted, russianForm, text } from './texts.ts';

const FORMS = { en: 2, ru: 3 };
const placeholders = (form: string) => (form.match(/\{\w+\}/g) ?? []).sort();
const formsOf = (entry: string | readonly string[]) => (typeof entry === 'string' ? [entry] : entry);

test('every key has both languages', () => {
  expect(Object.keys(ru)).toEqual(Object.keys(en));
});

describe.each(Object.entries(CATALOGUES))('%s', (language, catalogue) => {
  test.each(Object.entries(catalogue))(
    '%s has its forms, with the placeholders of the English text',
    (key, entry) => {
      const english = en[key as keyof typeof en];
      if (typeof english === 'string') expect(typeof entry).toBe('string');
      else expect(entry).toHaveLength(FORMS[language as keyof typeof FORMS]);
      for (const form of formsOf(entry))
        expect(placeholders(form)).toEqual(placeholders(formsOf(english)[0] ?? ''));
    },
  );

  test('no text needs escaping in any format', () => {
    for (const form of Object.values(catalogue).flatMap(formsOf))
      expect(form).not.toMatch(/[<>&\\`*_[\]~|@"]/);
  });
});

test.each([
  [1, 0],
  [2, 1],
  [4, 1],
  [5, 2],
  [0, 2],
  [11, 2],
  [12, 2],
  [14, 2],
  [21, 0],
  [22, 1],
  [25, 2],
  [111, 2],
  [121, 0],
])('%i takes Russian form %i', (n, form) => {
  expect(russianForm(n)).toBe(form);
});

test.each([
  [21, '⚠ У отправителя активен ещё 21 алерт'],
  [22, '⚠ У отправителя активны ещё 22 алерта'],
  [25, '⚠ У отправителя активны ещё 25 алертов'],
])('%i alerts still firing, in Russian', (n, expected) => {
  expect(counted('ru', 'notice.still_firing', { n })).toBe(expected);
});

test.each([
  [1, '1 new alert'],
  [0, '0 new alerts'],
  [21, '21 new alerts'],
])('%i new alerts, in English', (n, expected) => {
  expect(counted('en', 'reply.added', { n })).toBe(expected);
});

test('a value that looks like a placeholder stays what it is', () => {
  expect(text('en', 'reply.takeover', { new: '{old}', old: '$&' })).toBe('{old} takes over from $&');
});
