import { expect, it } from 'vitest';
import { FUNCTIONS } from '../../../actors/templates/functions/table.ts';
import { fieldsOf, functionsOf, signaturesOf } from './vocabulary.ts';

it('names every function of templates, and no other', () => {
  const names = functionsOf('root_message').map(({ name }) => name);
  expect(names.sort()).toEqual([...FUNCTIONS.keys()].sort());
});

it.each(signaturesOf('root_message').flat())('%s can be called so', (signature) => {
  const [name = '', ...operands] = signature.split(' ');
  const { least = 0, most = 0 } = FUNCTIONS.get(name) ?? {};
  expect(operands.at(-1) === '…').toBe(most === Number.POSITIVE_INFINITY);
  expect(operands.length).toBeGreaterThanOrEqual(least);
  expect(operands.length).toBeLessThanOrEqual(most);
});

it('offers what a kind has', () => {
  const namesOf = (kind: Parameters<typeof functionsOf>[0]) => functionsOf(kind).map(({ name }) => name);
  expect(namesOf('link_rule')).not.toContain('mention');
  expect(namesOf('line')).toContain('mention');
  expect(functionsOf('webhook_request')).toContainEqual({ name: 'mention', takes: 'target' });
  expect(fieldsOf('link_rule')).toContain('.Value');
  expect(new Set(fieldsOf('line')).size).toBe(fieldsOf('line').length);
});
