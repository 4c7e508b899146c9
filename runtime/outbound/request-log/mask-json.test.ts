import { expect, test } from 'vitest';
import { maskJsonMembers } from './mask-json.ts';

test.each<[string, string, string]>([
  ['breaks off in an escape', '{"a":1,"token":"abc\\', '{"a":1,"token":"[redacted]"'],
  ['breaks off in an escape further in', '{"token":["abc\\', '{"token":"[redacted]"'],
  ['breaks off in a name', '{"a":1,"tok\\', '{"a":1,"tok\\'],
  ['holds a line break behind a backslash', '{"token":"a\\\nb","c":1}', '{"token":"[redacted]","c":1}'],
  ['is no JSON before a member', '{ x" "token":"abc"}', '{ x" "token":"[redacted]"}'],
  [
    'holds an end of a string that is none',
    '{"a\\"":1,"token":"b\\"c","d":2}',
    '{"a\\"":1,"token":"[redacted]","d":2}',
  ],
])('a text that %s', (_, text, masked) => {
  expect(maskJsonMembers(text)).toBe(masked);
});

// Were it looked at again from each quotation mark, each would take a minute.
test.each([
  ['escaped quotation marks', `{"${'\\"'.repeat(200_000)}`],
  ['quotation marks', `{${'"'.repeat(200_000)}`],
  ['sensitive members that are never closed', `{${'"token":['.repeat(50_000)}`],
])('a long text of %s is masked at once', (_, text) => {
  expect(maskJsonMembers(text).length).toBeLessThanOrEqual(text.length);
});
