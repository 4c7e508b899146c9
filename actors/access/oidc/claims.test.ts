import { describe, expect, test } from 'vitest';
import { assertsMultiFactor, groupsOf, personOf } from './claims.ts';
import { returnPath } from './sign-in.ts';

describe('a new account is named', () => {
  test.each([
    [{ preferred_username: 'ann', email: 'ann@example.org' }, 'ann'],
    [{ preferred_username: 'ann lee', email: 'ann@example.org' }, 'ann@example.org'],
    [{ preferred_username: 'Deleted-User-1', email: 'x'.repeat(201) }, 'sub-1'],
    [{ preferred_username: 7 }, 'sub-1'],
  ])('by %j: %s', (claims, login) => {
    expect(personOf(claims, 'sub-1').login).toBe(login);
  });

  test('by a digest of the subject when nothing can be a login', () => {
    expect(personOf({}, 'a subject').login).toMatch(/^oidc-[0-9a-f]{12}$/);
  });

  test('with the name cut, else the login; and with an email only if it is one', () => {
    expect(personOf({ name: 'é'.repeat(201) }, 's').name).toBe('é'.repeat(200));
    expect(personOf({ name: ' \u0000 ' }, 's').name).toBe('s');
    expect(personOf({ email: 'ann@example.org' }, 's').email).toBe('ann@example.org');
    expect(personOf({ email: 'ann at example' }, 's').email).toBeNull();
    expect(personOf({ email: `${'a'.repeat(250)}@b.example` }, 's').email).toBeNull();
  });
});

test.each([
  [{ groups: 'ops' }, ['ops']],
  [{ groups: ['ops', 7, null, 'root'] }, ['ops', 'root']],
  [{ groups: { ops: true } }, []],
  [{ 'realm.groups': ['ops'] }, null],
])('the groups in %j are %j', (claims, groups) => {
  expect(groupsOf(claims, 'groups')).toEqual(groups);
});

test.each([
  [{ amr: ['mfa'] }, true],
  [{ amr: ['pwd', 'otp'] }, true],
  [{ amr: ['pin', 'hwk'] }, true],
  [{ amr: ['pwd'] }, false],
  [{ amr: ['otp', 'hwk'] }, false],
  [{ acr: 'https://refeds.org/profile/mfa' }, true],
  [{ acr: '2' }, false],
  [{}, false],
])('%j says of more than one factor: %s', (claims, isTrue) => {
  expect(assertsMultiFactor(claims)).toBe(isTrue);
});

test.each([
  [null, '/'],
  ['/alert-groups?x=1#y', '/alert-groups?x=1#y'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/a b', '/a%20b'],
])('return_to %j leads to %s', (wanted, path) => {
  expect(returnPath(wanted)).toBe(path);
});
