import { describe, expect, it } from 'vitest';
import { auditDiff, auditEntry } from './audit.ts';

describe('an Audit diff (access §11)', () => {
  const before = {
    name: 'a',
    list: [1, 2],
    nested: { kept: 1, deep: { changed: 1 } },
    labels: { env: 'x', team: 'y' },
  };

  it('walks nested objects, compares arrays whole and is sorted by pointer', () => {
    const after = { ...before, name: 'b', list: [2, 1], nested: { kept: 1, deep: { changed: 2 } } };
    expect(auditDiff(before, after)).toEqual([
      { pointer: '/list', before: [1, 2], after: [2, 1] },
      { pointer: '/name', before: 'a', after: 'b' },
      { pointer: '/nested/deep/changed', before: 1, after: 2 },
    ]);
  });

  it('compares maps whole, whatever the order of their keys', () => {
    expect(auditDiff(before, { ...before, labels: { team: 'y', env: 'x' } }, ['/labels'])).toEqual([]);
    expect(auditDiff(before, { ...before, labels: { env: 'x' } }, ['/labels'])).toEqual([
      { pointer: '/labels', before: { env: 'x', team: 'y' }, after: { env: 'x' } },
    ]);
  });

  it('of a creation lists the fields that are set', () => {
    expect(auditDiff(null, { name: 'a', template: null, on: false })).toEqual([
      { pointer: '/name', before: null, after: 'a' },
      { pointer: '/on', before: null, after: false },
    ]);
  });
});

it('an Audit entry takes its resource type from the action', () => {
  const by = { kind: 'system', id: null, name: 'system' } as const;
  const change = { action: 'route.created', resourceId: 'RT1', resourceName: 'Web' };
  expect(auditEntry({ by, at: 5, address: null }, change)).toMatchObject({
    resourceType: 'route',
    diff: [],
    details: {},
  });
});
