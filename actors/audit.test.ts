import { describe, expect, it } from 'vitest';
import { auditDiff, auditEntry } from './audit.ts';

describe('an Audit diff (access §11)', () => {
  const before = {
    name: 'a',
    list: [1, 2],
    nested: { kept: 1, deep: { changed: 1 } },
    labels: { env: 'x', team: 'y' },
  };

  it('walks nested objects and compares arrays whole', () => {
    const after = { ...before, name: 'b', list: [2, 1], nested: { kept: 1, deep: { changed: 2 } } };
    expect(auditDiff(before, after)).toEqual([
      { pointer: '/name', before: 'a', after: 'b' },
      { pointer: '/list', before: [1, 2], after: [2, 1] },
      { pointer: '/nested/deep/changed', before: 1, after: 2 },
    ]);
  });

  it('compares maps whole, whatever the order of their keys', () => {
    expect(auditDiff(before, { ...before, labels: { team: 'y', env: 'x' } }, ['/labels'])).toEqual([]);
    expect(auditDiff(before, { ...before, labels: { env: 'x' } }, ['/labels'])).toEqual([
      { pointer: '/labels', before: { env: 'x', team: 'y' }, after: { env: 'x' } },
    ]);
  });

  it('of a creation lists the fields that are set, with what they are now alone', () => {
    expect(auditDiff(null, { name: 'a', template: null, on: false })).toStrictEqual([
      { pointer: '/name', after: 'a' },
      { pointer: '/on', after: false },
    ]);
  });
});

const by = { kind: 'system', id: null, name: 'system' } as const;

it('an Audit entry tells its changes by pointer, Secrets between the others', () => {
  const diff = [
    { pointer: '/proxy/enabled', before: false, after: true },
    { pointer: '/proxy/address', before: null, after: 'proxy.example:3128' },
    { pointer: '/client_secret', secret_changed: true } as const,
  ];
  const change = { action: 'oidc_settings.updated', resourceId: null, resourceName: null, diff };
  const pointers = auditEntry({ by, at: 5, address: null }, change).diff.map(({ pointer }) => pointer);
  expect(pointers).toEqual(['/client_secret', '/proxy/address', '/proxy/enabled']);
});

it('an Audit entry takes its resource type from the action', () => {
  const change = { action: 'route.created', resourceId: 'RT1', resourceName: 'Web' };
  expect(auditEntry({ by, at: 5, address: null }, change)).toMatchObject({
    resourceType: 'route',
    diff: [],
    details: {},
  });
});
