import { expect, test } from 'vitest';
import type { Identity, OperationShape } from '../operation.ts';
import type { Permission } from '../permissions.ts';
import { callerFault, permissionFault } from './admission.ts';

const identity = (kind: Identity['kind'], permissions: readonly Permission[]): Identity => ({
  ...{ kind, id: 'SA000000000001' as Identity['id'], user: null, permissions: new Set(permissions) },
  ...{
    name: 'ci',
    transport: 'api',
    session: null,
    token: { id: 'ST000000000001' as Identity['id'], name: 'ci' },
  },
});

const operation = (shape: Partial<OperationShape<undefined, undefined>>) =>
  ({
    ...{ id: 'x', method: 'POST', path: '/x', tag: 'X', summary: 'X', needs: 'routes:read', answers: {} },
    ...shape,
  }) as OperationShape<undefined, undefined>;

/** Codes in the order in which they are refused; the detail of those without one. */
function refusalOf(shape: Partial<OperationShape<undefined, undefined>>, caller: Identity): string | null {
  const asked = operation(shape);
  const request = { method: 'POST' } as Parameters<typeof callerFault>[2];
  const csrf = { issue: () => '', verify: () => true };
  const fault =
    callerFault(asked, { identity: caller, session: null }, request, csrf) ?? permissionFault(asked, caller);
  return fault && (fault.code ?? fault.detail ?? '');
}

const NEEDS = 'This needs the permission routes:read.';

test.each([
  ['a User that holds it', {}, identity('user', ['routes:read']), null],
  ['a Service account without it', {}, identity('service_account', []), NEEDS],
  ['a Service account that holds it', {}, identity('service_account', ['routes:read']), null],
  ['one without it, where only Users may', { credential: 'user' }, identity('service_account', []), NEEDS],
  [
    'one that holds it, where only Users may',
    { credential: 'user' },
    identity('service_account', ['routes:read']),
    'service_account_not_allowed',
  ],
  [
    'a token without it, where a session is needed',
    { credential: 'session' },
    identity('user', []),
    'session_required',
  ],
  [
    'a Service account, where any User may',
    { needs: 'user' },
    identity('service_account', []),
    'service_account_not_allowed',
  ],
] as const)('%s', (_, shape, caller, expected) => {
  expect(refusalOf(shape, caller)).toBe(expected);
});
