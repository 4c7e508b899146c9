import { describe, expect, test } from 'vitest';
import type { SessionState } from '../actors/access/session.ts';
import { SECOND } from '../runtime/clock.ts';
import {
  ACCESS_MATRIX,
  PUT_WITHOUT_IF_MATCH,
  RESPONDER_ONLY,
  VIEWER,
  WHILE_ENROLLING,
  WITH_PERSON,
  WITH_SESSION,
} from '../test/access-matrix.ts';
import { otherOperations, pathOf } from '../test/every-operation.ts';
import { startHttp } from '../test/http-server.ts';
import type { Needs, Operation } from './operation.ts';
import { PERMISSIONS, ROLE_PERMISSIONS, ROLES, type Role } from './permissions.ts';

const NEEDS = new Map(
  Object.entries(ACCESS_MATRIX).flatMap(([needs, ids]) => ids.map((id) => [id, needs] as [string, Needs])),
);

/** With what somebody calls: a session in one of its states, or a token. */
const CREDENTIALS = [
  'active',
  'totp_required',
  'totp_enrolment_required',
  'personal token',
  'personal token for alerts',
  'service account token',
] as const;
type Credential = (typeof CREDENTIALS)[number];

const STATES: readonly string[] = ['active', 'totp_required', 'totp_enrolment_required'];
const isSession = (credential: Credential): credential is SessionState => STATES.includes(credential);
const FOR_ALERTS = ['alerts:read', 'users:write'];

function holds(role: Role, credential: Credential, permission: string): boolean {
  if (credential === 'personal token for alerts' && !FOR_ALERTS.includes(permission)) return false;
  if (role === 'admin') return true;
  if (VIEWER.includes(permission)) return true;
  return role === 'responder' && RESPONDER_ONLY.includes(permission);
}

/** Code or detail of the refusal that the rules ask for; null lets the caller in. */
function refusalOf(id: string, role: Role, credential: Credential): string | null {
  const needs = NEEDS.get(id) ?? 'nowhere in the matrix';
  if (needs === 'none') return null;
  if (isSession(credential) && credential !== 'active' && needs !== 'cookie') {
    const isEnrolling = credential === 'totp_enrolment_required' && WHILE_ENROLLING.includes(id);
    if (!isEnrolling) return credential;
  }
  if (!isSession(credential)) {
    if (needs === 'cookie' || needs === 'session' || WITH_SESSION.includes(id)) return 'session_required';
    if (needs === 'user' && credential === 'service account token') return 'service_account_not_allowed';
  }
  const isPermission = needs.includes(':');
  if (isPermission && !holds(role, credential, needs)) return `This needs the permission ${needs}.`;
  const isBot = credential === 'service account token';
  return isBot && WITH_PERSON.includes(id) ? 'service_account_not_allowed' : null;
}

/** The stream never ends, and a session is needed for the next request. */
const NEVER_LET_IN = new Set(['streamLiveUpdates', 'deleteCurrentSession', 'deleteMySessions']);

async function start() {
  const server = await startHttp({ operations: otherOperations() });
  const credentialOf = async (role: Role, credential: Credential): Promise<Record<string, string>> => {
    if (credential === 'service account token') return bearer(server.tokens.issueServiceAccount(role));
    const login = `${role} with ${credential}`;
    if (!isSession(credential)) {
      const narrowed = credential === 'personal token for alerts' ? FOR_ALERTS : PERMISSIONS;
      return bearer(server.tokens.issuePersonal(server.access.addUser(login, role).id, narrowed));
    }
    server.access.requireTotp(credential === 'totp_enrolment_required' ? 'everyone' : 'nobody');
    const { cookie, csrf, userId } = await server.signIn(role, login);
    for (const { id } of server.access.sessionsOf(userId)) {
      server.access.changeSession(id, { state: credential });
    }
    return { cookie, 'x-csrf-token': csrf };
  };
  const call = async (operation: Operation, headers: Record<string, string>) => {
    // No token asks too often.
    server.clock.advance(SECOND / 10);
    const { status, text } = await server.send(operation.method, pathOf(operation), { headers });
    const { code, detail } = text.startsWith('{') ? JSON.parse(text) : { code: null, detail: null };
    return { status, refusal: String(code ?? detail) };
  };
  return { ...server, operations: server.http.operations, credentialOf, call };
}

const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

