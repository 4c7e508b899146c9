import { describe, expect, it } from 'vitest';
import { matchPath, safeReturnTo } from './pattern.ts';

describe('matchPath', () => {
  it.each([
    ['/routes', '/routes', {}],
    ['/routes/:id', '/routes/RT1', { id: 'RT1' }],
    ['/routes/:id', '/routes/', null],
    ['/routes/:id', '/routes/RT1/edit', null],
    ['/routes/:id/edit', '/routes/a%20b/edit', { id: 'a b' }],
    ['/routes/:id', '/routes/%', { id: '%' }],
  ])('%s against %s', (pattern, path, params) => {
    expect(matchPath(pattern, path)).toEqual(params);
  });
});

describe('safeReturnTo', () => {
  it.each([
    ['/alert-groups/AG1?x=1', '/alert-groups/AG1?x=1'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['/\n/evil.example', '/'],
    ['https://evil.example', '/'],
    [null, '/'],
  ])('%s leads to %s', (given, expected) => {
    expect(safeReturnTo(given)).toBe(expected);
  });
});
