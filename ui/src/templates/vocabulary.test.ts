import { expect, it } from 'vitest';
import { FUNCTIONS as KNOWN } from '../../../actors/templates/functions/table.ts';
import { FUNCTIONS, fieldsOf, functionsOf } from './vocabulary.ts';

it('names every function of templates, and no other', () => {
  expect([...FUNCTIONS].sort()).toEqual([...KNOWN.keys()].sort());
});

it('offers what a kind has', () => {
  expect(functionsOf('link_rule')).not.toContain('mention');
  expect(functionsOf('line')).toContain('mention');
  expect(fieldsOf('link_rule')).toContain('.Value');
  expect(new Set(fieldsOf('line')).size).toBe(fieldsOf('line').length);
});