describe('the operation table', () => {
  test('is the one that the matrix names, need by need', async () => {
    const { operations } = await start();
    expect(Object.fromEntries(operations.map(({ id, needs }) => [id, needs]))).toEqual(
      Object.fromEntries(NEEDS),
    );
    const having = (credential: string) =>
      operations.filter((one) => one.credential === credential).map(({ id }) => id);
    expect(having('session').sort()).toEqual([...WITH_SESSION].sort());
    expect(having('user')).toEqual(WITH_PERSON);
  });

  test('the Roles hold what the matrix says', () => {
    for (const role of ROLES) {
      const held = PERMISSIONS.filter((permission) => holds(role, 'active', permission));
      expect(held.filter((permission) => !ROLE_PERMISSIONS[role].has(permission))).toEqual([]);
      expect(ROLE_PERMISSIONS[role].size).toBe(held.length);
    }
  });

  test('every change of something with an ETag asks for If-Match, but the named ones', async () => {
    const { operations, credentialOf, call } = await start();
    const puts = operations.filter(({ method }) => method === 'PUT');
    expect(
      puts
        .filter(({ ifMatch }) => ifMatch !== 'required')
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...PUT_WITHOUT_IF_MATCH].sort());
    for (const credential of ['active', 'personal token', 'service account token'] as const) {
      const headers = await credentialOf('admin', credential);
      for (const operation of puts.filter(({ ifMatch }) => ifMatch === 'required')) {
        const isLetIn = refusalOf(operation.id, 'admin', credential) === null;
        expect([operation.id, (await call(operation, headers)).status]).toEqual([
          operation.id,
          isLetIn ? 428 : 403,
        ]);
      }
    }
  });
});

describe.each(ROLES)('a %s', (role) => {
  test.each(CREDENTIALS)(
    'with %s is let in or refused as the matrix says, everywhere',
    async (credential) => {
      const { operations, credentialOf, call } = await start();
      const headers = await credentialOf(role, credential);
      const differing: unknown[] = [];
      for (const operation of operations) {
        const { id } = operation;
        const expected = refusalOf(id, role, credential);
        if (expected === null && NEVER_LET_IN.has(id)) continue;
        const { status, refusal } = await call(operation, headers);
        const isLetIn = status !== 401 && status !== 403;
        const isRight = expected === null ? isLetIn : status === 403 && refusal === expected;
        if (!isRight) differing.push({ id, expected, status, refusal });
      }
      expect(differing).toEqual([]);
    },
  );
});

describe('a token that is worth nothing', () => {
  test.each([
    'expired',
    'of a disabled user',
    'of a disabled Service account',
    'of an Integration',
    'made up',
  ])('%s opens public operations only, whatever cookie comes with it', async (kind) => {
    const { operations, access, tokens, clock, signIn, call } = await start();
    const admin = await signIn('admin');
    const user = access.addUser('owner', 'admin');
    const worthless = (): string => {
      if (kind === 'of a disabled Service account') {
        return tokens.issueServiceAccount('admin', { isActive: false });
      }
      if (kind === 'of an Integration') return `svc_int_${'a'.repeat(43)}`;
      if (kind === 'made up') return `svc_pat_${'a'.repeat(52)}`;
      if (kind === 'expired') return tokens.issuePersonal(user.id, PERMISSIONS, clock.now());
      access.changeUser(user.id, { status: 'disabled' });
      return tokens.issuePersonal(user.id, PERMISSIONS);
    };
    const headers = { ...bearer(worthless()), cookie: admin.cookie, 'x-csrf-token': admin.csrf };
    for (const operation of operations.filter(({ needs }) => needs !== 'none')) {
      const { status, refusal } = await call(operation, headers);
      expect([operation.id, status, refusal]).toEqual([operation.id, 401, 'invalid_credentials']);
    }
  });
});

test('a request with a token needs no CSRF token, and from another site it is refused all the same', async () => {
  const { operations, credentialOf, call } = await start();
  const headers = await credentialOf('admin', 'service account token');
  const operation = operations.find(({ id }) => id === 'createRoute');
  if (!operation) throw new Error('there is an operation that makes Routes');
  expect((await call(operation, headers)).status).not.toBe(403);
  expect(await call(operation, { ...headers, 'sec-fetch-site': 'cross-site' })).toEqual({
    ...{ status: 403, refusal: 'csrf_invalid' },
  });
});
