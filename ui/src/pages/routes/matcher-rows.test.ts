import { expect, it } from 'vitest';
import { errorsAsTyped, filledRows } from './matcher-rows.ts';

const rows = [
  { label: 'team', op: '=', value: 'x' },
  { label: '', op: '=', value: '' },
  { label: 'pod', op: '=~', value: '(' },
] as const;
const at = (pointer: string) => ({ pointer, code: 'invalid_regex', detail: '' });

it('blank rows are not sent', () => {
  expect(filledRows(rows).map(({ label }) => label)).toEqual(['team', 'pod']);
});

it.each([
  ['/matchers/1/value', '/matchers/2/value'],
  ['/matchers/0', '/matchers/0'],
  ['/matchers/7/label', '/matchers/7/label'],
  ['/proposed_group_key/1', '/group_key/1'],
  ['/name', '/name'],
])('%s of what was sent is %s of the form', (sent, typed) => {
  expect(errorsAsTyped([at(sent)], rows)[0]?.pointer).toBe(typed);
});
