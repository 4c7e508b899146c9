import * as v from 'valibot';
import { expect, test } from 'vitest';
import { fieldErrors } from '../request/json-body.ts';
import { labelMatchers, nameErrors } from './fields.ts';

const errorsOf = (...labels: readonly string[]) => {
  const parsed = v.safeParse(v.object({ label: labelMatchers }), { label: labels });
  return parsed.success ? [] : fieldErrors(parsed.issues, '/query');
};

test('a label filter that cannot be read is told what is wrong with it', () => {
  expect(errorsOf('a="b"', 'a=b', 'a=~"(?=x)"')).toEqual([
    {
      pointer: '/query/label/1',
      code: 'invalid_format',
      detail: 'Put the value in double quotes; only \\\\, \\" and \\n are escapes.',
    },
    {
      pointer: '/query/label/2',
      code: 'invalid_regex',
      detail: 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    },
  ]);
});

test('one of which nothing particular is known gets the words of its code', () => {
  expect(errorsOf(...Array.from({ length: 21 }, () => 'a="b"'))).toEqual([
    { pointer: '/query/label', code: 'too_long', detail: 'This takes at most 20.' },
  ]);
});

test.each([' ', '\u200b', '\u00a0\u3164\u202e'])('a name that shows nothing is none: %j', (name) => {
  expect(nameErrors(name)).toMatchObject([{ pointer: '/name', code: 'required' }]);
});

test.each(['a', '\u200bб', '🔥'])('%j is a name', (name) => {
  expect(nameErrors(name)).toEqual([]);
});
